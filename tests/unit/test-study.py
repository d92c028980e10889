#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery study`: what a file may declare, what is run again and what is not, interruptions,
parts on other machines, tables and conclusions; with a program that only pretends, and with a
real one where machines are simulated. TAP.

usage: test-study.py ORRERY PROGRAM WITH_SIM
"""

import csv
import itertools
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from programs import Skip, run_all, test  # noqa: E402
from tools_util import on_terminal  # noqa: E402

if len(sys.argv) != 4:
    sys.exit(__doc__.strip())
ORRERY, PROGRAM = map(os.path.abspath, sys.argv[1:3])
WITH_SIM = sys.argv[3]
TOP = tempfile.TemporaryDirectory(prefix="orrery-study-")

# Writes the report that a library would. Times depend on policy, machine, size and seed: those
# of a seed are longer or shorter alike for all policies. What is called is counted.
PRETENDER = r"""#!/bin/sh
echo "$*|$ORRERY_MACHINE|$STARPU_SCHED|$ORRERY_SET|$ORRERY_SIM_SEED|$ORRERY_SIM_NOISE|$ANSWER" \
    >>"$PRETEND/calls"
if [ -e "$PRETEND/hang" ] && [ "$(wc -l <"$PRETEND/calls")" -gt 5 ]; then exec sleep 100; fi
case $STARPU_SCHED in
eager) us=4000 ;;
lws) us=3000 ;;
prio) echo "orrery: error: it is broken" >&2; exit 1 ;;
dmda) us=2010 ;;
*) us=2000 ;;
esac
case $ORRERY_MACHINE in epyc*) us=$((us * 3)) ;; esac
[ "$ORRERY_SET" = "cpu.count = 4" ] && us=$((us * 2))
us=$((us * ${1:-1} + ${ORRERY_SIM_SEED:-0} * 7))
cat >"$ORRERY_REPORT" <<REPORT
{"version": "0", "simulated": true, "machine": "$ORRERY_MACHINE", "provenance": "derived",
 "scheduler": "$STARPU_SCHED", "makespan_us": $us.25, "flops": 5e9, "tasks": 220,
 "transfers": 12, "transferred_bytes": 1048576, "evictions": 0, "wall_s": 0.25,
 "exit": "shutdown", "workers": [{"name": "CPU 0", "busy_us": 1000, "tasks": 20}]}
REPORT
"""

STUDY = """\
# a comment
programs:
  - run: ./pretend
    sizes: ["1", "2"]
machines: [laptop-8, epyc-64]
policies: [eager, lws, dmda, dmdas]
repetitions: 3
"""


class Folder:
    """A folder with the pretending program and a study."""

    count = 0

    def __init__(self, study=STUDY, **more):
        Folder.count += 1
        self.path = os.path.join(TOP.name, str(Folder.count))
        os.mkdir(self.path)
        self.write("pretend", PRETENDER)
        os.chmod(self.file("pretend"), 0o755)
        self.write("a.yaml", study)
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith(("ORRERY_MACHINE", "STARPU_", "ORRERY_SIM"))}
        self.env.update(PRETEND=self.path, STARPU_HOME=self.path, **more)

    def file(self, name):
        return os.path.join(self.path, name)

    def write(self, name, text):
        with open(self.file(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(self.file(name), encoding="utf-8") as file:
            return file.read()

    def calls(self):
        """What was run since the last question."""
        if not os.path.exists(self.file("calls")):
            return []
        found = self.read("calls").splitlines()
        os.unlink(self.file("calls"))
        return found

    def start(self, *words, file="a.yaml", **more):
        return subprocess.Popen([ORRERY, "study", file, *words], cwd=self.path,
                                env=dict(self.env, **more), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")

    def run(self, *words, code=0, **more):
        process = self.start(*words, **more)
        out, err = process.communicate(timeout=200)
        assert process.returncode == code, f"{words}: {process.returncode}\n{out}{err}"
        return out + err


def rows(text):
    return list(csv.DictReader(text.splitlines()))


@test
def every_combination_is_run_once_and_has_a_row():
    folder = Folder()
    out = folder.run("--csv", "t.csv")
    table = rows(folder.read("t.csv"))
    assert len(table) == 2 * 2 * 4 * 3 == len(folder.calls()), len(table)
    assert "48 runs: 4 workloads, 4 policies, 3 repetitions; 0 were kept, 48 are new" in out, out
    one = [row for row in table if row["size"] == "2" and row["machine"] == "epyc-64"
           and row["policy"] == "lws" and row["repetition"] == "2"]
    assert len(one) == 1 and one[0]["makespan_us"] == "18014.25", one
    assert one[0]["policy_ran"] == "lws" and one[0]["noise"] == "measured", one


@test
def repetitions_have_the_same_seeds_for_all_policies():
    folder = Folder()
    folder.run()
    seeds = {}
    for call in folder.calls():
        words = call.split("|")
        seeds.setdefault(words[2], []).append(words[4])
    assert all(sorted(found) == sorted(seeds["lws"]) for found in seeds.values()), seeds
    assert set(seeds["lws"]) == {"0", "1", "2"}, seeds


@test
def nothing_is_simulated_twice():
    folder = Folder()
    folder.run("--csv", "one.csv")
    assert len(folder.calls()) == 48
    folder.run("--csv", "two.csv")
    assert folder.calls() == [] and folder.read("one.csv") == folder.read("two.csv")
    # More policies: only these are run.
    folder.write("a.yaml", STUDY.replace("dmdas]", "dmdas, random]"))
    folder.run()
    assert len(folder.calls()) == 12


@test
def what_a_result_depends_on_is_simulated_again_when_it_changes():
    folder = Folder()
    folder.run()
    folder.calls()
    folder.write("pretend", PRETENDER + "# another program\n")
    folder.run()
    assert len(folder.calls()) == 48
    folder.run(STARPU_CALIBRATE_MINIMUM="7")
    assert len(folder.calls()) == 48
    folder.write("a.yaml", STUDY + "variables: {ANSWER: 42}\n")
    folder.run()
    calls = folder.calls()
    assert len(calls) == 48 and all(call.endswith("|42") for call in calls), calls[:2]
    # A model of the one machine: what runs on the other stays.
    codelets = os.path.join(folder.path, ".starpu", "sampling", "codelets", "45")
    os.makedirs(codelets)
    with open(os.path.join(codelets, "gemm.laptop-8"), "w", encoding="ascii") as file:
        file.write("a model\n")
    folder.run()
    assert len(folder.calls()) == 24
    # The study's own name, comments and order of machines are no inputs.
    folder.write("b.yaml", "# others\n" + STUDY.replace("[laptop-8, epyc-64]",
                                                        "[epyc-64, laptop-8]")
                 + "variables: {ANSWER: 42}\n")
    folder.run("--store", "a.results", file="b.yaml")
    assert folder.calls() == []


@test
def files_that_programs_read_are_inputs():
    folder = Folder(STUDY.replace('sizes: ["1", "2"]', "inputs: [matrix]"))
    folder.write("matrix", "1 2")
    folder.run()
    folder.calls()
    folder.run()
    assert folder.calls() == []
    folder.write("matrix", "1 3")
    folder.run()
    assert len(folder.calls()) == 24


@test
def a_study_that_was_killed_goes_on_to_the_same_table():
    whole = Folder()
    whole.run("--csv", "t.csv")
    folder = Folder()
    folder.write("hang", "")
    process = folder.start("-j", "1")
    results = folder.file("a.results/results.jsonl")
    # The sixth is hanging, and has written its call: none comes after the kill.
    while (not os.path.exists(results) or folder.read("a.results/results.jsonl").count("\n") < 5
           or folder.read("calls").count("\n") < 6):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.kill()
    process.communicate()
    before = folder.read("a.results/results.jsonl")
    assert before.count("\n") == 5, before
    # As if it had been killed in the middle of a line.
    folder.write("a.results/results.jsonl", before[:-20])
    os.unlink(folder.file("hang"))
    folder.calls()
    out = folder.run("--csv", "t.csv")
    assert "4 were kept, 44 are new" in out, out
    assert len(folder.calls()) == 44
    assert folder.read("t.csv") == whole.read("t.csv")
    folder.run()
    assert folder.calls() == []


@test
def an_interrupt_says_what_is_kept():
    folder = Folder()
    folder.write("hang", "")
    process = folder.start("-j", "1")
    results = folder.file("a.results/results.jsonl")
    while not os.path.exists(results) or folder.read("a.results/results.jsonl").count("\n") < 5:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 130, (process.returncode, out, err)
    assert "keeps 5 results, 43 are missing; the same command goes on from there" in err, err
    assert out == "", out


@test
def a_terminal_shows_how_far_it_is():
    folder = Folder()
    code, shown = on_terminal([ORRERY, "study", "a.yaml", "-j", "1"], folder.path, folder.env)
    assert code == 0 and "1 of 48 runs done, about " in shown and " s left" in shown, shown
    folder = Folder()
    assert "runs done" not in folder.run()


@test
def parts_are_merged_by_putting_their_files_together():
    whole, parts = Folder(), [Folder() for _ in range(3)]
    whole.run("--csv", "t.csv")
    ran = 0
    for k, folder in enumerate(parts, 1):
        out = folder.run("--part", f"{k}/3")
        assert f"part {k} of 3: 16 runs are new, 0 failed" in out, out
        ran += len(folder.calls())
    assert ran == 48, ran
    for k, folder in enumerate(parts[1:], 2):
        shutil.copy(folder.file(f"a.results/part-{k}-of-3.jsonl"),
                    parts[0].file("a.results"))
    parts[0].run("--no-run", "--csv", "t.csv")
    assert parts[0].calls() == []
    assert parts[0].read("t.csv") == whole.read("t.csv")


@test
def what_is_missing_is_said_and_nothing_concluded_of_it():
    folder = Folder()
    folder.run("--part", "1/2")
    out = folder.run("--no-run", "--csv", "t.csv", code=1)
    assert "24 are missing" in out and "No conclusion of repetitions" in out, out
    assert sum(row["error"] == "not run" for row in rows(folder.read("t.csv"))) == 24


@test
def a_job_array_of_slurm_runs_all_parts():
    folder = Folder()
    # A cluster of one: runs each task of the array, one after the other.
    folder.write("sbatch", r"""#!/bin/sh
echo "$*" >"$PRETEND/sbatch-called"
for script; do :; done
last=$(sed -n 's/^#SBATCH --array=1-//p' "$script")
for task in $(seq "$last"); do
    SLURM_ARRAY_TASK_ID=$task sh "$script" || exit
done
""")
    os.chmod(folder.file("sbatch"), 0o755)
    path = {"PATH": folder.path + ":" + folder.env["PATH"]}
    out = folder.run("--on", "slurm", "--parts", "4", "--with", "--time=10 --partition=long",
                     **path)
    assert "submitted in 4 parts" in out, out
    assert folder.read("sbatch-called").startswith("--time=10 --partition=long "), out
    assert len(folder.calls()) == 48
    assert "0 are new" in folder.run() and folder.calls() == []
    assert sorted(name for name in os.listdir(folder.file("a.results"))) == [
        "job.sh"] + [f"part-{k}-of-4.jsonl" for k in range(1, 5)] + ["results.jsonl"]


def runs_on(how, *more):
    folder = Folder()
    out = folder.run("--on", how, "--parts", "3", *more, "--csv", "t.csv")
    assert len(folder.calls()) == 48 and "48 were kept, 0 are new" in out, out
    assert all(f"part-{k}-of-3.jsonl" in os.listdir(folder.file("a.results"))
               for k in range(1, 4))
    whole = Folder()
    whole.run("--csv", "t.csv")
    assert folder.read("t.csv") == whole.read("t.csv")


@test
def gnu_parallel_runs_all_parts():
    if not shutil.which("parallel"):
        raise Skip("GNU parallel (Debian's package parallel)")
    runs_on("parallel", "--with", "--will-cite")


@test
def mpirun_runs_all_parts():
    if not shutil.which("mpirun"):
        raise Skip("an MPI (Debian's package openmpi-bin)")
    runs_on("mpi", "--with", "--allow-run-as-root --oversubscribe")


@test
def a_launcher_that_is_missing_is_named():
    folder = Folder()
    out = folder.run("--on", "slurm", "--parts", "2", code=1, PATH="/nonexistent")
    assert "`sbatch' is not installed here" in out, out
    out = folder.run("--part", "mpi", code=2)
    assert "OMPI_COMM_WORLD_RANK" in out, out


@test
def a_failure_is_a_row_and_is_tried_again():
    folder = Folder(STUDY.replace("[eager,", "[prio,"))
    out = folder.run("--csv", "t.csv", code=1)
    assert "12 failed" in out and "it is broken" in out, out
    failed = [row for row in rows(folder.read("t.csv")) if row["error"]]
    assert len(failed) == 12 and all(row["policy"] == "prio" for row in failed)
    assert "failed in 4 of 4" in out, out
    folder.calls()
    folder.run(code=1)
    assert len(folder.calls()) == 12


@test
def workloads_that_nothing_ran_do_not_hide_the_others():
    folder = Folder(MANY.replace('"3"]', '"3", "none"]'))
    folder.write("pretend", PRETENDER.replace("case $STARPU_SCHED", '[ "$1" = none ] && exit 1\n'
                                              "case $STARPU_SCHED", 1))
    out = folder.run("--json", "t.json", code=1)
    assert "2 workloads are left out, of which no policy has all repetitions." in out, out
    found = json.loads(folder.read("t.json"))["findings"]
    assert len(found["workloads"]) == 6 and found["tests"] == 18, found
    assert [policy["mean_rank"] for policy in found["policies"]] == [1, 2, 3, 4]
    folder = Folder(STUDY.replace("[eager, lws, dmda, dmdas]", "prio"))
    out = folder.run(code=1)
    assert "no policy has all repetitions of any workload" in out and "nan" not in out, out


@test
def edits_with_several_values_are_each_tried():
    folder = Folder(STUDY + 'edits: ["", "cpu.count = 4, 6"]\n')
    folder.run("--csv", "t.csv")
    table = rows(folder.read("t.csv"))
    assert len(table) == 3 * 48
    assert {row["edits"] for row in table} == {"", "cpu.count = 4", "cpu.count = 6"}


MANY = """\
programs: {run: ./pretend, sizes: ["1", "2", "3"]}
machines: [laptop-8, epyc-64]
policies: [eager, lws, dmda, dmdas]
noise: 2%
repetitions: 20
baseline: lws
"""


@test
def conclusions_are_those_that_the_results_carry():
    folder = Folder(MANY)
    out = folder.run("--json", "t.json", "--workloads")
    found = json.loads(folder.read("t.json"))["findings"]
    by_name = {policy["policy"]: policy for policy in found["policies"]}
    assert [policy["policy"] for policy in found["policies"]] == ["dmdas", "dmda", "lws", "eager"]
    assert found["reference"] == "lws" and found["tests"] == 3 * 6, found["tests"]
    # All seeds, workloads and pairs agree.
    assert [by_name[name]["mean_rank"] for name in ("dmdas", "dmda", "lws", "eager")] == [
        1, 2, 3, 4]
    assert by_name["eager"]["slower_in"] == 6 and by_name["dmda"]["faster_in"] == 6
    pair = found["workloads"][0]["policies"][0]
    assert pair["policy"] == "eager" and pair["rank_biserial"] == 1, pair
    # 18 equal chances of 2 / 2^20 are corrected to the least times 18.
    assert abs(pair["chance"] - 18 * 2 / 2 ** 20) < 1e-9, pair
    # Seeds 0 to 19 add 7 each: 66.5 in the median.
    median = {policy["policy"]: policy["median_us"]
              for policy in found["workloads"][0]["policies"]}
    assert median["eager"] == 4066.75 and median["dmdas"] == 2066.75, median
    assert abs(pair["ratio"] - median["eager"] / median["lws"]) < 0.01, pair
    mean = 1
    for workload in found["workloads"]:
        medians = {policy["policy"]: policy["median_us"] for policy in workload["policies"]}
        mean *= medians["lws"] / medians["dmdas"]
    assert abs(by_name["lws"]["to_best"] - mean ** (1 / 6)) < 1e-9
    assert "slower in 6, faster in 0" in out and "the reference" in out, out
    # Four policies on six workloads: 2.569 sqrt(20 / 36) = 1.915 (Demsar 2006).
    assert abs(found["ranks"]["critical_difference"] - 2.569 * (20 / 36) ** 0.5) < 2e-3
    assert "dmdas has the best mean rank, and is not told apart from dmda." in out, out


@test
def conclusions_that_the_results_do_not_carry_are_refused():
    # Four repetitions cannot tell 18 comparisons apart at 5 %: 2 / 2^10 times 18 can.
    out = Folder(MANY.replace("20", "4")).run()
    assert "4 repetitions cannot tell anything in 18 comparisons at 5 %: `repetitions: 10' can" \
        in out, out
    out = Folder(MANY.replace("2%", "none")).run()
    assert "without noise a simulation gives one number" in out, out
    out = Folder(MANY.replace(', "3"', "")).run()
    assert "ranks over 4 workloads carry no conclusion; 5 do" in out, out
    # Without a baseline the best one was found in the same results: all pairs count.
    out = Folder(MANY.replace("baseline: lws\n", "")).run()
    assert "for all 36 tests together (Holm); these are all" in out, out


@test
def profiles_are_drawn():
    if not shutil.which("gnuplot"):
        raise Skip("gnuplot")
    folder = Folder()
    folder.run("--plot", "p.svg")
    picture = folder.read("p.svg")
    assert "Performance profiles of 4 policies on 4 workloads" in picture


@test
def parquet_needs_pyarrow_and_says_so():
    folder = Folder()
    os.makedirs(folder.file("none"))
    folder.write("none/pyarrow.py", "raise ImportError\n")
    out = folder.run("--parquet", "t.parquet", code=1, PYTHONPATH=folder.file("none"))
    assert "pyarrow" in out and folder.calls() == [], out
    # With it the table is what --csv has; here it is a stand-in that writes what it got.
    os.makedirs(folder.file("some/pyarrow"))
    folder.write("some/pyarrow/__init__.py", "")
    folder.write("some/pyarrow/csv.py", "def read_csv(file):\n    return file.read()\n")
    folder.write("some/pyarrow/parquet.py",
                 "def write_table(table, path):\n    open(path, 'wb').write(table)\n")
    folder.run("--parquet", "t.parquet", "--csv", "t.csv", PYTHONPATH=folder.file("some"))
    assert folder.read("t.parquet") == folder.read("t.csv")


@test
def mistakes_are_named_with_their_line():
    cases = [
        ("machines: laptop-8\npolicies: lws\n", "`programs' is missing"),
        (STUDY + "repetition: 3\n", "a.yaml:8: `repetition' is no key of a study"),
        (STUDY.replace("lws", "lsw"), "a.yaml:6: there is no policy `lsw'"),
        (STUDY.replace("epyc-64", "epic-64"), "a.yaml:5: there is no machine `epic-64'"),
        (STUDY.replace("epyc-64", "real"), "a study is of simulated machines"),
        (STUDY.replace("repetitions: 3", "repetitions: few"), "`repetitions' is a number"),
        (STUDY.replace('"2"', '"1"'), "the size `1' is there twice"),
        (STUDY.replace("run:", "rum:"), "a.yaml:3: `rum' is no key of a program, which has run"),
        (STUDY + "baseline: heft\n", "the baseline `heft' is none of the policies"),
        (STUDY + "noise: loud\n", "not `loud'"),
        (STUDY + "edits: cpu = = 4\n", "`edits' has what --set takes"),
        (STUDY + "draws: perhaps\n", "`draws' is true or false"),
        (STUDY + "assume: nonsense\n", "nonsense"),
        (STUDY + "machines: laptop-8\n", "`machines' is there twice"),
        (STUDY + "a: [\n", "this is no YAML"),
        ("policies: []\nprograms: ./pretend\nmachines: laptop-8\n", "a list is empty"),
        ("a: &a [*a]\n", "nested too deep"),
        ("- 1\n", "a study has a line KEY: value each"),
        ("", "`programs' is missing"),
        (STUDY.replace("./pretend", "./pretends"), "there is no program `./pretends'"),
    ]
    for text, message in cases:
        folder = Folder(text)
        process = folder.start()
        out, err = process.communicate(timeout=100)
        assert process.returncode in (1, 2) and message in err, (text, process.returncode, out, err)
        assert folder.calls() == []
    folder = Folder()
    for words, message in [(("--part", "4/3"), "write 3/8"), (("--part", "0/3"), "write 3/8"),
                           (("--on", "pbs", "--parts", "2"), "it is slurm, parallel or mpi"),
                           (("--on", "mpi"), "--on and --parts go together"),
                           (("--with", "x"), "--with is for what --on starts"),
                           (("--part", "1/2", "--csv", "t"), "prints no table"),
                           (("--csv", "-", "--json", "-"), "choose one"),
                           (("b.yaml",), "one file at a time"),
                           (("-j", "0"), "-j takes a number")]:
        assert message in folder.run(*words, code=2), words
    assert folder.calls() == []


@test
def a_real_program_and_its_record_give_the_same_again():
    if WITH_SIM != "1":
        raise Skip("the simulator")
    folder = Folder()
    subprocess.run([ORRERY, "record", "-m", "laptop-8", "--assume", "kernel[*] = 100us", "-o",
                    "app.rec", "--", PROGRAM, "plain", "60"], cwd=folder.path, env=folder.env,
                   check=True, stdout=subprocess.DEVNULL)
    folder.write("a.yaml", f"""\
programs:
  - run: app.rec
  - run: [{PROGRAM}]
    name: program
    sizes: [plain 60]
machines: [laptop-8, rtx4090-2]
policies: [eager, lws]
assume: "kernel[*] = 100us"
repetitions: 6
baseline: eager
""")
    folder.run("--csv", "one.csv")
    shutil.rmtree(folder.file("a.results"))
    folder.run("--csv", "two.csv", "-j", "1")
    table = rows(folder.read("one.csv"))
    assert folder.read("one.csv") == folder.read("two.csv") and len(table) == 48
    assert all(float(row["makespan_us"]) > 0 and not row["error"] for row in table)


def ranks_of(values):
    """Means of equal ones."""
    return [sum((b < a) + (b == a) / 2 for b in values) + 0.5 for a in values]


def signed_rank_chance(x, y):
    """By all signs of the ranks of the differences."""
    differences = [a - b for a, b in zip(x, y)]
    ranks = [rank if difference else 0 for rank, difference
             in zip(ranks_of([abs(d) for d in differences]), differences)]
    found = abs(sum(r for r, d in zip(ranks, differences) if d > 0) - sum(ranks) / 2)
    sums = [sum(rank for rank, sign in zip(ranks, signs) if sign)
            for signs in itertools.product((0, 1), repeat=len(ranks))]
    return sum(abs(s - sum(ranks) / 2) >= found - 1e-9 for s in sums) / len(sums)


@test
def conclusions_are_those_computed_another_way():
    if WITH_SIM != "1":
        raise Skip("the simulator")
    folder = Folder()
    for n in (30, 60, 90):
        subprocess.run([ORRERY, "record", "-m", "laptop-8", "--assume", "kernel[*] = 100us", "-o",
                        f"{n}.rec", "--", PROGRAM, "plain", str(n)], cwd=folder.path,
                       env=folder.env, check=True, stdout=subprocess.DEVNULL)
    folder.write("a.yaml", """\
programs: [30.rec, 60.rec, 90.rec]
machines: [laptop-8, rtx4090-2]
policies: [eager, lws, random]
assume: "kernel[*] = 100us"
noise: 10%
repetitions: 10
baseline: lws
""")
    folder.run("--json", "t.json")
    told = json.loads(folder.read("t.json"))
    times, tested = {}, []
    for run in told["runs"]:
        times.setdefault((run["program"] + " on " + run["machine"], run["policy"]),
                         []).append(run["makespan_us"])
    for workload in told["findings"]["workloads"]:
        base = times[workload["workload"], "lws"]
        for policy in workload["policies"]:
            if policy["policy"] == "lws":
                continue
            mine = times[workload["workload"], policy["policy"]]
            logs = [math.log(a / b) for a, b in zip(mine, base)]
            means = [(a + b) / 2 for i, a in enumerate(logs) for b in logs[i:]]
            assert abs(math.exp(statistics.median(means)) - policy["ratio"]) < 1e-12, policy
            tested.append((signed_rank_chance(mine, base), policy["chance"]))
    assert len(tested) == 12 == told["findings"]["tests"]
    corrected = 0
    for left, (mine, theirs) in zip(range(12, 0, -1), sorted(tested)):
        corrected = max(corrected, min(1, left * mine))
        assert abs(corrected - theirs) < 1e-12, (mine, theirs)
    ranks = [ranks_of([policy["median_us"] for policy in workload["policies"]])
             for workload in told["findings"]["workloads"]]
    mean = [sum(column) / 6 for column in zip(*ranks)]
    by_name = {p["policy"]: p["mean_rank"] for p in told["findings"]["policies"]}
    assert all(abs(a - by_name[b]) < 1e-12 for a, b in zip(mean, ("eager", "lws", "random")))


sys.exit(run_all())
