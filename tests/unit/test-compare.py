#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery compare`: sweeps, repetitions, files of runs, two tables compared; with
a program that only pretends, and with a real one where machines are simulated.
TAP.

usage: test-compare.py ORRERY PROGRAM WITH_SIM
"""

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import Skip, run_all, test  # noqa: E402

if len(sys.argv) != 4:
    sys.exit(__doc__.strip())
ORRERY, PROGRAM, WITH_SIM = sys.argv[1:]
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
ARGUMENTS = ("plain", "100")

# Writes the report that a library would: the time is BASE[policy], divided by the
# number of GPUs that ORRERY_SET asks for, and a little more with each seed.
PRETENDER = r"""#!/bin/sh
edits=$(echo "$ORRERY_SET" | tr '\n' ';')
echo "$ORRERY_MACHINE|$STARPU_SCHED|$edits|$ORRERY_SIM_NOISE|$ORRERY_SIM_SEED" \
    >>"$PRETEND/calls"
[ -e "$PRETEND/hang" ] && [ "$(wc -l <"$PRETEND/calls")" -gt 3 ] && exec sleep 100
case $STARPU_SCHED in
eager) us=$((4000 + ${SLOWER_EAGER:-0})) ;;
broken) echo "orrery: error: it is broken" >&2; exit 1 ;;
dmda) us=2010 ;;
*) us=2000 ;;
esac
[ -n "$ORRERY_MACHINE" ] && machine="\"$ORRERY_MACHINE\"" || machine=null
gpus=$(echo "$ORRERY_SET" | sed -n 's/^cuda.count = //p')
us=$(( us / ${gpus:-1} + ${ORRERY_SIM_SEED:-0} * 10 + ${SLOWER:-0} ))
cat >"$ORRERY_REPORT" <<REPORT
{"version": "0", "simulated": true, "machine": $machine, "provenance": "derived",
 "scheduler": "$STARPU_SCHED", "makespan_us": $us, "flops": 5e9, "tasks": 220,
 "transfers": 12, "transferred_bytes": 1048576, "evictions": 0, "wall_s": 0.25,
 "exit": "shutdown", "workers": [{"name": "CPU 0", "busy_us": 1000, "tasks": 20}]}
REPORT
"""


class Pretended:
    """The command with the pretending program, in a folder of its own."""

    def __init__(self, **more):
        self.folder = tempfile.mkdtemp(dir=TOP.name)
        self.program = self.path("program")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PRETENDER)
        os.chmod(self.program, 0o755)
        self.env = environment(PRETEND=self.folder, **more)

    def path(self, name):
        return os.path.join(self.folder, name)

    def words(self, *words):
        return [ORRERY, "compare", *words, "--", self.program]

    def run(self, *words):
        """Exit status, output, errors."""
        return run(self.words(*words), self.env)

    def rows(self, *words):
        status, out, err = self.run(*words, "--json")
        assert status == 0, err
        return json.loads(out)

    def save(self, name, *words):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.rows(*words), file)
        return path

    def calls(self):
        with open(self.path("calls"), encoding="utf-8") as file:
            return [line.strip().split("|") for line in file]


def environment(**more):
    env = {name: value for name, value in os.environ.items()
           if name in ("ORRERY_MODULE_DIR", "ORRERY_PLATFORM_DIR")
           or not name.startswith(("ORRERY_", "STARPU_"))}
    env.update(more)
    return env


def run(words, env):
    ran = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, timeout=100,
                         capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout, ran.stderr


def expect(status, ran, *words):
    assert ran[0] == status, ran
    for word in words:
        assert word in ran[2], f"{word!r} is not in:\n{ran[2]}"


@test
def values_of_an_edit_are_tried_one_after_the_other():
    rows = Pretended().rows("-m", "moon", "-s", "eager,lws", "--set",
                            "cuda.count = 1, 2,4", "--set", "cuda.speed *= 2")
    assert [row["settings"]["cuda.count"] for row in rows] == list("112244")
    assert [row["median_us"] for row in rows] == [4000, 2000, 2000, 1000,
                                                  1000, 500]
    assert [row["to_best"] for row in rows] == [2, 1] * 3


@test
def all_stands_for_every_policy_in_a_list():
    rows = Pretended().rows("-m", "moon", "-s", "static=x,all")
    names = [row["scheduler"] for row in rows]
    assert names[0] == "static=x" and "modular-heft" in names, names
    assert "dmdas" in names and "all" not in names, names


@test
def all_combinations_of_two_swept_edits_are_run():
    pretended = Pretended()
    rows = pretended.rows("-m", "moon,mars", "-s", "lws", "--set",
                          "cuda.count = 1..2; cuda.memory = 4GiB..16GiB..*2")
    assert len(rows) == 2 * 2 * 3
    assert {call[2] for call in pretended.calls()} == {
        f"cuda.count = {n};cuda.memory = {m};" for n in (1, 2)
        for m in ("4GiB", "8GiB", "16GiB")}, pretended.calls()
    assert [(row["settings"]["cuda.count"], row["settings"]["cuda.memory"])
            for row in rows[:6]] == [(n, m) for n in "12"
                                     for m in ("4GiB", "8GiB", "16GiB")]


@test
def ranges_have_steps_and_factors():
    for text, values in {
            "1..4": "1 2 3 4", "1..8..3": "1 4 7", "2..32..*4": "2 8 32",
            "0.1..0.3..0.1": "0.1 0.2 0.3", "1GiB..2GiB..512GiB": "1GiB",
            "1..2GiB..0.5": "1GiB 1.5GiB 2GiB",
            "4..12..4GiB": "4GiB 8GiB 12GiB", "5..5": "5"}.items():
        target = "cuda.memory" if "GiB" in text else "cuda.speed"
        rows = Pretended().rows("-m", "moon", "-s", "lws", "--set",
                                f"{target} = {text}")
        got = [row["settings"][target] for row in rows]
        assert got == values.split(), (text, got)


@test
def ranges_that_make_no_sense_are_refused_with_the_remedy():
    for text in ("1..", "..4", "4..1", "1..8..0", "1..8..*1", "1GiB..8MiB..1GiB",
                 "a..b", "0.5..2", "1..8..x", "0..8..*2"):
        pretended = Pretended()
        expect(2, pretended.run("-m", "moon", "-s", "lws", "--set",
                                f"cuda.memory = {text}"), text, "write 1..8")
        assert not os.path.exists(pretended.path("calls")), text
    for text, why in {"cuda.count = 1,,2": "a value is missing",
                      "cuda.count = 1..2; cuda.count = 3..4": "twice",
                      "cuda.count = 1..2000": "more than 1000",
                      "= 1..2": "names nothing",
                      "cuda.colour = 1..2": "cuda.colour"}.items():
        expect(2, Pretended().run("-m", "moon", "-s", "lws", "--set", text), why)


@test
def repetitions_have_seeds_and_the_noise_of_the_measures():
    pretended = Pretended()
    rows = pretended.rows("-m", "moon", "-s", "eager,lws", "--repeat", "5")
    assert rows[0]["runs_us"] == [4000, 4010, 4020, 4030, 4040], rows[0]
    assert rows[0]["median_us"] == 4020
    assert rows[0]["interval_us"] == [4000, 4040]
    assert rows[1]["slower_share"] is None and rows[0]["slower_share"] == 1
    assert rows[0]["chance"] < 0.01
    assert {call[3] for call in pretended.calls()} == {"measured"}
    assert sorted(call[4] for call in pretended.calls()) == sorted("01234" * 2)


@test
def a_single_run_has_no_noise_unless_asked_for():
    pretended = Pretended()
    pretended.rows("-m", "moon", "-s", "lws")
    pretended.rows("-m", "moon", "-s", "lws", "--noise", "3%")
    assert [call[3:] for call in pretended.calls()] == [["", ""], ["3%", ""]]


@test
def schedulers_that_do_not_differ_are_said_not_to():
    status, out, err = Pretended().run("-m", "moon", "-s", "lws,dmda,eager",
                                       "--repeat", "6")
    assert status == 0, err
    lines = {line.split()[1]: line for line in out.splitlines() if " " in line}
    assert "the best" in lines["lws"], out
    assert "no difference" in lines["dmda"], out
    assert "100 %" in lines["eager"], out
    status, out, err = Pretended().run("-m", "moon", "-s", "lws,eager",
                                       "--repeat", "3")
    assert "too few runs" in out, out


@test
def the_formats_say_the_same():
    words = ("-m", "moon", "-s", "lws,broken,eager", "--set", "cuda.count=1..2",
             "--repeat", "4")
    pretended = Pretended()
    status, out, _ = pretended.run(*words, "--json")
    rows = json.loads(out)
    assert status == 1
    table = list(csv.DictReader(io.StringIO(pretended.run(*words, "--csv")[1])))
    lines = pretended.run(*words, "--markdown")[1].splitlines()
    assert len(rows) == len(table) == len(lines) - 2 == 6
    for row, record, line in zip(rows, table, lines[2:]):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[:3] == [row["machine"], row["settings"]["cuda.count"],
                             row["scheduler"]]
        assert record["cuda.count"] == row["settings"]["cuda.count"]
        if row["scheduler"] == "broken":
            assert "it is broken" in record["error"], record
            assert "it is broken" in line and "it is broken" in row["error"]
            continue
        assert abs(float(record["ms"]) - row["median_us"] / 1000) < 1e-6
        assert record["bound_ms"] == "" and row["bound_us"] is None
        assert cells[3] == f"{row['median_us'] / 1000:.3f}"
        assert abs(float(record["to_best"]) - row["to_best"]) < 1e-6
        assert record["error"] == ""


@test
def runs_that_the_file_has_are_not_repeated():
    pretended = Pretended()
    words = ("-m", "moon", "-s", "eager,lws", "--repeat", "4", "--runs",
             pretended.path("runs"))
    first = pretended.rows(*words)
    assert len(pretended.calls()) == 8
    assert pretended.rows(*words) == first
    assert len(pretended.calls()) == 8
    more = pretended.rows("-m", "moon", "-s", "eager,lws,dmda", "--repeat", "5",
                          "--runs", pretended.path("runs"))
    assert len(pretended.calls()) == 8 + 2 + 5
    assert more[0]["runs_us"][:4] == first[0]["runs_us"]


@test
def an_interrupted_sweep_goes_on():
    pretended = Pretended()
    with open(pretended.path("hang"), "w", encoding="utf-8"):
        pass
    words = ("-m", "moon", "-s", "lws", "--set", "cuda.count = 1..6", "-j", "1",
             "--runs", pretended.path("runs"))
    with subprocess.Popen(pretended.words(*words), env=pretended.env,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        while (not os.path.exists(pretended.path("calls"))
               or len(pretended.calls()) < 4):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted: 3 of 6 have ended; " + pretended.path("runs") + " keeps them" in out, out
    assert "95 %" not in out, out
    os.remove(pretended.path("hang"))
    rows = pretended.rows(*words)
    assert len(pretended.calls()) == 4 + 3
    assert [row["median_us"] for row in rows] == [2000, 1000, 666, 500, 400, 333]


@test
def many_bars_are_sorted_and_failures_leave_no_gap():
    if not shutil.which("gnuplot"):
        raise Skip("gnuplot")
    pretended = Pretended()
    picture = pretended.path("rows.svg")
    policies = "eager,broken,dmda,lws,ws,prio,dm,dmdas,dmdar,random,heteroprio,pheft"

    def texts(*words, **more):
        with subprocess.Popen(pretended.words("-m", "moon,mars", "-s", policies, "--repeat", "2",
                                              "--plot", picture, *words),
                              env=dict(pretended.env, **more), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            out, err = process.communicate(timeout=100)
        assert process.returncode == 1, out + err
        with open(picture, encoding="utf-8") as file:
            found = re.findall(r"translate\([\d.]+,([\d.]+)\)[^>]*>\s*<text[^>]*>"
                               r"(?:<tspan[^>]*>)?([^<]+)", file.read())
        return [text.strip() for _, text in sorted(found, key=lambda one: float(one[0]))]

    found = texts()
    names = [text for text in found if text in policies.split(",")]
    assert "broken" not in names, names
    # From above: the longest is the last of its machine.
    assert len(names) == 22 and names[10] == names[21] == "eager", names
    assert names[9] == names[20] == "dmda", names
    axis = [text for text in found if "predicted time (ms)" in text]
    assert axis and all("whiskers" in text and "logarithmic" not in text for text in axis), axis
    assert any("1 of 12 failed" in text for text in found), found
    found = texts(SLOWER_EAGER="100000")
    assert any("logarithmic" in text for text in found), found


@test
def a_line_that_was_cut_off_is_run_again():
    pretended = Pretended()
    words = ("-m", "moon", "-s", "eager,lws", "--runs", pretended.path("runs"))
    first = pretended.rows(*words)
    with open(pretended.path("runs"), "r+b") as file:
        file.truncate(os.path.getsize(pretended.path("runs")) - 5)
    assert pretended.rows(*words) == first
    assert len(pretended.calls()) == 3
    assert pretended.rows(*words) == first
    assert len(pretended.calls()) == 3


@test
def a_file_of_other_runs_is_refused_and_kept():
    pretended, other = Pretended(), Pretended()
    path = pretended.path("runs")
    words = ("-m", "moon", "-s", "lws", "--runs", path)
    pretended.rows(*words)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    expect(1, other.run(*words), "another program")
    expect(1, pretended.run(*words, "--noise", "2%"), "other noise")
    expect(1, pretended.run(*words, "--assume", "kernel[k] = 1us"),
           "other assumed times")
    os.utime(pretended.program, (1, 1))
    expect(1, pretended.run(*words), "changed since")
    with open(path, encoding="utf-8") as file:
        assert file.read() == text
    with open(path, "w", encoding="utf-8") as file:
        file.write("precious\n")
    expect(1, pretended.run(*words), "no file of runs")
    with open(path, encoding="utf-8") as file:
        assert file.read() == "precious\n"
    expect(1, pretended.run("-m", "moon", "-s", "lws", "--runs",
                            "/nowhere/runs"), "/nowhere/runs")


@test
def slower_rows_of_a_second_table_end_with_3():
    slow = Pretended(SLOWER="500")
    fast = Pretended()
    words = ("-m", "moon", "-s", "eager,lws", "--repeat", "6")
    old, new = fast.save("old.json", *words), slow.save("new.json", *words)
    env = environment()
    status, out, err = run([ORRERY, "compare", old, new], env)
    assert status == 3 and "2 of 2 slower" in out, out + err
    status, out, err = run([ORRERY, "compare", new, old], env)
    assert status == 0 and "faster" in out, out + err
    status, out, err = run([ORRERY, "compare", old, old], env)
    assert status == 0 and out.count("no difference") == 2, out + err
    status, out, err = run([ORRERY, "compare", "--worse", "20%", "--json", old,
                            new], env)
    rows = {row["scheduler"]: row for row in json.loads(out)}
    assert status == 3, err
    assert rows["eager"]["verdict"] == "no difference"  # by 12 %
    assert rows["lws"]["verdict"] == "slower"           # by 25 %
    assert abs(rows["lws"]["change"] - 500 / 2025) < 1e-6, rows


@test
def rows_that_only_one_table_has_are_named_and_failures_are_worse():
    pretended = Pretended()
    words = ("--repeat", "4", "-m", "moon", "-s")
    old = pretended.save("old.json", *words, "eager,lws")
    new = pretended.save("new.json", *words, "lws,dmda")
    env = environment()
    status, out, err = run([ORRERY, "compare", "--json", old, new], env)
    verdicts = {row["scheduler"]: row["verdict"] for row in json.loads(out)}
    assert verdicts == {"eager": "only before", "lws": "no difference",
                        "dmda": "only after"}, verdicts
    assert status == 0, err
    with open(new, encoding="utf-8") as file:
        rows = json.load(file)
    rows[0] = {"machine": "moon", "scheduler": "lws", "scheduler_asked": "lws",
               "settings": {}, "error": "it is broken"}
    with open(new, "w", encoding="utf-8") as file:
        json.dump(rows, file)
    status, out, err = run([ORRERY, "compare", old, new], env)
    assert status == 3 and "fails" in out, out + err


@test
def a_ranking_of_survivors_says_so():
    pretended = Pretended()
    words = ("-m", "moon", "-s", "broken,eager,lws")
    status, out, err = pretended.run(*words)
    assert status == 1 and err.count("it is broken") == 1, (out, err)
    assert "1.000 of 2/3" in out and "2.000 of 2/3" in out, out
    assert "not ranked, on moon: 1 of 3 schedulers, which failed: broken" in out, out
    status, out, _ = pretended.run(*words, "--json")
    rows = json.loads(out)
    assert status == 1 and [row.get("rivals_failed") for row in rows] == [
        None, 1, 1] and rows[2]["rivals_ran"] == 2, rows
    status, out, _ = pretended.run("-m", "moon", "-s", "broken,lws,broken")
    assert status == 1 and out.count("failed as broken") == 1, out


@test
def machines_are_ranked_together_where_asked():
    pretended = Pretended()
    words = ("-m", "moon,sun", "-s", "lws", "--set", "cuda.count = 1, 2")
    apart = pretended.rows(*words)
    assert {row["to_best"] for row in apart} == {1}, apart
    words = ("-m", "moon,sun", "-s", "eager,lws")
    across = pretended.rows(*words, "--across")
    assert [row["to_best"] for row in across] == [2, 1, 2, 1], across
    assert {row["rivals_ran"] for row in across} == {4}, across
    _, out, _ = pretended.run("-m", "moon,sun", "-s", "lws", "--across")
    assert "to best" in out, out


@test
def long_times_are_in_units_that_people_read():
    pretended = Pretended(SLOWER="878272406000")
    _, out, _ = pretended.run("-m", "moon", "-s", "lws")
    assert "predicted d" in out and "10.165" in out, out
    pretended = Pretended(SLOWER="878000000")
    words = ("-m", "moon", "-s", "eager,lws")
    _, out, _ = pretended.run(*words)
    assert "predicted min" in out and "14.633" in out, out
    rows = pretended.rows(*words)
    assert rows[0]["time_unit"] == "us" and rows[0]["median_us"] == 878004000, rows
    assert ",878004," in pretended.run(*words, "--csv")[1]


@test
def draws_rank_by_pairs_and_are_the_same_for_all():
    pretended = Pretended()
    rows = pretended.rows("-m", "moon", "-s", "eager,lws,dmda", "--draws", "4")
    assert [row["first_share"] for row in rows] == [0, 1, 0], rows
    assert [row["slower_share"] for row in rows] == [1, None, 1], rows
    assert {row["chance"] for row in rows} == {None}, rows
    _, out, _ = pretended.run("-m", "moon", "-s", "lws,dmda", "--draws", "4")
    assert "first in" in out and "noise of kernels: measured, 4 seeds; in each" in out
    expect(2, pretended.run("-m", "moon", "--draws", "1"), "from 2 on")
    expect(2, pretended.run("-m", "moon", "--draws", "4", "--repeat", "4"),
           "in the place of --repeat")
    expect(2, pretended.run("-m", "real", "--draws", "4"), "does not use")


@test
def an_interval_of_few_runs_is_not_called_one_of_95_per_cent():
    pretended = Pretended()
    for repeat, proper in (("2", False), ("6", True)):
        _, out, _ = pretended.run("-m", "moon", "-s", "lws", "--repeat", repeat)
        assert ("95 % between" in out) == proper and "between" in out, out


@test
def times_for_other_machines_than_those_compared_are_refused():
    pretended = Pretended()
    words = ("-m", "moon,sun", "-s", "lws", "--assume")
    status, _, err = pretended.run(*words, "sun:kernel[k] on cuda = 1us")
    assert status == 0, err
    expect(2, pretended.run(*words, "sum:kernel[k] on cuda = 1us"),
           "sum is none of the machines")


@test
def tables_that_are_none_are_refused():
    pretended = Pretended()
    good = pretended.save("good.json", "-m", "moon", "-s", "lws")
    env = environment()
    for text, why in (("{", "bad.json:1"), ("{}", "is nothing that"),
                      ("[1]", "is nothing that")):
        path = pretended.path("bad.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        expect(2, run([ORRERY, "compare", good, path], env), why)
    expect(2, run([ORRERY, "compare", good, pretended.path("none.json")], env),
           "compare: unable to open", "none.json")


@test
def wrong_options_end_with_2_and_a_remedy():
    pretended = Pretended()
    for words, why in ((("-j", "0"), "-j takes a number"),
                       (("--repeat", "x"), "--repeat takes a number"),
                       (("--repeat", "0"), "--repeat takes a number"),
                       (("--csv", "--json"), "choose one"),
                       (("--worse", "much"), "--worse takes a share"),
                       (("--plot", "picture.txt"), "picture.txt")):
        expect(2, pretended.run("-m", "moon", "-s", "lws", *words), why)
    expect(2, pretended.run("-m", "real", "-s", "lws", "--noise", "2%"),
           "a real one has its own")
    expect(2, pretended.run("-m", "moon,real", "-s", "lws", "--set",
                            "cuda.count = 2"), "simulated machines")


@test
def a_real_machine_stands_beside_simulated_ones():
    pretended = Pretended()
    rows = pretended.rows("-m", "moon,real", "-s", "lws", "--repeat", "4")
    assert [row["machine"] for row in rows] == ["moon", "real"]
    assert {(call[0], call[3]) for call in pretended.calls()} == {
        ("moon", "measured"), ("", "")}


@test
def pictures_are_bars_lines_and_maps():
    if not shutil.which("gnuplot"):
        raise Skip("gnuplot is not installed")
    pretended = Pretended()
    for kind, words in (("bars", ()), ("lines", ("--set", "cuda.count = 1..3")),
                        ("map", ("--set", "cuda.count = 1..3; cuda.memory = "
                                          "1GiB, 2GiB"))):
        path = pretended.path(kind + ".png")
        status, out, err = pretended.run("-m", "moon,mars", "-s", "lws,eager",
                                         "--repeat", "4", *words, "--plot", path)
        assert status == 0 and f"{kind}: {path}" in out, out + err
        with open(path, "rb") as file:
            assert file.read(4) == b"\x89PNG"
    expect(2, pretended.run(
        "-m", "moon", "--set", "cuda.count = 1..2; cuda.memory = 1GiB,2GiB; "
        "cuda.speed = 1,2", "--plot", pretended.path("x.png")), "at most two")


TEXT = re.compile(r'translate\(([\d.]+),([\d.]+)\)[^>]*>\s*<text>(?:<!\[CDATA\[)?'
                  r'\s*([^<\]]*)')


def numbers_of(path):
    """(x, y, text) of the numbers in a picture, axes and all."""
    with open(path, encoding="utf-8") as file:
        texts = TEXT.findall(file.read())
    return [(float(x), float(y), text) for x, y, text in texts
            if re.fullmatch(r"[\d.e+]+", text)], texts


@test
def times_that_span_decades_have_a_logarithmic_axis():
    if not shutil.which("gnuplot"):
        raise Skip("gnuplot is not installed")
    for slower, logarithmic in (("10000", False), ("200000", True)):
        pretended = Pretended(SLOWER_EAGER=slower)
        path = pretended.path("bars.svg")
        status, out, err = pretended.run("-m", "moon,mars", "-s", "lws,eager", "--plot", path)
        assert status == 0, out + err
        shown = " ".join(text for _, _, text in numbers_of(path)[1])
        assert ("logarithmic" in shown) == logarithmic, (slower, shown)
        assert "lws" in shown and "eager" in shown and "mars" in shown, shown


@test
def numbers_of_any_number_of_bars_stand_apart():
    if not shutil.which("gnuplot"):
        raise Skip("gnuplot is not installed")
    for machines, schedulers in (("moon", 41), ("moon,mars", 41), ("moon,mars", 10),
                                 ("a,b,c,d,e,f,g,h,i,j,k", 4)):
        pretended = Pretended(SLOWER="123")
        path = pretended.path("bars.svg")
        names = [f"policy{n}" for n in range(schedulers)]
        status, out, err = pretended.run("-m", machines, "-s", ",".join(names),
                                         "--plot", path)
        assert status == 0, out + err
        numbers, texts = numbers_of(path)
        assert len(numbers) >= schedulers * len(machines.split(",")), texts
        shown = {text for _, _, text in texts}
        assert shown.issuperset(names) and all(
            any(machine in text for text in shown)
            for machine in machines.split(",")), shown
        for i, (x, y, text) in enumerate(numbers):
            for other_x, other_y, other in numbers[:i]:
                wide = 3 * (len(text) + len(other))
                assert abs(x - other_x) >= wide or abs(y - other_y) >= 8, (
                    machines, schedulers, text, other, x, y, other_x, other_y)


@test
def legends_of_many_leave_room_for_their_lines():
    if not shutil.which("gnuplot"):
        raise Skip("gnuplot is not installed")
    pretended = Pretended()
    path = pretended.path("lines.svg")
    status, out, err = pretended.run(
        "-m", "moon", "-s", ",".join(f"policy{n}" for n in range(41)), "--set",
        "cuda.count = 11,12,13", "--plot", path)
    assert status == 0, out + err
    places = {text: x for x, _, text in numbers_of(path)[0]}
    assert places["13"] - places["11"] > 300, places


def simulated(*words, env=None):
    if WITH_SIM != "1":
        raise Skip("built without simulation")
    ran = run([ORRERY, "compare", "-m", "h100-pcie-4", "--assume",
               "kernel[*] = 100us", *words, "--json", "--", PROGRAM,
               *ARGUMENTS], env or environment())
    assert ran[0] == 0, ran
    return json.loads(ran[1])


@test
def seeds_change_simulated_times_and_repeat_them():
    words = ("-s", "dmda", "--repeat", "5", "--noise", "5%")
    first, again = simulated(*words), simulated(*words)
    assert first[0]["runs_us"] == again[0]["runs_us"]
    assert len(set(first[0]["runs_us"])) == 5
    assert first[0]["noise"] == {"deviation": 0.05, "seed": 0}
    quiet = simulated("-s", "dmda", "--repeat", "5", "--noise", "0")
    assert len(set(quiet[0]["runs_us"])) == 1 and "noise" not in quiet[0]
    assert abs(first[0]["median_us"] / quiet[0]["median_us"] - 1) < 0.1


@test
def bounds_stand_beside_simulated_times():
    rows = simulated("-s", "dmda,eager", "--bound", "--set", "cpu.count = 1, 16")
    for row in rows:
        assert 0 < row["bound_us"] <= row["median_us"] * (1 + 1e-9), row
        assert 0 < row["of_bound"] <= 1, row
        assert row["bound_us"] > 0.9 * row["median_us"], row


sys.exit(run_all(at_once=4))
