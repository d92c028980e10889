#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery advise`: shares, limits, prices, energy, what to measure; with a program that only
pretends, and with a real one where machines are simulated. TAP.

usage: test-advise.py ORRERY PROGRAM WITH_SIM
"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE)
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

TAP = Tap()
ORRERY, PROGRAM = (os.path.abspath(word) for word in sys.argv[1:3])
WITH_SIM = sys.argv[3]

# Gives the report of its machine and draw, which are there.
PRETENDER = """#!/bin/sh
cp "reports/$ORRERY_MACHINE.$ORRERY_SIM_DRAW" "$ORRERY_REPORT"
"""
NDRAWS = 60


def factor(draw):
    """Of the figure that decides: on h100-pcie-4 the time is 1000 us times it, on hgx-h100-8
    1000 us always, on mi300x-8 half as much as on the first."""
    return random.Random(draw).lognormvariate(0, 0.3)


def write_reports(folder):
    for draw in range(1, NDRAWS + 1):
        drawn = [("cost push 1 us", factor(draw)),
                 ("pcie latency 6 us", factor(draw + 1000))]
        for name, us in (("h100-pcie-4", 1000 * factor(draw)), ("hgx-h100-8", 1000),
                         ("mi300x-8", 500 * factor(draw))):
            report = {
                "version": "0", "simulated": True, "machine": name, "provenance": "derived",
                "scheduler": "dmdas", "makespan_us": us, "flops": 1e9, "tasks": 2,
                "transfers": 0, "transferred_bytes": 0, "evictions": 0, "wall_s": 0,
                "exit": "shutdown", "draw": draw,
                "drawn": [{"figure": figure, "factor": by, "off_by": 0.5, "measured": False}
                          for figure, by in drawn],
                "workers": [{"name": "CPU 0", "busy_us": 100, "tasks": 1},
                            {"name": "CUDA 0.0 (a part 1 GiB)", "busy_us": 500, "tasks": 1}]}
            with open(os.path.join(folder, "reports", f"{name}.{draw}"), "w",
                      encoding="utf-8") as file:
                json.dump(report, file)


COSTS = """# prices
machine h100-pcie-4             price=10000EUR idle=100W
machine *                       price=30000EUR idle=200W
device "NVIDIA H100 PCIe 80GB"  price=20000EUR idle=50W busy=350W
device "NVIDIA H100 SXM5 80GB"  price=25000EUR idle=50W busy=700W  # each
core "Intel Xeon Silver 4510"   busy=10W
core "2 x Intel Xeon Platinum 8480C" busy=5W
"""


def run(words, folder, **more):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("ORRERY_", "STARPU_"))}
    env.update(more, HOME=folder, STARPU_HOME=folder)
    if "ORRERY_MODULE_DIR" in os.environ:
        env["ORRERY_MODULE_DIR"] = os.environ["ORRERY_MODULE_DIR"]
    return subprocess.run([ORRERY, "advise", *words], env=env, cwd=folder, timeout=200,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)


def close(a, b, share=1e-6):
    return abs(a - b) <= share * abs(b)


def choices(folder):
    pretend = ["-m", "h100-pcie-4,hgx-h100-8", "--draws", str(NDRAWS), "--", "./pretend"]
    done = run(["--json", *pretend], folder)
    told = json.loads(done.stdout)
    by_name = {c["machine"]: c for c in told["candidates"]}
    factors = [factor(d + 1) for d in range(NDRAWS)]
    TAP.claim("times of draws are those of the runs", done.returncode == 0 and all(
        close(us, 1000 * f) for us, f in zip(by_name["h100-pcie-4"]["draws_us"], factors)), done)
    first = sum(f < 1 for f in factors) / NDRAWS
    TAP.claim("the share of draws in which a machine is the best",
              close(by_name["h100-pcie-4"]["first_share"], first) and
              close(by_name["hgx-h100-8"]["first_share"], 1 - first), told["candidates"])
    mean = sum(factors) / NDRAWS
    least = sum(min(f, 1) for f in factors) / NDRAWS
    TAP.claim("what the choice may cost",
              close(told["regret"], 1000 * (min(mean, 1) - least)), told["regret"], mean, least)
    figures = {f["figure"]: f for f in told["measure_next"]}
    TAP.claim("the figure that decides is to be measured, the other is not",
              figures["cost push 1 us"]["share"] > 0.7 and
              figures["pcie latency 6 us"]["share"] < 0.05 and
              figures["cost push 1 us"]["measure"] == "orrery calibrate runtime", figures)
    TAP.claim("it is not sure", told["sure"] is False)
    done = run(pretend, folder)
    TAP.claim("it says that it cannot tell, and what to measure",
              done.returncode == 0 and "Cannot tell: " in done.stdout and
              "\n  cost push 1 us: " in done.stdout and
              "(orrery calibrate runtime, there)" in done.stdout and
              "cost push 1 us 100 %" in done.stdout, done)
    done = run(["-m", "h100-pcie-4,mi300x-8", "--draws", "10", "--", "./pretend"], folder)
    TAP.claim("figures that machines share do not blur their order", done.returncode == 0 and
              "Choose mi300x-8: it has the least time in 100 % of the draws." in done.stdout, done)


def limits(folder):
    words = ["-m", "h100-pcie-4,hgx-h100-8,mi300x-8", "--costs", "costs", "--draws", "10"]
    program = ["--", "./pretend"]
    told = json.loads(run([*words, "--json", *program], folder).stdout)
    by_name = {c["machine"]: c for c in told["candidates"]}
    TAP.claim("prices and powers are those of the parts",
              by_name["h100-pcie-4"]["price"] == 10000 + 4 * 20000 and
              by_name["h100-pcie-4"]["idle_w"] == 100 + 4 * 50 and
              by_name["h100-pcie-4"]["most_w"] == 100 + 4 * 350 + 12 * 10 and
              by_name["hgx-h100-8"]["price"] == 30000 + 8 * 25000 and
              by_name["mi300x-8"]["price"] is None, by_name)
    us = by_name["hgx-h100-8"]["median_us"]
    TAP.claim("energy is that of the idle machine and of working parts",
              close(by_name["hgx-h100-8"]["joules"],
                    (200 + 8 * 50) * us * 1e-6 + 100e-6 * 5 + 500e-6 * (700 - 50)), by_name)
    done = run([*words, "--budget", "100000EUR", *program], folder)
    TAP.claim("a budget leaves out what costs more, or whose price is not known",
              done.returncode == 0 and
              "h100-pcie-4 is the only machine within the limits." in done.stdout and
              "hgx-h100-8: its price is 230000, above the limit of 100000" in done.stdout and
              'mi300x-8: the price of device "AMD Instinct MI300X' in done.stdout, done)
    done = run([*words, "--power", "2kW", "--json", *program], folder)
    told = json.loads(done.stdout)
    TAP.claim("a limit of power does so, too", told["best"] == "h100-pcie-4", done.stdout)
    done = run([*words, "--time", "1ms", *program], folder)
    TAP.claim("within a time the cheapest is chosen", done.returncode == 0 and
              "hgx-h100-8 is the only machine within the limits." in done.stdout and
              "h100-pcie-4: it is below that time in " in done.stdout, done)
    done = run([*words, "--time", "1us", *program], folder)
    TAP.claim("none within the limits is said, with an exit code of its own",
              done.returncode == 3 and "No machine is within the limits.\n" in done.stdout, done)
    with open(os.path.join(folder, "fails"), "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho 'orrery: rank 0: error: the time of kernel x is not known' >&2\n"
                   "echo 'orrery: rank 0: error: assume a time' >&2\nexit 3\n")
    os.chmod(os.path.join(folder, "fails"), 0o755)
    done = run(["-m", "h100-pcie-4,hgx-h100-8", "--", "./fails"], folder)
    TAP.claim("without limits it is not they that leave nothing",
              done.returncode == 1 and "within the limits" not in done.stdout and
              "No machine is left: the programs could not be simulated" in done.stdout, done)
    TAP.claim("the reason is the first error, also of a rank's",
              "h100-pcie-4: the time of kernel x is not known" in done.stdout, done)
    told = json.loads(run([*words, "--by", "value", "--json", *program], folder).stdout)
    first = told["candidates"][0]
    TAP.claim("value is price times time", close(
        first["mean_loss"], first["price"] * sum(first["draws_us"]) / 10 * 1e-6), first)


def hourly(folder):
    """Prices of an hour: what a run costs."""
    with open(os.path.join(folder, "hours"), "w", encoding="utf-8") as file:
        file.write("machine h100-pcie-4 price=36USD/h\nmachine hgx-h100-8 price=360USD/h\n"
                   "device * price=0USD/h\n")
    words = ["-m", "h100-pcie-4,hgx-h100-8", "--costs", "hours", "--draws", "10"]
    program = ["--", "./pretend"]
    told = json.loads(run([*words, "--by", "price", "--json", *program], folder).stdout)
    prices = {c["machine"]: (c["run_price"], c["median_us"]) for c in told["candidates"]}
    TAP.claim("a run costs its part of an hour", told["best"] == "h100-pcie-4" and
              close(prices["h100-pcie-4"][0], prices["h100-pcie-4"][1] * 36 / 3.6e9) and
              close(prices["hgx-h100-8"][0], prices["hgx-h100-8"][1] * 360 / 3.6e9), told)
    done = run([*words, "--by", "price", *program], folder)
    TAP.claim("… which is a column, and what is ranked", "price USD/h" in done.stdout and
              "of a run" in done.stdout and "the lowest price of a run" in done.stdout, done)
    for budget, expected in (("100USD/h", "price is 360, above the limit of 100"),
                             ("%.9fUSD" % (2 * prices["h100-pcie-4"][0]), "hgx-h100-8: its price")):
        done = run([*words, "--budget", budget, *program], folder)
        TAP.claim("--budget %s: of an hour, or of a run" % budget[-5:],
                  "h100-pcie-4 is the only machine within the limits." in done.stdout and
                  expected in done.stdout, done)


def mistakes(folder):
    program = ["--", "./pretend"]
    for words, said in (
            (["--by", "beauty"], "--by beauty: it is time, price, energy or value"),
            (["--budget", "10EUR"], "what do machines cost and draw? --costs names a file"),
            (["--time", "soon"], "--time soon: write a time, such as 300ms or 15min"),
            (["--draws", "2"], "--draws takes a number from 8 on"),
            (["--costs", "nothing"], "--costs: nothing: No such file"),
            (["--costs", "wrong"], 'wrong:2: "busy=3W": a machine has price=14000EUR')):
        done = run(["-m", "h100-pcie-4", *words, *program], folder)
        TAP.claim(" ".join(words), done.returncode == 2 and said in done.stderr, done)
    done = run(["-m", "h100-pcie-4"], folder)
    TAP.claim("no program", done.returncode == 2 and "which program?" in done.stderr, done)
    done = run(["-m", "h100-pcie-4,nowhere", *program], folder)
    TAP.claim("an unknown machine is named", done.returncode == 1 and "nowhere" in done.stderr,
              done)


def forms(folder):
    done = run(["--form", "-m", "h100-pcie-4,hgx-h100-8"], folder)
    lines = done.stdout.splitlines()
    TAP.claim("a form has a line for each part, once", done.returncode == 0 and
              sum('machine "h100-pcie-4"' in line for line in lines) == 1 and
              sum('device "NVIDIA H100 SXM5 80GB"' in line for line in lines) == 1 and
              sum("core " in line for line in lines) >= 2, done)
    filled = done.stdout.replace("# machine", "machine").replace("# device", "device") \
        .replace("# core", "core").replace("price=EUR", "price=1EUR").replace("=W", "=2W")
    with open(os.path.join(folder, "filled"), "w", encoding="utf-8") as file:
        file.write(filled)
    told = json.loads(run(["-m", "h100-pcie-4", "--costs", "filled", "--draws", "8", "--json",
                           "--", "./pretend"], folder).stdout)
    TAP.claim("a form that is filled in can be read", told["candidates"][0]["price"] == 5,
              told["candidates"][0])


def simulated(folder):
    if WITH_SIM != "1":
        TAP.skip("a program that is simulated", "this build simulates no machines")
        return
    words = ["-m", "h100-pcie-4", "--set", "cuda.count = 1, 4", "--draws", "8", "--assume",
             "kernel[*] = 100us"]
    done = run([*words, "--json", "--", PROGRAM], folder)
    told = json.loads(done.stdout) if done.returncode == 0 else {"candidates": []}
    TAP.claim("values of edits are candidates", done.returncode == 0 and
              {c["machine"] for c in told["candidates"]} ==
              {"h100-pcie-4, cuda.count = 1", "h100-pcie-4, cuda.count = 4"}, done)
    record = os.path.join(folder, "app.rec")
    subprocess.run([ORRERY, "record", "-o", record, "--", PROGRAM],
                   env=dict(os.environ, ORRERY_MACHINE="h100-pcie-4",
                            ORRERY_ASSUME="kernel[*] = 100us", HOME=folder),
                   capture_output=True, check=False, cwd=folder)
    once = json.loads(run([*words, "--json", record], folder).stdout)
    twice = json.loads(run([*words, "--json", record + "=1.5", record + "=0.5"],
                           folder).stdout)
    TAP.claim("records with weights add up",
              close(twice["candidates"][0]["median_us"], 2 * once["candidates"][0]["median_us"]),
              once["candidates"][0]["median_us"], twice["candidates"][0]["median_us"])
    again = json.loads(run([*words, "--json", record], folder).stdout)
    TAP.claim("the same question has the same answer",
              [c["draws_us"] for c in once["candidates"]] ==
              [c["draws_us"] for c in again["candidates"]] and math.isfinite(once["regret"]))


def main():
    with tempfile.TemporaryDirectory(prefix="orrery-advise-") as folder:
        path = os.path.join(folder, "pretend")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PRETENDER)
        os.chmod(path, 0o755)
        os.mkdir(os.path.join(folder, "reports"))
        write_reports(folder)
        for name, text in (("costs", COSTS), ("wrong", "# a line\nmachine m busy=3W\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        choices(folder)
        limits(folder)
        hourly(folder)
        mistakes(folder)
        forms(folder)
        simulated(folder)
    TAP.end()


main()
