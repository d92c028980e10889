#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The energy of simulated runs, by hand: powers of descriptions and of the user's file in `run`,
`compare`, `explain`, `report`, `study` and `advise`; what is not known; the front of time and
energy; policies that weigh energy. With a program that only pretends, and with real ones where
machines are simulated. TAP.

usage: test-energy-command.py ORRERY PROGRAM ENERGY_TASKS WITH_SIM
"""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
sys.dont_write_bytecode = True
from programs import Skip, run_all, test  # noqa: E402

if len(sys.argv) != 5:
    sys.exit(__doc__.strip())
ORRERY, PROGRAM, ENERGY_TASKS = map(os.path.abspath, sys.argv[1:4])
WITH_SIM = sys.argv[4]
TOP = tempfile.TemporaryDirectory(prefix="orrery-energy-")

# A report of 2 s: a CPU that was busy for 0.5 s, two GPUs for 1 s and 0.25 s, of which kernel
# `hot' took 0.4 s on the first; copies that would have taken 0.1 s to the first and 0.05 s from
# the second on idle links, and took longer.
PRETENDER = r"""#!/bin/sh
[ "$STARPU_SCHED" = slow ] && scale=2 || scale=1
us=$((2000000 * scale))
gpu=$((1000000 / scale))
cat >"$ORRERY_REPORT" <<REPORT
{"version": "0", "simulated": true, "machine": "$ORRERY_MACHINE", "scheduler": "$STARPU_SCHED",
 "makespan_us": $us, "flops": 0, "tasks": 3, "transfers": 2, "transferred_bytes": 8,
 "evictions": 0, "wall_s": 0.1, "exit": "shutdown",
 "workers": [{"name": "CPU 0", "busy_us": 500000, "tasks": 1},
             {"name": "CUDA 0.0 (big)", "busy_us": $gpu, "tasks": 1},
             {"name": "CUDA 1.0 (big)", "busy_us": 250000, "tasks": 1}],
 "kernels": [{"name": "hot", "arch": "cuda0", "implementation": 0, "footprint": "00000001",
              "size": 1, "model": true, "count": 4, "mean_us": 100000},
             {"name": "cold", "arch": "cuda0", "implementation": 0, "footprint": "00000001",
              "size": 1, "model": true, "count": 6, "mean_us": 100000}],
 "links": [{"from": "NUMA 0", "to": "CUDA 0", "count": 1, "bytes": 4, "total_us": 300000,
            "alone_us": 100000},
           {"from": "CUDA 1", "to": "NUMA 0", "count": 1, "bytes": 4, "total_us": 70000,
            "alone_us": 50000}]}
REPORT
"""

HOST = '<host id="%s" speed="1Gf">%s</host>'
MOON = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="AS0" routing="Full">
%s
<link id="Share" bandwidth="1GBps" latency="1us"/>
<link id="Second" bandwidth="1GBps" latency="1us"/>
<route src="RAM" dst="CUDA0"><link_ctn id="Share"/></route>
<route src="RAM" dst="CUDA1"><link_ctn id="Second"/></route>
</zone></platform>
"""
POWERS = {
    "MAIN": {"orrery-power-idle": "100W", "orrery-power-busy": "8W"},
    "CUDA0": {"orrery-power-idle": "50W", "orrery-power-busy": "300W",
              "orrery-power-busy-hot": "400W", "orrery-power-copy": "20W"},
    "CUDA1": {"orrery-power-idle": "0.05kW", "orrery-power-busy": "300W",
              "orrery-power-copy": "20W"},
}


def moon(powers):
    def host(name):
        properties = dict(powers.get(name, {}))
        if name == "RAM":
            properties["memsize"] = "8GiB"
        if name.startswith("CUDA"):
            properties.update({"memsize": "1GiB", "memcpy_peer": "0", "model": "big"})
        return HOST % (name, "".join(f'<prop id="{key}" value="{value}"/>'
                                     for key, value in properties.items()))
    return MOON % "\n".join(map(host, ["MAIN", "RAM", "CPU0", "CPU1", "CPU2", "CPU3", "CUDA0",
                                 "CUDA1"]))


class Folder:
    count = 0

    def __init__(self, powers=None):
        Folder.count += 1
        self.path = os.path.join(TOP.name, str(Folder.count))
        os.mkdir(self.path)
        self.write("moon.xml", moon(POWERS if powers is None else powers))
        self.write("pretend", PRETENDER)
        os.chmod(self.file("pretend"), 0o755)
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith(("ORRERY_MACHINE", "STARPU_", "ORRERY_SIM"))}
        self.env.update(STARPU_HOME=self.path, HOME=self.path)

    def file(self, name):
        return os.path.join(self.path, name)

    def write(self, name, text):
        with open(self.file(name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, *words, code=0, **more):
        done = subprocess.run([ORRERY, *words], cwd=self.path, env=dict(self.env, **more),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=200, check=False)
        assert code is None or done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + (done.stderr if code else "")


PRETEND = ("--", "./pretend")
# Idle: (100 + 2 x 50) W for 2 s. Busy: 8 W x 0.5 s; (300 - 50) W x (1 + 0.25) s; kernel `hot'
# 100 W more for 0.4 s. Copies: 20 W x (0.1 + 0.05) s.
IDLE, COPIES = 400.0, 3.0
JOULES = IDLE + 4 + 312.5 + 40 + COPIES


def close(a, b):
    return abs(a - b) <= 1e-9 * abs(b)


@test
def joules_are_those_computed_by_hand():
    folder = Folder()
    energy = json.loads(folder.run("run", "-m", "moon.xml", "--json", *PRETEND))["energy"]
    assert close(energy["joules"], JOULES) and close(energy["idle_joules"], IDLE), energy
    assert close(energy["copy_joules"], COPIES), energy
    out = folder.run("run", "-m", "moon.xml", *PRETEND)
    assert "\nenergy      759.5 J, 52.7 % of them when idle, 0.4 % for copies\n" in out, out


@test
def no_figure_is_invented():
    folder = Folder({})
    report = json.loads(folder.run("run", "-m", "moon.xml", "--json", *PRETEND))
    assert "energy" not in report, report
    assert "energy" not in folder.run("run", "-m", "moon.xml", *PRETEND)
    rows = json.loads(folder.run("compare", "-m", "moon.xml", "-s", "lws", "--json", *PRETEND))
    assert rows[0]["energy_j"] is None and rows[0]["pareto"] is None
    assert "joules" not in folder.run("compare", "-m", "moon.xml", "-s", "lws", *PRETEND)


@test
def what_is_missing_is_named():
    for host, prop, words in [("MAIN", "orrery-power-idle", 'power of machine "moon"'),
                              ("MAIN", "orrery-power-busy", 'power of core ""'),
                              ("CUDA1", "orrery-power-busy", 'power of device "big"'),
                              ("CUDA1", "orrery-power-idle", 'power of device "big"')]:
        powers = {name: dict(values) for name, values in POWERS.items()}
        del powers[host][prop]
        folder = Folder(powers)
        energy = json.loads(folder.run("run", "-m", "moon.xml", "--json", *PRETEND))["energy"]
        assert energy == {"joules": None, "missing": words}, (host, prop, energy)
        out = folder.run("run", "-m", "moon.xml", *PRETEND)
        assert f"energy      not known: the {words} is missing" in out, out
    # Copies that nothing is known of take nothing; kernels without a power have the worker's.
    powers = {name: dict(values) for name, values in POWERS.items()}
    for name in ("CUDA0", "CUDA1"):
        del powers[name]["orrery-power-copy"]
    del powers["CUDA0"]["orrery-power-busy-hot"]
    energy = json.loads(Folder(powers).run("run", "-m", "moon.xml", "--json",
                                           *PRETEND))["energy"]
    assert close(energy["joules"], JOULES - COPIES - 40), energy


@test
def the_users_file_comes_first():
    folder = Folder()
    folder.write("costs", 'device "big" busy=250W\ncore * busy=1W\nmachine moon idle=200W\n')
    energy = json.loads(folder.run("run", "-m", "moon.xml", "--costs", "costs", "--json",
                                   *PRETEND))["energy"]
    # Idle 300 W; devices 50 W less while busy, `hot' 150 W more than that for 0.4 s.
    assert close(energy["joules"], 600 + 0.5 + 1.25 * 200 + 0.4 * 150 + COPIES), energy
    out = folder.run("run", "--costs", "costs", *PRETEND, code=2)
    assert "run: --costs is for simulated machines" in out, out


@test
def wrong_powers_are_refused():
    for host, prop, value, words in [
            ("CUDA0", "orrery-power-busy", "warm", 'is "warm": write a power, such as 350W'),
            ("CUDA0", "orrery-power-idle", "-3W", "write a power"),
            ("RAM", "orrery-power-idle", "3W", "is not known here"),
            ("MAIN", "orrery-power-copy", "3W", "is not known here"),
            ("CUDA0", "orrery-power-peak", "3W", "is not known here")]:
        out = Folder({host: {prop: value}}).run("machine", "show", "moon.xml", code=1)
        assert words in out and prop in out, out


@test
def costs_that_cannot_be_read_or_used_are_told():
    folder = Folder()
    for command in ("run", "compare", "explain", "report"):
        out = folder.run(command, "-m", "moon.xml", "--costs", "none", *PRETEND, code=2)
        assert "--costs: none: No such file" in out and "advise" not in out, out
    folder.write("costs", "machine moon idle=1W\n")
    out = folder.run("explain", "-m", "moon.xml", "-s", "lws,slow", "--costs", "costs",
                     *PRETEND, code=2)
    assert "orrery compare --costs" in out, out


@test
def compare_has_the_energy_and_the_front_of_both():
    folder = Folder()
    # `slow' takes twice as long, and its GPU works for half the time.
    rows = json.loads(folder.run("compare", "-m", "moon.xml", "-s", "lws,slow", "--json",
                                 *PRETEND))
    assert close(rows[0]["energy_j"], JOULES), rows[0]["energy_j"]
    assert close(rows[1]["energy_j"], JOULES + IDLE - 0.5 * 250), rows[1]["energy_j"]
    assert [row["pareto"] for row in rows] == [True, False]
    # Where idle power is low the slow one takes less, and both are on the front.
    folder.write("costs", 'machine moon idle=0W\ndevice "big" idle=0W busy=300W copy=20W\n'
                          "core * busy=8W\n")
    rows = json.loads(folder.run("compare", "-m", "moon.xml", "-s", "lws,slow", "--costs",
                                 "costs", "--json", *PRETEND))
    assert [row["pareto"] for row in rows] == [True, True], rows
    assert rows[1]["energy_j"] < rows[0]["energy_j"]
    out = folder.run("compare", "-m", "moon.xml", "-s", "lws,slow", *PRETEND)
    assert "joules" in out and "759.5 *" in out, out
    out = folder.run("compare", "-m", "moon.xml", "-s", "lws,slow", "--csv", *PRETEND)
    assert ",energy_j," in out and ",759.5," in out, out


@test
def the_front_is_drawn():
    if subprocess.run(["sh", "-c", "command -v gnuplot"], check=False,
                      stdout=subprocess.DEVNULL).returncode:
        raise Skip("gnuplot")
    folder = Folder()
    folder.run("compare", "-m", "moon.xml", "-s", "lws,slow", "--pareto", "p.svg", *PRETEND)
    with open(folder.file("p.svg"), encoding="utf-8") as file:
        picture = file.read()
    assert "energy (J)" in picture and "1  lws" in picture and "slow" not in picture, picture
    out = Folder({}).run("compare", "-m", "moon.xml", "-s", "lws", "--pareto", "p.svg", *PRETEND,
                         code=1)
    assert "neither the descriptions nor --costs have powers" in out, out


@test
def a_file_of_runs_keeps_what_energy_needs():
    folder = Folder()
    words = ("compare", "-m", "moon.xml", "-s", "lws", "--repeat", "3", "--runs", "runs", "--json",
             *PRETEND)
    first = json.loads(folder.run(*words))[0]["energy_j"]
    assert close(first, JOULES), first
    assert json.loads(folder.run(*words))[0]["energy_j"] == first


@test
def advise_and_study_have_the_same_joules():
    folder = Folder()
    told = json.loads(folder.run("advise", "-m", "moon.xml", "--draws", "8", "--costs",
                                 "/dev/null", "--by", "energy", "--json", *PRETEND))
    assert close(told["candidates"][0]["joules"], JOULES), told["candidates"]
    folder.write("a.yaml", "programs: ./pretend\nmachines: moon.xml\npolicies: [lws, dmda]\n")
    out = folder.run("study", "a.yaml", "--json", "-")
    runs = json.loads(out)["runs"]
    assert all(close(run["energy_j"], JOULES) for run in runs), runs
    # Other powers are other results.
    folder.write("costs", "machine moon idle=200W\n")
    folder.write("a.yaml", "programs: ./pretend\nmachines: moon.xml\npolicies: [lws, dmda]\n"
                           "costs: costs\n")
    runs = json.loads(folder.run("study", "a.yaml", "--json", "-"))["runs"]
    assert all(close(run["energy_j"], JOULES + 200) for run in runs), runs


@test
def explain_and_report_say_it_of_a_simulated_run():
    if WITH_SIM != "1":
        raise Skip("the simulator")
    folder = Folder()
    words = ("-m", "moon.xml", "-s", "eager", "--assume", "kernel[*] = 10ms")
    run = json.loads(folder.run("run", *words, "--json", "--", PROGRAM, "plain", "20"))
    energy, seconds = run["energy"], run["makespan_us"] * 1e-6
    busy = {worker["name"].split(" ")[0]: 0 for worker in run["workers"]}
    for worker in run["workers"]:
        busy[worker["name"].split(" ")[0]] += worker["busy_us"] * 1e-6
    hand = 200 * seconds + 8 * busy["CPU"] + 250 * busy.get("CUDA", 0)
    assert abs(energy["joules"] - energy["copy_joules"] - hand) < 1e-4 * hand, (energy, hand)
    out = folder.run("explain", *words, "--", PROGRAM, "plain", "20")
    assert "\nenergy      " in out and "of them when idle" in out, out
    told = json.loads(folder.run("explain", *words, "--json", "--", PROGRAM, "plain", "20"))
    assert close(told["run"]["energy"]["joules"], energy["joules"]), told["run"]["energy"]
    told = json.loads(folder.run("report", *words, "--plain", "--json", "-o", "r.html", "--",
                                 PROGRAM, "plain", "20"))
    assert close(told["energy"]["joules"], energy["joules"]), told["energy"]


@test
def more_weight_of_energy_takes_fewer_joules():
    if WITH_SIM != "1":
        raise Skip("the simulator")
    folder = Folder({"MAIN": {"orrery-power-busy": "8W"}})
    # A task takes 8 W for 8 ms, or 250 W for 1 ms; the idle machine takes little.
    folder.write("costs", 'machine moon idle=1W\ndevice "big" idle=1W busy=251W\n')
    words = ("compare", "-m", "moon.xml", "-s", "dmda", "--costs", "costs", "--assume",
             "kernel[*] on cuda = 1ms", "--assume", "kernel[*] on cpu = 8ms", "--json", "--",
             ENERGY_TASKS)
    fast = json.loads(folder.run(*words, STARPU_SCHED_GAMMA="0"))[0]
    thrifty = json.loads(folder.run(*words, STARPU_SCHED_GAMMA="1000000"))[0]
    assert thrifty["energy_j"] < fast["energy_j"] / 2, (thrifty["energy_j"], fast["energy_j"])
    assert thrifty["median_us"] > fast["median_us"], (thrifty["median_us"], fast["median_us"])


# Powers of a machine whose processors are slow and frugal.
FRUGAL = {"MAIN": {"orrery-power-idle": "1W", "orrery-power-busy": "8W"},
          **{name: {"orrery-power-idle": "1W", "orrery-power-busy": "251W"}
             for name in ("CUDA0", "CUDA1")}}
TIMES = ("--assume", "kernel[*] on cuda = 1ms", "--assume", "kernel[*] on cpu = 8ms")


def weighed(folder, policies, gammas, *program, **more):
    """By policy, a row for each weight of energy."""
    rows = {}
    costs = ("--costs", "costs") if os.path.exists(folder.file("costs")) else ()
    for gamma in gammas:
        told = json.loads(folder.run("compare", "-m", "moon.xml", "-s", ",".join(policies), *TIMES,
                                     *costs, "--json", "--", *program, **more,
                                     **({"STARPU_SCHED_GAMMA": gamma} if gamma else {})))
        for row in told:
            rows.setdefault(row["scheduler"], []).append(row)
    return rows


@test
def powers_of_the_machine_are_weighed_where_kernels_have_no_model_of_energy():
    if WITH_SIM != "1":
        raise Skip("the simulator")
    folder = Folder(FRUGAL)
    gammas = ("0", "10", "100", "1000", "10000", "1000000")
    policies = ("dmda", "dmdap", "dmdar", "dmdas", "pheft", "modular-dmda", "modular-heft")
    for policy, rows in weighed(folder, policies, gammas, ENERGY_TASKS, "plain").items():
        joules = [row["energy_j"] for row in rows]
        times = [row["median_us"] for row in rows]
        assert all(a >= b * (1 - 1e-9) for a, b in zip(joules, joules[1:])), (policy, joules)
        assert joules[-1] < joules[0] / 2 and times[-1] > times[0], (policy, joules, times)


@test
def powers_of_the_users_file_are_weighed_as_those_of_the_description():
    if WITH_SIM != "1":
        raise Skip("the simulator")
    gammas, policies = ("0", "1000000"), ("dmda", "dmdas", "pheft", "modular-heft")
    stated = weighed(Folder(FRUGAL), policies, gammas, ENERGY_TASKS, "plain")
    folder = Folder({})
    folder.write("costs", 'machine moon idle=1W\ndevice "big" idle=1W busy=251W\n'
                 'core * busy=8W\n')
    given = weighed(folder, policies, gammas, ENERGY_TASKS, "plain")
    for policy in policies:
        for a, b in zip(stated[policy], given[policy]):
            assert a["median_us"] == b["median_us"], (policy, a["median_us"], b["median_us"])
            assert close(a["energy_j"], b["energy_j"]), (policy, a["energy_j"], b["energy_j"])
        assert given[policy][1]["energy_j"] < given[policy][0]["energy_j"] / 2, given[policy]


@test
def wrong_powers_in_the_environment_are_refused():
    if WITH_SIM != "1":
        raise Skip("the simulator")
    folder = Folder(FRUGAL)
    for words in ("MARS idle=3W", "MAIN copy=3W", "CUDA0 idle=warm", "CUDA0 3W"):
        out = folder.run("run", "-m", "moon.xml", *TIMES, "--", ENERGY_TASKS, "plain", code=1,
                         ORRERY_POWERS=words)
        assert "ORRERY_POWERS" in out and "MAIN idle=350W" in out, out


@test
def without_a_weight_that_is_set_powers_change_no_schedule():
    if WITH_SIM != "1":
        raise Skip("the simulator")
    policies = ("dmda", "dmdas", "pheft", "modular-heft")
    powered = weighed(Folder(FRUGAL), policies, (None,), ENERGY_TASKS, "plain")
    plain = weighed(Folder({}), policies, (None,), ENERGY_TASKS, "plain")
    for policy in policies:
        assert powered[policy][0]["median_us"] == plain[policy][0]["median_us"], policy


@test
def a_kernel_of_its_own_power_is_weighed_by_it():
    if WITH_SIM != "1":
        raise Skip("the simulator")
    # The device is frugal for this kernel alone, so that nothing is gained by processors.
    own = {name: {**powers, **({"orrery-power-busy-energy_tasks": "3W"} if name != "MAIN" else {})}
           for name, powers in FRUGAL.items()}
    for policy, rows in weighed(Folder(own), ("dmda", "modular-heft"), ("0", "1000000"),
                                ENERGY_TASKS, "plain").items():
        assert rows[1]["energy_j"] <= rows[0]["energy_j"], (policy, rows)
        assert rows[1]["median_us"] <= 21e3, (policy, rows)


@test
def what_the_idle_machine_draws_is_weighed_unless_the_user_says_another_power():
    if WITH_SIM != "1":
        raise Skip("the simulator")
    # 10 kW when idle: who waits for processors pays more than devices save.
    folder = Folder({**FRUGAL, "MAIN": {"orrery-power-idle": "10kW", "orrery-power-busy": "8W"}})
    gammas = ("1000000",)
    known = weighed(folder, ("dmda",), gammas, ENERGY_TASKS, "plain")["dmda"][0]
    said = weighed(folder, ("dmda",), gammas, ENERGY_TASKS, "plain",
                   STARPU_IDLE_POWER="0")["dmda"][0]
    assert known["energy_j"] < said["energy_j"], (known["energy_j"], said["energy_j"])
    assert known["median_us"] < said["median_us"], (known["median_us"], said["median_us"])


@test
def no_schedule_takes_less_energy_than_the_bound():
    if WITH_SIM != "1":
        raise Skip("the simulator")
    folder = Folder()
    words = ("-m", "moon.xml", "--assume", "kernel[*] on cuda = 1ms", "--assume",
             "kernel[*] on cpu = 8ms")
    told = json.loads(folder.run("bound", *words, "-s", "dmda", "--kind", "critical-path",
                                 "--json", "--", ENERGY_TASKS))
    energy = told["energy"]
    # 40 tasks take 8 W for 8 ms on a processor, which is less than 250 W for 1 ms on a device;
    # the critical path is a task on a device, 1 ms, in which the idle machine takes 200 W.
    assert close(energy["task_joules"], 40 * 8 * 0.008), energy
    assert close(told["best"]["ms"], 1) and close(energy["idle_joules"], 0.2), (told["best"], energy)
    assert close(energy["bound_joules"], 2.56 + 0.2), energy
    rows = json.loads(folder.run("compare", *words, "-s", "all", "--json", "--", ENERGY_TASKS,
                                 code=None))
    ran = [row["energy_j"] for row in rows if row.get("energy_j")]
    assert len(ran) > 20 and min(ran) > energy["bound_joules"], ran
    out = folder.run("bound", *words, "--kind", "critical-path", "--", ENERGY_TASKS)
    assert "energy      at least 2.76 J: 0.2 when idle, 2.56 of tasks; the run took" in out, out


sys.exit(run_all())
