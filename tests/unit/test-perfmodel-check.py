#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery perfmodel check`: nothing to say of a good set of models, side files
and bus parameters, and the right fault of each set that is damaged in one way.
Prints TAP.

    test-perfmodel-check.py ORRERY
"""

import copy
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

import tools_util as util

HERE = os.path.dirname(os.path.abspath(__file__))
make = util.load_models()

CPU0, CUDA0, CUDA1 = 0, 1, 2  # order of the combs in the good set
ARCHS = ("cpu0_impl0", "cuda0_impl0", "cuda1_impl0")

# From row to column, RAM and both GPUs; MB/s and µs.
BANDWIDTH = [[0, 12000, 12100], [12900, 0, 12500], [12800, 12400, 0]]
LATENCY = [[0, 9, 9.1], [10, 0, 11], [10.2, 11.1, 0]]


def matrix_text(matrix):
    """A spare unknown column and row, as StarPU writes them."""
    rows = [row + [math.nan] for row in matrix] + [[math.nan] * 4]
    return "# to NUMA 0\tto CUDA 0\tto CUDA 1\n" + "".join(
        "\t".join("%e" % value for value in row) + "\n" for row in rows)


class Set:
    """What is written to a sampling directory, to be damaged first."""

    def __init__(self):
        self.models = make.models()
        self.side = {symbol: self.entries(symbol) for symbol in self.models}
        self.bandwidth = copy.deepcopy(BANDWIDTH)
        self.latency = copy.deepcopy(LATENCY)
        self.texts = {}  # files that are written as they are
        self.options = []

    def row(self, symbol, comb, index):
        return self.models[symbol][comb]["impls"][0]["rows"][index]

    def rows(self, symbol, comb):
        return self.models[symbol][comb]["impls"][0]["rows"]

    def fit(self, symbol, comb):
        impl = self.models[symbol][comb]["impls"][0]
        impl["fit"] = dict(impl["fit"])
        return impl["fit"]

    def measure(self, symbol, comb, index, change):
        """Replaces the samples of a row by change(samples)."""
        row = self.row(symbol, comb, index)
        new = make.row_of(change(row["samples"]), row["hash"], row["size"],
                          row["flops"])
        self.rows(symbol, comb)[index] = new
        self.side[symbol] = self.entries(symbol)

    def entries(self, symbol):
        made = []
        for comb in self.models[symbol]:
            for row in comb["impls"][0]["rows"]:
                made.append({
                    "device": "/".join(map(str, comb["devices"][0])),
                    "row": row, "n": row["n"], "estimate": row["mean"],
                    "nseen": row["n"], "noutliers": 0, "nfirst": 1,
                    "first": 1.5 * row["mean"], "recent": row["samples"]})
        return made

    def entry(self, symbol, comb, index):
        return self.side[symbol][comb * len(make.SIZES) + index]

    def side_text(self, symbol):
        lines = ["orrery-side 1"]
        for e in self.side[symbol]:
            lines.append("entry %s 0 %08x %d %e %.9g %d %d %d %.9g 1700000000" % (
                e["device"], e["row"]["hash"], e["n"], e["row"]["sum"],
                e["estimate"], e["nseen"], e["noutliers"], e["nfirst"],
                e["first"] * e["nfirst"]))
        lines.append("samples")
        for i, e in enumerate(self.side[symbol]):
            recent = e["recent"][-128:]
            lines.append("recent %d %d %s" % (
                i, len(recent), " ".join("%.9g" % y for y in recent)))
        return "\n".join(lines) + "\n"

    def write(self, directory):
        make.write(directory, self.models)
        beside = os.path.join(directory, "codelets", "45.orrery")
        bus = os.path.join(directory, "bus")
        os.makedirs(beside)
        os.makedirs(bus)
        texts = {"bus/testbox.bandwidth": matrix_text(self.bandwidth),
                 "bus/testbox.latency": matrix_text(self.latency),
                 "bus/testbox.config": "4 # CPUs\n1 # NUMA\n2 # CUDA\n0\n"}
        for symbol, entries in self.side.items():
            if entries is not None and symbol in self.models:
                texts["codelets/45.orrery/%s.testbox" % symbol] = \
                    self.side_text(symbol)
        texts.update(self.texts)
        for name, text in texts.items():
            with open(os.path.join(directory, name), "w") as file:
                file.write(text)


# -- one fault each --

def spikes(s):
    s.side["gemm"] = None
    row = s.row("gemm", CUDA1, 2)
    s.rows("gemm", CUDA1)[2] = make.row_of(
        row["samples"][12:] + [70e3] * 12, row["hash"], row["size"],
        row["flops"])


def slow_sibling(s):
    for index in range(len(make.SIZES)):
        s.measure("trsm", CUDA1, index, lambda ys: [300 * y for y in ys])


def zero_mean(s):
    s.row("potrf", CPU0, 1)["mean"] = 0.0


def nan_sum(s):
    s.row("potrf", CUDA0, 3)["sum"] = math.nan


def truncated(s):
    text = make.text_of(s.models["gemm"])
    s.texts["codelets/45/gemm.testbox"] = text[:len(text) * 2 // 3]


def wrong_version(s):
    text = make.text_of(s.models["syrk"])
    s.texts["codelets/45/syrk.testbox"] = text.replace("\n45\n", "\n44\n", 1)


def falls(s):
    for comb in (CPU0, CUDA0, CUDA1):
        s.measure("potrf", comb, 5, lambda ys: [y / 1000 for y in ys])


def mean_not_sum(s):
    s.row("gemm", CUDA0, 4)["mean"] *= 1.3


def few_samples(s):
    s.measure("syrk", CPU0, 2, lambda ys: ys[:4])


def missing_device(s):
    del s.rows("gemm", CUDA1)[:]


def missing_row(s):
    del s.rows("gemm", CUDA1)[3]


def missing_on_cpu(s):
    del s.rows("trsm", CPU0)[5]


def stale_side(s):
    s.entry("gemm", CUDA0, 1)["n"] -= 3


def broken_side(s):
    s.texts["codelets/45.orrery/trsm.testbox"] = "orrery-side 1\nentry what\n"


def two_regimes(s):
    rng = random.Random(1)

    def change(ys):
        mean = sum(ys) / len(ys)
        return [mean * (1.4 if i // 12 % 2 else 1.0) *
                math.exp(rng.gauss(0, 0.01)) for i in range(120)]
    s.measure("syrk", CUDA0, 3, change)


def two_levels(share, ratio, n):
    """A short calibration of which a share ran that many times as long."""
    def damage(s):
        def change(ys):
            mean, every = sum(ys) / len(ys), round(1 / share)
            return [mean * (ratio if i % every == every - 1 else 1.0) *
                    (1 + 0.002 * (i % 5 - 2)) for i in range(n)]
        s.measure("syrk", CUDA0, 3, change)
    damage.__name__ = "two_levels_%g_%g_%d" % (share, ratio, n)
    return damage


def correlated(s):
    rng = random.Random(2)

    def change(ys):
        mean, x, made = sum(ys) / len(ys), 0.0, []
        for _ in range(128):
            x = 0.9 * x + rng.gauss(0, 0.004)
            made.append(mean * math.exp(x))
        return made
    s.measure("syrk", CUDA0, 3, change)


def outliers(s):
    e = s.entry("gemm", CUDA1, 0)
    e["nseen"], e["noutliers"] = 1000, 130


def many_outliers(s):
    e = s.entry("gemm", CUDA1, 0)
    e["nseen"], e["noutliers"] = 1000, 250


def long_first_run(s):
    s.entry("gemm", CUDA1, 0)["first"] *= 400


def mean_moved(s):
    s.entry("gemm", CUDA1, 0)["estimate"] *= 0.8


def duplicate(s):
    row = dict(s.row("trsm", CUDA0, 2))
    row["mean"], row["sum"] = 2 * row["mean"], 2 * row["sum"]
    row["dev"], row["sum2"] = 2 * row["dev"], 4 * row["sum2"]
    s.rows("trsm", CUDA0).append(row)


def off_the_curve(s):
    for comb in (CPU0, CUDA0, CUDA1):
        s.measure("gemm", comb, 2, lambda ys: [8 * y for y in ys])


def above_peak(s):
    s.options = ["--peak", "cuda=800"]


def falling_formula(s):
    fit = s.fit("syrk", CUDA1)
    fit["beta"] = -0.5


def narrow_formula(s):
    fit = s.fit("syrk", CUDA1)
    fit["minx"] = fit["maxx"]


def lone_formula(s):
    """Nothing but a formula that cannot be used."""
    narrow_formula(s)
    del s.rows("syrk", CUDA1)[:]


def formula_off(s):
    fit = s.fit("syrk", CUDA1)
    fit["alpha"] *= 4


def mixed_sizes(s):
    s.row("gemm", CUDA0, 1)["size"] //= 2


def empty(s):
    for comb in s.models["potrf"]:
        del comb["impls"][0]["rows"][:]


def imprecise(s):
    rng = random.Random(3)
    s.measure("potrf", CUDA1, 0, lambda ys: [
        sum(ys) / len(ys) * math.exp(rng.gauss(0, 0.3)) for _ in range(12)])


def edited_dev(s):
    s.row("gemm", CPU0, 0)["dev"] *= 5


def mixed_flops(s):
    s.row("gemm", CPU0, 0)["flops"] = math.nan


def no_coefficients(s):
    fit = s.fit("potrf", CPU0)
    fit["coeff"] = (math.nan, math.nan)


def dead_row(s):
    s.bandwidth[2] = [0, 0, 0]


def slow_peer(s):
    s.bandwidth[1][2] = s.bandwidth[2][1] = 900


def slow_link(s):
    s.bandwidth[0][1] = 600


def unpinned(s):
    for row, column in ((0, 1), (0, 2), (1, 0), (2, 0)):
        s.bandwidth[row][column] /= 5


def no_models(s):
    s.models, s.side = {}, {}


# what, severity, fault, kernel, architecture, words in the text
FAULTS = (
    (spikes, "error", "spikes", "gemm", "cuda1_impl0", "very long"),
    (slow_sibling, "error", "siblings-disagree", "trsm", "cuda1_impl0",
     "cuda0_impl0"),
    (zero_mean, "error", "impossible-time", "potrf", "cpu0_impl0", "mean is 0"),
    (nan_sum, "error", "impossible-figure", "potrf", "cuda0_impl0", "nan"),
    (truncated, "error", "broken-file", "gemm", None, "gemm.testbox:"),
    (wrong_version, "error", "broken-file", "syrk", None, "syrk.testbox:2"),
    (falls, "error", "falls-with-size", "potrf", "cuda0_impl0", "size"),
    (mean_not_sum, "error", "mean-not-sum", "gemm", "cuda0_impl0", "sum/n"),
    (few_samples, "error", "few-samples", "syrk", "cpu0_impl0", "4 samples"),
    (missing_device, "error", "missing-device", "gemm", "cuda1", "6 of the 6"),
    (missing_row, "error", "missing-device", "gemm", "cuda1", "1 of the 6"),
    (missing_on_cpu, "warning", "missing-footprint", "trsm", "cpu", "1 of 6"),
    (stale_side, "warning", "stale-side", "gemm", "cuda0_impl0", "stale"),
    (broken_side, "warning", "broken-side", "trsm", None, "trsm.testbox:2"),
    (two_regimes, "warning", "two-regimes", "syrk", "cuda0_impl0",
     "two regimes"),
    (two_levels(1 / 3, 14, 12), "error", "two-regimes", "syrk", "cuda0_impl0",
     "far from the others"),
    (two_levels(1 / 3, 14, 42), "error", "two-regimes", "syrk", "cuda0_impl0",
     "far from the others"),
    (two_levels(1 / 6, 30, 60), "error", "estimate-off-samples", "syrk",
     "cuda0_impl0", "half of the samples"),
    (two_levels(1 / 3, 3, 60), "error", "two-regimes", "syrk", "cuda0_impl0",
     "two regimes"),
    (correlated, "note", "autocorrelation", "syrk", "cuda0_impl0", "lag-1"),
    (outliers, "warning", "outliers", "gemm", "cuda1_impl0", "13 %"),
    (many_outliers, "error", "outliers", "gemm", "cuda1_impl0", "25 %"),
    (long_first_run, "note", "first-run", "gemm", "cuda1_impl0", "first run"),
    (mean_moved, "note", "mean-moved", "gemm", "cuda1_impl0", "robust"),
    (duplicate, "error", "duplicate-row", "trsm", "cuda0_impl0", "two rows"),
    (off_the_curve, "error", "off-the-curve", "gemm", "cuda0_impl0",
     "other sizes"),
    (above_peak, "error", "above-peak", "gemm", "cuda0_impl0", "peak"),
    (falling_formula, "error", "formula-impossible", "syrk", "cuda1_impl0",
     "alpha"),
    (narrow_formula, "warning", "formula-range", "syrk", "cuda1_impl0",
     "sizes"),
    (lone_formula, "error", "formula-range", "syrk", "cuda1_impl0", "sizes"),
    (formula_off, "warning", "formula-off", "syrk", "cuda1_impl0", "alpha"),
    (mixed_sizes, "warning", "mixed-sizes", "gemm", "cuda0_impl0",
     "two sizes"),
    (empty, "error", "empty", "potrf", None, "no measure"),
    (imprecise, "error", "imprecise", "potrf", "cuda1_impl0", "12 samples"),
    (edited_dev, "warning", "dev-not-sums", "gemm", "cpu0_impl0", "edited"),
    (mixed_flops, "warning", "mixed-flops", "gemm", "cpu0_impl0", "flops"),
    (no_coefficients, "error", "no-coefficients", "potrf", "cpu0_impl0",
     "coefficients"),
    (dead_row, "error", "bandwidth-missing", "bus", None, "CUDA 1"),
    (slow_peer, "error", "slow-peer", "bus", None, "main memory"),
    (slow_link, "error", "slow-device", "bus", None, "RAM to CUDA 0"),
    (unpinned, "warning", "narrow-link", "bus", None, "not pinned"),
    (no_models, "error", "no-models", None, None, "testbox"),
)

TAP = util.Tap()
claim = TAP.claim


class Checker:
    def __init__(self, orrery):
        self.orrery = orrery
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith("STARPU_")}

    def run(self, directory, *options):
        env = dict(self.environment, STARPU_PERF_MODEL_DIR=directory,
                   STARPU_HOME=directory, LC_ALL="C")
        return subprocess.run(
            [self.orrery, "perfmodel", "check", *options], env=env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, encoding="utf-8")

    def on(self, made, *options):
        """The run as text, and what a second one says as JSON."""
        with tempfile.TemporaryDirectory() as directory:
            made.write(directory)
            options = ["--host", "testbox", *made.options, *options]
            text = self.run(directory, *options)
            return text, json.loads(self.run(directory, "--json",
                                             *options).stdout)


def matches(finding, severity, fault, kernel, arch, words):
    return (finding["severity"] == severity and finding["fault"] == fault and
            finding["kernel"] == kernel and
            arch in (None, finding["architecture"]) and
            words in finding["text"])


def check_fault(checker, damage, severity, fault, kernel, arch, words):
    made = Set()
    damage(made)
    text, found = checker.on(made)
    name = damage.__name__
    hits = [f for f in found["findings"]
            if matches(f, severity, fault, kernel, arch, words)]
    claim("%s: %s %s is named with %s" % (
        name, severity, fault, " ".join(filter(None, (kernel, arch)))), len(hits) > 0,
        json.dumps(found["findings"], indent=1))
    places = [(f["fault"], f["kernel"], f["architecture"], f["footprint"])
              for f in found["findings"] if f["severity"] != "note"]
    claim("%s: and nothing is named twice" % name,
          len(places) == len(set(places)), places)
    claim("%s: and has a remedy" % name,
          hits and all(f["remedy"] for f in hits))
    line = "%s:%s%s" % (severity, " " + kernel if kernel else "",
                        " " + arch if arch else "")
    claim("%s: the text begins with severity, kernel and architecture" % name,
          any(out.startswith(line) and out.endswith("[%s]" % fault)
              for out in text.stdout.splitlines()),
          text.stdout, text.stderr)
    wanted = 1 if severity == "error" else 0
    claim("%s: ends with %d" % (name, wanted),
          text.returncode == wanted and found["trusted"] == (wanted == 0), text.stdout, text.stderr)


def check_good(checker):
    text, found = checker.on(Set())
    claim("a good set ends with 0", text.returncode == 0, text.stdout,
          text.stderr)
    claim("a good set has no finding", not found["findings"],
          json.dumps(found["findings"], indent=1))
    claim("every kernel and architecture is calibrated to 2 %",
          len(found["architectures"]) == 12 and
          all(a["calibrated"] == a["footprints"] == 6 and
              0 < a["interval"] < 0.02 and not a["independence_assumed"]
              for a in found["architectures"]),
          json.dumps(found["architectures"], indent=1))
    bare = Set()
    bare.side = {symbol: None for symbol in bare.side}
    text, found = checker.on(bare)
    claim("a good set of StarPU's own ends with 0", text.returncode == 0,
          text.stdout)
    claim("without side files independence is said to be assumed",
          all(a["independence_assumed"] for a in found["architectures"]) and
          "independent" in text.stdout,
          text.stdout)
    strict, found = checker.on(bare, "--confidence", "0.1%")
    claim("a stricter confidence is not reached",
          any(f["fault"] == "imprecise" for f in found["findings"]), strict.stdout)


def check_collapsing(checker):
    made = Set()
    few_samples(made)
    for index in range(3):
        made.measure("syrk", CPU0, index, lambda ys: ys[:4])
    short = checker.on(made)[0].stdout
    full = checker.on(made, "--all")[0].stdout
    claim("findings of one code are printed once",
          short.count("[few-samples]") == 1 and "and 2 more" in short, short)
    claim("--all prints each", full.count("[few-samples]") == 3, full)


def check_missing_bus(checker):
    for devices in (True, False):
        made = Set()
        if not devices:
            for combs in made.models.values():
                del combs[CUDA0:]
        with tempfile.TemporaryDirectory() as directory:
            made.write(directory)
            for name in os.listdir(os.path.join(directory, "bus")):
                os.remove(os.path.join(directory, "bus", name))
            text = checker.run(directory, "--host", "testbox")
        claim("missing bus parameters are %s" % (
                  "noted" if devices else "not missed without devices"),
              text.returncode == 0 and
              ("[no-bus]" in text.stdout) == devices,
              text.stdout)


def check_differing_devices(checker):
    made = Set()
    for symbol in made.models:
        for index in range(len(make.SIZES)):
            made.measure(symbol, CUDA1, index, lambda ys: [4 * y for y in ys])
    made.models["syrk"][CUDA1]["impls"][0]["fit"] = make.NO_FIT
    text, found = checker.on(made)
    claim("a device that is slower for all kernels alike is no fault",
          text.returncode == 0 and
          any(f["fault"] == "devices-differ" for f in found["findings"]),
          text.stdout)


def check_derived(checker):
    with tempfile.TemporaryDirectory() as directory:
        text = checker.run(directory, "-m", "hgx-h100-8")
        found = json.loads(checker.run(directory, "-m", "hgx-h100-8",
                                       "--json").stdout)
    claim("derived models have no verdict and no interval of measures",
          "derived, not measured" in text.stdout and
          not re.search(r"  good$|± ", text.stdout, re.M) and
          all(a["provenance"] == "derived" and a["interval"] is None
              for a in found["architectures"]), text.stdout)
    claim("a machine of the catalogue is said not to be measured",
          text.returncode == 0 and "[derived]" in text.stdout,
          text.stdout, text.stderr)


def check_documentation():
    """Every code that the sources have is explained."""
    root = os.path.join(HERE, "..", "..")
    with open(os.path.join(root, "docs", "PERFMODEL_CHECK.md")) as file:
        explained = set(re.findall(r"`([a-z-]+)`", file.read()))
    folder = os.path.join(root, "tools", "perfmodel")
    codes = set()
    for name in os.listdir(folder):
        if re.match(r"(model_findings|check).*\.c$", name):
            with open(os.path.join(folder, name)) as file:
                codes |= set(re.findall(
                    r"findings_add\([^;]*?\"([a-z-]+)\",\s*(?:&|NULL)", file.read()))
    claim("the documentation explains each code",
          len(codes) > 30 and codes <= explained,
          codes - explained, len(codes))


def check_usage(checker):
    for options, words in ((["--confidence", "2"], "such as 2%"),
                           (["--confidence", "none"], "such as 2%"),
                           (["--peak", "gpu=1"], "cuda=7000"),
                           (["--tune"], "--help"), (["gemm"], "--help")):
        result = checker.run("/nonexistent", *options)
        claim("%s is a wrong command line" % " ".join(options),
              result.returncode == 2 and words in result.stderr, result.stderr)


def check_shared(checker):
    shared = os.path.join(util.shared_folder(), "sampling")
    for host in ("mirage", "attila"):
        text = "the shared models of %s are checked" % host
        if not os.path.isdir(shared):
            TAP.skip(text, "no sampling in ORRERY_SHARED")
            continue
        result = checker.run(shared, "-m", host, "--json")
        found = json.loads(result.stdout) if result.returncode in (0, 1) else {}
        claim(text, found.get("models", 0) > 40 and found["host"] == host,
              result.stderr)
        print("# %s: %d errors, %d warnings, %d notes in %d models" % (
            host, found["errors"], found["warnings"], found["notes"],
            found["models"]))


def main(orrery):
    checker = Checker(orrery)
    check_good(checker)
    for fault in FAULTS:
        check_fault(checker, *fault)
    check_collapsing(checker)
    check_differing_devices(checker)
    check_missing_bus(checker)
    check_derived(checker)
    check_usage(checker)
    check_documentation()
    check_shared(checker)
    TAP.end()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]))
