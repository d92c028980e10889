#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Boards that both CUDA and OpenCL know are used once; devices are cut by NUMA node.
TAP.

usage: test-boards.py ORRERY DISPLAY LAYER

On two devices of PoCL's that LAYER (tests/standin/boards.c) puts on PCI buses, those of
the stand-in for CUDA or others. DISPLAY is starpu_machine_display.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from programs import run_all, test  # noqa: E402

if len(sys.argv) != 4:
    sys.exit(__doc__.strip())
ORRERY, DISPLAY, LAYER = map(os.path.abspath, sys.argv[1:])
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
ENV = {**os.environ, "STARPU_HOME": TOP.name, "STARPU_NCPU": "1",
       "OPENCL_LAYERS": LAYER, "GPU_STANDIN": "devices=2"}
# PoCL alone is no reason to look for GPUs: beside it is a vendor who is not there.
ENV.pop("STARPU_OPENCL_ON_CPUS", None)
VENDORS = os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors")
ENV["OCL_ICD_VENDORS"] = os.path.join(TOP.name, "vendors")
shutil.copytree(VENDORS, ENV["OCL_ICD_VENDORS"])
with open(os.path.join(ENV["OCL_ICD_VENDORS"], "absent.icd"), "w",
          encoding="utf-8") as out:
    out.write("libabsent.so\n")


def run(*words, **more):
    done = subprocess.run(words, env={**ENV, **more}, check=False, timeout=100,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8")
    assert done.returncode == 0, done
    return done


def workers(**more):
    """Those of a run, "CUDA 0", and what it says."""
    done = run(DISPLAY, **more)
    return sorted(set(re.findall(r"\b((?:CUDA|OpenCL) \d)\.?\d* \(", done.stdout))), \
        done.stderr


BOTH = ["CUDA 0", "CUDA 1"]


@test
def a_board_of_both_is_cudas_whatever_tells_its_place():
    for extension in "khr", "nv", "amd":
        found, said = workers(BOARDS=extension + " 3a 3b")
        assert found == BOTH, (extension, found, said)


@test
def boards_elsewhere_are_used_beside_them():
    for boards, more in {"khr 5a 5b": ["OpenCL 0", "OpenCL 1"],
                         "nv 5a 3b": ["OpenCL 0"], "amd 3a 5b": ["OpenCL 1"],
                         "none 3a 3b": ["OpenCL 0", "OpenCL 1"]}.items():
        found, said = workers(BOARDS=boards)
        assert found == BOTH + more, (boards, found, said)


@test
def what_cuda_does_not_use_is_opencls():
    found, said = workers(BOARDS="khr 3a 3b", STARPU_NCUDA="0")
    assert found == ["OpenCL 0", "OpenCL 1"], (found, said)
    found, said = workers(BOARDS="khr 3a 3b", STARPU_NCUDA="1")
    assert found == ["CUDA 0", "OpenCL 1"], (found, said)


@test
def those_that_are_named_are_used():
    found, said = workers(BOARDS="khr 3a 3b", STARPU_WORKERS_OPENCLID="1")
    assert found == BOTH + ["OpenCL 1"], (found, said)


@test
def who_asks_for_more_is_told():
    found, said = workers(BOARDS="khr 3a 5b", STARPU_NOPENCL="2")
    assert found == BOTH + ["OpenCL 1"], (found, said)
    assert "only 1 devices that CUDA and HIP do not use" in said, said


@test
def the_links_of_boards_are_measured_once():
    with tempfile.TemporaryDirectory() as home:
        workers(BOARDS="khr 3a 3b", STARPU_HOME=home, STARPU_HOSTNAME="host")
        for how in {}, {"STARPU_NCUDA": "0"}:
            _, first = workers(BOARDS="khr 3a 3b", STARPU_HOME=home,
                               STARPU_HOSTNAME="host", **how)
            folder = os.path.join(home, ".starpu", "sampling", "bus")
            with open(os.path.join(folder, "host.config"), encoding="utf-8") as file:
                counts = [int(line.split()[0]) for line in file
                          if re.search(r"CUDA|OpenCL", line)]
            assert counts == [2, 2 if how else 0], (how, counts, first)


@test
def the_command_says_which_ones_are_the_same():
    text = run(ORRERY, "env", "--devices", BOARDS="nv 3b 5c").stdout
    assert "3b:00.0, used as CUDA 1\n" in text, text
    found = json.loads(run(ORRERY, "env", "--devices", "--json",
                           BOARDS="amd 3b 5c").stdout)[-1]
    assert found["kind"] == "OpenCL", found
    assert [d.get("same_as") for d in found["devices"]] == ["CUDA 1", None], found
    assert found["devices"][1]["bus"] == "5c:00.0", found


@test
def a_device_that_does_not_answer_is_told_with_call_and_error():
    # Of those that need a library which has begun.
    for call, name in ((1, "cuDeviceGetCount"), (2, "cuDeviceGet"),
                       (3, "cuDeviceGetName"), (4, "cuDeviceGetPCIBusId"),
                       (5, "cuDeviceTotalMem_v2")):
        fault = {"BOARDS": "none", "GPU_STANDIN": f"devices=2 fault=call@{call}"}
        said = name + " failed: unknown error (999)"
        cuda = json.loads(run(ORRERY, "env", "--devices", "--json", **fault).stdout)[0]
        if call == 1:
            assert cuda["error"] == said and not cuda["devices"], cuda
            continue
        assert cuda["devices"][0] == {"number": 0, "error": said}, cuda
        assert cuda["devices"][1]["memory"] == 64 << 20 and "error" not in cuda, cuda
        text = run(ORRERY, "env", "--devices", **fault).stdout
        assert f"device 0    {said}\n" in text and "unknown," not in text, text
        assert "CUDA: 2 devices, 1 of them with errors\n" in \
            run(ORRERY, "env", **fault).stdout


@test
def so_is_one_of_opencls():
    for how, wanted, left in (
            ({"MUTE": "3b"}, "a device is left out: clGetDeviceInfo failed: Device not "
             "available (-2)", 1),
            ({"HIDDEN": "1"}, "the devices of a platform are left out: clGetDeviceIDs "
             "failed: Out of host memory (-6)", 0)):
        done = run(ORRERY, "env", "--devices", "--json", BOARDS="nv 3b 5c", **how)
        found = json.loads(done.stdout)[-1]
        assert wanted in done.stderr and len(found["devices"]) == left, done


@test
def a_run_names_call_and_error_of_what_it_leaves_out():
    found, said = workers(BOARDS="none", GPU_STANDIN="devices=2 fault=call@1")
    assert not found and "cuda: devices cannot be used: cuDeviceGetCount failed: " \
        "unknown error (999)" in said, (found, said)
    found, said = workers(BOARDS="none", GPU_STANDIN="devices=2 fault=call@2")
    assert not found and "device 0 and those after it are left out: cuDeviceGet " \
        "failed: unknown error (999)" in said, (found, said)
    found, said = workers(BOARDS="khr 3c 5c", MUTE="3c")
    assert found == BOTH + ["OpenCL 0"] and "clGetDeviceInfo failed" in said, \
        (found, said)


@test
def a_device_is_cut_into_its_numa_nodes():
    two = {"STARPU_NCUDA": "0", "STARPU_OPENCL_ON_CPUS": "1", "BOARDS": "none",
           "POCL_DEVICES": "pthread", "POCL_MAX_PTHREAD_COUNT": "2"}
    found, said = workers(**two, ORRERY_OPENCL_PARTS="numa", NUMA_UNITS="1")
    assert found == ["OpenCL 0", "OpenCL 1"], (found, said)
    # PoCL's own devices are not cut so: they stay whole.
    found, said = workers(**two, ORRERY_OPENCL_PARTS="numa")
    assert found == ["OpenCL 0"], (found, said)


@test
def what_devices_say_may_be_long():
    words = "a name of " + "very " * 30 + "many words"
    found, said = workers(BOARDS="none 3a 3b", DEVICE_WORDS=words, STARPU_NCUDA="0")
    assert found == ["OpenCL 0", "OpenCL 1"], (found, said)
    shown = run(DISPLAY, BOARDS="none 3a 3b", DEVICE_WORDS=words).stdout
    assert "OpenCL 0 (a name of very very very " in shown, shown


run_all()
