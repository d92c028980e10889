#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""starpu_perfmodel_display and starpu_perfmodel_recdump, on models made here
and on the shared ones. Prints TAP.

    test-perfmodel-programs.py DISPLAY RECDUMP MACHINE

MACHINE: one of the catalogue, "" without the simulator.
"""
import os
import sys
import tempfile
import xml.etree.ElementTree as ET

import tools_util as util

models = util.load_models()


def rows_printed(text):
    """The rows of display's plain output as lists of words."""
    return [line.split() for line in text.splitlines()
            if line and line[0] not in "#\t "]


def display_tests(tap, display, folder):
    env = util.clean_environment(folder, "testbox")

    def show(*arguments):
        return util.run(display, *arguments, env=env)

    result = show("-l")
    tap.claim("-l names the directories and the files",
              result.code == 0 and
              f"codelet directory: <{folder}/codelets/45>" in result.out and
              "file: <gemm.testbox>" in result.out.splitlines(), result)
    result = show("-d")
    tap.claim("-d names the directories", result.code == 0 and
              f"directory: <{folder}/codelets/45>" in result.out, result)

    result = show("-ld")
    tap.claim("letters of options may stand together", result.code == 0 and
              "directory: <" in result.out and "file: <" in result.out, result)

    made = models.models()
    result = show("-s", "syrk")
    expected = [["%08x" % row["hash"], str(row["size"]), "%e" % row["flops"],
                 "%e" % row["mean"], "%e" % row["dev"], str(row["n"])]
                for comb in made["syrk"] for row in comb["impls"][0]["rows"]]
    tap.claim("-s prints each row of the file in order",
              result.code == 0 and rows_printed(result.out) == expected,
              result)
    tap.claim("-s names the architectures",
              "# performance model for cuda1_impl0 (Comb2)\n" in result.out,
              result)
    fit = made["syrk"][0]["impls"][0]["fit"]
    tap.claim("-s prints the regressions of the file",
              f"\tRegression : #sample = {fit['n']}\n" in result.out and
              "alpha = %e" % fit["alpha"] in result.out and
              "c = %e" % fit["abc"][2] in result.out, result)
    tap.claim("a history model has no regression lines",
              "Regression" not in show("-s", "gemm").out)

    result = show("-s", "syrk", "-a", "cuda1", "-p", "mean")
    tap.claim("-p mean -a prints one value a line",
              result.out.split() == [row[3] for row in expected[12:]], result)
    for arch, n in (("cpu", 6), ("cpu:1", 6), ("cpu:2", 0), ("cuda", 12),
                    ("cuda_1", 6), ("opencl", 0), ("cudax", 0), ("cuda1x", 0)):
        result = show("-s", "syrk", "-a", arch)
        tap.claim(f"-a {arch} selects {n} rows",
                  len(rows_printed(result.out)) == n and
                  result.code == (0 if n else 1), result)
    result = show("-s", "syrk", "-f", expected[0][0])
    tap.claim("-f selects the rows of a footprint",
              [row[0] for row in rows_printed(result.out)] ==
              [expected[0][0]] * 3, result)
    result = show("-s", "syrk", "-f", "1")
    tap.claim("a footprint that is not there ends with 1", result.code == 1,
              result)
    result = show("-s", "syrk", "-p", "path-file-debug", "-a", "cpu")
    tap.claim("-p path-file-debug names the file of raw measures",
              result.out == f"{folder}/codelets/45.orrery/syrk.testbox\n",
              result)

    result = show("-s", "moon")
    tap.claim("a model that is not there ends with 1 and is named",
              result.code == 1 and "moon" in result.err and
              "-l" in result.err, result)
    for arguments in ([], ["-f", "xyz", "-s", "syrk"], ["-q"],
                      ["syrk"], ["-x", "-s", "syrk", "-a", "cpu"]):
        result = show(*arguments)
        tap.claim(f"{' '.join(arguments) or 'no option'} is a wrong command "
                  "line", result.code == 2 and result.err, result)
    result = show("-s", "syrk", "-p", "gamma")
    tap.claim("an unknown value's name ends with 1 and the known are named",
              result.code == 1 and "stddev" in result.err, result)
    tap.claim("--help has an example",
              "\nexample: starpu_perfmodel_display" in show("--help").out)
    tap.claim("--version says whose it is",
              "(Orrery)" in show("--version").out)


def xml_tests(tap, display, folder):
    env = util.clean_environment(folder, "testbox")
    result = util.run(display, "-s", "syrk", "-x", env=env)
    root = ET.fromstring(result.out)
    combs = root.findall("combination")
    made = models.models()["syrk"]
    tap.claim("-x is XML of version 45 with a combination per device",
              root.tag == "perfmodel" and root.get("version") == "45" and
              [comb.find("device").get("type") for comb in combs] ==
              ["CPU", "CUDA", "CUDA"], result)
    tap.claim("only CPUs have cores in it",
              [comb.find("device").get("ncores") for comb in combs] ==
              ["1", None, None], result)
    keys = (("footprint", "hash", "%08x"), ("size", "size", "%d"),
            ("flops", "flops", "%e"), ("mean", "mean", "%e"),
            ("deviation", "dev", "%e"), ("sum", "sum", "%e"),
            ("sum2", "sum2", "%e"), ("nsample", "n", "%d"))
    same = all(
        [[entry.get(key) for key, _, _ in keys]
         for entry in comb.find("implementation").findall("entry")] ==
        [[form % row[key] for _, key, form in keys]
         for row in ours["impls"][0]["rows"]]
        for comb, ours in zip(combs, made))
    tap.claim("-x has every value of every row", same, result)
    tap.claim("-x has the regressions",
              float(root.find(".//nl_regression").get("b")) == 1.5 and
              root.find(".//l_regression") is not None, result)


def multiple_tests(tap, display, folder):
    made = {"poly": [{"devices": [(0, 0, 1)], "impls": [
        {"rows": [], "fit": {**models.NO_FIT, "coeff": (1.5, 2.5)}}]}]}
    models.write(folder, made)
    env = util.clean_environment(folder, "testbox")
    result = util.run(display, "-s", "poly", env=env)
    tap.claim("-s prints the coefficients of a multiple regression",
              "coeff[1] = 2.500000e+00" in result.out, result)
    result = util.run(display, "-s", "poly", "-x", env=env)
    terms = ET.fromstring(result.out).findall(".//ml_regression/monomial")
    tap.claim("-x has its monomials",
              [float(term.get("coefficient")) for term in terms] == [1.5, 2.5],
              result)
    os.remove(f"{folder}/codelets/45/poly.testbox")


def shared_tests(tap, display, shared):
    paths = util.shared_models(shared)
    claim = "every shared file displays, and its rows are the file's"
    if not paths:
        tap.skip(claim, "no sampling in ORRERY_SHARED")
        return
    env = util.clean_environment(os.path.join(shared, "sampling"), "nobody")
    wrong = []
    for path in paths:
        name = os.path.basename(path)
        result = util.run(display, "-s", name, env=env)
        as_xml = util.run(display, "-s", name, "-x", env=env)
        with open(path, encoding="ascii") as file:
            rows = [line.split() for line in file
                    if line.count("\t") in (6, 7) and line[0] != "#" and
                    len(line.split()[0]) == 8]
        total = sum(float(row[-5]) for row in rows)
        ours = rows_printed(result.out)
        entries = ET.fromstring(as_xml.out).findall(".//entry")
        if (result.code, as_xml.code, len(ours), len(entries)) != \
                (0, 0, len(rows), len(rows)) or \
                sum(float(row[3]) for row in ours) != total or \
                sum(float(entry.get("mean")) for entry in entries) != total:
            wrong.append(name)
    print(f"# {len(paths)} shared files")
    tap.claim(claim, not wrong)
    for name in wrong:
        print("# " + name)


def records(text):
    """[(block, {field: value})]"""
    found, block = [], None
    for part in text.split("\n\n"):
        if part.startswith("%rec: "):
            block = part[6:].strip()
        elif part.strip():
            found.append((block, dict(line.split(": ", 1)
                                      for line in part.strip().split("\n"))))
    return found


def recdump_tests(tap, recdump, machine, folder):
    models.write(folder, models.models(), machine)
    env = util.clean_environment(folder, machine)
    made = models.models()
    expected = sorted(
        (symbol, "%08x" % row["hash"], str(row["size"]), "%e" % row["mean"],
         "%e" % row["dev"], str(row["n"]))
        for symbol, combs in made.items() for comb in combs
        for row in comb["impls"][0]["rows"])

    result = util.run(recdump, "-m", machine, env=env)
    found = records(result.out)
    timings = [r for block, r in found if block == "timing" and
               r["Model"] in made]
    tap.claim("all timings of all models are written",
              result.code == 0 and
              sorted((r["Model"], r["Footprint"], r["Size"], r["Mean"],
                      r["Stddev"], r["Samples"]) for r in timings) == expected,
              result)
    tap.claim("a timing has its architecture and flops",
              {r["Architecture"] for r in timings} ==
              {"cpu0", "cuda0", "cuda1"} and
              all(float(r["Flops"]) > 0 for r in timings), result)
    order = [block for i, (block, _) in enumerate(found)
             if i == 0 or found[i - 1][0] != block]
    tap.claim("without tasks the timings come first, then the machine",
              order == ["timing", "worker_count", "memory_workers",
                        "memory_performance"], result)
    counts = {r["Architecture"]: int(r["NbWorkers"]) for block, r in found
              if block == "worker_count"}
    tap.claim("workers are counted by architecture",
              counts.get("cuda0") == 1 and counts.get("cpu0", 0) > 1, result)
    nodes = [r for block, r in found if block == "memory_workers"]
    tap.claim("each worker is at one memory node",
              sum(len(r["Workers"].split()) for r in nodes) ==
              sum(counts.values()), result)
    pairs = [r for block, r in found if block == "memory_performance"]
    tap.claim("each pair of nodes has its bandwidth and latency",
              len(pairs) == len(nodes) * (len(nodes) - 1) and
              all(float(r["Bandwidth"]) > 0 and float(r["Latency"]) >= 0
                  for r in pairs), result)

    tasks = os.path.join(folder, "tasks.rec")
    row = made["syrk"][0]["impls"][0]["rows"][2]
    with open(tasks, "w", encoding="ascii") as file:
        for task in range(3):
            file.write(f"Name: S\nModel: syrk\nJobId: {task}\n"
                       f"Footprint: {row['hash']:x}\n\n")
        file.write("Control: WontUse\nJobId: 4\n\nJobId: 5\nFootprint: 12\n"
                   "EndDependencies: 4 \nModel: gemm\nFootprint: "
                   f"{made['gemm'][0]['impls'][0]['rows'][0]['hash']:x}\n")
    out = os.path.join(folder, "out.rec")
    result = util.run(recdump, "-m", machine, tasks, "-o", out, env=env)
    with open(out, encoding="ascii") as file:
        found = records(file.read())
    tap.claim("with tasks the machine comes first",
              found[0][0] == "worker_count" and found[-1][0] == "timing",
              result)
    tap.claim("with tasks only their timings are written, once",
              result.code == 0 and
              [(r["Model"], r["Architecture"]) for block, r in found
               if block == "timing"] ==
              [(m, a) for m in ("syrk", "gemm")
               for a in ("cpu0", "cuda0", "cuda1")], result)

    with open(tasks, "a", encoding="ascii") as file:
        file.write("\nModel: syrk\nFootprint: 7\n\n")
    result = util.run(recdump, "-m", machine, tasks, env=env)
    tap.claim("a footprint without timing ends with 1 and is named",
              result.code == 1 and "00000007" in result.err, result)
    with open(tasks, "w", encoding="ascii") as file:
        file.write("Model: syrk\nno colon here\n")
    result = util.run(recdump, "-m", machine, tasks, env=env)
    tap.claim("a line without colon is named with its number",
              result.code == 1 and f"{tasks}:2:" in result.err, result)
    result = util.run(recdump, "-m", machine, "a", "b", env=env)
    tap.claim("two inputs are a wrong command line", result.code == 2, result)
    result = util.run(recdump, "--none", env=env)
    tap.claim("an unknown option names the program whose --help to read",
              result.code == 2 and result.err ==
              "starpu_perfmodel_recdump: unknown option --none; see "
              "starpu_perfmodel_recdump --help\n", result)
    result = util.run(recdump, "--help", env=env)
    tap.claim("recdump --help has an example",
              "\nexample: starpu_perfmodel_recdump" in result.out, result)


def main(display, recdump, machine):
    tap = util.Tap()
    with tempfile.TemporaryDirectory() as folder:
        models.write(folder, models.models())
        display_tests(tap, display, folder)
        xml_tests(tap, display, folder)
        multiple_tests(tap, display, folder)
    shared_tests(tap, display, util.shared_folder())
    if machine:
        with tempfile.TemporaryDirectory() as folder:
            recdump_tests(tap, recdump, machine, folder)
    else:
        tap.skip("recdump on a simulated machine", "no simulator")
    tap.end()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
