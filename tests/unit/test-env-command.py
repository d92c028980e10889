#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery env`, and what the other commands say of names that nothing reads. TAP.

usage: test-env-command.py ORRERY DOCS

DOCS is docs/ENVIRONMENT.md.
"""

import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import run_all, test  # noqa: E402

if len(sys.argv) != 3:
    sys.exit(__doc__.strip())
ORRERY, DOCS = map(os.path.abspath, sys.argv[1:])


def orrery(*words, **more):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("ORRERY_", "STARPU_", "OMP_"))}
    env["OCL_ICD_VENDORS"] = "/absent"  # opening one takes longer than all else
    return subprocess.run([ORRERY, *words], env={**env, **more}, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8",
                          errors="surrogateescape", timeout=100)


def shown(done):
    """Variables in the table, with their values."""
    table = done.stdout.split("\n\n")[0]
    rows = [line.split() for line in table.splitlines()[1:]]
    return {row[0]: row[1] for row in rows}


@test
def those_that_are_set_are_shown_with_their_values():
    done = orrery("env", STARPU_SCHED="dmda", OMP_NUM_THREADS="4",
                  STARPU_LIMIT_CUDA_3_MEM="100", STARPU_NCPU="")
    assert done.returncode == 0 and not done.stderr, done
    assert shown(done) == {"STARPU_SCHED": "dmda", "OMP_NUM_THREADS": "4"}, done
    done = orrery("env")
    assert done.returncode == 0 and "no variable is set" in done.stdout, done


@test
def libraries_of_devices_are_shown_with_what_they_lack():
    done = orrery("env", "--devices", ORRERY_CUDA_LIBRARY="/absent/libcuda.so")
    assert done.returncode == 0 and not done.stderr, done
    assert "/dev/nvidiactl" in done.stdout and "/dev/kfd" in done.stdout, done
    assert "/absent/libcuda.so was looked for" in done.stdout, done
    # Some library that is there, and is no vendor's.
    done = orrery("env", "--devices", "--json", ORRERY_CUDA_LIBRARY="libc.so.6")
    cuda = json.loads(done.stdout)[0]
    assert cuda["kind"] == "CUDA" and "devices" not in cuda, cuda
    assert "libc.so.6 has no cuInit: a driver of version" in cuda["error"], cuda


@test
def what_became_of_them_is_a_line_each_without_the_option():
    for library, said in (("/absent/libcuda.so", "/absent/libcuda.so was looked for"),
                          ("libc.so.6", "libc.so.6 has no cuInit: a driver of version")):
        done = orrery("env", ORRERY_CUDA_LIBRARY=library)
        lines = done.stdout.split("\n\n")[1].splitlines()
        assert [line.split(":")[0] for line in lines[1:]] == ["CUDA", "HIP", "OpenCL"], \
            done
        assert "--devices" in lines[0] and said in lines[1], done
    assert "CUDA" not in orrery("env", "eviction").stdout


@test
def a_number_above_the_most_is_told():
    done = orrery("env", STARPU_CUDA_PIPELINE="9", STARPU_HIP_PIPELINE="4")
    assert done.returncode == 0, done
    assert done.stderr == \
        "orrery: env: STARPU_CUDA_PIPELINE=9: at most 4, which is used\n", done


@test
def names_that_nothing_reads_are_named_with_what_may_be_meant():
    done = orrery("env", STARPU_SHCED="dmda", ORRERY_HITHERTO="1",
                  STARPU_LIMIT_CUDA_99_MEM="1")
    assert done.returncode == 1, done
    assert "STARPU_SHCED=dmda: nothing reads STARPU_SHCED; the nearest name " \
        "is STARPU_SCHED\n" in done.stderr, done
    assert "nothing reads ORRERY_HITHERTO\n" in done.stderr, done
    assert "STARPU_LIMIT_CUDA_99_MEM" in done.stderr, done
    done = orrery("env", STARPU_MACHINE="h100-pcie-4", STARPU_JULIA_LIB="1")
    assert "nearest name is ORRERY_MACHINE" in done.stderr, done
    assert "nothing reads STARPU_JULIA_LIB\n" in done.stderr, done


@test
def what_orrery_env_sets_is_no_misspelt_name():
    done = orrery("env", ORRERY_JAR="orrery.jar")
    assert done.returncode == 0 and not done.stderr, done


@test
def other_commands_warn_of_those_that_may_be_misspelt():
    done = orrery("machine", "list", STARPU_SHCED="dmda", ORRERY_HITHERTO="1")
    assert done.returncode == 0, done
    assert done.stderr.count("\n") == 1 and \
        "name is STARPU_SCHED\n" in done.stderr, done
    assert not orrery("machine", "list", STARPU_SCHED="dmda").stderr


@test
def values_that_cannot_be_read_are_errors():
    done = orrery("env", STARPU_NCPU="two")
    assert done.returncode == 1 and 'STARPU_NCPU="two" is not a number' in \
        done.stderr, done


@test
def all_of_the_documentation_are_there():
    with open(DOCS, encoding="utf-8") as file:
        documented = re.findall(r"^\| `(\S+)` \|", file.read(), re.M)
    said = json.loads(orrery("env", "--json").stdout)
    names = [row["name"] for group in ("variables", "counters", "knobs")
             for row in said[group]]
    assert sorted(set(documented)) == sorted(set(names)), \
        set(documented) ^ set(names)
    listed = shown(orrery("env", "--all"))
    assert set(listed) == {row["name"] for row in said["variables"]}


@test
def a_word_selects_by_name_and_meaning():
    listed = shown(orrery("env", "eviction"))
    assert "ORRERY_EVICTION" in listed and "STARPU_NCPU" not in listed
    assert "STARPU_SCHED_ALPHA" not in listed
    assert "no variable has that word" in orrery("env", "qwertz").stdout
    counters = orrery("env", "--counters", "peak").stdout
    assert "g_peak_ready" in counters and "w_total" not in counters
    knobs = orrery("env", "--knobs").stdout
    assert "s_alpha_knob" in knobs and "per_scheduler" in knobs


@test
def json_has_values_of_any_bytes_and_unknown_names():
    done = orrery("env", "--json", STARPU_SHCED=b"\xff", STARPU_SCHED=b"\xfe")
    assert done.returncode == 1, done
    said = json.loads(done.stdout)
    assert said["unknown"] == [{"name": "STARPU_SHCED", "value": "\\xff",
                                "near": "STARPU_SCHED"}], said["unknown"]
    values = {row["name"]: row["value"] for row in said["variables"]}
    assert values["STARPU_SCHED"] == "\\xfe" and values["STARPU_NCPU"] is None
    vain = [row for row in said["variables"] if not row["effect"]]
    assert vain and all(row["meaning"] for row in vain), vain


@test
def one_question_at_a_time():
    for words in (("a", "b"), ("--all", "--knobs"), ("--json", "--all"),
                  ("--json", "x")):
        done = orrery("env", *words)
        assert done.returncode == 2 and not done.stdout, done


sys.exit(run_all())
