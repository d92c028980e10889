#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is measured of devices: the links of two devices of PoCL's, or of the
stand-in for CUDA or HIP, by `orrery calibrate bus` and by a program that finds no bus files,
and the description that simulates them. Nothing here depends on how long anything
takes.

usage: test-opencl-calibrate.py ORRERY PROGRAM OpenCL CHOLESKY, under on-opencl.sh, or
ORRERY PROGRAM CUDA|HIP with ORRERY_CUDA_LIBRARY or ORRERY_HIP_LIBRARY
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ORRERY, PROGRAM, KIND = sys.argv[1:4]
QUICK = ("--quick", "--spread", "1000000%")  # whatever others do on the machine
# Each kind of run is made, whatever it takes: a kernel that a busy machine disturbs is given up
# after a few runs more.
ROUGH = ("--confidence", "99%", "--time-limit", "1h")
# A codelet of it has no kernel for devices.
CHOLESKY = tuple(sys.argv[4:]) + ("-size", "160", "-nblocks", "5")
VARIABLE = KIND.upper()
# Places in the files that say how many devices of each kind there are.
PLACES = {"CUDA": 2, "OpenCL": 3, "HIP": 8}


def run(home, *words, may_fall_short=False, **env):
    result = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=300, env={**os.environ, "STARPU_HOME": home,
                          "STARPU_HOSTNAME": "here", "STARPU_NCPU": "1", **env})
    assert result.returncode == 0 or \
        (may_fall_short and result.returncode == 1), \
        result.stdout + result.stderr
    return result.stdout


def bus_file(home, suffix):
    return pathlib.Path(home, ".starpu/sampling/bus/here" + suffix)


def counts(home):
    return [int(line.split()[0]) for line in
            bus_file(home, ".config").read_text().splitlines()
            if line.strip() and not line.startswith("#")]


def matrix(home, suffix):
    lines = [line for line in bus_file(home, suffix).read_text().splitlines()
             if line.strip() and not line.startswith("#")]
    return [[float(word) for word in line.split()[:3]] for line in lines[:3]]


def positive(rows):
    return all(rows[i][j] > 0 for i in range(3) for j in range(3) if i != j)


def calibrate_measures_links_of_devices(home):
    said = json.loads(run(home, ORRERY, "calibrate", "bus", *QUICK, "--json"))
    names = {(link["from"], link["to"]) for link in said["links"]}
    for device in KIND + " 0", KIND + " 1":
        assert ("NUMA 0", device) in names, names
        assert (device, "NUMA 0") in names, names
        for pinned in True, False:
            assert any(link["pinned"] == pinned and device in
                       (link["from"], link["to"]) for link in said["links"])
    crowds = {crowd["kind"]: crowd for crowd in said["crowds"]}
    for kind in "to all devices at once", "from all devices at once":
        assert len(crowds[kind]["copies"]) == 2, crowds
        assert all(copy["pinned"] for copy in crowds[kind]["copies"]), crowds
        assert crowds[kind]["total_MBps"] > 0, crowds
    found = counts(home)
    assert found[1] == 1, found
    assert [found[place] for kind, place in sorted(PLACES.items())
            ] == [2 if kind == KIND else 0 for kind in sorted(PLACES)], found
    assert positive(matrix(home, ".bandwidth"))
    assert positive(matrix(home, ".latency"))


LAUNCHES = ("device-alloc", "device-free", "pinned-alloc-per-mib", "device-first-use-per-mib",
            "kernel-queue", "kernel-latency", "copy-queue")


def costs_and_links_are_measured_and_kept_beside_each_other(home):
    for command in ("bus", "runtime", "bus"):
        said = json.loads(run(home, ORRERY, "calibrate", command, "--json",
                              *(QUICK if command == "bus" else [])))
        text = bus_file(home, ".machine.xml").read_text()
        assert f'host id="{KIND}1"' in text, f"after {command}: {text}"
        for name in LAUNCHES if command == "runtime" else ():
            assert said["costs_us"][name].get("median", 0) > 0, said
            assert f"orrery-cost-{name}" in text, text
        assert command == "bus" or said["costs_us"]["event"].get("median", 0) > 0, said
    for name in LAUNCHES:
        assert f"orrery-cost-{name}" in text, text


def calibrate_measures_kernels_of_devices(home):
    said = run(home, ORRERY, "calibrate", "kernels", *ROUGH, "--", PROGRAM,
               may_fall_short=True)
    assert re.search(r"^vector_scal +opencl[01] +[0-9a-f]{8} +\d+ +[1-9]", said,
                     re.M), said
    shown = run(home, ORRERY, "perfmodel", "show", "vector_scal")
    assert "opencl" in shown.lower(), shown


def calibrate_lets_others_do_what_a_device_cannot(home):
    log = pathlib.Path(home, "log")
    said = run(home, ORRERY, "calibrate", "kernels", *ROUGH, "--", "sh", "-c",
               f'echo "$ORRERY_CALIBRATE_ON" >>{log}; exec "$@"', "sh", *CHOLESKY,
               may_fall_short=True)
    assert "OpenCL" in log.read_text().split(), log.read_text()
    assert re.search(r"^chol_model_gemm +opencl[01] +[0-9a-f]{8} +\d+ +[1-9]", said,
                     re.M), said


def all_that_a_device_can_do_is_done_there(home):
    report = pathlib.Path(home, "report.json")
    run(home, *CHOLESKY, ORRERY_CALIBRATE_ON="opencl", STARPU_SCHED="dmda",
        ORRERY_REPORT=str(report))
    kernels = json.loads(report.read_text())["kernels"]
    assert {kernel["model"]: kernel["arch"].rstrip("01") for kernel in kernels
            } == {True: "opencl", False: "cpu"}, kernels
    said = subprocess.run(CHOLESKY, capture_output=True, text=True, check=False,
                          env={**os.environ, "STARPU_HOME": home,
                               "ORRERY_CALIBRATE_ON": "abacus"})
    assert said.returncode != 0 and "ORRERY_CALIBRATE_ON=abacus" in said.stderr


def the_description_simulates_the_devices(home):
    run(home, ORRERY, "calibrate", "bus", *QUICK)
    text = bus_file(home, ".machine.xml").read_text()
    for part in (f'host id="{KIND}1"', f'id="RAM-{KIND}1"', f'id="{KIND}0-RAM"'):
        assert part in text, part
    shown = run(home, ORRERY, "machine", "show", "here")
    assert KIND + "1" in shown and "GiB" in shown, shown


def a_program_measures_once(home):
    run(home, PROGRAM)
    before = bus_file(home, ".bandwidth").read_text()
    assert positive(matrix(home, ".bandwidth"))
    # With fewer devices, or none, the files are good enough.
    run(home, PROGRAM, **{"STARPU_N" + VARIABLE: "0"})
    run(home, PROGRAM, **{f"STARPU_WORKERS_{VARIABLE}ID": "1"})
    assert counts(home)[PLACES[KIND]] == 2
    assert bus_file(home, ".bandwidth").read_text() == before


def all_devices_are_measured_with_one_in_use(home):
    run(home, PROGRAM, **{f"STARPU_WORKERS_{VARIABLE}ID": "1"})
    assert counts(home)[PLACES[KIND]] == 2, counts(home)
    assert positive(matrix(home, ".bandwidth"))


def main():
    tests = (calibrate_measures_links_of_devices,
             costs_and_links_are_measured_and_kept_beside_each_other,
             calibrate_measures_kernels_of_devices,
             calibrate_lets_others_do_what_a_device_cannot,
             all_that_a_device_can_do_is_done_there,
             the_description_simulates_the_devices, a_program_measures_once,
             all_devices_are_measured_with_one_in_use)
    if KIND != "OpenCL":  # the program has no kernels for the stand-ins
        tests = tuple(test for test in tests
                      if test not in (calibrate_measures_kernels_of_devices,
                                      calibrate_lets_others_do_what_a_device_cannot,
                                      all_that_a_device_can_do_is_done_there))
    failed = 0
    print(f"1..{len(tests)}")
    for number, test in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as home:
            try:
                test(home)
                print(f"ok {number} - {test.__name__}")
            except (AssertionError, KeyError, OSError) as error:
                failed += 1
                print(f"not ok {number} - {test.__name__}")
                print("\n".join("# " + line for line in str(error).split("\n")))
    return failed > 0


sys.exit(main())
