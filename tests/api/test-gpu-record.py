#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tools/project/gpu_record.py, which `./check --gpu` calls, on the stand-in. TAP.

usage: test-gpu-record.py GPU_RECORD.PY BUILD
"""
import importlib.util
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from programs import Skip, run_all, test  # noqa: E402

if len(sys.argv) != 3:
    sys.exit(__doc__.strip())
SCRIPT, BUILD = map(os.path.abspath, sys.argv[1:])
SPEC = importlib.util.spec_from_file_location("gpu_record", SCRIPT)
gpu_record = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(gpu_record)


def run(*words, **more):
    return subprocess.run([sys.executable, SCRIPT, *words, BUILD], check=False,
                          env={**os.environ, **more}, timeout=250,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8")


@test
def without_a_gpu_it_says_what_was_looked_for():
    with tempfile.TemporaryDirectory() as folder:
        done = run("--only", "^none of them$", "--to", folder)
        assert done.returncode == 1, done
        if "There is no GPU" not in done.stdout:
            raise Skip("there is a GPU")
        assert "/dev/nvidiactl" in done.stdout and "/dev/kfd" in done.stdout, done
        assert "libcuda.so.1 was looked for" in done.stdout, done
        assert not os.listdir(folder), os.listdir(folder)


@test
def the_record_has_devices_results_and_links():
    with tempfile.TemporaryDirectory() as folder:
        done = run("--standin", "--only", "^cuda-(filters|sparse)-beside$", "--to",
                   folder)
        assert done.returncode == 0, done
        name, = os.listdir(folder)
        assert name == "cuda-stand-in-12.2.md", name
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = file.read()
    assert "A stand-in, no GPU." in text, text
    assert "| device 1 | Stand-in, 0.1 GiB, 0000:3B:00.0 |" in text, text
    for row in "| cuda-filters-beside | ", "| cuda-sparse-beside | ":
        cells = text.partition(row)[2].splitlines()[0].split(" | ")
        assert int(cells[0]) > 0 and cells[1] == "0", (row, cells)
    assert "CUDA 0" in text.partition("## Links")[2], text
    assert " passed, 0 failed, " in done.stdout.splitlines()[-1], done


def result_of(script, timeout=60):
    return gpu_record.run_test("t", ["sh", "-c", script], dict(os.environ), timeout)


@test
def what_fails_is_counted_and_shown():
    result = result_of("echo 'ok 1 - a'; echo 'not ok 2 - b: bad'; exit 1")
    assert result[1:4] == (1, 1, 0) and result.tail == ["not ok 2 - b: bad"], result
    result = result_of("echo 'ok 1 - a'; echo leaks; exit 3")
    assert result[1:4] == (1, 1, 0) and "leaks" in result.tail, result
    result = result_of("echo 'ok 1 - a # SKIP no b'")
    assert result[1:4] == (0, 0, 1) and not result.tail, result
    assert result_of("echo '1..0 # SKIP nothing'")[1:4] == (0, 0, 1)
    assert result_of("true")[1:4] == (1, 0, 0)
    result = result_of("echo begun; sleep 60", 0.5)
    assert result[1:4] == (0, 1, 0), result
    assert "not ended after 0.5 s" in result.tail[-1], result


run_all()
