#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery sched`. TAP.

usage: test-sched-command.py ORRERY SOURCE_ROOT MACHINE
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.dom.minidom

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import run_all, test  # noqa: E402
from tools_util import on_terminal  # noqa: E402

if len(sys.argv) != 4:
    sys.exit(__doc__.strip())
ORRERY, SOURCE = map(os.path.abspath, sys.argv[1:3])
MACHINE = sys.argv[3]


def orrery(*words, **more):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("STARPU_SCHED")}
    return subprocess.run([ORRERY, "sched", *words], env={**env, **more},
                          check=False, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", timeout=100)


def shown(name, **more):
    done = orrery("show", name, "-m", MACHINE, "--json", **more)
    assert done.returncode == 0, done
    return json.loads(done.stdout)


def names():
    done = orrery("list", "--json")
    assert done.returncode == 0 and not done.stderr, done
    return [policy["name"] for policy in json.loads(done.stdout)]


@test
def the_list_has_the_policies_of_the_library_and_those_of_files():
    header = os.path.join(SOURCE, "core", "policies", "names.h")
    with open(header, encoding="utf-8") as file:
        built_in = re.findall(r'X\("(\S+)"', file.read())
    listed = names()
    assert [name for name in listed if "FILE" not in name] == built_in, listed
    assert "static=FILE" in listed, listed
    table = orrery("list").stdout.splitlines()
    assert [row.split()[0] for row in table[1:]] == listed, table


@test
def all_modular_policies_have_components_down_to_every_worker():
    modular = [name for name in names() if name.startswith("modular-")]
    assert len(modular) > 20
    for name in modular[::3]:
        components = shown(name)["components"]
        leaves = [c["worker"]["name"] for c in components if "worker" in c
                  and c["worker"]["kind"] != "combined"]
        assert components[0]["workers"] >= len(leaves), name
        kinds = {leaf.split()[0] for leaf in leaves}
        assert kinds == {"CPU", "CUDA"} and len(set(leaves)) == len(leaves)
        below = {i for c in components for i in c["below"]}
        assert below == set(range(1, len(components))), name


@test
def equal_components_are_one_line_with_their_number():
    done = orrery("show", "modular-heft", "-m", MACHINE, "--set",
                  "cpu.count=6")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("modular-heft: "), done
    assert "prio" in lines and "└─ perfmodel_select" in lines, done
    assert sum("CPU × 6: CPU 0 … CPU 5" in line for line in lines) == 1, done
    assert sum("as above" in line for line in lines) >= 2, done
    one = orrery("show", "modular-heft", "-m", MACHINE, "--set", "cpu.count=1")
    assert "CPU: CPU 0\n" in one.stdout, one


@test
def a_policy_without_components_has_its_variables_and_priorities():
    dmdas = shown("dmdas", STARPU_SCHED_BETA="3")
    assert dmdas["components"] is None
    values = {v["name"]: v["value"] for v in dmdas["variables"]}
    assert values["STARPU_SCHED_BETA"] == "3", values
    assert dmdas["least_priority"] < -2e9 and dmdas["most_priority"] > 2e9
    assert (shown("eager")["least_priority"], shown("eager")["most_priority"]) \
        == (0, 0)
    assert "STARPU_SCHED_BETA" not in {v["name"]
                                       for v in shown("lws")["variables"]}
    text = orrery("show", "dmdas", "-m", MACHINE, STARPU_SCHED_BETA="3").stdout
    assert "from unlimited to unlimited" in text, text
    assert re.search(r"^STARPU_SCHED_BETA +3 +1 ", text, re.M), text


@test
def every_variable_that_a_policy_reads_is_in_the_table():
    with open(os.path.join(SOURCE, "tools", "sched", "readers.c"),
              encoding="utf-8") as file:
        table = set(re.findall(r"ORR_CFG_\w+", file.read()))
    # Of the choice of a policy, or of those that applications bring; none at all.
    others = {"ORR_CFG_SCHED", "ORR_CFG_SCHED_LIB", "ORR_CFG_WORKER_TREE",
              "ORR_CFG_COUNT"}
    read = set(others)
    for path in (glob.glob(os.path.join(SOURCE, "core/sched/*.c")) +
                 glob.glob(os.path.join(SOURCE, "core/policies/**/*.c"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        read |= set(re.findall(r"ORR_CFG_\w+(?!\w|##)", text))
        for macro, prefix in re.findall(
                r"#define (\w+)\(name\).*\b(ORR_CFG_\w+)##name", text):
            read |= {prefix + name for name in
                     re.findall(r"\b%s\((\w+)\)" % macro, text)
                     if name != "name"}
    assert read - table <= others, read - table
    assert {"ORR_CFG_SCHED_BETA", "ORR_CFG_HETEROPRIO_AUTO"} <= read & table


@test
def a_picture_is_drawn_by_graphviz():
    if not shutil.which("dot"):
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.svg")
        done = orrery("show", "modular-heft", "-m", MACHINE, "--svg", path,
                      TMPDIR=folder)
        assert done.returncode == 0 and not done.stdout, done
        assert os.listdir(folder) == ["p.svg"], os.listdir(folder)
        with open(path, encoding="utf-8") as file:
            picture = file.read()
        xml.dom.minidom.parseString(picture)
        assert "mct" in picture and "CUDA" in picture, picture
    for words in (["--svg", "-"], ["--svg=-"], ["--svg"]):
        done = orrery("show", "modular-heft", "-m", MACHINE, *words)
        assert done.returncode == 0, done
        assert done.stdout.rstrip().endswith("</svg>"), done
    for words in (["--svg=-", "modular-heft"], ["--svg", "-", "modular-heft"],
                  ["--svg", "modular-heft"]):
        assert orrery("show", "-m", MACHINE, *words).stdout == done.stdout, words


@test
def no_picture_fills_a_terminal():
    if not shutil.which("dot"):
        return
    with tempfile.TemporaryDirectory() as folder:
        code, text = on_terminal([ORRERY, "sched", "show", "modular-heft", "-m", MACHINE,
                                  "--svg"], folder)
        assert code == 0 and "modular-heft.svg" in text, (code, text)
        assert "<svg" not in text, text
        with open(os.path.join(folder, "modular-heft.svg"), encoding="utf-8") as file:
            xml.dom.minidom.parseString(file.read())


@test
def what_cannot_be_shown_is_said():
    for words, code, text in (
            (["show", "dmdsa", "-m", MACHINE], 1, "is `dmda' meant?"),
            (["show", "eager", "-m", "nowhere"], 1, "unknown machine"),
            (["show", "eager", "-m", MACHINE, "--svg", "-"], 1,
             "nothing to draw"),
            (["show", "static", "-m", MACHINE], 1, "static=FILE"),
            (["show", "modular-ws", "--svg", "a.png"], 2, ".svg"),
            (["show", "modular-ws", "--svg", "/dev/null/a.svg"], 1,
             "/dev/null/a.svg"),
            (["show"], 2, "one NAME"),
            (["show", "eager", "prio"], 2, "one NAME"),
            (["show", "eager", "a.svg", "--svg=b.svg"], 2, "one NAME"),
            (["show", "--svg", "a.svg"], 2, "one NAME"),
            (["show", "eager", "--svg="], 2, "a value"),
            (["show", "eager", "--json", "--svg", "a.svg"], 2, "either"),
            (["list", "eager"], 2, "not understood")):
        done = orrery(*words)
        assert done.returncode == code and text in done.stderr, done
    done = orrery("show", "modular-ws", "-m", MACHINE, "--svg", "-",
                  PATH="/nonexistent")
    assert done.returncode == 1 and "graphviz" in done.stderr, done


run_all()
