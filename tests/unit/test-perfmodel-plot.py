#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery perfmodel plot` and `starpu_perfmodel_plot`: the pictures are there,
well-formed, and show points, bands and formulas; what cannot be drawn is
refused with a message. Prints TAP.

    test-perfmodel-plot.py ORRERY STARPU_PERFMODEL_PLOT
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import tools_util as util

HERE = os.path.dirname(os.path.abspath(__file__))
make = util.load_models()

SVG = "{http://www.w3.org/2000/svg}"
TAP = util.Tap()
claim = TAP.claim


class Picture:
    """What an SVG of gnuplot's has."""

    def __init__(self, path):
        self.root = ElementTree.parse(path).getroot()
        definitions = self.root.find(".//%sdefs" % SVG)
        defined = set(definitions.iter("%suse" % SVG))
        self.points = [e for e in self.root.iter("%suse" % SVG)
                       if e not in defined]
        self.bands = [e for e in self.root.iter()
                      if "fill-opacity" in e.attrib and
                      0 < float(e.get("fill-opacity")) < 0.5]
        self.dashes = [e for e in self.root.iter() if
                       e.get("stroke-dasharray")]
        self.texts = ["".join(e.itertext()).strip()
                      for e in self.root.iter("%stext" % SVG)]

    def says(self, words):
        return any(words in text for text in self.texts)


class Tools:
    def __init__(self, orrery, starpu, directory):
        self.orrery, self.starpu = orrery, starpu
        self.directory = directory
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith(("STARPU_", "ORRERY_"))}
        self.environment.update(
            STARPU_PERF_MODEL_DIR=directory, STARPU_HOME=directory,
            STARPU_HOSTNAME="testbox", LC_ALL="C")

    def run(self, *command, **environment):
        return subprocess.run(
            command, env=dict(self.environment, **environment),
            cwd=self.directory, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")

    def plot(self, *options, **environment):
        return self.run(self.orrery, "perfmodel", "plot", *options,
                        **environment)

    def old(self, *options, **environment):
        return self.run(self.starpu, *options, **environment)

    def path(self, name):
        return os.path.join(self.directory, name)

    def exists(self, name):
        return os.path.exists(self.path(name))

    def leftovers(self):
        return [name for name in os.listdir(self.directory)
                if name.endswith(".tmp")]


def without_gnuplot(directory):
    """A search path for programs that has none."""
    empty = os.path.join(directory, "empty")
    os.makedirs(empty, exist_ok=True)
    sh = shutil.which("sh")
    if not os.path.exists(os.path.join(empty, "sh")):
        os.symlink(sh, os.path.join(empty, "sh"))
    return empty


def check_svg(tools):
    own = tools.path("gemm.svg.tmp")
    with open(own, "w", encoding="utf-8") as file:
        file.write("mine")
    before = set(os.listdir(tools.directory))
    result = tools.plot("gemm", "-o", "gemm.svg")
    with open(own, encoding="utf-8") as file:
        claim("what lies beside a picture stays as it is", file.read() == "mine")
    os.unlink(own)
    claim("nothing but the picture comes to its folder",
          set(os.listdir(tools.directory)) == before - {"gemm.svg.tmp"} | {"gemm.svg"},
          os.listdir(tools.directory))
    claim("a picture is drawn and named",
          result.returncode == 0 and result.stdout == "gemm.svg\n", result.stderr)
    picture = Picture(tools.path("gemm.svg"))
    claim("each footprint of three devices is a "
          "point", len(picture.points) >= 18, len(picture.points))
    claim("each device has a band", len(picture.bands) == 3,
          len(picture.bands))
    claim("title, legend, units and what is shown are written",
          all(picture.says(name) for name in
              ("gemm on testbox", "cpu0", "cuda0", "cuda1", "1 ms", "MiB",
               "size of the data", "95 % interval")),
          picture.texts)
    claim("a history has no formula", not picture.dashes)
    tools.plot("syrk")
    picture = Picture(tools.path("syrk.svg"))
    claim("formulas are dashed, and SYMBOL.svg is the usual name",
          len(picture.dashes) >= 3 and picture.says("dashes: fitted formula"),
          picture.texts)
    tools.plot("two_sizes")
    picture = Picture(tools.path("two_sizes.svg"))
    claim("two sizes are joined by a regression without a band",
          len(picture.dashes) >= 3 and not picture.bands, picture.texts)


def check_json(tools):
    result = tools.plot("gemm", "-o", "gemm.svg", "--json")
    said = json.loads(result.stdout)
    names = [series["name"] for series in said["series"]]
    claim("--json has the series that the picture has",
          said["picture"] == "gemm.svg" and said["unit"] == "us" and
          said["host"] == "testbox" and len(names) == 3 and "cpu0" in names[0], said)
    points = [point for series in said["series"] for point in series["points"]]
    shown = json.loads(tools.run(tools.orrery, "perfmodel", "show", "gemm",
                                 "--json").stdout)
    sizes = {entry["size"] for entry in find_entries(shown)}
    claim("its points are those of the model", len(points) >= 18 and
          {point["size"] for point in points} <= sizes and
          all(point["low"] <= point["value"] <= point["high"] and
              point["samples"] > 1 and point["origin"] == "measured"
              for point in points), points)
    speed = json.loads(tools.plot("gemm", "--gflops", "--json").stdout)
    claim("with --gflops it has speeds", speed["unit"] == "GFlop/s" and
          speed["series"][0]["points"][0]["value"] != points[0]["value"], speed)
    result = tools.plot("zzz", "--json")
    claim("without a model there is no JSON",
          result.returncode == 1 and not result.stdout, result.stdout)


def find_entries(value):
    """All that has a footprint."""
    if isinstance(value, dict):
        if "footprint" in value:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from find_entries(item)


def check_views(tools):
    tools.plot("gemm", "--gflops", "-o", "speed.svg")
    picture = Picture(tools.path("speed.svg"))
    claim("--gflops draws speeds",
          picture.says("speed (GFlop/s)") and len(picture.points) >= 18, picture.texts)
    tools.plot("gemm", "--gflops", "--log", "-o", "logspeed.svg")
    claim("speeds begin at 0 unless --log is given",
          "0" in picture.texts and
          "0" not in Picture(tools.path("logspeed.svg")).texts)
    tools.plot("gemm", "--arch", "cuda", "-o", "cuda.svg")
    picture = Picture(tools.path("cuda.svg"))
    claim("--arch leaves the others out", picture.says("cuda1") and not picture.says("cpu0") and
          len(picture.bands) == 2,
          picture.texts)
    tools.plot("gemm", "--linear", "-o", "linear.svg")
    claim("--linear begins at 0",
          "0" in Picture(tools.path("linear.svg")).texts)
    result = tools.plot("gemm", "--energy", "-o", "energy.svg")
    claim("that --energy is believed is said",
          "gemm are taken for joules" in result.stderr, result.stderr)
    picture = Picture(tools.path("energy.svg"))
    claim("--energy writes joules",
          picture.says("energy") and "1000 J" in picture.texts, picture.texts)


def check_png(tools):
    result = tools.plot("gemm", "-o", "gemm.png")
    with open(tools.path("gemm.png"), "rb") as file:
        head = file.read(24)
    claim("a PNG is drawn",
          result.returncode == 0 and head[:8] == b"\x89PNG\r\n\x1a\n", result.stderr)
    width = int.from_bytes(head[16:20], "big")
    claim("a PNG is large enough for print", width >= 1600, width)


def check_refusals(tools):
    result = tools.plot("gem")
    claim("an unknown symbol ends with 1 and names what is near",
          result.returncode == 1 and "did you mean gemm?" in result.stderr,
          result.stderr)
    result = tools.plot("zzz")
    claim("nothing is near to what is far",
          result.returncode == 1 and "did you mean" not in result.stderr, result.stderr)
    result = tools.plot("gemm", "--arch", "opencl")
    claim("an architecture without entries is named",
          result.returncode == 1 and "opencl" in result.stderr, result.stderr)
    result = tools.plot("flopless", "--gflops")
    claim("--gflops without flops says what to set",
          result.returncode == 1 and "flops of flopless" in result.stderr, result.stderr)
    result = tools.plot("broken")
    claim("a broken file is named with its line",
          result.returncode == 1 and "broken.testbox:" in result.stderr, result.stderr)
    for options, words in (([], "which symbol"), (["a", "b"], "one symbol"),
                           (["gemm", "-o", "x.jpg"], ".svg"),
                           (["gemm", "--linear", "--log"], "contradict"),
                           (["gemm", "--gflops", "--energy"], "--energy"),
                           (["--tune", "gemm"], "--help")):
        result = tools.plot(*options)
        claim("plot %s is a wrong command line" % " ".join(options),
              result.returncode == 2 and words in result.stderr,
              result.stderr)
    result = tools.plot("gemm", "-o", "never.svg",
                        PATH=without_gnuplot(tools.directory))
    claim("without gnuplot no file appears, and the package is named",
          result.returncode == 1 and "gnuplot-nox" in result.stderr and
          not tools.exists("never.svg"),
          result.stderr)
    result = tools.plot("gemm", "-o", "nowhere/x.svg")
    claim("a folder that is missing ends with 1, and nothing is drawn on "
          "standard output",
          result.returncode == 1 and result.stdout == "" and
          "nowhere/x.svg: cannot be written" in result.stderr and
          "gnuplot" not in result.stderr,
          result.stdout[:80], result.stderr)


def check_old_name(tools):
    result = tools.old("-s", "trsm")
    names = ["starpu_trsm." + suffix for suffix in ("data", "gp", "svg")]
    claim("starpu_perfmodel_plot writes .gp, .data and .svg",
          result.returncode == 0 and all(map(tools.exists, names)), result.stderr)
    picture = Picture(tools.path("starpu_trsm.svg"))
    claim("with points and bands",
          len(picture.points) >= 18 and len(picture.bands) == 3)
    with open(tools.path("starpu_trsm.data"), encoding="utf-8") as file:
        data = file.read()
    rows = make.models()["trsm"][1]["impls"][0]["rows"]
    claim("the data has the means of the model", all("\n%d %.9g" % (row["size"], float("%e" % row["mean"])) in data
              for row in rows), data)
    os.mkdir(tools.path("pictures"))
    result = tools.old("--symbol", "gemm.testbox", "--gflops", "--output-dir",
                       "pictures", "-a", "cuda0")
    claim("long options and a symbol with its host work",
          result.returncode == 0 and
          Picture(tools.path("pictures/starpu_gemm.svg")).says("GFlop/s"), result.stderr)
    result = tools.run("gnuplot", "starpu_trsm.gp")
    claim("the .gp can be run again", result.returncode == 0, result.stderr)
    result = tools.old("-l")
    claim("-l lists the models", "file: <gemm.testbox>" in result.stdout)
    result = tools.old("-d")
    claim("-d prints where models are looked for",
          result.returncode == 0 and
          all(line.startswith("directory: <") and line.endswith("/codelets/45>")
              for line in result.stdout.splitlines()) and result.stdout, result.stdout)
    result = tools.old("-s", "gemmm")
    claim("an unknown symbol names what is near",
          result.returncode == 1 and "did you mean gemm?" in result.stderr, result.stderr)
    for options, words in ((["-i", "trace"], "FxT"), (["-lc"], "FxT"),
                           (["-se", "gemm", "trsm"], "-se"),
                           ([], "-s SYMBOL"), (["-s", "gemm", "x"], "-s"),
                           (["-s", "gemm", "-e", "-f"], "energies"),
                           (["-s", "gemm", "-o", "nowhere"], "nowhere")):
        result = tools.old(*options)
        claim("starpu_perfmodel_plot %s is refused with a message" %
              " ".join(options),
              result.returncode == 2 and words in result.stderr, result.stderr)
    result = tools.old("-s", "syrk", PATH=without_gnuplot(tools.directory))
    claim("without gnuplot its input is written all the same",
          result.returncode == 1 and "gnuplot-nox" in result.stderr and
          tools.exists("starpu_syrk.gp"),
          result.stderr)
    for option in ("--help", "--version"):
        claim(option + " ends with 0", tools.old(option).returncode == 0)


def check_shared(tools):
    shared = os.path.join(util.shared_folder(), "sampling")
    text = "a model of mirage is drawn"
    if not os.path.isdir(shared):
        TAP.skip(text, "no sampling in ORRERY_SHARED")
        return
    result = tools.plot("chol_model_gemm", "-o", "mirage.svg",
                        STARPU_PERF_MODEL_DIR=shared,
                        STARPU_HOSTNAME="mirage")
    claim(text, result.returncode == 0 and
          len(Picture(tools.path("mirage.svg")).points) >= 16,
          result.stderr)


def main(orrery, starpu):
    if not shutil.which("gnuplot"):
        print("1..0 # SKIP gnuplot is not installed")
        return 0
    with tempfile.TemporaryDirectory() as directory:
        models = make.models()
        models["flopless"] = make.models()["potrf"]
        for comb in models["flopless"]:
            for row in comb["impls"][0]["rows"]:
                row["flops"] = 0.0
        models["two_sizes"] = make.models()["gemm"]
        for comb in models["two_sizes"]:
            del comb["impls"][0]["rows"][2:]
        make.write(directory, models)
        with open(os.path.join(directory, "codelets/45/broken.testbox"),
                  "w") as file:
            file.write("45\n1\nwhat\n")
        tools = Tools(orrery, starpu, directory)
        check_svg(tools)
        check_json(tools)
        check_views(tools)
        check_png(tools)
        check_refusals(tools)
        picture = os.path.join(directory, "derived.svg")
        done = subprocess.run(
            [orrery, "perfmodel", "plot", "chol_model_gemm", "-m",
             "hgx-h100-8", "-o", picture], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=100, text=True, check=False)
        with open(picture, encoding="utf-8") as file:
            drawn = file.read()
        os.unlink(picture)
        claim("points of the catalogue are said to be derived",
              done.returncode == 0 and "points: derived, not measured" in drawn
              and "points: measured" not in drawn, done)
        check_old_name(tools)
        check_shared(tools)
        claim("no temporary file is left", not tools.leftovers(),
              tools.leftovers())
    TAP.end()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*map(os.path.abspath, sys.argv[1:]))
