#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `orrery machine` shows: show, pictures, diff, odd names of hosts and files,
and starpu_machine_display. Prints TAP.

    test-machine-show.py ORRERY DISPLAY CATALOGUE
"""
import json
import os
import re
import sys
import xml.etree.ElementTree as ET

import tools_util as util
from machine_bench import SVG, boxes_apart, inside, platform, run_all

TWO_PACKAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                            "two-packages.hwloc.xml")


# ---- pictures ----

def picture(bench, name, **more):
    path = bench.path("picture.svg")
    result = bench.run("show", *([name] if name else []), "--svg", path,
                       **more)
    if result.code:
        return result, None, []
    root = ET.parse(path).getroot()
    return result, root, ["".join(e.itertext()) for e in
                          root.iter(SVG + "text")]


def picture_tests(tap, bench, catalogue, shared):
    known = sorted(n for n in os.listdir(catalogue) if
                   os.path.exists(os.path.join(catalogue, n, "platform.xml")))
    more = {}
    if os.path.isdir(os.path.join(shared, "sampling", "bus")):
        more["STARPU_PERF_MODEL_PATH"] = os.path.join(shared, "sampling")
        known += ["attila", "mirage"]
    else:
        tap.skip("pictures of StarPU's machines", "no sampling/bus in ORRERY_SHARED")
    for name in known:
        result, root, texts = picture(bench, name, **more)
        desc = json.loads(bench.run("show", name, "--json", **more).out)
        devices = [h["id"] for h in desc["hosts"]
                   if h["id"].startswith(("CUDA", "OpenCL", "DISK"))]
        tap.claim(f"the picture of {name} has all its devices, apart and "
                  "inside", root is not None and boxes_apart(root) and
                  inside(root) and all(d in texts for d in devices) and
                  sum(int(t.split()[0]) for t in texts
                      if t.endswith((" CPUs", " CPU"))) == desc["cpus"],
                  result)
    _, _, texts = picture(bench, "hgx-h100-8")
    tap.claim("links carry bandwidth and latency",
              texts.count("54.2 GB/s each way") == 8 and
              "6.5 µs" in texts and
              texts.count("382 GB/s each way") == 8 and
              any("switch of 8 devices" in t for t in texts), texts)
    _, _, texts = picture(bench, "r940xa-4")
    tap.claim("main memories are drawn with what is theirs and their links",
              all("UPI-%d-%d · 16.6 GB/s each way · 2 µs" % (i, j) in texts
                  for i in range(4) for j in range(i + 1, 4)) and
              texts.count("28 CPUs") == 4 and "NUMA 3 · package 3" in texts and
              [t for t in texts if t in ("RAM0", "RAM1", "RAM2", "RAM3")] ==
              ["RAM0", "RAM1", "RAM2", "RAM3"] and
              texts.count("12.3 GB/s each way") == 4, texts)
    _, root, texts = picture(bench, None, HWLOC_XMLFILE=TWO_PACKAGES)
    tap.claim("packages, nodes and memory of this machine are in its picture",
              boxes_apart(root) and "NUMA 0 · package 0 · 8 GiB" in texts and
              "NUMA 1 · package 1 · 4 GiB" in texts and "2 CPUs" in texts,
              texts)
    bench.run("new", "many", "--cpu", "2", "--cores", "900", "--gpu",
              "H100 SXM", "--gpus", "40", "--link", "nvswitch", "-o",
              bench.path("many.xml"))
    result, root, texts = picture(bench, bench.path("many.xml"))
    tap.claim("equal devices share a box when there are many",
              root is not None and "CUDA0 … 39" in texts and inside(root),
              result)
    tap.claim("names are escaped in pictures", picture(
        bench, bench.write("odd.xml", platform(
            1, 'model="a &lt;b&gt; &amp; &quot;c&quot;"')))[1] is not None)


# ---- show ----

def show_tests(tap, bench):
    result = bench.run("show", "hgx-h100-8")
    tap.claim("show has memories, links, routes and models",
              result.code == 0 and "CUDA7" in result.out and
              "NVLink-CUDA0" in result.out and
              "RAM       <-> CUDA0     Host, PCIe-CUDA0 (down)" in result.out
              and "chol_model_gemm" in result.out, result)
    root = json.loads(bench.run("--json", "show", "hgx-h100-8").out)
    models = {m["symbol"]: m for m in root["models"]}
    tap.claim("show --json has models and their architectures",
              models["chol_model_gemm"]["architectures"] ==
              ["cpu0"] + ["cuda%d" % i for i in range(8)] and
              models["chol_model_gemm"]["entries"] > 0)
    path = bench.write("memory.xml", platform(1).replace(
        '<host id="RAM" speed="1f"/>', '<host id="RAM" speed="1f">'
        '<prop id="memsize" value="25769803776"/><prop id="vendor" value="x"/>'
        '<prop id="orrery-copy-bandwidth" value="2.125e10"/></host>'))
    result = bench.run("show", path)
    tap.claim("memories and workers are shown with units",
              "  RAM       24 GiB, vendor x, copies at 21.2 GB/s\n" in
              result.out and "1 CPU, 1 CUDA; a core drives" in result.out,
              result)
    result = bench.run("show")
    tap.claim("show without a name is this machine", result.code == 0 and
              "measured" in result.out, result)
    result = bench.run("show", HWLOC_XMLFILE=TWO_PACKAGES)
    tap.claim("what hwloc says of memories is shown with units",
              "NUMA 1      4 GiB, 1 CPU of package 1\n" in result.out and
              "8 GiB on NUMA node 0, 4 GiB on NUMA node 1" in result.out,
              result)
    place = json.loads(bench.run("show", "--json", HWLOC_XMLFILE=TWO_PACKAGES)
                       .out)["topology"]
    tap.claim("show --json has packages, nodes and GPUs as numbers",
              place["packages"] == [{"number": 0, "cpus": [0, 1]},
                                    {"number": 1, "cpus": [2]}] and
              place["numa_nodes"][1] ==
              {"number": 1, "host": None, "memory_bytes": 4 << 30,
               "package": 1, "cpus": [2], "caches": []} and
              place["gpus"][0] ==
              {"id": "gpu0", "model": "Toy GPU 200", "pci": "0000:1b:00.0",
               "numa_node": 1, "memory_bytes": 16 << 30,
               "bytes_per_second": 31507692337} and
              place["processors"] == 3, place)
    caches = json.loads(bench.run(
        "show", "--json", HWLOC_SYNTHETIC="package:2 numa:2 l3:1(size=8388608) "
        "l2:2(size=1048576) l1d:1(size=32768) core:1 pu:1").out)
    nodes = caches["topology"]["numa_nodes"]
    tap.claim("show --json has caches with level and bytes",
              [n["package"] for n in nodes] == [0, 0, 1, 1] and all(
                  [c["level"] for c in n["caches"]] == [1, 2, 3] and
                  n["caches"][2]["bytes"] == 8 << 20 for n in nodes), nodes)
    place = json.loads(bench.run("show", "r940xa-4", "--json").out)["topology"]
    tap.claim("show --json has the CPUs and devices of each main memory",
              [(n["host"], len(n["cpus"])) for n in place["numa_nodes"]] ==
              [("RAM%d" % k, 28) for k in range(4)] and
              [(g["id"], g["numa_node"]) for g in place["gpus"]] ==
              [("CUDA%d" % k, k) for k in range(4)], place)
    place = json.loads(bench.run("show", "gtx1650-4gb", "--json").out)[
        "topology"]
    tap.claim("show says which CPUs share a cache, and that lws goes by it",
              place["third_level_caches"] ==
              [{"number": 0, "cpus": [0, 1, 2]},
               {"number": 1, "cpus": [3, 4, 5]}] and
              "  places      4 packages, 4 NUMA nodes: lws steals from the "
              "nearest\n" in bench.run("show", "r940xa-4").out and
              "lws" not in bench.run("show", "h100-pcie-4").out, place)
    with open(json.loads(bench.run("show", "gtx1650-4gb", "--json").out)[
            "file"], encoding="utf-8") as file:
        text = file.read()
    cache, both = ['<prop id="l3" value="%d"/>' % k for k in (0, 1)], {}
    place = '<prop id="package" value="%d"/>'
    both["CPU0 and CPU3 are both of l3 0, but of different values of package"] \
        = text.replace(cache[0], cache[0] + place % 0).replace(
            cache[1], cache[0] + place % 1)
    both["CPU0 has the property package, CPU1 does not"] = text.replace(
        cache[0], cache[0] + place % 0, 1)
    for said, changed in both.items():
        path = os.path.join(bench.folder, "odd.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(changed)
        result = bench.run("doctor", path)
        tap.claim("the doctor warns: " + said,
                  said in " ".join(result.out.split()), result)
    tap.claim("--json and --svg exclude each other",
              bench.run("show", "--json", "x", "--svg", "y").code == 2)


def no_file_tests(tap, bench):
    """--svg without FILE, and with it on either side of NAME."""
    path = bench.write("node.xml", platform(1))
    there = bench.path("there.svg")
    bench.run("show", path, "--svg", there)
    with open(there, encoding="utf-8") as file:
        drawn = file.read()
    for words in ([path, "--svg"], ["--svg", path], ["-m", path, "--svg"],
                  [path, "--svg", "-"], ["--svg", "-", path], ["--svg=-", path]):
        result = bench.run("show", *words)
        tap.claim("machine show %s prints the picture" % " ".join(words[-2:]),
                  result.code == 0 and result.out == drawn, result)
    # Memory of a virtual machine may come and go between two calls.
    here = [re.sub(r"[\d.]+ GiB", "GiB", bench.run("show", "--svg", *last).out)
            for last in (["-"], [])]
    tap.claim("without NAME it is this machine's",
              "</svg>" in here[0] and here[1] == here[0])
    code, shown = util.on_terminal(
        [os.path.abspath(bench.orrery), "machine", "show", path, "--svg"], bench.folder,
        bench.env)
    with open(bench.path("node.svg"), encoding="utf-8") as file:
        tap.claim("no picture fills a terminal", code == 0 and file.read() == drawn and
                  "node.svg" in shown and "<svg" not in shown, shown)
    for words in ([path, "--svg", "a.png"], [path, "a.svg", "--svg=b.svg"], [path, path],
                  [path, "--svg="], [path, "a.svg"]):
        result = bench.run("show", *words)
        tap.claim("refused: machine show NAME %s" % " ".join(words[1:]),
                  result.code == 2 and not result.out, result)


# ---- diff ----

def diff_tests(tap, bench):
    a = bench.write("a.xml", platform(2))
    b = bench.write("b.xml", platform(2).replace(
        'value="1073741824"', 'value="2147483648"').replace(
        'id="L1" bandwidth="1GBps"', 'id="L1" bandwidth="2GBps"').replace(
        'value="1.5"', 'value="2"').replace('<host id="CPU1" speed="2Gf"/>',
                                            ""))
    result = bench.run("diff", a, a)
    tap.claim("a machine equals itself", result.code == 0 and
              "equal" in result.out, result)
    result = bench.run("diff", a, b)
    tap.claim("diff describes what differs", result.code == 1 and
              "CUDA0, CUDA1: memory 1 GiB -> 2 GiB" in result.out and
              "L1: bandwidth 1 GB/s -> 2 GB/s" in result.out and
              "submit: 1.5 us -> 2 us" in result.out and
              "CPU1: only in a" in result.out and
              "RAM to CUDA1, CUDA1 to RAM: bandwidth 1000 MB/s -> 2000 MB/s"
              in result.out, result)
    result = bench.run("diff", b, a, "--json")
    root = json.loads(result.out)
    tap.claim("and as JSON", result.code == 1 and not root["equal"] and
              {"section": "hosts", "item": "CPU1", "aspect": None, "a": None,
               "b": "there"} in root["differences"], result)
    c = bench.write("c.xml", platform(2).replace(
        '<link_ctn id="L1"/>', '<link_ctn id="L1"/><link_ctn id="L0"/>'))
    result = bench.run("diff", a, c)
    tap.claim("diff sees routes", "RAM to CUDA1: links L1 -> L1, L0"
              in result.out, result)
    result = bench.run("diff", "h100-pcie-4", "rtx4090-2", "--json")
    items = json.loads(result.out)["differences"]
    tap.claim("diff sees models", any(
        d["section"] == "models" and "chol_model_gemm on cuda0" == d["item"]
        for d in items) and any(
            d["item"] == "chol_model_gemm on cuda3" and d["b"] is None
            for d in items), result)
    tap.claim("diff wants two machines", bench.run("diff", a).code == 2)
    result = bench.run("diff", a, "--set", "cuda.memory = 2GiB")
    tap.claim("or one and an edit", result.code == 1 and result.out.split("\n")
              [1:] == ["  CUDA0, CUDA1: memory 1 GiB -> 2 GiB", ""], result)
    result = bench.run("diff", a, "--set", "cuda.count = 3")
    tap.claim("which is distinguished from what was before",
              "only in a, edited" in result.out, result)


# ---- starpu_machine_display ----

def display_tests(tap, bench, display):
    for name in ("laptop-8", "hgx-h100-8"):
        done = util.run(display, "-c", env=dict(bench.env, ORRERY_MACHINE=name))
        n = json.loads(bench.run("show", name, "--json").out)["workers"]
        tap.claim(f"the workers that show lists are those of {name}",
                  n["opencl"] == 0 and
                  all("%d %s worker" % (n[kind.lower()], kind) in
                      done.out.replace("No ", "0 ")
                      for kind in ("CPU", "CUDA")), done, n)
    def show(*words, **more):
        return util.run(display, *words, env=dict(bench.env, **more))

    result = show()
    lines = result.out.splitlines()
    tap.claim("display shows this machine", result.code == 0 and
              lines[0].startswith("Real hostname: ") and
              "StarPU has found :" in lines and
              any(line.endswith(("CPU worker:", "CPU workers:"))
                  for line in lines) and
              "No CUDA worker" in lines and
              any(line.startswith("from/to\tNUMA 0\t") for line in lines),
              result)
    result = show("-i")
    words = [line.split(":")[0] for line in result.out.splitlines()]
    tap.claim("-i prints three file names", words ==
              ["bandwidth", " affinity", "  latency"], result)
    result = show("-w", "cpu", "-c", STARPU_NCPU="1")
    tap.claim("-w and -c", result.code == 0 and
              "\tSTARPU_NCPU=1\n" in result.out and
              result.out.endswith("StarPU has found :\n1 CPU worker\n"),
              result)
    result = show("-n")
    tap.claim("-n leaves out topology and bus", "from/to" not in result.out,
              result)
    result = show("-w", "abacus")
    tap.claim("an unknown type is refused with those there are",
              result.code == 2 and "CUDA" in result.err, result)
    result = show("-f", "-c")
    tap.claim("-f is accepted", result.code == 0, result)
    result = show("--version")
    tap.claim("--version", result.code == 0 and "Orrery" in result.out, result)
    result = show(ORRERY_MACHINE="hgx-h100-8")
    if "simulat" in result.err and result.code:
        tap.skip("display of a simulated machine", "no simulator")
        return
    tap.claim("display shows a simulated machine", result.code == 0 and
              "(StarPU hostname: hgx-h100-8)" in result.out and
              "8 CUDA workers:" in result.out and
              "\tORRERY_MACHINE=hgx-h100-8\n" in result.out and
              "from/to\tNUMA 0\tCUDA 0\t" in result.out, result)


def names_tests(tap, bench):
    """Names of hosts and files that are no UTF-8, or lead elsewhere."""
    bus = os.path.join(bench.sampling, "bus")
    os.makedirs(bus)
    with open(os.fsencode(bus) + b"/b\xffd.platform.v4.xml", "wb") as file:
        file.write(b"<?xml version='1.0'?>\n")
    result = bench.run("list", "--json")
    tap.claim("a file whose name is no UTF-8 does not stop the list",
              result.code == 0 and any("b\\xffd" in row["name"] for row in
                                       json.loads(result.out)), result)
    codelets = os.path.join(bench.sampling, "codelets", "45")
    os.makedirs(codelets)
    with open(os.fsencode(codelets) + b"/gemm.b\xffd", "wb") as file:
        file.write(b"45\n0\n")
    for verb in (("list",), ("check",)):
        result = util.run(bench.orrery, "perfmodel", *verb, "--json",
                          env=dict(bench.env, STARPU_HOSTNAME="box"))
        tap.claim(f"nor perfmodel {verb[0]}", "memory" not in result.err and
                  json.loads(result.out) is not None, result)
    for words in (("show",), ("doctor",), ("export",)):
        result = bench.run(*words, STARPU_HOSTNAME="../../etc")
        tap.claim(f"machine {words[0]} refuses a host that leads elsewhere",
                  result.code == 1 and "cannot be the name" in result.err,
                  result)
    result = util.run(bench.orrery, "calibrate", "bus",
                      env=dict(bench.env, STARPU_HOSTNAME="../../moved"))
    tap.claim("calibrate bus writes nothing for such a host",
              result.code == 1 and "cannot be the name" in result.err and
              not any("moved" in name for _, _, names in os.walk(bench.folder)
                      for name in names), result)


if __name__ == "__main__":
    ORRERY, DISPLAY, CATALOGUE = sys.argv[1:]
    run_all(ORRERY, ("show", show_tests),
            ("picture", picture_tests, CATALOGUE, util.shared_folder()),
            ("no-file", no_file_tests), ("diff", diff_tests), ("names", names_tests),
            ("display", display_tests, DISPLAY))
