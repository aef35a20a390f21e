"""The partitioners that bench/partition runs: cleave, and every peer found.

Each run is a process of its own with one thread. Its time is its user CPU from start to end, reading
and writing included, less what a peer spends on starting MPI (it says how much).
"""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import threading

import hypergraph as hg

# Programs that the benchmark never installs, by path: environment variable, command. {program} is the
# path; the answer is {out}, or the one file that appears beside {hgr}. Those without {seed} run once.
BY_PATH = {
    "kahypar": ("CLEAVE_BENCH_KAHYPAR",
                "{program} -h {hgr} -k {k} -e {epsilon} -o {objective} -m direct -w true --seed {seed} "
                "-p {folder}/{objective}_kKaHyPar_sea20.ini"),
    "mt-kahypar": ("CLEAVE_BENCH_MT_KAHYPAR",
                   "{program} -h {hgr} -k {k} -e {epsilon} -o {objective} -t 1 --preset-type=default "
                   "--seed={seed} --write-partition-file=true --partition-output-folder={scratch}"),
    "hmetis": ("CLEAVE_BENCH_HMETIS", "{program} {hgr} {k} {ubfactor}"),
    "patoh": ("CLEAVE_BENCH_PATOH", "{program} {patoh} {k} FI={epsilon} SD={seed} UM={patoh_objective} WI=1 BO=C"),
}
LIBRARIES = ("metis", "zoltan")  # bench/peers/NAME.c, built where Meson finds the library


class Run:
    """One answer. whole: CPU with a peer's startup; `fault`: why there is no count, or None."""

    def __init__(self, seconds=0.0, whole=0.0, count=None, fault=None, agrees=None):
        self.seconds, self.whole, self.count = seconds, whole, count
        self.fault, self.agrees = fault, agrees


def run_process(command, limit, folder=None):
    """Returns exit status, standard output, standard error, user CPU seconds of that process."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=folder)
        timer = threading.Timer(limit, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return process.returncode, *texts, usage.ru_utime


class Partitioner:
    """A row's name, and how to run it. uses_objective False: one answer serves both objectives."""

    preset = ""
    uses_objective = seeded = several = True

    def run(self, path, h, k, epsilon, objective, seed, limit):
        with tempfile.TemporaryDirectory() as scratch:
            return self.run_in(pathlib.Path(scratch), path, h, k, epsilon, objective, seed, limit)


def read_count(out, h, k):
    try:
        return hg.Count(h, hg.read_blocks(out, h.vertices, k), k), None
    except hg.Bad as fault:
        return None, str(fault)


def last_line(text):
    return (text.strip().splitlines() or [""])[-1]


class Cleave(Partitioner):
    def __init__(self, program, preset, extra=()):
        self.program, self.preset, self.extra = program, preset, list(extra)
        self.name = "cleave"

    def run_in(self, scratch, path, h, k, epsilon, objective, seed, limit):
        out = scratch / "blocks"
        status, text, error, cpu = run_process(
            [self.program, "partition", path, "-k", str(k), "-e", epsilon, "--objective", objective,
             "--seed", str(seed), "--json", "-q", "-o", out, *self.extra], limit)
        count, fault = read_count(out, h, k)
        if fault:
            return Run(cpu, cpu, fault=f"exit status {status}, {fault}: {last_line(error)}")
        return Run(cpu, cpu, count, None, agrees(text, count, epsilon))


def agrees(text, count, epsilon):
    """Whether cleave's own figures (JSON) are those counted here."""
    try:
        said = json.loads(text)
    except ValueError:
        return False
    return (said["cut"] == count.cut and said["km1"] == count.km1
            and said["balanced"] == count.balanced(epsilon)
            and abs(max(said["imbalance"]) - count.imbalance()) < 1e-9)


class Library(Partitioner):
    """A program of bench/peers."""

    def __init__(self, name, program):
        self.name, self.program = name, program
        self.uses_objective = name != "metis"
        self.several = name != "zoltan"

    def run_in(self, scratch, path, h, k, epsilon, objective, seed, limit):
        out = scratch / "blocks"
        status, text, error, cpu = run_process(
            [self.program, path, str(k), epsilon, str(seed), objective, out], limit)
        if status:
            return Run(cpu, cpu, fault=f"exit status {status}: {last_line(error)}")
        times = dict(line.split() for line in text.splitlines() if len(line.split()) == 2)
        count, fault = read_count(out, h, k)
        return Run(cpu - float(times.get("startup", 0)), cpu, count, fault)


class ByPath(Partitioner):
    """A program that the user named, run by a command template."""

    several = False

    def __init__(self, name, program, template):
        self.name, self.program, self.template = name, program, template
        self.uses_objective = "{objective}" in template or "{patoh_objective}" in template
        self.seeded = "{seed}" in template

    def run_in(self, scratch, path, h, k, epsilon, objective, seed, limit):
        copy, patoh = scratch / "h.hgr", scratch / "h.patoh"
        shutil.copyfile(path, copy)
        if "{patoh}" in self.template:
            hg.write_patoh(h, patoh)
        before = set(scratch.iterdir())
        # hMETIS takes whole per cents of overweight a bisection, in a block's share of the whole.
        bisections = max(1, (k - 1).bit_length())
        ubfactor = max(1, int(50 * ((1 + float(epsilon)) ** (1 / bisections) - 1)))
        words = {"program": self.program, "folder": pathlib.Path(self.program).parent, "hgr": copy,
                 "patoh": patoh, "scratch": scratch, "out": scratch / "out", "k": k, "epsilon": epsilon,
                 "objective": objective, "patoh_objective": "U" if objective == "cut" else "O",
                 "seed": seed, "ubfactor": ubfactor}
        command = [word.format(**words) for word in shlex.split(self.template)]
        status, _, error, cpu = run_process(command, limit, scratch)
        made = set(scratch.iterdir()) - before
        if len(made) != 1:
            return Run(cpu, cpu, fault=f"exit status {status}, {len(made)} new files: {last_line(error)}")
        count, fault = read_count(made.pop(), h, k)
        return Run(cpu, cpu, count, fault)


def find_libraries(cleave, say):
    """Peers built beside the command; those missing are built where there is a build folder."""
    build = pathlib.Path(cleave).parent
    found = []
    for name in LIBRARIES:
        program = build / "bench" / f"peer-{name}"
        if not program.exists() and (build / "build.ninja").exists() and shutil.which("ninja"):
            say(f"building bench/peer-{name}")
            subprocess.run(["ninja", "-C", build, f"bench/peer-{name}"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        if program.exists():
            found.append(Library(name, program))
        else:
            say(f"{name}: not here (its library is not installed, or `ninja bench/peer-{name}` fails)")
    return found


def find_by_path(named, templates):
    """named: NAME=PROGRAM from options; the environment names others. templates: NAME=COMMAND."""
    programs = {name: os.environ[variable] for name, (variable, _) in BY_PATH.items() if variable in os.environ}
    programs.update(named)
    found = []
    for name, program in programs.items():
        template = templates.get(name) or (BY_PATH[name][1] if name in BY_PATH else None)
        if not template:
            raise hg.Bad(f"peer {name}: no command is known; give one with --command {name}='...'")
        if not shutil.which(program):
            raise hg.Bad(f"peer {name}: no program at {program}")
        found.append(ByPath(name, shutil.which(program), template))
    return found


def find_cleave(program, presets):
    """One a preset. The command may not know --preset yet: then there is the default alone."""
    help_text = subprocess.run([program, "partition", "--help"], capture_output=True, text=True).stdout
    knows = "--preset" in help_text
    threads = ["--threads", "1"] if "--threads" in help_text else []
    return [Cleave(program, p, (["--preset", p] if knows else []) + threads)
            for p in presets if knows or p == "default"]
