#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Variables of docs/ENVIRONMENT.md: those that it calls variables of real machines change
no simulated run; each of the others changes one, by what it reports, prints or leaves in
files, or is refused; or another test says that it does what the page says. Prints TAP.

usage: test-variables.py PLAYER ENVIRONMENT.md
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "unit"))
sys.dont_write_bytecode = True
from tools_util import Tap   # pylint: disable=wrong-import-position

MACHINE = "h100-pcie-4"
# A value that would change a real run; by the type in the page, else "1".
VALUES = {"0 or 1": {"0": "1", "1": "0"}, "integer": {}, "text": {}}
RECORD = """orrery-record 1
run
model 1 kind="per-arch" flags=4
%s
wait-all
%s
end value=41
"""


# Scenes in which a variable has something to change.
HETERO = {"STARPU_SCHED": "heteroprio", "STARPU_NCPU": "4", "STARPU_NCUDA": "2",
          "STARPU_AUTOHETEROPRIO_PRINT_AFTER_ORDERING": "1",
          "STARPU_AUTOHETEROPRIO_ORDERING_INTERVAL": "4"}
NEAR = dict(HETERO, STARPU_HETEROPRIO_USE_LA="1")
NEAR2 = dict(NEAR, STARPU_AUTOHETEROPRIO_ORDERING_INTERVAL="64",
             ORRERY_MACHINE="mixed-a100-v100")
FULL = {"STARPU_LIMIT_CUDA_MEM": "6", "STARPU_NCPU": "1", "STARPU_NCUDA": "1"}
STATS = {"STARPU_WORKER_STATS": "1", "STARPU_BUS_STATS": "1", "STARPU_PROFILING": "1",
         "STARPU_ENABLE_STATS": "1"}
# name: a value, and the scene.
CASES = {
    "STARPU_NCPU": ("1", {}),
    "STARPU_NCPUS": ("1", {}),
    "STARPU_RESERVE_NCPU": ("1", {}),
    "STARPU_NCUDA": ("1", {}),
    "STARPU_ENABLE_CUDA_GPU_GPU_DIRECT": ("0", {"STARPU_SCHED": "random"}),
    "STARPU_DISPLAY_BINDINGS": ("1", {}),
    "STARPU_MAIN_THREAD_BIND": ("1", {}),
    "STARPU_CUDA_PIPELINE": ("0", {}),
    "STARPU_HIP_PIPELINE": ("50", {}),
    "STARPU_SCHED": ("eager", {}),
    "STARPU_SCHED_LIB": ("x", {}),
    "STARPU_PREFETCH": ("0", FULL),
    "STARPU_SCHED_ALPHA": ("3", {}),
    "STARPU_SCHED_BETA": ("3", {}),
    "STARPU_IDLE_POWER": ("1e6", {}),
    "STARPU_HETEROPRIO_USE_AUTO_CALIBRATION": ("0", HETERO),
    "STARPU_AUTOHETEROPRIO_ORDERING_INTERVAL": ("64", HETERO),
    "STARPU_SCHED_SORTED_BELOW": (
        "0", {"STARPU_SCHED": "modular-heft", "STARPU_NCPU": "2", "STARPU_NCUDA": "1"}),
    "STARPU_RAND_SEED": ("7", {"STARPU_SCHED": "random"}),
    "STARPU_LIMIT_MAX_SUBMITTED_TASKS": ("4", {"STARPU_LIMIT_MIN_SUBMITTED_TASKS": "2"}),
    "STARPU_LIMIT_MIN_SUBMITTED_TASKS": ("2", {"STARPU_LIMIT_MAX_SUBMITTED_TASKS": "4"}),
    "STARPU_HETEROPRIO_USE_LA": ("1", HETERO),
    "STARPU_LAHETEROPRIO_PUSH": ("WORKER", NEAR),
    "STARPU_LAHETEROPRIO_S_CPU": ("0", NEAR2),
    "STARPU_LAHETEROPRIO_S_CUDA": ("0", NEAR),
    "STARPU_LAHETEROPRIO_PRIO_STEP_CPU": ("0", NEAR2),
    "STARPU_LAHETEROPRIO_PRIO_STEP_CUDA": ("2", NEAR),
    "STARPU_HETEROPRIO_DATA_DIR": ("there", HETERO),
    "STARPU_HETEROPRIO_DATA_FILE": ("figures", HETERO),
    "STARPU_AUTOHETEROPRIO_FREEZE_GATHERING": ("1", HETERO),
    "STARPU_AUTOHETEROPRIO_PRINT_AFTER_ORDERING": ("0", HETERO),
    "STARPU_AUTOHETEROPRIO_PRINT_DATA_ON_UPDATE": ("1", HETERO),
    "STARPU_AUTOHETEROPRIO_PRIORITY_ORDERING_POLICY": ("1", HETERO),
    "ORRERY_CALIBRATE_ON": ("cpu", {}),
    "STARPU_HISTORY_MAX_ERROR": ("0", {}),
    "STARPU_EXPECTED_TRANSFER_TIME_WRITEBACK": ("1", {}),
    "STARPU_PERF_MODEL_HOMOGENEOUS_CPU": ("0", {}),
    "STARPU_PERF_MODEL_HOMOGENEOUS_CUDA": ("1", {}),
    "STARPU_HOSTNAME": ("x", {}),
    "STARPU_DISK_SWAP": ("here", {}),
    "STARPU_DISK_SWAP_BACKEND": ("x", {"STARPU_DISK_SWAP": "here"}),
    "STARPU_DISK_SWAP_SIZE": ("8", {"STARPU_DISK_SWAP": "here"}),
    "STARPU_LIMIT_CUDA_MEM": ("6", {}),
    "STARPU_DISABLE_ASYNCHRONOUS_COPY": ("1", {}),
    "STARPU_DISABLE_ASYNCHRONOUS_CUDA_COPY": ("1", {}),
    "STARPU_MINIMUM_AVAILABLE_MEM": ("50", FULL),
    "STARPU_MINIMUM_CLEAN_BUFFERS": ("50", FULL),
    "ORRERY_EVICTION": ("lru", FULL),
    "ORRERY_MACHINE": ("hgx-h100-8", {}),
    "ORRERY_SET": ("cuda.speed = 2", {}),
    "STARPU_LIMIT_BANDWIDTH": ("10", {}),
    "ORRERY_SIM_NETWORK": ("x", {}),
    "ORRERY_SIM_CONTEXTS": ("x", {}),
    "ORRERY_SIM_NOISE": ("0.1", {}),
    "ORRERY_SIM_SEED": ("1", {"ORRERY_SIM_NOISE": "0.1"}),
    "ORRERY_SIM_DRAW": ("1", {}),
    "ORRERY_ASSUME": ("k1 = 1us", {}),
    "STARPU_SIMGRID_TASK_SUBMIT_COST": ("0", {}),
    "STARPU_SIMGRID_TASK_PUSH_COST": ("0", {}),
    "STARPU_SIMGRID_FETCHING_INPUT_COST": ("0", {}),
    "STARPU_SIMGRID_CUDA_MALLOC_COST": ("0", {}),
    "STARPU_SIMGRID_CUDA_QUEUE_COST": ("0", {}),
    "STARPU_SIMGRID_TRANSFER_COST": ("0", {}),
    "STARPU_SIMGRID": ("1", {}),
    "ORRERY_PLATFORM_DIR": ("/nonexistent", {}),
    "STARPU_SILENT": ("1", {"STARPU_SIMGRID": "1"}),
    "ORRERY_TRACE": ("t.csv", {}),
    "ORRERY_REPORT": ("other", {}),
    "ORRERY_GRAPH": ("g", {}),
    "ORRERY_RECORD": ("r", {}),
    "ORRERY_BREAK_AT": ("1ms", {}),
    "ORRERY_DEBUGGER": ("99", {}),
    "ORRERY_WATCH": ("99", {}),
    "ORRERY_PROGRESS": ("0.000001", {}),
    "STARPU_TASK_PROGRESS": ("1", {}),
    "STARPU_PROFILING": ("1", {"STARPU_WORKER_STATS": "1"}),
    "STARPU_BUS_STATS": ("1", {}),
    "STARPU_BUS_STATS_FILE": ("f", STATS),
    "STARPU_WORKER_STATS": ("1", {}),
    "STARPU_WORKER_STATS_FILE": ("f", STATS),
    "STARPU_IDLE_FILE": ("f", STATS),
    "STARPU_ENABLE_STATS": ("1", {}),
    "STARPU_STATS": ("0", STATS),
    "STARPU_MEMORY_STATS": ("1", {}),
    "STARPU_MAX_MEMORY_USE": ("1", {}),
    "STARPU_TASK_BREAK_ON_PUSH": ("3", {}),
    "STARPU_TASK_BREAK_ON_SCHED": ("3", {}),
    "STARPU_TASK_BREAK_ON_POP": ("3", {}),
    "STARPU_TASK_BREAK_ON_EXEC": ("3", {}),
    "STARPU_PROF_TOOL": ("/nonexistent", {}),
}
# Weights of heteroprio's scores, each in the scene of its score.
SCORES = {"STARPU_HETEROPRIO_URT_URT_MULTIPLIER": "1e6",
          "STARPU_HETEROPRIO_URT_2_URT_MULTIPLIER": "1e6",
          "STARPU_HETEROPRIO_URT_2_ARCH_NEED_MULTIPLIER": "100",
          "STARPU_HETEROPRIO_NOD_TIME_COMBINATION_NOD_MULTIPLIER": "100",
          "STARPU_HETEROPRIO_URT_DOT_DIFF_5_ARCH_DIFF_OFFSET": "100",
          "STARPU_HETEROPRIO_URT_DOT_DIFF_11_ARCH_DIFF_OFFSET": "100",
          "STARPU_HETEROPRIO_URTS_TIME_COMBINATION_NOD_MULTIPLIER": "100"}
# What these do is claimed there.
ELSEWHERE = {
    "tests/debug/test-lines.py":
        "ORRERY_LINKS ORRERY_SOURCE_LINES",
    "tests/unit/test-energy-command.py":
        "ORRERY_POWERS",
    "tests/unit/test-gpu-clock.c":
        "ORRERY_FOLLOW_PLACED",
    "tests/opencl/test-programs.py":
        "ORRERY_OPENCL_VENDORS",
    "tests/stf/test-stf.py":
        "ORRERY_STF_ALLOCATOR ORRERY_STF_DOT ORRERY_STF_PLACE",
    "tests/mpi/test-hosted.py":
        "ORRERY_SIM_MPI_VALUES",
    "tests/mpi/test-prefix.py":
        "ORRERY_SIM_PREFIX",
    "tests/golden/test-settings.py":
        "ORRERY_ROBUST_QUANTILE STARPU_NTASKS_THRESHOLD STARPU_EXP_LEN_THRESHOLD "
        "STARPU_SCHED_SORTED_ABOVE STARPU_SCHED_READY",
    "tests/api/test-parallel.c":
        "STARPU_MIN_WORKERSIZE STARPU_MAX_WORKERSIZE "
        "STARPU_SYNTHESIZE_ARITY_COMBINED_WORKER STARPU_SINGLE_COMBINED_WORKER",
    "tests/api/test-boards.py":
        "STARPU_NOPENCL",
    "tests/api/test-numa.c":
        "STARPU_USE_NUMA STARPU_LIMIT_CPU_NUMA_MEM",
    "tests/api/test-conf.c":
        "STARPU_MIN_PRIO STARPU_MAX_PRIO STARPU_CATCH_SIGNALS",
    "tests/api/test-energy.c":
        "STARPU_SCHED_GAMMA STARPU_CALIBRATE",
    "tests/api/test-heteroprio-file.c":
        "STARPU_HETEROPRIO_CODELET_GROUPING_STRATEGY",
    "tests/api/test-advice.c":
        "STARPU_LIMIT_CPU_MEM ORRERY_SIM_KERNELS",
    "tests/api/test-memory.c":
        "STARPU_LIMIT_OPENCL_MEM STARPU_DISABLE_PINNING",
    "tests/api/test-opencl-copies.c":
        "STARPU_DISABLE_ASYNCHRONOUS_OPENCL_COPY STARPU_OPENCL_PROGRAM_DIR",
    "tests/api/test-clean.c":
        "STARPU_TARGET_AVAILABLE_MEM STARPU_TARGET_CLEAN_BUFFERS",
    "tests/mpi/test-settings.py":
        "STARPU_MPI_COOP_SENDS STARPU_MPI_CACHE STARPU_MPI_CACHE_STATS STARPU_MPI_STATS "
        "STARPU_MPI_REDUX_ARITY_THRESHOLD STARPU_MPI_THREAD_MULTIPLE_SEND STARPU_MPI_LB "
        "STARPU_MPI_PRIORITIES STARPU_MPI_NOBIND STARPU_COMM_STATS LB_HEAT_WAKEUP_RATIO "
        "LB_HEAT_TIME_THRESHOLD LB_HEAT_SLEEP_THRESHOLD",
    "tests/mpi/test-mpi-doctor.c":
        "ORRERY_MPI_WARN_CORES ORRERY_MPI_WARN_DEVICES ORRERY_MPI_WARN_GRAIN",
    "tests/mpi/programs/ends.sh":
        "ORRERY_MPI_CHECK ORRERY_MPI_TIMEOUT",
    "tests/mpi/restart.sh":
        "ORRERY_MPI_CHECKPOINT_DIR",
    "tests/mpi/programs/pretend.c":
        "STARPU_MPI_FAKE_SIZE STARPU_MPI_FAKE_RANK",
    "tests/api/programs.py":
        "ORRERY_MODULE_DIR STARPU_PERF_MODEL_DIR STARPU_HOME",
    "tests/fake/test-own-times.py":
        "ORRERY_REPLAY_TIMES ORRERY_DEFAULT_MODELS",
    "tests/clock/test-clock.py":
        "ORRERY_CLOCK",
    "tests/programs/test-devices.py":
        "ORRERY_DEVICES",
    "tests/api/test-bound.c":
        "ORRERY_CHECK_BOUNDS",
    "tests/unit/test-perfmodel-sampling.c":
        "STARPU_PERF_MODEL_PATH XDG_CACHE_HOME HOME",
    "tests/api/test-graph-test.c":
        "STARPU_SCHED_GRAPH_TEST_DESCENDANTS",
    "tests/api/test-omp-environment.c":
        "OMP_NUM_THREADS OMP_SCHEDULE OMP_MAX_ACTIVE_LEVELS OMP_NESTED OMP_THREAD_LIMIT "
        "OMP_WAIT_POLICY OMP_STACKSIZE OMP_DISPLAY_ENV OMP_CANCELLATION OMP_PROC_BIND "
        "OMP_PLACES OMP_DEFAULT_DEVICE OMP_MAX_TASK_PRIORITY OMP_DYNAMIC",
    "tests/api/test-late-ends.c":
        "STARPU_WORKERS_NOBIND",
    "tests/api/test-ctx-policies.c":
        "STARPU_WORKER_TREE",
    "tests/api/test-validate.py":
        "STARPU_CALIBRATE_MINIMUM",
    "tests/api/test-stalls.c":
        "ORRERY_STALL_TIMEOUT STARPU_WATCHDOG_CRASH",
    "tests/api/test-failures.py":
        "ORRERY_SIM_WATCHDOG",
    "tests/api/test-calls.c":
        "STARPU_CODELET_PROFILING",
    "tests/api/test-extras.c":
        "STARPU_DISABLE_KERNELS STARPU_WATCHDOG_TIMEOUT STARPU_WATCHDOG_DELAY",
    "tests/unit/test-sched-heteroprio.c":
        "EXP_SELECTIVITY",
}
# Of devices that no simulated machine has, or that the record has no kernels for; of
# measures, which simulations make none of; of folders that others come before; of what
# this program has not: no change.
NOTHING = """
STARPU_OPENCL_PIPELINE STARPU_LAHETEROPRIO_S_OPENCL STARPU_LAHETEROPRIO_PRIO_STEP_OPENCL
STARPU_LAHETEROPRIO_S_HIP STARPU_LAHETEROPRIO_PRIO_STEP_HIP
STARPU_PERF_MODEL_HOMOGENEOUS_OPENCL STARPU_PERF_MODEL_HOMOGENEOUS_HIP
STARPU_LIMIT_HIP_MEM STARPU_DISABLE_ASYNCHRONOUS_HIP_COPY
STARPU_DISABLE_ASYNCHRONOUS_MAX_FPGA_COPY STARPU_DISABLE_ASYNCHRONOUS_MPI_MS_COPY
STARPU_DISABLE_ASYNCHRONOUS_TCPIP_MS_COPY ORRERY_MODELS_FIXED TMP
ORRERY_SIM_FOLD TMPDIR TEMP
""".split()


def variables(page):
    """Name, type, default and sentence of each."""
    with open(page, encoding="utf-8") as file:
        for line in file:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) == 4 and re.fullmatch("`[A-Z_0-9]+`", cells[0]):
                yield (cells[0].strip("`"), cells[1], cells[2].strip("`"), cells[3])


TIMES = ((300, 100), (900, 40), (200, 210), (120, 800), (1000, 30), (50, 60))


def record():
    """Kernels of several ratios on data that go from one to the next."""
    calls, ends = [], []
    for i in range(1, 7):
        calls.append('codelet %d name="k%d" cpu=1 cuda=1 asynchronous=10 buffers=-1 '
                     'model=1' % (i, i))
    for i in range(1, 25):
        calls.append('data %d kind="variable" shape=1000000 home=0' % i)
        calls.append("submit %d codelet=%d times=%d,%d data=%d:rw priority=%d" % (
            i, 1 + i % 6, *TIMES[i % 6], i, i % 5 - 2))
        ends.append("unregister %d" % i)
    for number in range(25, 94):
        i, kind = 1 + (number - 25) % 23, number % 6
        calls.append("submit %d codelet=%d times=%d,%d data=%d:r,%d:rw priority=%d" % (
            number, 1 + kind, *TIMES[kind], i, i + 1, i % 3 - 1))
    text = RECORD % ("\n".join(calls), "\n".join(ends))
    return text.replace("end value=41", "end value=%d" % (text.count("\n") - 2))


def plain_text(text):
    """Without what differs from run to run."""
    text = re.sub(r'"(started|wall)[^,}]*', "", text)
    return re.sub(r"[0-9.]+ s\b", "", text)


def simulate(player, folder, **more):
    """All that the run reports, prints and leaves, but for how long it took."""
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    path, report = (os.path.join(folder, word) for word in ("record", "report"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(record())
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("STARPU_", "ORRERY_"))
           or key in ("ORRERY_MODULE_DIR", "ORRERY_PLATFORM_DIR")}
    env.update(dict(dict(STARPU_SCHED="dmda", ORRERY_MACHINE=MACHINE,
                         ORRERY_REPORT=report, STARPU_PERF_MODEL_DIR=folder,
                         STARPU_HOME=folder), **more))
    done = subprocess.run([player, path], env=env, text=True, timeout=60, cwd=folder,
                          capture_output=True, check=False, errors="replace")
    said = [str(done.returncode), plain_text(done.stdout), plain_text(done.stderr)]
    for where, _, names in sorted(os.walk(folder)):
        for name in sorted(set(names) - {"record"}):
            said.append(os.path.join(where, name))
            if name == "report":
                with open(report, encoding="utf-8") as file:
                    said.append(plain_text(file.read()))
    return "\n".join(said)


def check_real(simulation, tap, page):
    names = []
    for name, kind, default, sentence in page:
        if not sentence.endswith("Real machines only."):
            continue
        value = VALUES.get(kind, {}).get(default, "1")
        names.append(name)
        # It may say so.
        found = re.sub(".*%s has no effect.*\n" % name, "", simulation(**{name: value}))
        tap.claim("%s=%s changes no simulated run" % (name, value),
                  found == simulation(), found)
    tap.claim("the page names such variables", len(names) > 20, names)


def check_simulated(simulation, tap, page):
    told = {name for names in ELSEWHERE.values() for name in names.split()}
    names = set()
    for name, _, _, sentence in page:
        names.add(name)
        score = re.match(r"Score (\d+):", sentence)
        if sentence.endswith("Real machines only."):
            tap.claim("%s is of real machines alone" % name,
                      name not in CASES and name not in told)
        elif score and not name.endswith("EXP_SELECTIVITY"):
            scene = dict(HETERO,
                         STARPU_AUTOHETEROPRIO_PRIORITY_ORDERING_POLICY=score.group(1))
            value = SCORES.get(name, "0.01")
            found = simulation(**dict(scene, **{name: value}))
            tap.claim("%s=%s changes a simulated run" % (name, value),
                      found != simulation(**scene), found)
        elif name in CASES:
            value, scene = CASES[name]
            found = simulation(**dict(scene, **{name: value}))
            tap.claim("%s=%s changes a simulated run" % (name, value),
                      found != simulation(**scene), found)
        elif name in NOTHING:
            found = simulation(**{name: "1"})
            tap.claim("%s has nothing to change there" % name, found == simulation(),
                      found)
        else:
            tap.claim("%s is tested somewhere" % name,
                      name in told or name.endswith("EXP_SELECTIVITY"))
    tap.claim("no variable is named here that the page has not",
              set(CASES) | set(NOTHING) | set(SCORES) | told
              <= names | {"EXP_SELECTIVITY"},
              sorted((set(CASES) | set(NOTHING) | told) - names))
    root = os.path.join(HERE, "..", "..")
    for path, listed in ELSEWHERE.items():
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        missing = [name for name in listed.split() if name not in text]
        tap.claim("%s has the variables that are told to be tested there" % path,
                  not missing, missing)


def main():
    player, path = (os.path.abspath(word) for word in sys.argv[1:])
    tap, kept = Tap(), {}
    with tempfile.TemporaryDirectory() as top:
        def simulation(**more):
            key = json.dumps(more, sort_keys=True)
            if key not in kept:
                kept[key] = simulate(player, os.path.join(top, "run"), **more)
            return kept[key]

        tap.claim("the program is simulated", simulation().startswith("0"), simulation())
        page = list(variables(path))
        check_real(simulation, tap, page)
        check_simulated(simulation, tap, page)
    tap.end()


if __name__ == "__main__":
    main()
