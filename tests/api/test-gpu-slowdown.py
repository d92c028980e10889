#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `orrery calibrate kernels' says of GPUs whose clocks were lowered, as NVML counts
it: of each GPU that counts, whichever others do not; and where nobody knows.

usage: test-gpu-slowdown.py ORRERY PROGRAM NVML EMPTY, with ORRERY_CUDA_LIBRARY

PROGRAM has kernels for the stand-in, NVML is the library of ../unit/fake-nvml.c, EMPTY
one without its entries.
"""

import os
import subprocess
import sys
import tempfile

ORRERY, PROGRAM, NVML, EMPTY = sys.argv[1:]


def calibrate(library, ncpus="0", **env):
    """What is said of GPUs. The time limit lets one run pass."""
    with tempfile.TemporaryDirectory() as folder:
        if library:
            os.symlink(library, os.path.join(folder, "libnvidia-ml.so.1"))
        libraries = os.pathsep.join([folder, os.environ.get("LD_LIBRARY_PATH", "")])
        ended = subprocess.run(
            [ORRERY, "calibrate", "kernels", "--time-limit", "0", "--", PROGRAM],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
            env={**os.environ, "STARPU_HOME": folder, "STARPU_NCPU": ncpus,
                 "LD_LIBRARY_PATH": libraries, **env})
        assert ended.returncode in (0, 1), ended.stdout + ended.stderr
        return [line for line in ended.stderr.splitlines() if "GPU" in line]


def a_gpu_that_does_not_count_hides_none_that_does():
    said = calibrate(NVML, FAKE_NVML_SLOW="100000", FAKE_NVML_COUNTS="1")
    assert any("GPU 1 (Old GPU) has been slower than it can be" in line
               for line in said), said


def a_gpu_that_does_not_count_is_named():
    said = calibrate(NVML, FAKE_NVML_SLOW="0")
    assert len(said) == 1 and "GPU 1 (Old GPU)" in said[0] and \
        "is not known" in said[0], said


def without_nvml_nobody_knows():
    for library, reason in ((None, "libnvidia-ml.so.1"),
                            (EMPTY, "has no nvmlInit_v2")):
        said = calibrate(library)
        assert len(said) == 1 and "is not known" in said[0] and \
            reason in said[0], said
    said = calibrate(NVML, FAKE_NVML_FAIL="init")
    assert len(said) == 1 and "Driver Not Loaded" in said[0], said


def who_calibrates_processors_need_not_know():
    said = calibrate(None, ncpus="1", STARPU_NCUDA="0")
    assert not said, said


def main():
    tests = [a_gpu_that_does_not_count_hides_none_that_does,
             a_gpu_that_does_not_count_is_named, without_nvml_nobody_knows,
             who_calibrates_processors_need_not_know]
    print(f"1..{len(tests)}")
    failed = 0
    for number, test in enumerate(tests, 1):
        try:
            test()
            print(f"ok {number} - {test.__name__}", flush=True)
        except AssertionError as error:
            failed += 1
            print(f"not ok {number} - {test.__name__}: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
