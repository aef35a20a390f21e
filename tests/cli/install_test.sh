#!/bin/bash
# What `meson install` lays down is enough to embed cleave: headers that stand alone, a pkg-config
# file, a shared and a static library that link.
# usage: install_test.sh CLEAVE BUILD_FOLDER COMPILER...
build=$(realpath "$2")
compiler=("${@:3}")
. "$(dirname "$0")/harness.sh"

meson=/usr/bin/meson
[ -x $meson ] || meson=meson
DESTDIR=$scratch/root $meson install -C "$build" --no-rebuild >install.log 2>&1 ||
    { cat install.log; fail "meson install"; done_testing; }

pc=$(find root -name cleave.pc)
[ -n "$pc" ] || { fail "no cleave.pc"; done_testing; }
export PKG_CONFIG_PATH=$scratch/$(dirname "$pc")
export PKG_CONFIG_SYSROOT_DIR=$scratch/root
lib=$scratch/$(dirname "$(dirname "$pc")")
flags=$(pkg-config --cflags cleave)

for header in root/usr/local/include/cleave/*.h; do
    echo "#include <cleave/$(basename "$header")>" >alone.c
    echo "#include <cleave/$(basename "$header")>" >>alone.c
    "${compiler[@]}" -std=c11 -Wall -Wextra -Wpedantic -Werror $flags -fsyntax-only alone.c ||
        fail "$(basename "$header") does not stand alone"
done

embed=$source_root/docs/examples/partition.c
answer='weight of queries on both servers: 1'
"${compiler[@]}" -std=c11 $flags "$embed" -o shared $(pkg-config --libs cleave) ||
    fail "the shared library does not link"
[ "$(LD_LIBRARY_PATH=$lib ./shared | tail -n 1)" = "$answer" ] || fail "the embedding program, shared"

# Static: our archive; the libraries it needs as they are (Debian's libpq cannot be linked statically).
libs="-L$lib -l:libcleave.a $(pkg-config --libs $(pkg-config --print-requires-private cleave | cut -d' ' -f1))"
libs="$libs $(sed -n 's/^Libs.private: *//p' "$pc")"
"${compiler[@]}" -std=c11 $flags "$embed" -o static $libs || fail "the static library does not link"
[ "$(./static | tail -n 1)" = "$answer" ] || fail "the embedding program, static"
if ldd static | grep -q libcleave; then fail "the static program loads the shared library"; fi

installed=root/usr/local/bin/cleave
LD_LIBRARY_PATH=$lib $installed --version >out || fail "the installed command"
done_testing
