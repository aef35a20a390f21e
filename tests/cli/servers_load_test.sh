#!/bin/bash
# cleave tables load on PostgreSQL servers: what comes along, what goes wrong, what is cut off.
source "$(dirname "$0")/harness.sh"
source "$(dirname "$0")/servers.sh"

expect 0 cluster up --postgres 4 --dir c --connections 30
mapfile -t urls < <(grep '^postgresql://' out)
# From a live database with all kinds of columns.
sql "${urls[3]}" <<'END'
CREATE SCHEMA "Odd";
CREATE TYPE "Odd"."Pay Grade" AS ENUM ('A', 'it''s');
CREATE TABLE region (id int PRIMARY KEY, name text UNIQUE);
CREATE TABLE shop (id serial PRIMARY KEY, region int REFERENCES region, name varchar(40) DEFAULT 'no''name' NOT NULL,
    opened timestamptz, code char(6), open boolean, money numeric(12, 2) CHECK (money >= 0), data bytea, tags text[],
    grade "Odd"."Pay Grade" DEFAULT 'it''s', grades "Odd"."Pay Grade"[], number bigint GENERATED ALWAYS AS IDENTITY,
    lower_name text GENERATED ALWAYS AS (lower(name)) STORED);
CREATE INDEX shop_name ON shop (lower(name)) WHERE open;
CREATE TABLE "Odd"."Sale" (shop int NOT NULL REFERENCES shop, "no" bigint, item text, amount numeric(8, 2) NOT NULL,
    PRIMARY KEY (shop, "no"));
CREATE INDEX ON "Odd"."Sale" (item);
CREATE TABLE visit (id int PRIMARY KEY, shop int REFERENCES shop, other int REFERENCES region);
CREATE DOMAIN percent AS int DEFAULT 7 CHECK (VALUE BETWEEN 0 AND 100);
ALTER TABLE visit ADD COLUMN share percent;
CREATE SEQUENCE tickets START 500;
ALTER TABLE visit ADD COLUMN ticket bigint DEFAULT nextval('tickets');
CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER stamp BEFORE UPDATE ON shop FOR EACH ROW EXECUTE FUNCTION stamp();
CREATE VIEW rich AS SELECT * FROM shop WHERE money > 100;
INSERT INTO region SELECT i, 'region ' || i FROM generate_series(1, 5) i;
INSERT INTO shop (region, name, opened, code, open, money, data, tags)
    SELECT 1 + i % 5, E'shop\t"' || i || E'"\n\\N', '2020-01-01 00:00+02'::timestamptz + i * interval '1 hour',
    chr(97 + i % 26), i % 3 = 0, i / 7.0, decode(md5(i::text), 'hex'), ARRAY['a', NULL, i::text] FROM generate_series(1, 200) i;
INSERT INTO "Odd"."Sale" SELECT s, n, 'item ' || n, s * 1.05 FROM generate_series(1, 200) s, generate_series(1, 9) n;
INSERT INTO visit SELECT i, nullif(i % 201, 0), 1 + i % 5 FROM generate_series(1, 700) i;
END
cat >app.log <<'END'
SELECT * FROM region;
END
for i in $(seq 1 60); do
    cat <<END
BEGIN;
SELECT name FROM shop WHERE id = $i;
INSERT INTO "Odd"."Sale" VALUES ($i, 99, 'x', 1);
UPDATE shop SET money = money + 1 WHERE id = $i;
SELECT * FROM region WHERE id = 3;
COMMIT;
UPDATE visit SET other = 2 WHERE shop = $i;
END
done >>app.log
expect 0 tables place --catalog "${urls[3]}" --shards 3 --trace app.log -o app.lookup
# One shard has the type already, made by hand.
sql "${urls[0]}" -c 'CREATE SCHEMA "Odd"' -c "CREATE TYPE \"Odd\".\"Pay Grade\" AS ENUM ('A', 'it''s')"
# The reference, and a shard more, may be other databases of a shard's server.
sql "${urls[1]}" -c 'CREATE DATABASE whole TEMPLATE cleave'
whole=${urls[1]%/*}/whole
expect 0 tables load --lookup app.lookup --shard "${urls[0]}" --shard "${urls[1]}" --shard "${urls[2]}" --from "${urls[3]}" --reference "$whole"
expect_line 'trigger stamp of shop: not brought' err
expect_line 'function public.stamp(): not brought' err
grep -qE 'sequence|default of' err && fail 'a sequence was left behind'
[ "$(sql "$whole" -c 'SELECT * FROM shop' | sort | md5sum)" = "$(sql "${urls[3]}" -c 'SELECT * FROM shop' | sort | md5sum)" ] || fail 'the reference is not the source'
expect_line 'counted: every shard has the rows' out
expect_line 'view rich: not brought' err
for table in shop visit '"Odd"."Sale"'; do
    whole=$(sql "${urls[3]}" -c "SELECT * FROM $table" | sort | md5sum)
    shards=$(for s in 0 1 2; do sql "${urls[$s]}" -c "SELECT * FROM $table"; done | sort | md5sum)
    [ "$whole" = "$shards" ] || fail "$table: the shards together are not the source"
done
for s in 0 1 2; do
    [ "$(sql "${urls[$s]}" -c 'SELECT count(*) FROM region')" = 5 ] || fail "region is not on shard $s"
    [ "$(sql "${urls[$s]}" -c 'SELECT count(*) FROM shop')" -gt 0 ] || fail "shard $s has no shops"
    [ "$(sql "${urls[$s]}" -c 'SELECT count(*) FROM pg_prepared_xacts')" = 0 ] || fail "something is prepared"
    [ "$(sql "${urls[$s]}" -c "SELECT count(*) FROM pg_class WHERE relname LIKE 'cleave%'")" = 1 ] || fail "leavings"
    [ "$(sql "${urls[$s]}" -c 'SELECT shard FROM cleave_shard')" = $s ] || fail "shard $s does not know who it is"
done
"$bin/psql" -X -d "${urls[0]}" -c '\d shop' -c '\d "Odd"."Sale"' >described
for text in "'no''name'::character varying" 'shop_money_check' 'lower(name::text)' 'REFERENCES region(id)' \
    '"Sale_item_idx" btree (item)' 'REFERENCES shop(id)' 'generated always as (lower(name::text)) stored' 'numeric(12,2)'; do
    grep -qiF -e "$text" described || { fail "not brought: $text"; cat described; }
done
# Values that sequences give: none was there, none twice.
for s in 0 1 2; do
    for i in 1 2 3; do sql "${urls[$s]}" -c "INSERT INTO visit (id) VALUES ($((1000 + 10 * s + i))) RETURNING 'ticket', ticket"; done
    sql "${urls[$s]}" -c "BEGIN" -c "INSERT INTO shop (region, money) SELECT 1, 1 FROM generate_series(1, 3) RETURNING 'shop', id" -c ROLLBACK
    sql "${urls[$s]}" -c "BEGIN" -c "INSERT INTO shop (id, region, money) SELECT -i, 1, 1 FROM generate_series(1, 3) i RETURNING 'number', number" -c ROLLBACK
    [ "$(sql "${urls[$s]}" -c 'SELECT DISTINCT share FROM visit WHERE id > 1000')" = 7 ] || fail "the domain's default is not there"
    sql "${urls[$s]}" -c 'DELETE FROM visit WHERE id > 1000'
    sql "${urls[$s]}" -c 'INSERT INTO visit (id, share) VALUES (0, 101)' 2>/dev/null && fail "the domain's check is not there"
done >drawn
[ "$(wc -l <drawn)" = 27 ] && [ -z "$(sort drawn | uniq -d)" ] || { fail 'values are drawn twice'; cat drawn; }
[ "$(sed -n 's/.*|//p' drawn | sort -n | head -1)" -gt 200 ] || fail "values are drawn that were there"
[ "$(sql "${urls[1]%/*}/whole" -c "SELECT nextval('tickets')")" = $((500 + 700)) ] || fail 'the reference does not go on as the source'
id=$(sql "${urls[1]}" -c 'SELECT min(id) FROM shop')
expect 0 tables route app.lookup --key "shop.id=$id"
expect_line 'shard 1' out

# What goes wrong: a line each, nothing half done.
load=(tables load --lookup app.lookup --from "${urls[3]}")
shards=(--shard "${urls[0]}" --shard "${urls[1]}" --shard "${urls[2]}")
wrong() { # TEXT ARGUMENT...
    local text=$1
    shift
    expect 1 "$@"
    expect_one_line
    expect_line "$text" err
    grep -q s3cret err && fail "the password is told"
    for s in 0 1 2; do
        [ "$(sql "${urls[$s]}" -c "SELECT count(*) FROM pg_prepared_xacts")$(sql "${urls[$s]}" -c "SELECT count(*) FROM shop" 2>/dev/null)" = "0${rows[$s]}" ] ||
            fail "shard $s is not as it was after: $*"
    done
}
for s in 0 1 2; do rows[$s]=$(sql "${urls[$s]}" -c 'SELECT count(*) FROM shop'); done
wrong 'is there already; --replace drops it' "${load[@]}" "${shards[@]}"
free=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
wrong 'Connection refused' "${load[@]}" "${shards[@]:0:4}" --shard "postgresql://cleave:s3cret@127.0.0.1:$free/cleave"
wrong 'database "nowhere" does not exist' "${load[@]}" "${shards[@]:0:4}" --shard "${urls[2]%/*}/nowhere"
wrong 'role "stranger" does not exist' "${load[@]}" "${shards[@]:0:4}" --shard "postgresql://stranger@${urls[2]#*@}"
sql "${urls[2]}" -c "CREATE ROLE guest LOGIN PASSWORD 'other'"
printf 'host all guest 127.0.0.1/32 scram-sha-256\n%s\n' "$(cat c/pg2/pg_hba.conf)" >hba
cat hba >c/pg2/pg_hba.conf
sql "${urls[2]}" -c 'SELECT pg_reload_conf()' >/dev/null
wrong 'password authentication failed for user "guest"' "${load[@]}" "${shards[@]:0:4}" --shard "postgresql://guest:s3cret@${urls[2]#*@}"
PGPASSWORD=other wrong 'permission denied' "${load[@]}" "${shards[@]:0:4}" --shard "postgresql://guest@${urls[2]#*@}" --replace
expect 2 "${load[@]}" "${shards[@]:0:4}" --shard "postgresql://cleave@localhost:${urls[1]##*:}"
expect_line 'are the same database' err
expect 2 "${load[@]}" "${shards[@]:0:4}" --shard "postgresql://cleave@localhost:${urls[3]##*:}" --replace
expect_line 'is the source itself' err
sql "${urls[2]}" -c 'BEGIN' -c 'LOCK TABLE shop' -c "PREPARE TRANSACTION 'cleave-replay-1-0-2'"
expect 1 "${load[@]}" "${shards[@]}" --replace
expect_line 'cleave-replay-1-0-2 prepared; `cleave tables recover' err
expect 0 tables recover --lookup app.lookup "${shards[@]}"
for s in 0 1 2; do sql "${urls[$s]}" -c 'DROP TABLE cleave_decisions'; done
sql "${urls[3]}" -c 'ALTER TABLE visit ADD COLUMN mood text'
wrong 'column mood of table visit is not in the lookup table' "${load[@]}" "${shards[@]}" --replace
sql "${urls[3]}" -c 'ALTER TABLE visit DROP COLUMN mood, DROP CONSTRAINT visit_other_fkey, ALTER COLUMN other TYPE text'
wrong 'column visit.other is of type text, not integer' "${load[@]}" "${shards[@]}" --replace
sql "${urls[3]}" -c 'ALTER TABLE visit ALTER COLUMN other TYPE int USING other::int'
sql "${urls[2]}" -c 'CREATE VIEW hangs AS SELECT name FROM shop'
wrong 'other objects depend on' "${load[@]}" "${shards[@]}" --replace
sql "${urls[2]}" -c 'DROP VIEW hangs'
expect 0 "${load[@]}" "${shards[@]}" --replace

# Cut off between two commits: what shard 0 has decided is committed, what it has not is undone.
printf '%s;\n' BEGIN 'CREATE TABLE decided (x int)' "PREPARE TRANSACTION 'cleave-load-01'" | sql "${urls[1]}"
printf '%s;\n' BEGIN 'CREATE TABLE undecided (x int)' "PREPARE TRANSACTION 'cleave-load-02'" | sql "${urls[2]}"
printf '%s;\n' BEGIN 'CREATE TABLE another (x int)' "PREPARE TRANSACTION 'another-load-01'" | sql "${urls[2]}"
sql "${urls[0]}" -c 'CREATE TABLE cleave_loads (name varchar(100) PRIMARY KEY)' -c "INSERT INTO cleave_loads VALUES ('cleave-load-01')"
expect 1 "${load[@]}" "${shards[@]}"
expect_line 'is there already' err
[ "$(sql "${urls[1]}" -c "SELECT count(*) FROM pg_class WHERE relname = 'decided'")" = 1 ] || fail "a decided part is not committed"
[ "$(sql "${urls[2]}" -c "SELECT count(*) FROM pg_class WHERE relname = 'undecided'")" = 0 ] || fail "an undecided part is committed"
[ "$(sql "${urls[2]}" -c 'SELECT gid FROM pg_prepared_xacts')" = another-load-01 ] || fail "not only our own parts are settled"
sql "${urls[2]}" -c "ROLLBACK PREPARED 'another-load-01'"
sql "${urls[1]}" -c 'DROP TABLE decided'
sql "${urls[0]}" -c 'DROP TABLE cleave_loads'

# Killed at any moment; the next load settles it.
for round in 1 2 3 4 5 6; do
    "$cleave" "${load[@]}" "${shards[@]}" --replace >out 2>err &
    job=$!
    sleep 0.$((RANDOM % 3))$((RANDOM % 10))
    kill -KILL $job
    wait $job 2>/dev/null
    expect 1 "${load[@]}" "${shards[@]}"
    total=0
    for s in 0 1 2; do total=$((total + $(sql "${urls[$s]}" -c 'SELECT count(*) FROM shop'))); done
    [ $total = 200 ] || fail "half a load: $total shops"
    for s in 0 1 2; do
        [ "$(sql "${urls[$s]}" -c 'SELECT count(*) FROM pg_prepared_xacts')" = 0 ] || fail "something stays prepared on $s"
    done
done

# A full disk: a tablespace in a small file system.
mkdir full
if mount -t tmpfs -o size=1m tmpfs full 2>/dev/null; then
    mkdir full/space
    chown "$(stat -c %U c/pg2)" full full/space
    sql "${urls[2]}" -c "CREATE TABLESPACE small LOCATION '$scratch/full/space'" -c "ALTER DATABASE cleave SET default_tablespace = small"
    for s in 0 1 2; do rows[$s]=$(sql "${urls[$s]}" -c 'SELECT count(*) FROM shop'); done
    sql "${urls[3]}" -c "INSERT INTO \"Odd\".\"Sale\" SELECT s, n, repeat('x', 200), 1 FROM generate_series(1, 200) s, generate_series(1000, 1100) n"
    wrong "No space left on device" "${load[@]}" "${shards[@]}" --replace
    expect_line "make room on the server's disk" err
    sql "${urls[2]}" -c 'ALTER DATABASE cleave RESET default_tablespace' -c 'DROP TABLESPACE small'
else
    echo "a full disk: not tried, since no file system can be mounted here"
fi
expect 0 cluster down --dir c
[ ! -e c ] && [ "$(servers_of "$scratch/c")" = 0 ] || fail "down leaves something"
done_testing
