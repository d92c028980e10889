# SPDX-License-Identifier: LGPL-2.1-or-later
"""The program that test-experiments.py lets the orrery command run: it writes
the reports and model files that a library would, with the noise of a shared
machine from a seeded generator, on a machine with a GPU. FAKE_SCENARIO names a
JSON file with what it shall play.
"""

import json
import os
import random
import signal
import sys

KERNELS = {"potrf": 400.0, "trsm": 1000.0, "syrk": 1050.0, "gemm": 2000.0}
FOOTPRINT = {size: f"{0xabc0 + size:08x}" for size in range(10)}
DEVICES = {"cpu0": (0, 0, 1.0), "cuda0": (1, 0, 0.1)}


def scenario():
    """What the test asked for, and which run of the program this is."""
    with open(os.environ["FAKE_SCENARIO"], encoding="utf-8") as file:
        scene = json.load(file)
    path = os.environ["FAKE_SCENARIO"] + ".runs"
    with open(path, "a+", encoding="utf-8") as file:
        file.write(json.dumps({name: value for name, value in os.environ.items()
                               if name.startswith(("STARPU", "ORRERY"))}) + "\n")
        file.seek(0)
        return scene, len(file.readlines())


def kernel(name, arch, size, us, count, **more):
    return {"name": name, "arch": arch, "implementation": 0,
            "footprint": FOOTPRINT[size], "size": 1000 * size, "model": True,
            "count": count, "mean_us": us, "typical_us": us, "p05_us": us,
            "p25_us": us, "median_us": us, "p75_us": us, "p95_us": us, **more}


def factor(factors, name, arch, size):
    """What a scene says of a kernel, its architecture, its size."""
    product = 1
    for key in (name, arch, f"{name}/{arch}", f"{name}/{size}"):
        product *= factors.get(key, 1)
    return product


def each_kernel(scene):
    """name, arch, size, and its true time and the time of its model."""
    for name in scene.get("kernels", KERNELS):
        for arch in ("cpu0", "cuda0") if scene.get("gpu") else ("cpu0",):
            for size in (1, 2):
                us = KERNELS[name] * size * DEVICES[arch][2]
                true = us * factor(scene.get("slow", {}), name, arch, size)
                yield (name, arch, size, true,
                       us * factor(scene.get("model", {}), name, arch, size))


def second_level(scene, noise, name, us, simulated):
    """What a share of the runs takes, of those that are no measure of the usual
    time; without "level" it has none."""
    second = scene.get("second", {}).get(name)
    if not second or simulated:
        return {"other_us": None, "other_share": 0, "aside_share": 0}
    share = second["share"]
    if second.get("differs"):
        share *= noise.choice((0.05, 0.3, 1, 2))
    return {"mean_us": us * (1 + share * (second["level"] - 1)),
            "other_us": us * second["level"], "aside_share": share,
            "other_share": share * second.get("near", 1)}


def measured(scene, noise, simulated):
    """The kernels of a run, with the noise of a shared machine."""
    machine = 0 if simulated else noise.gauss(scene.get("machine", 0),
                                              scene.get("noise", 0.04))
    for name, arch, size, true, model in each_kernel(scene):
        own = noise.gauss(0, scene.get("own", {}).get(name, 0.01))
        real = true * 2.718281828 ** (machine + own)
        fast, usual = (model if simulated else real,) * 2
        if not simulated:  # other programs make slow runs slower
            usual *= 1 + scene.get("busy", 0)
        yield kernel(name, arch, size, usual, 50, predicted_us=model,
                     p05_us=fast, p25_us=fast,
                     **second_level(scene, noise, name, usual, simulated))


def makespan_of(scene, noise, simulated):
    """As long as the kernels together, with 5 % that no simulation knows."""
    right = sum(KERNELS[name] * size * DEVICES[arch][2]
                for name, arch, size, _, _ in each_kernel(scene))
    if simulated:
        return 1e5 * sum(item[4] for item in each_kernel(scene)) / right
    return (1e5 * sum(item[3] for item in each_kernel(scene)) / right *
            noise.choice((1.04, 1.05, 1.06)) * scene.get("end", 1) *
            2.718281828 ** (scene.get("machine", 0) +
                            noise.gauss(0, 1) * scene.get("wild", 0)))


def write_report(scene, kernels, simulated, makespan, kinds):
    report = {
        "version": "0", "simulated": simulated, "machine": "pretended",
        "host": "pretended", "provenance": None, "scheduler": "lws",
        "assumed": None, "makespan_us": makespan, "modelled_us": makespan / 2,
        "flops": 0, "tasks": 400, "transfers": 0, "transferred_bytes": 0,
        "evictions": 0, "wall_s": 0.1, "exit": "shutdown",
        "workers": [{"name": f"{kind} 0", "busy_us": 1, "tasks": 1}
                    for kind in kinds],
        "kernels": kernels,
        "links": [{"from": "NUMA 0", "to": "CUDA 0", "count": 10,
                   "bytes": 10 << 20, "predicted_us": None, "alone_us": 900,
                   "total_us": 1000 if simulated else 1250}]
        if scene.get("links") else []}
    with open(os.environ["ORRERY_REPORT"], "w", encoding="utf-8") as file:
        json.dump(report, file)


def hang(scene, number):
    """Says that it waits, and waits for a signal."""
    if number == scene.get("hang"):
        with open(os.environ["FAKE_SCENARIO"] + ".hangs", "w",
                  encoding="utf-8") as file:
            file.write("x")
        signal.pause()


def play_compare(scene, number):
    hang(scene, number)
    scene = dict(scene, slow={}, gpu=False)
    noise = random.Random(number)
    write_report(scene, list(measured(scene, noise, True)), True, 1000.0 * number,
                 ("CPU",))


def play_validate(scene, number):
    hang(scene, number)
    noise = random.Random(scene.get("seed", 0) * 1000 + number)
    simulated = "ORRERY_MACHINE" in os.environ
    kernels = list(measured(scene, noise, simulated))
    if scene.get("init") and not simulated:
        kernels.append(dict(kernel("init", "cpu0", 3, 10.0, 5, predicted_us=None),
                            model=False))
    write_report(scene, kernels, simulated,
                 makespan_of(scene, noise, simulated), ("CPU",))


def model_path(name):
    folder = os.path.join(os.environ["STARPU_PERF_MODEL_DIR"], "codelets/45")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, name + ".pretended")


def write_model(name, rows, deviation):
    """Version 45: for each device one row, of n samples with that deviation."""
    text = ["45", str(len(rows))]
    for arch, (n, us) in rows.items():
        device, devid, _ = DEVICES[arch]
        dev = us * deviation
        text += ["1", str(device), str(devid), "1", "1", "1",
                 "0 0 0 0 nan nan 0 0 0", "nan nan nan", "0",
                 f"{FOOTPRINT[1]} 1000 0 {us} {dev} {n * us} "
                 f"{n * (us * us + dev * dev)} {n}"]
    with open(model_path(name), "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")


def write_side(name, rows, scene):
    """Beside it: what was set aside, and the estimate of the rest, which is a
    fifth of the mean."""
    folder = os.path.join(os.environ["STARPU_PERF_MODEL_DIR"],
                          "codelets/45.orrery")
    os.makedirs(folder, exist_ok=True)
    lines, samples = ["orrery-side 1"], []
    for number, (arch, (n, us)) in enumerate(rows.items()):
        device, devid, _ = DEVICES[arch]
        lines.append(f"entry {device}/{devid}/1 0 {FOOTPRINT[1]} {n} "
                     f"{n * us:.9g} {us / 5:.9g} {n} {n * scene['aside']:.0f} 0 "
                     "0 1700000000")
        samples.append(f"recent {number} 20 " + " ".join(
            f"{us / 5 * (1 + 0.001 * (i % 5 - 2)):.9g}" for i in range(20)))
    with open(os.path.join(folder, name + ".pretended"), "w",
              encoding="utf-8") as file:
        file.write("\n".join([*lines, "samples", *samples]) + "\n")


def play_rows(scene, number):
    """Kernels whose rows and side files the scene has, as of its run `number`: "row"
    measures in StarPU's row, "seen" of all and "aside" of these, in each process, and
    "kept" in all."""
    us = 100.0
    for name, row in scene["rows"].items():
        seen = row.get("seen", 0) * number
        aside = row["aside"] * number if "aside" in row else seen - row.get("kept", seen)
        n = row.get("row", 0) * number
        write_model(name, {"cpu0": (n, us if n else 0)}, 0.01)
        folder = os.path.join(os.environ["STARPU_PERF_MODEL_DIR"], "codelets/45.orrery")
        os.makedirs(folder, exist_ok=True)
        kept = min(seen - aside, 20)
        lines = ["orrery-side 1",
                 f"entry 0/0/1 0 {FOOTPRINT[1]} {n} {n * us:.9g} "
                 f"{us if kept else 0:.9g} {seen} {aside} {number} "
                 f"{number * 10 * us:.9g} 1700000000", "samples"]
        if kept:
            lines.append(f"recent 0 {kept} " + " ".join(
                f"{us * (1 + 0.001 * (i % 5 - 2)):.9g}" for i in range(kept)))
        with open(os.path.join(folder, name + ".pretended"), "w",
                  encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    write_report(scene, [kernel(name, "cpu0", 1, us, 45, predicted_us=None)
                         for name in scene["rows"]], False, 1e5, ("CPU",))


# The scheduler knows that GPUs are fast: it uses the CPU only when it must.
def play_calibrate(scene, number):
    cuda = os.environ.get("STARPU_NCUDA") != "0"
    cpu = os.environ.get("STARPU_NCPU") != "0"
    state = os.environ["FAKE_SCENARIO"] + ".samples"
    if not cpu and scene.get("needs_cpu"):
        sys.exit("pretender: init needs a CPU")
    if os.environ.get("ORRERY_CALIBRATE_ON") == scene.get("never_on", "none"):
        sys.exit("pretender: init names a worker")
    samples = {}
    if os.path.exists(state) and os.environ["STARPU_CALIBRATE"] == "1":
        with open(state, encoding="utf-8") as file:
            samples = json.load(file)
    arch = "cuda0" if cuda else "cpu0"
    if not scene.get("stuck"):
        samples[arch] = samples.get(arch, 0) + scene.get("samples", 50)
    with open(state, "w", encoding="utf-8") as file:
        json.dump(samples, file)
    for name, us in KERNELS.items():
        rows = {arch: (n, us * DEVICES[arch][2])
                for arch, n in samples.items()}
        write_model(name, rows, scene.get("deviation", 0.1))
        if scene.get("aside"):
            write_side(name, rows, scene)
    write_report(scene, [kernel(name, arch, 1, us * DEVICES[arch][2], 50,
                                 predicted_us=None)
                          for name, us in KERNELS.items()],
                 False, 1e5, ("CPU", "CUDA") if cuda and cpu else
                 ("CUDA",) if cuda else ("CPU",))
    hang(scene, number)


def play():
    scene, number = scenario()
    if scene["play"] == "validate":
        play_validate(scene, number)
    elif scene["play"] == "compare":
        play_compare(scene, number)
    elif scene["play"] == "rows":
        play_rows(scene, number)
    elif "ORRERY_MACHINE" in os.environ:
        sys.exit("pretender: calibrating a simulation")
    else:
        play_calibrate(scene, number)


if __name__ == "__main__":
    play()
