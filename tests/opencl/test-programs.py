#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The programs of examples/opencl, which know nothing of Orrery: right on a real machine and
simulated, the same twice, on several devices, with times from all sources, recorded and
calibrated. TAP. Nothing here depends on how long anything takes.

usage: test-programs.py ORRERY FOLDER_OF_PROGRAMS [--full], under on-opencl.sh
--full: also two simulations of programs that do no more than others do.
"""
import json
import os
import re
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit"))
import tools_util as util   # noqa: E402  pylint: disable=wrong-import-position

ORRERY, FOLDER = sys.argv[1:3]
MACHINE = "h100-pcie-4"
# With a size that is quick where kernels are compiled for each range.
PROGRAMS = {"backprop": (), "basic": (), "bfs": (), "hotspot": (), "kmeans": (),
            "lud": ("-n", "24"), "mandelbrot": (), "map": (), "matmul": (),
            "nw": ("-n", "24"), "pathfinder": (), "split": (), "srad": ()}
# One queue, a queue for each device, kernels in parts, a loop that reads what was computed.
SEVERAL = ("bfs", "mandelbrot", "matmul", "split")
tap = util.Tap()


def orrery(*words, timeout=300, **env):
    return util.run(ORRERY, *words, env={**os.environ, "STARPU_SILENT": "1", **env},
                    timeout=timeout)


def program(name, *more):
    return (os.path.join(FOLDER, "opencl-" + name), *PROGRAMS.get(name, ()), *more)


def report(*words, **env):
    done = orrery("run", "--json", *words, **env)
    try:
        return json.loads(done.out), done
    except ValueError:
        return {}, done


def tasks_on(said, kind):
    return [w["tasks"] for w in said.get("workers", []) if w["name"].startswith(kind)]


def are_right():
    for name in PROGRAMS:
        done = orrery("run", "--", *program(name, "-check"))
        tap.claim(f"{name}: right on devices of this machine",
                  done.code == 0 and "right" in done.out, done)
        done = orrery("run", "-m", MACHINE, "--", *program(name, "-check"),
                      ORRERY_SIM_KERNELS="run")
        tap.claim(f"{name}: right on a simulated machine that executes kernels",
                  done.code == 0 and "right" in done.out, done)


def are_the_same(folder):
    for name in PROGRAMS if "--full" in sys.argv else SEVERAL:
        traces = []
        for turn in "12":
            path = os.path.join(folder, name + turn)
            done = orrery("run", "-m", MACHINE, "--", *program(name), ORRERY_TRACE=path + ".csv")
            with open(path + ".csv", "rb") as file:
                traces.append(file.read())
        tap.claim(f"{name}: two simulations have the same trace",
                  done.code == 0 and traces[0] == traces[1] and b"\n" in traces[0], done)


def use_all_devices():
    alone, done = report("-m", MACHINE, "--", *program("mandelbrot", "-n", "4096"))
    tap.claim("a queue of a device stays on it",
              [n > 0 for n in tasks_on(alone, "CUDA")] == [True, False, False, False], done)
    spread, done = report("-m", MACHINE, "--", *program("mandelbrot", "-n", "4096"),
                          SOCL_FORCE_DYNAMIC="1")
    tap.claim("SOCL_FORCE_DYNAMIC spreads an unchanged program over all devices",
              all(n > 0 for n in tasks_on(spread, "CUDA")), done)
    tap.claim("… which is faster",
              spread["makespan_us"] < alone["makespan_us"] / 2, spread["makespan_us"],
              alone["makespan_us"])
    chosen, done = report("-m", MACHINE, "--", *program("mandelbrot", "-n", "4096", "-scheduler",
                                                        "dmdar"))
    tap.claim("a context's own policy, and a queue without a device, do as well",
              all(n > 0 for n in tasks_on(chosen, "CUDA")), done)
    dealt, done = report("-m", MACHINE, "--", *program("matmul"))
    tap.claim("a program that has a queue for each device uses each",
              all(n > 0 for n in tasks_on(dealt, "CUDA")), done)


def is_split():
    kernels = {"STARPU_SIMGRID_TRANSFER_COST": "0"}  # without what one host copies
    whole, done = report("-m", MACHINE, "--set", "cuda.count = 1", "--",
                         *program("split", "-n", "4194304"), **kernels)
    parts, more = report("-m", MACHINE, "--", *program("split", "-n", "4194304"), **kernels)
    tap.claim("a kernel that is split is on all devices", tasks_on(parts, "CUDA") == [1] * 4, more)
    tap.claim("… and they compute at the same time",
              parts["makespan_us"] < 0.6 * whole["makespan_us"], whole["makespan_us"],
              parts["makespan_us"], done, more)


def have_times(folder):
    done = orrery("run", "-m", MACHINE, "--", *program("basic"))
    tap.claim("times of a roofline are said to be derived", "100.0 % derived" in done.out, done)
    done = orrery("run", "-m", MACHINE, "--assume", "kernel[add] = 7ms", "--",
                  *program("basic"))
    tap.claim("what is assumed goes before it", "100.0 % assumed" in done.out, done)
    done = orrery("run", "-m", "epyc-64", "--", *program("basic"))
    tap.claim("on a machine without GPUs a core is a device", "100.0 % derived" in done.out and
              "CPU         64 workers" in done.out, done)
    slow, _ = report("-m", MACHINE, "--", *program("basic", "-n", "1000000"))
    fast, done = report("-m", MACHINE, "--", *program("basic", "-n", "1000000"),
                        STARPU_SIMGRID_TRANSFER_COST="0")
    # Two arrays of 4 MB, read and written at 10 GB/s.
    tap.claim("writes of buffers take what the host takes to copy",
              slow["makespan_us"] - fast["makespan_us"] > 0.9 * 2 * 2 * 4e6 / 10e3, slow,
              fast, done)
    # Both arrays are new in main memory and on the device; nobody waits for the read of the
    # result, which is behind the last task.
    new, done = report("-m", MACHINE, "--set", "cost[first-use-per-mib] = 1ms; "
                       "cost[device-first-use-per-mib] = 2ms", "--",
                       *program("basic", "-n", "1000000"))
    more, mib = new["makespan_us"] - slow["makespan_us"], 4e6 / (1 << 20)
    tap.claim("memory that nobody has used takes longer once",
              abs(more / mib - 6000) < 1, more / mib, done)
    path = os.path.join(folder, "new.rec")
    # The C library is not to fill the program's array beforehand.
    done = orrery("record", "-m", MACHINE, "-o", path, "--", *program("basic", "-n", "1000000"),
                  MALLOC_PERTURB_="0")
    with open(path, encoding="utf-8") as file:
        calls = file.read()
    tap.claim("records say of what memory nobody has used before",
              calls.count("\nuntouched ") == 3 and calls.count(" memory=4000000") == 1, calls,
              done)
    few, _ = report("-m", MACHINE, "--", *program("hotspot", "-n", "256"))
    many, done = report("-m", MACHINE, "--", *program("hotspot", "-n", "1024"))
    tap.claim("sizes have times of their own", many["makespan_us"] > few["makespan_us"], done)


def footprints(folder, **env):
    """Those of the kernels of a program that gives one of them other values each time."""
    path = os.path.join(folder, "footprints.csv")
    done = orrery("run", "-m", MACHINE, "--", *program("pathfinder"), ORRERY_TRACE=path, **env)
    with open(path, encoding="utf-8") as file:
        lines = [line.split(",") for line in file]
    return len({line[lines[0].index("footprint")] for line in lines
                if '"row"' in line}), done


def have_models(folder):
    usual, done = footprints(folder)
    tap.claim("kernels of the same ranges share a time", usual == 1, usual, done)
    apart, done = footprints(folder, SOCL_MODEL_SCALARS="basic.n,row.y")
    tap.claim("SOCL_MODEL_SCALARS tells those apart whose argument differs", apart == 19,
              apart, done)
    home = {"STARPU_HOME": os.path.join(folder, "home"), "STARPU_HOSTNAME": "here"}
    done = orrery("validate", "-n", "1", "--", *program("hotspot"), **home)
    tap.claim("validate says what measures devices that no description has",
              done.code == 1 and "measure their links, STARPU_OPENCL_ON_CPUS=1 orrery calibrate bus"
              in done.err, done)
    done = orrery("calibrate", "bus", "--quick", "--spread", "1000000%", **home)
    tap.claim("links of the devices are measured", done.code == 0, done)
    done = orrery("calibrate", "kernels", "-t", "60s", "--confidence", "50%", "--",
                  *program("hotspot"), **home)
    tap.claim("orrery calibrate kernels measures those of a program",
              "heat" in done.out and "opencl0" in done.out, done)
    done = orrery("run", "-m", "here", "--", *program("hotspot"), **home)
    tap.claim("… which the simulation of this machine has",
              done.code == 0 and "derived" not in done.out and "10 tasks" in done.out, done)
    done = orrery("validate", "-n", "2", "--json", "--", *program("hotspot"), **home)
    said = json.loads(done.out) if done.out.startswith("{") else {}
    copies = said.get("links", [])
    tap.claim("validate compares its runs with simulations of this machine's devices",
              len(copies) == 2 and all(
                  c["measured_count"] == c["predicted_count"] for c in copies),
              done)


def are_recorded(folder):
    path = os.path.join(folder, "basic.rec")
    done = orrery("record", "-o", path, "--", *program("matmul"), SOCL_FORCE_DYNAMIC="1")
    tap.claim("a program is recorded", done.code == 0 and os.path.exists(path), done)
    pinned = os.path.join(folder, "pinned.rec")
    orrery("record", "-o", pinned, "--", *program("matmul"))
    said, done = report("-m", MACHINE, "--assume", "kernel[*] on cuda = 100us", pinned)
    tap.claim("… what has queues of devices has them on as many elsewhere",
              done.code == 0 and tasks_on(said, "CUDA") == [4, 4, 0, 0], done)
    said, done = report("-m", MACHINE, "--assume", "kernel[*] on cuda = 100us", path)
    tap.claim("… and its record played on a machine with other devices",
              done.code == 0 and sum(tasks_on(said, "CUDA")) == 8, done)
    times = "-m", MACHINE, "--assume", "kernel[*] on cuda = 100us"
    ran, done = report(*times, "--", *program("matmul"), ORRERY_RECORD=path)
    said, again = report(*times, path)
    tap.claim("what the host copies is in the record of a simulated run",
              abs(said["makespan_us"] - ran["makespan_us"]) < 0.02 * ran["makespan_us"],
              ran, said, done, again)
    for name, *size in ("kmeans", "-n", "20000"), ("matmul",), ("srad", "-n", "64"):
        recorded_alike(folder, name, size)


def recorded_alike(folder, name, size):
    """kmeans waits for its reads: a replay waits as long as its own kernels take. Commands of
    queues in order come one after the other, also where one had ended when the next came. What
    the program itself took in the real run is taken out, which is what it is there."""
    path = os.path.join(folder, "alike.rec")
    simulated = [("-m", MACHINE, "--assume", f"kernel[*] on cuda = {us}us") for us in (1, 100)]
    # matmul has a queue for each device, of which this machine has other ones.
    for recorded in simulated if name == "matmul" else [(), *simulated]:
        made = orrery("record", *recorded, "-o", path, "--", *program(name, *size))
        with open(path, encoding="utf-8") as file:
            calls = re.sub(r" after=[-+.e\d]+", "", file.read())
        with open(path, "w", encoding="utf-8") as file:
            file.write(calls)
        ran, played = {}, {}
        for us in (1, 1000):
            times = "-m", MACHINE, "--assume", f"kernel[*] on cuda = {us}us"
            ran[us] = report(*times, "--", *program(name, *size))[0]["makespan_us"]
            played[us] = report(*times, path)[0]["makespan_us"]
        tap.claim(f"the record of {'a simulated' if recorded else 'a real'} run of {name} waits "
                  "for kernels, whatever they take", "\nwait-task " in calls and
                  all(abs(played[us] / ran[us] - 1) < 0.1 for us in ran), ran, played, made)


def are_refused():
    done = orrery("run", "--", *program("basic"), SOCL_ORDER="sideways")
    tap.claim("an order that there is not is refused with the ones there are",
              done.code != 0 and "write queue, data or both" in done.err, done)
    done = orrery("run", "--", *program("basic"), ORRERY_OPENCL_VENDORS="/nowhere")
    tap.claim("a machine without devices says what makes some",
              done.code != 0 and "ORRERY_OPENCL_VENDORS" in done.err, done)


with tempfile.TemporaryDirectory(prefix="orrery-opencl-") as place:
    are_right()
    are_the_same(place)
    use_all_devices()
    is_split()
    have_times(place)
    have_models(place)
    are_recorded(place)
    are_refused()
tap.end()
