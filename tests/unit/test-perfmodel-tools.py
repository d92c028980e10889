#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""orrery perfmodel list, show, export, import, merge and prune, on models made here
and on the shared ones. Prints TAP.

    test-perfmodel-tools.py ORRERY
"""
import copy
import csv
import io
import json
import math
import os
import shutil
import sys
import tempfile
import time

import tools_util as util

models = util.load_models()
HOST = "testbox"


class Box:
    """A sampling directory of its own and the command on it."""

    def __init__(self, orrery, parent, name, made=None, sides=True):
        self.orrery = orrery
        self.folder = os.path.join(parent, name)
        self.env = util.clean_environment(self.folder, HOST)
        os.makedirs(self.folder)
        if made is not None:
            models.write(self.folder, made)
            if sides:
                models.write_sides(self.folder, made)

    def run(self, *words, **more):
        return util.run(self.orrery, "perfmodel", *words,
                        env={**self.env, **more})

    def path(self, name, folder="45"):
        return os.path.join(self.folder, "codelets", folder, name)

    def names(self, folder="45"):
        where = self.path("", folder)
        return sorted(name for name in os.listdir(where)
                      if name[0] != ".") if os.path.isdir(where) else []

    def export(self, *words):
        return json.loads(self.run("export", "--json", *words).out)

    def rows(self, symbol, host=HOST):
        """{(architecture, footprint): entry} of the first implementation."""
        found = {}
        for model in self.export("--host", host)["models"]:
            if model["symbol"] == symbol:
                for comb in model["combinations"]:
                    device = comb["devices"][0]
                    arch = "%s%d" % (device["type"], device["id"])
                    for row in comb["implementations"][0]["entries"]:
                        found[arch, row["footprint"]] = row
        return found


def list_tests(tap, orrery, parent):
    made = models.models()
    box = Box(orrery, parent, "list", made)
    made["trsm"][0]["impls"][0]["rows"][0]["n"] = 3
    models.write(box.folder, {"trsm": made["trsm"]})
    result = box.run("list")
    tap.claim("list has a line per model with its architectures",
              result.code == 0 and len(result.out.splitlines()) == 5 and
              "gemm    testbox  cpu0 cuda0 cuda1" in result.out, result)
    tap.claim("list counts entries that have too few samples",
              "17 of 18" in result.out, result)
    tap.claim("list says when a side file has become stale in part",
              "partly stale" in result.out and "valid" in result.out, result)
    result = box.run("list", STARPU_CALIBRATE_MINIMUM="3")
    tap.claim("STARPU_CALIBRATE_MINIMUM says what is calibrated",
              "17 of 18" not in result.out, result)

    other = Box(orrery, parent, "other", {"gemm": models.models()["gemm"]})
    result = box.run("list", "--json", STARPU_PERF_MODEL_PATH=other.folder)
    found = json.loads(result.out)
    tap.claim("list --json marks what an earlier directory hides",
              [m["shadowed"] for m in found] == [False] * 4 + [True], result)
    tap.claim("list --json counts entries and samples",
              found[0]["entries"] == 18 and found[0]["samples"] ==
              sum(row["n"] for comb in made["gemm"]
                  for row in comb["impls"][0]["rows"]), result)
    result = box.run("list", STARPU_PERF_MODEL_PATH=other.folder)
    tap.claim("list marks it as well", "(shadowed)" in result.out, result)

    open(box.path("void.testbox"), "w", encoding="ascii").close()
    result = box.run("list")
    tap.claim("an empty file is listed as such",
              result.code == 0 and "empty" in result.out, result)
    with open(box.path("bad.testbox"), "w", encoding="ascii") as file:
        file.write("45\n1\nx\n")
    result = box.run("list")
    tap.claim("a broken file is listed with its line, and ends with 1",
              result.code == 1 and "bad.testbox:3:" in result.out and
              "potrf" in result.out, result)
    result = box.run("list", "--host", "moon")
    tap.claim("without models of the host the remedy is given",
              result.code == 0 and "STARPU_CALIBRATE" in result.err, result)
    for words in (["list", "gemm"], ["list", "--what"], ["dance"], []):
        result = box.run(*words)
        tap.claim("`perfmodel %s` is a wrong command line" % " ".join(words),
                  result.code == 2 and result.err, result)
    for verb in ("list", "show", "export", "import", "merge", "prune"):
        result = box.run(verb, "--help")
        tap.claim(f"{verb} --help has an example and its exit codes",
                  result.code == 0 and
                  f"\nexample: orrery perfmodel {verb}" in result.out and
                  "\nExit codes: 0" in result.out, result)
        tap.claim(f"{verb} is in the list of verbs",
                  f"\n  {verb} " in box.run("--help").out)


def show_tests(tap, orrery, parent):
    made = models.models()
    spiky = made["gemm"][1]["impls"][0]["rows"][1]
    spiky["samples"] = spiky["samples"][:40] + [70e3] * 3
    made["gemm"][1]["impls"][0]["rows"][1] = spiky = models.row_of(
        spiky["samples"], spiky["hash"], spiky["size"], spiky["flops"])
    box = Box(orrery, parent, "show", made)
    first = made["gemm"][1]["impls"][0]["rows"][0]

    result = box.run("show", "gemm", "--arch", "cuda0")
    lines = [line.split() for line in result.out.splitlines()]
    tap.claim("show has a row per entry with its values",
              result.code == 0 and
              ["%08x" % first["hash"], str(first["size"]),
               "%.1f" % first["mean"], "µs",
               "%.1f" % (100 * first["dev"] / first["mean"]), "%",
               str(first["n"]),
               "%.0f" % (first["flops"] / first["mean"] / 1e3),
               "%.1f" % first["mean"], "µs", "measured"] in lines,
              result)
    made["trsm"][0]["impls"][0]["rows"].reverse()
    models.write(box.folder, {"trsm": made["trsm"]})
    table = box.run("show", "trsm", "--arch", "cpu").out.split("\n\n")[1]
    sizes = [int(line.split()[1]) for line in table.splitlines()[2:]]
    tap.claim("show sorts by size whatever the file's order",
              len(sizes) == 6 and sizes == sorted(sizes))
    tap.claim("show --arch shows that one alone",
              "cuda0, implementation 0" in result.out and
              "cuda1" not in result.out, result)
    tap.claim("show prints formulas with error and range",
              any(line[:3] == ["fit", "·", "size^"] or
                  (line[:1] == ["fit"] and "error" in " ".join(line) and
                   "2457600 …" in " ".join(line)) for line in lines), result)
    result = box.run("show", "syrk")
    tap.claim("show prints the formulas of the file",
              "  in the file    9.191e-07 · size^1.5 + 3\n" in result.out and
              "(250 samples, size 1638400 … 58982400)" in result.out, result)

    result = box.run("show", "gemm", "--json")
    shown = json.loads(result.out)
    impl = shown["combinations"][1]["implementations"][0]
    entry = impl["entries"][0]
    tap.claim("show --json has the file's values and GFlop/s",
              shown["side_file"] == "valid" and
              entry["mean"] == float("%e" % first["mean"]) and
              close(entry["gflops"], first["flops"] / first["mean"] / 1e3),
              result)
    ordered = sorted(first["samples"])
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    robust = entry["robust"]
    tap.claim("show --json has robust statistics of the samples",
              robust["seen"] == first["n"] and
              close(robust["quantiles"][2], middle, 0.01) and
              robust["interval"][0] < first["mean"] < robust["interval"][1] and
              close(robust["first_run"], 3 * first["mean"]) and
              len(robust["regimes"]) == 1, result)
    robust = impl["entries"][1]["robust"]
    truth = models.time_of("gemm", (models.CUDA, 0), models.SIZES[1])
    tap.claim("spikes are counted, and move neither estimate nor median",
              robust["outliers"] == 3 and
              close(robust["quantiles"][2], truth, 0.02) and
              close(robust["estimate"], truth, 0.02) and
              robust["interval"][1] < 1.02 * truth, result)
    tap.claim("nor do they move the formulas",
              abs(impl["fits"]["offset"]["b"] - 1.5) < 0.02, result)
    result = box.run("show", "trsm", "--json")
    fits = [c["implementations"][0]["fits"]
            for c in json.loads(result.out)["combinations"]]
    tap.claim("fits find the function behind the rows within 2 %",
              all(abs(fit["offset"]["b"] - 1.5) < 0.02 and
                  fit["offset"]["error"] < 0.02 and
                  fit["interpolation"]["inner_sizes"] == 4 and
                  fit["interpolation"]["mean_error"] < 0.05 and
                  fit["power"]["minx"] == 2 * 8 * models.SIZES[0] ** 2
                  for fit in fits), result)
    show_side_tests(tap, box)


def show_side_tests(tap, box):
    """What is said when side file or model are not as they should be."""
    made = models.models()
    for row in made["potrf"][0]["impls"][0]["rows"][:2]:
        row["n"] += 1
    models.write(box.folder, {"potrf": made["potrf"]})
    result = box.run("show", "potrf", "--arch", "cpu0")
    tap.claim("entries that another program has measured since are stale",
              result.out.count(" stale  measured\n") == 2 and
              "partly stale" in result.out, result)
    with open(box.path("potrf.testbox", "45.orrery"), "w",
              encoding="ascii") as file:
        file.write("orrery-side 1\nnonsense\n")
    result = box.run("show", "potrf")
    tap.claim("a broken side file is warned of with its line, means rule",
              result.code == 0 and "potrf.testbox:2:" in result.err and
              "broken" in result.out, result)
    result = box.run("show", "potrf", "--energy")
    tap.claim("--energy shows joules", " J " in result.out and
              "µs" not in result.out, result)
    tap.claim("and is believed, which is said",
              "potrf are taken for joules" in result.err, result)
    result = box.run("show", "potrf", "--arch", "hip0")
    tap.claim("an architecture that is not there ends with 1, with those "
              "that are", result.code == 1 and
              "cpu0, cuda0, cuda1" in result.err, result)
    result = box.run("show", "potrf", "--host", "moon")
    tap.claim("a model of another host is pointed at",
              result.code == 1 and "but of testbox" in result.err and
              "--host" in result.err, result)
    result = box.run("show", "nonsense")
    tap.claim("of a missing model the searched folders are given",
              result.code == 1 and "STARPU_PERF_MODEL_DIR" in result.err,
              result)
    for words in ([], ["a", "b"]):
        tap.claim("`show %s` is a wrong command line" % " ".join(words),
                  box.run("show", *words).code == 2)


def export_tests(tap, orrery, parent):
    made = models.models()
    box = Box(orrery, parent, "export", made)
    result = box.run("export", "--json", "gemm")
    found = json.loads(result.out)
    tap.claim("export --json writes the models that are named",
              [m["symbol"] for m in found["models"]] == ["gemm"], result)
    rows = found["models"][0]["combinations"][1]["implementations"][0][
        "entries"]
    ours = made["gemm"][1]["impls"][0]["rows"]
    tap.claim("export --json has the numbers of the file and the samples",
              all(row["mean"] == float("%e" % our["mean"]) and
                  row["n"] == our["n"] and
                  len(row["side"]["recent"]) == our["n"]
                  for row, our in zip(rows, ours)), result)
    tap.claim("export takes patterns", [m["symbol"] for m in box.export("*r*")[
        "models"]] == ["potrf", "syrk", "trsm"])
    result = box.run("export", "--json", "moon", "-o",
                     os.path.join(parent, "moon.json"))
    tap.claim("a model that is not there is named, nothing is written",
              result.code == 1 and "moon" in result.err and
              not os.path.exists(os.path.join(parent, "moon.json")), result)
    tap.claim("export without a form is a wrong command line",
              box.run("export").code == 2)

    result = box.run("export", "--csv")
    lines = list(csv.DictReader(io.StringIO(result.out)))
    tap.claim("export --csv has a line per entry and per regression",
              [line["kind"] for line in lines].count("entry") == 72 and
              [line["kind"] for line in lines].count("regression") == 3 and
              all(None not in line and None not in line.values()
                  for line in lines), result)
    first = next(l for l in lines if l["symbol"] == "gemm")
    our = made["gemm"][0]["impls"][0]["rows"][0]
    tap.claim("export --csv has numbers and samples",
              float(first["mean"]) == float("%e" % our["mean"]) and
              len(first["recent"].split()) == our["n"] and
              first["architecture"] == "cpu0" and first["beta"] == "", result)
    line = next(l for l in lines if l["kind"] == "regression")
    tap.claim("export --csv has regressions",
              line["symbol"] == "syrk" and float(line["b"]) == 1.5 and
              line["mean"] == "", result)


def import_tests(tap, orrery, parent):
    made = models.models()
    box = Box(orrery, parent, "from", made)
    to = Box(orrery, parent, "to")
    file = os.path.join(parent, "models.json")
    box.run("export", "--json", "-o", file)
    result = to.run("import", file)
    tap.claim("import writes the models of an export",
              result.code == 0 and to.names() == box.names(), result)
    tap.claim("the files have the same numbers",
              all(util.numbers(box.path(name)) == util.numbers(to.path(name))
                  for name in box.names()))
    with open(file, encoding="ascii") as exported:
        text = exported.read()
    text = text.replace('"origin": "measured"', '"origin": "imported"')
    tap.claim("and export the same text, samples included, but for the origin",
              to.run("export", "--json").out == text)
    before = {name: util.numbers(to.path(name)) for name in to.names()}
    result = to.run("import", "--json", "--merge", file)
    rows = json.loads(result.out) if result.code == 0 else []
    tap.claim("import says as JSON what was written",
              sorted(os.path.basename(row["file"]) for row in rows) == to.names()
              and all(row["known_already"] == row["entries"] > 0 or
                      row["entries"] == 0 for row in rows), result)
    result = to.run("import", file)
    tap.claim("import refuses what is there and names it and the remedy",
              result.code == 1 and "gemm.testbox" in result.err and
              "--force" in result.err and "--merge" in result.err, result)
    result = to.run("import", file, "--merge")
    tap.claim("the same measures are not counted twice by --merge",
              result.code == 0 and before == {
                  name: util.numbers(to.path(name)) for name in to.names()},
              result)
    models.write(to.folder, {"gemm": made["trsm"]})
    result = to.run("import", "--force", file)
    tap.claim("--force replaces model and side file",
              result.code == 0 and to.run("export", "--json").out == text,
              result)
    result = to.run("import", file, "--host", "node7")
    tap.claim("--host makes them models of another host",
              result.code == 0 and "gemm.node7" in to.names() and
              to.rows("gemm", "node7") == to.rows("gemm"), result)

    # What JSON has no numbers for.
    strange = models.models()
    strange = {"odd": strange["gemm"][:1]}
    row = strange["odd"][0]["impls"][0]["rows"][0]
    row.update(flops=math.nan, size=2**64 - 1)
    strange["odd"][0]["devices"] = [(0, 0, 4), (9, 2, 1)]
    strange["odd"][0]["impls"].append(
        {"rows": [], "fit": {**models.NO_FIT, "coeff": (1.5, math.nan)}})
    models.write(box.folder, strange)
    box.run("export", "--json", "-o", file, "odd")
    result = to.run("import", file)
    tap.claim("NaN, sizes up to 2^64, coefficients and nameless devices "
              "travel", result.code == 0 and
              util.numbers(box.path("odd.testbox")) ==
              util.numbers(to.path("odd.testbox")), result)
    os.remove(box.path("odd.testbox"))


def damage(tap, to, parent, good, claim, words, change):
    """A change of a good export that import must refuse."""
    damaged = copy.deepcopy(good)
    change(damaged)
    file = os.path.join(parent, "damaged.json")
    with open(file, "w", encoding="ascii") as out:
        json.dump(damaged, out)
    result = to.run("import", file)
    tap.claim(f"import refuses {claim}, says so and writes nothing",
              result.code == 1 and all(word in result.err for word in words)
              and not to.names(), result)


def refusal_tests(tap, orrery, parent):
    box = Box(orrery, parent, "source", models.models())
    to = Box(orrery, parent, "clean")
    good = box.export()

    def entry(export):
        return export["models"][3]["combinations"][1]["implementations"][0][
            "entries"][2]

    def twice(export):
        export["models"].append(export["models"][0])

    cases = (
        ("a mean that is text", ["trsm", "cuda0", "mean"],
         lambda e: entry(e).update(mean="fast")),
        ("a missing field", ["sum2"], lambda e: entry(e).pop("sum2")),
        ("a negative time", ["trsm"], lambda e: entry(e).update(mean=-1.0)),
        ("more samples than fit", ["\"n\""],
         lambda e: entry(e).update(n=2**32)),
        ("a footprint that is none", ["footprint"],
         lambda e: entry(e).update(footprint="12")),
        ("an unknown type of device", ["type"],
         lambda e: e["models"][0]["combinations"][0]["devices"][0].update(
             type="abacus")),
        ("a symbol with a slash", ["a/b"],
         lambda e: e["models"][0].update(symbol="a/b")),
        ("a model twice", ["twice"], twice),
        ("an outlier beyond the samples", ["set_aside"],
         lambda e: entry(e)["side"].update(set_aside=[1000])),
        ("another format", ["export --json"],
         lambda e: e.update(format="else")),
        ("a newer version", ["version"], lambda e: e.update(version=2)),
    )
    for claim, words, change in cases:
        damage(tap, to, parent, good, claim, words, change)
    file = os.path.join(parent, "no.json")
    with open(file, "w", encoding="ascii") as out:
        out.write('{\n"a": }')
    result = to.run("import", file)
    tap.claim("what is no JSON is refused with line and column",
              result.code == 1 and "no.json:2:" in result.err, result)
    for words in ([], ["a", "b"], ["--force", "--merge", "a"]):
        tap.claim("`import %s` is a wrong command line" % " ".join(words),
                  to.run("import", *words).code == 2)


def shared_tests(tap, orrery, parent, shared):
    paths = util.shared_models(shared)
    claim = "all shared models survive export and import number for number"
    if not paths:
        tap.skip(claim, "no sampling in ORRERY_SHARED")
        return
    box = Box(orrery, parent, "shared")
    env = {**box.env,
           "STARPU_PERF_MODEL_DIR": os.path.join(shared, "sampling")}
    for host in sorted({os.path.basename(p).split(".")[1] for p in paths}):
        file = os.path.join(parent, host + ".json")
        util.run(orrery, "perfmodel", "export", "--json", "--host", host, "-o",
                 file, env=env)
        box.run("import", file)
    wrong = [path for path in paths
             if not os.path.exists(box.path(os.path.basename(path))) or
             util.numbers(path) != util.numbers(
                 box.path(os.path.basename(path)))]
    tap.claim(claim, not wrong)
    for path in wrong:
        print("# " + path)
    print(f"# {len(paths)} files")
    wrong = []
    for path in paths:
        name = os.path.basename(path)
        text = util.run(orrery, "perfmodel", "show", name, env=env)
        shown = util.run(orrery, "perfmodel", "show", "--json", name, env=env)
        if (text.code, text.err, shown.code, shown.err) != (0, "", 0, "") or \
                not json.loads(shown.out)["combinations"]:
            wrong.append(path)
    tap.claim("all shared models show", not wrong)
    for path in wrong:
        print("# " + path)


def half(made, which):
    """The same models from every other sample."""
    for combs in made.values():
        for comb in combs:
            for impl in comb["impls"]:
                impl["rows"] = [models.row_of(
                    row["samples"][which::2], row["hash"], row["size"],
                    row["flops"]) for row in impl["rows"]]
    return made


def close(a, b, error=2e-6):
    return abs(a - b) <= error * abs(b)


def merge_tests(tap, orrery, parent):
    a = Box(orrery, parent, "a", half(models.models(), 0))
    b = Box(orrery, parent, "b", half(models.models(), 1))
    to = Box(orrery, parent, "merged")
    whole = Box(orrery, parent, "whole", models.models())
    result = a.run("merge", a.folder, b.folder, "-o", to.folder)
    ours, all_of_it = to.rows("gemm"), whole.rows("gemm")
    tap.claim("two halves of the measures make the whole",
              result.code == 0 and not result.err and len(ours) == 18 and
              all(row["n"] == all_of_it[key]["n"] and
                  all(close(row[field], all_of_it[key][field], 1e-4)
                      for field in ("mean", "sum", "sum2", "deviation"))
                  for key, row in ours.items()), result)
    tap.claim("samples and blocks are joined as well, and stay valid",
              all(len(row["side"]["recent"]) == row["n"] and
                  len(row["side"]["blocks"]) == row["n"] and
                  row["side"]["seen"] == row["n"] and
                  row["side"]["first_runs"] == 2 and
                  close(row["side"]["estimate"], row["mean"])
                  for row in ours.values()), result)
    fit = [m for m in to.export()["models"] if m["symbol"] == "syrk"][0][
        "combinations"][0]["implementations"][0]["regression"]
    # Both halves had the whole's regression sums, which are those of the same
    # measures.
    tap.claim("regression sums of the same measures count once",
              close(fit["beta"],
                    models.models()["syrk"][0]["impls"][0]["fit"]["beta"]))
    tap.claim("merge prints a line per model",
              ["gemm.testbox", "2", "18", "18", "0", "0", "measured"] in
              [line.split() for line in result.out.splitlines()], result)
    result = a.run("merge", a.folder, a.path("gemm.testbox"), "-o",
                   os.path.join(parent, "same"))
    tap.claim("the same file twice counts once",
              result.code == 0 and util.numbers(
                  os.path.join(parent, "same", "codelets/45/gemm.testbox")) ==
              util.numbers(a.path("gemm.testbox")), result)
    result = a.run("merge", a.folder, "-o", to.folder)
    tap.claim("merge refuses to write where a model is",
              result.code == 1 and "gemm.testbox" in result.err and
              "--force" in result.err, result)
    result = a.run("merge", a.folder, "-o", to.folder, "--force")
    result = a.run("merge", a.folder, b.folder, "-o", to.folder, "--force",
                   "--json")
    rows = json.loads(result.out) if result.code == 0 else []
    tap.claim("merge says as JSON what was written",
              [row for row in rows if row["model"] == "gemm.testbox"] ==
              [{"model": "gemm.testbox", "files": 2, "entries": 18, "joined": 18,
                "known_twice": 0, "conflicts": 0, "origin": "measured"}], result)
    result = a.run("merge", a.folder, "-o", to.folder, "--force")
    tap.claim("--force replaces it", result.code == 0 and
              util.numbers(to.path("gemm.testbox")) ==
              util.numbers(a.path("gemm.testbox")), result)

    models.write(b.folder, half(models.models(), 1), "node2")
    result = a.run("merge", "--host", "cluster", a.path("gemm.testbox"),
                   b.path("gemm.node2"), "-o", to.folder)
    tap.claim("--host joins the models of several hosts",
              result.code == 0 and
              to.rows("gemm", "cluster").keys() == all_of_it.keys() and
              all(row["n"] == all_of_it[key]["n"]
                  for key, row in to.rows("gemm", "cluster").items()), result)


def conflict_tests(tap, orrery, parent):
    first, second = models.models(), half(models.models(), 0)
    rows = second["gemm"][1]["impls"][0]["rows"]
    rows[0]["size"] += 8
    rows[1] = models.row_of([2 * y for y in rows[1]["samples"]],
                            rows[1]["hash"], rows[1]["size"], rows[1]["flops"])
    rows[2]["flops"] *= 2
    a = Box(orrery, parent, "first", {"gemm": first["gemm"]})
    b = Box(orrery, parent, "second", {"gemm": second["gemm"]})
    to = Box(orrery, parent, "conflicts")
    result = a.run("merge", a.folder, b.folder, "-o", to.folder)
    ours = to.rows("gemm")
    names = ["%08x" % row["hash"] for row in rows]
    tap.claim("two sizes under one footprint are named and kept apart",
              result.code == 0 and any(
                  "two sizes" in line and "cuda0" in line and names[0] in line
                  for line in result.err.splitlines()) and
              ours["cuda0", names[0]]["n"] ==
              first["gemm"][1]["impls"][0]["rows"][0]["n"], result)
    tap.claim("means that differ by more than their errors are named",
              any("means differ" in line and names[1] in line
                  for line in result.err.splitlines()) and
              len(result.err.splitlines()) == 2, result)
    tap.claim("flops that disagree become unknown",
              ours["cuda0", names[2]]["flops"] is None, result)
    tap.claim("conflicts are counted",
              "          2  measured\n" in result.out, result)

    huge = models.models()
    huge["gemm"][0]["impls"][0]["rows"][0]["n"] = 2**32 - 5
    models.write(b.folder, {"gemm": huge["gemm"]})
    result = a.run("merge", a.folder, b.folder, "-o",
                   os.path.join(parent, "huge"))
    tap.claim("more samples than a file can count are refused, by name",
              result.code == 1 and "d46431bb" in result.err and
              not os.path.exists(os.path.join(parent, "huge")), result)
    with open(b.path("bad.testbox"), "w", encoding="ascii") as file:
        file.write("45\nx\n")
    result = a.run("merge", b.folder, "-o", os.path.join(parent, "none"))
    tap.claim("a broken source is named, and nothing is written",
              result.code == 1 and "bad.testbox:2:" in result.err and
              not os.path.exists(os.path.join(parent, "none")), result)
    for words in (["x"], ["-o", "y"], ["x", "-o", "y", "--host", "a/b"]):
        tap.claim("`merge %s` is a wrong command line" % " ".join(words),
                  a.run("merge", *words).code == 2)
    result = a.run("merge", os.path.join(parent, "moon"), "-o", to.folder)
    tap.claim("a source that is not there is named",
              result.code == 1 and "moon" in result.err, result)


def prune_tests(tap, orrery, parent):
    box = Box(orrery, parent, "prune", models.models())
    few = [row["n"] < 30 for comb in models.models()["gemm"]
           for row in comb["impls"][0]["rows"]].count(True)
    before = box.run("export", "--json").out
    result = box.run("prune", "--symbol", "gemm", "--fewer-than", "30")
    tap.claim("prune says what it would remove, and removes nothing",
              result.code == 0 and
              f"{few} entries and 0 files would be removed; --yes" in
              result.out and box.run("export", "--json").out == before, result)
    result = box.run("prune", "--symbol", "gemm", "--fewer-than", "30", "--json")
    said = json.loads(result.out) if result.code == 0 else {"entries": []}
    tap.claim("prune says so as JSON",
              len(said["entries"]) == few and said["removed"] is False and
              said["files"] == [] and
              all(row["samples"] < 30 and row["file"] == box.path("gemm.testbox")
                  and row["mean_us"] > 0 for row in said["entries"]), result)
    result = box.run("prune", "--symbol", "gemm", "--fewer-than", "30",
                     "--yes")
    tap.claim("--yes removes entries with few samples",
              result.code == 0 and len(box.rows("gemm")) == 18 - few and
              all(row["n"] >= 30 and "side" in row
                  for row in box.rows("gemm").values()) and
              len(box.rows("trsm")) == 18, result)
    with open(box.path("gemm.testbox", "45.orrery"),
              encoding="ascii") as file:
        left = file.read().count("\nentry ")
    tap.claim("they leave the side file too", left == 18 - few)

    made = models.models()
    models.write_sides(box.folder, {"trsm": made["trsm"]},
                       last_time=int(time.time()) - 86400)
    result = box.run("prune", "--older-than", "2", "--arch", "cuda1", "--yes")
    tap.claim("--older-than and --arch remove what both mean",
              len(box.rows("trsm")) == 18 and
              {arch for arch, _ in box.rows("potrf")} == {"cpu0", "cuda0"},
              result)
    os.remove(box.path("syrk.testbox", "45.orrery"))
    models.write(box.folder, {"syrk": made["syrk"]})
    box.run("prune", "--older-than", "2", "--yes")
    tap.claim("entries without a date stay, files without entries go",
              len(box.rows("syrk")) == 18 and
              box.names() == ["syrk.testbox", "trsm.testbox"] and
              box.names("45.orrery") == ["trsm.testbox"])
    result = box.run("prune", "--arch", "cuda", "--symbol", "syrk", "--yes")
    tap.claim("an architecture that has gone takes its regression along",
              [c["implementations"][0]["regression"]["n"] for m in
               box.export("syrk")["models"] for c in m["combinations"]][1:] ==
              [0, 0], result)
    result = box.run("prune", "--symbol", "s*", "--yes", "--json")
    said = json.loads(result.out) if result.code == 0 else {"files": None}
    tap.claim("--symbol alone removes whole models",
              said["files"] == [box.path("syrk.testbox")] and said["removed"] and box.names() == ["trsm.testbox"], result)
    models.write(box.folder, {"gemm": made["gemm"]}, "elsewhere")
    box.run("prune", "--symbol", "*", "--yes")
    tap.claim("models of other hosts stay",
              box.names() == ["gemm.elsewhere"])


def prune_file_tests(tap, orrery, parent):
    box = Box(orrery, parent, "files", models.models())
    os.makedirs(box.path("", "44"))
    for path in (box.path("void.testbox"), box.path("gemm.testbox", "44"),
                 box.path("gemm.elsewhere", "44"), box.path("void.elsewhere")):
        open(path, "w", encoding="ascii").close()
    models.write(box.folder, {"hollow": []})
    result = box.run("prune", "--empty", "--other-versions")
    tap.claim("empty files and other versions are shown first",
              result.code == 0 and "3 files would" in result.out and
              "gemm.testbox" in box.names("44"), result)
    result = box.run("prune", "--empty", "--other-versions", "--yes")
    tap.claim("--yes removes them, of this host",
              result.code == 0 and
              box.names("44") == ["gemm.elsewhere"] and
              box.names() == ["gemm.testbox", "potrf.testbox",
                              "syrk.testbox", "trsm.testbox",
                              "void.elsewhere"], result)
    with open(box.path("bad.testbox"), "w", encoding="ascii") as file:
        file.write("45\nx\n")
    result = box.run("prune", "--arch", "cuda1", "--yes")
    tap.claim("a broken file is named and left alone",
              result.code == 1 and "bad.testbox:2:" in result.err and
              "bad.testbox" in box.names(), result)
    os.remove(box.path("bad.testbox"))
    tap.claim("the others have been pruned all the same",
              all({arch for arch, _ in box.rows(symbol)} == {"cpu0", "cuda0"}
                  for symbol in models.KERNELS))
    for words in ([], ["--fewer-than", "x"], ["--older-than", "-1"],
                  ["gemm"], ["--yes"]):
        tap.claim("`prune %s` is a wrong command line" % " ".join(words),
                  box.run("prune", *words).code == 2)


def main(orrery):
    tap = util.Tap()
    with tempfile.TemporaryDirectory() as parent:
        for number, tests in enumerate((
                list_tests, show_tests, export_tests, import_tests, refusal_tests,
                merge_tests, conflict_tests, prune_tests, prune_file_tests)):
            folder = os.path.join(parent, str(number))
            os.makedirs(folder)
            tests(tap, orrery, folder)
            shutil.rmtree(folder)
        shared_tests(tap, orrery, parent, util.shared_folder())
    tap.end()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
