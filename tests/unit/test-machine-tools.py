#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery machine` show, new, export, import, diff and starpu_machine_display:
round trips, hostile files, what hwloc and nvidia-smi say. Prints TAP.

    test-machine-tools.py ORRERY DISPLAY CATALOGUE PACKED

PACKED is 1 if the module for packed machines was built.
"""
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ET

import tools_util as util

SVG = "{http://www.w3.org/2000/svg}"
MARK = b"orrery machine 1\n"
TWO_PACKAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                            "two-packages.hwloc.xml")


class Bench:
    """The command, in a folder and with sampling directories of its own."""

    def __init__(self, orrery, folder):
        self.orrery, self.folder = orrery, folder
        self.sampling = os.path.join(folder, "sampling")
        self.env = util.clean_environment(self.sampling, "box")
        del self.env["STARPU_HOSTNAME"]

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run(self, *words, **more):
        return util.run(self.orrery, "machine", *words,
                        env=dict(self.env, **more), timeout=300)

    def show(self, name):
        """All that is known of a machine, without its name and places."""
        result = self.run("show", name, "--json")
        root = json.loads(result.out)
        for key in ("name", "file", "models_host", "models_dir", "models"):
            del root[key]
        return root

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def files(self):
        """All files below the sampling directory, and what they hold."""
        found = {}
        for folder, _, names in os.walk(self.sampling):
            for name in names:
                path = os.path.join(folder, name)
                if "/packed/" not in path:
                    with open(path, "rb") as file:
                        found[os.path.relpath(path, self.sampling)] = \
                            file.read()
        return found


def pack(path, members, mark=MARK, folder="evil"):
    """A packed machine by hand: (name, bytes or TarInfo)."""
    with tarfile.open(path, "w:gz") as tar:
        if mark is not None:
            info = tarfile.TarInfo(folder + "/orrery-machine")
            info.size = len(mark)
            tar.addfile(info, io.BytesIO(mark))
        for name, content in members:
            info = content
            if isinstance(content, bytes):
                info = tarfile.TarInfo(name)
                info.size = len(content)
            tar.addfile(info, io.BytesIO(content) if
                        isinstance(content, bytes) else None)
    return path


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


def boxes_apart(root):
    """Whether no two of the boxes that carry text cross each other, nor two of
    the panels behind them, and no box an edge of a panel."""
    boxes = [tuple(float(e.get(k)) for k in ("x", "y", "width", "height"))
             + (e.get("fill") == "#f8f9fb",)
             for e in root.iter(SVG + "rect") if e.get("stroke") and
             e.get("stroke") != "none"]

    def holds(a, b):
        return (a[4] and not b[4] and a[0] <= b[0] and a[1] <= b[1] and
                b[0] + b[2] <= a[0] + a[2] and b[1] + b[3] <= a[1] + a[3])
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            if a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and \
                    a[1] < b[1] + b[3] and b[1] < a[1] + a[3] and \
                    not holds(a, b) and not holds(b, a):
                return False
    return True


def inside(root):
    width, height = float(root.get("width")), float(root.get("height"))
    for e in root.iter(SVG + "rect"):
        if e.get("x") and not (
                0 <= float(e.get("x")) and
                float(e.get("x")) + float(e.get("width")) <= width and
                0 <= float(e.get("y")) and
                float(e.get("y")) + float(e.get("height")) <= height):
            return False
    return all(0 <= float(e.get("x")) <= width and
               0 <= float(e.get("y")) <= height
               for e in root.iter(SVG + "text"))


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
              texts.count("28 CPUs") == 4 and "NUMA 3" in texts and
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


def platform(ngpus, prop="", name_host=""):
    """A small platform file."""
    model = prop.replace("model=", "value=") or 'value="toy"'
    hosts = "".join(
        f'<host id="CUDA{i}" speed="2Gf"><prop id="model" {model}/>'
        f'<prop id="memsize" value="{2**30}"/></host>' for i in range(ngpus))
    links = "".join(f'<link id="L{i}" bandwidth="1GBps" latency="1us"/>'
                    for i in range(ngpus))
    routes = "".join(f'<route src="RAM" dst="CUDA{i}"><link_ctn id="L{i}"/>'
                     "</route>" for i in range(ngpus))
    return ('<?xml version="1.0"?>\n<platform version="4.1">'
            '<zone id="AS0" routing="Full"><host id="MAIN" speed="1f">'
            f'<prop id="orrery-cost-submit" value="1.5"/>{name_host}</host>'
            '<host id="CPU0" speed="2Gf"/><host id="CPU1" speed="2Gf"/>'
            f'{hosts}<host id="RAM" speed="1f"/>{links}{routes}</zone>'
            "</platform>\n")


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
    tap.claim("--json and --svg exclude each other",
              bench.run("show", "--json", "x", "--svg", "y").code == 2)


# ---- export and import ----

def model_texts(bench, host):
    return {name: text for name, text in bench.files().items()
            if name.startswith("codelets/") and name.endswith("." + host)}


def trip_tests(tap, bench, machine, **more):
    """export and import again; `machine` is a name."""
    packed = bench.path("trip.orrery")
    result = bench.run("export", machine, "-o", packed, "--json", **more)
    tap.claim(f"export packs {machine}", result.code == 0, result)
    said = json.loads(result.out)
    with open(packed, "rb") as file:
        first = file.read()
    bench.run("export", machine, "-o", packed, **more)
    with open(packed, "rb") as file:
        tap.claim("the same machine gives the same bytes",
                  file.read() == first)
    result = bench.run("import", packed, "--name", "trip")
    tap.claim(f"import unpacks {machine}", result.code == 0, result)
    old = json.loads(bench.run("show", machine, "--json", **more).out)
    new = json.loads(bench.run("show", "trip", "--json").out)
    for key in ("name", "file", "models_host", "models_dir"):
        old.pop(key), new.pop(key)
    paths = [(a.pop("file"), b.pop("file"))
             for a, b in zip(old["models"], new["models"])]
    tap.claim("a round trip leaves description, matrices and costs as they "
              "were", old == new)
    same = bool(paths) == bool(said["models"])
    for a, b in paths:
        with open(a, "rb") as x, open(b, "rb") as y:
            same &= x.read() == y.read()
        x, y = (p.replace("codelets/45/", "codelets/45.orrery/")
                for p in (a, b))
        same &= os.path.exists(x) == os.path.exists(y)
        if os.path.exists(x):
            with open(x, "rb") as s, open(y, "rb") as t:
                same &= s.read() == t.read()
    tap.claim("models and what lies beside them are the same bytes", same)
    result = bench.run("diff", machine, "trip", **more)
    tap.claim("diff finds the copy equal", result.code == 0 and
              "equal" in result.out, result)
    result = bench.run("diff", machine, packed, **more)
    tap.claim("a packed machine is a machine as it is", result.code == 0,
              result)
    os.rename(packed, bench.path("moved.orrery"))
    first = bench.files()
    result = bench.run("import", bench.path("moved.orrery"), "--name", "trip")
    tap.claim("import overwrites nothing", result.code == 1 and
              "--force" in result.err and bench.files() == first, result)
    result = bench.run("import", bench.path("moved.orrery"), "--name", "trip",
                       "--force")
    tap.claim("import --force does", result.code == 0 and
              bench.files() == first, result)
    for name in first:
        os.remove(os.path.join(bench.sampling, name))


def export_tests(tap, bench, shared):
    trip_tests(tap, bench, "hgx-h100-8")
    if os.path.isdir(os.path.join(shared, "sampling", "bus")):
        path = {"STARPU_PERF_MODEL_PATH": os.path.join(shared, "sampling")}
        for name in ("mirage", "attila"):
            trip_tests(tap, bench, name, **path)
    else:
        tap.skip("round trips of StarPU's machines", "no sampling/bus in ORRERY_SHARED")
    result = bench.run("import", bench.path("moved.orrery"), "--name",
                       "epyc-64")
    tap.claim("a name of the catalogue is not taken", result.code == 1 and
              "--name" in result.err and not bench.files(), result)
    result = bench.run("export", "hgx-h100-8", "-o", bench.path("a.tar"))
    tap.claim("the name of a packed machine ends with .orrery",
              result.code == 2, result)
    result = bench.run("export", "-o", bench.path("here.orrery"))
    tap.claim("export without a name packs this machine", result.code == 0 and
              bench.show(bench.path("here.orrery"))["hosts"] ==
              json.loads(bench.run("show", "--json").out)["hosts"], result)
    result = bench.run("export", "nowhere")
    tap.claim("export of an unknown machine names the known ones",
              result.code == 1 and "hgx-h100-8" in result.err, result)
    a = bench.write("a.xml", platform(2))
    out = bench.path("edited.orrery")
    bench.run("export", a, "--set", "cuda.memory = 2GiB", "-o", out)
    result = bench.run("diff", a, out, "--json")
    tap.claim("export packs what edits make of a machine",
              [d["aspect"] for d in json.loads(result.out)["differences"]] ==
              ["memory"] * 2, result)


def side_tests(tap, bench):
    """A machine with a side file, measured bus and StarPU's own files."""
    models = util.load_models()
    models.write(bench.sampling, models.models(), "lab")
    models.write_sides(bench.sampling, models.models(), "lab")
    bus = os.path.join(bench.sampling, "bus")
    os.makedirs(bus, exist_ok=True)
    with open(os.path.join(bus, "lab.platform.v4.xml"), "w",
              encoding="ascii") as file:
        file.write(platform(2))
    matrix = "# to NUMA 0\tto CUDA 0\tto CUDA 1\n" + "\n".join(
        "\t".join(str(0 if i == j else 1000 + 10 * i + j) if i < 3 and j < 3
                  else "nan" for j in range(4)) for i in range(4)) + "\n"
    for kind, text in (("bandwidth", matrix), ("latency", matrix),
                       ("affinity", "# GPU\tNUMA0\t\n# CUDA\n0\t0\t\n1\t0\t\n"),
                       ("config", "# Current configuration\n2 # CPUs\n")):
        with open(os.path.join(bus, "lab." + kind), "w",
                  encoding="ascii") as file:
            file.write(text)
    packed = bench.path("lab.orrery")
    result = bench.run("export", "lab", "-o", packed)
    with tarfile.open(packed) as tar:
        names = tar.getnames()
    tap.claim("export has side files, measured bus parameters and StarPU's files",
              result.code == 0 and "lab/codelets/45.orrery/gemm.lab" in names
              and {"lab/platform." + k for k in
                   ("bandwidth", "latency", "affinity", "config", "xml")}
              <= set(names) and names[0] == "lab/orrery-machine", result)
    before = bench.files()
    elsewhere = Bench(bench.orrery, tempfile.mkdtemp(dir=bench.folder))
    result = elsewhere.run("import", packed)
    after = elsewhere.files()
    same = {n: t for n, t in before.items() if n.endswith(".lab") or
            n.endswith((".affinity", ".config"))}
    tap.claim("on another computer it is the same",
              result.code == 0 and
              all(after.get(n) == t for n, t in same.items()) and
              elsewhere.show("lab") == bench.show("lab") and
              elsewhere.show("lab")["bus"]["source"] == "bus files" and
              elsewhere.show("lab")["costs_us"]["submit"] == 1.5, result)
    result = elsewhere.run("show", packed, "--json")
    root = json.loads(result.out)
    tap.claim("a packed machine brings its models where it lies",
              root["models_host"] == "lab" and root["models"] and
              root["bus"]["source"] == "bus files")
    first = sorted(os.listdir(os.path.join(elsewhere.sampling, "packed")))
    elsewhere.run("show", packed)
    tap.claim("it is unpacked once",
              sorted(os.listdir(os.path.join(elsewhere.sampling, "packed")))
              == first and len(first) == 1)
    os.rename(packed, elsewhere.path("x.orrery"))
    os.makedirs(elsewhere.path("un"))
    with tarfile.open(elsewhere.path("x.orrery")) as tar:
        tar.extractall(elsewhere.path("un"))
    result = elsewhere.run("diff", elsewhere.path("un", "lab"), "lab")
    tap.claim("unpacked by tar it is a folder that -m takes",
              result.code == 0, result)
    # What orrery calibrate has found on a host is found before all else.
    calibrated = os.path.join(elsewhere.sampling, "bus", "lab.machine.xml")
    costly = bench.write("costly.xml", platform(1).replace("1.5", "7.25"))
    with open(costly, encoding="utf-8") as file:
        text = file.read()
    with open(calibrated, "w", encoding="utf-8") as file:
        file.write(text)
    result = elsewhere.run("import", elsewhere.path("x.orrery"))
    tap.claim("import does not touch what was calibrated", result.code == 1
              and elsewhere.show("lab")["costs_us"]["submit"] == 7.25, result)
    result = elsewhere.run("import", elsewhere.path("x.orrery"), "--force")
    tap.claim("nor is it hidden by that when it replaces it",
              result.code == 0 and
              elsewhere.show("lab")["costs_us"]["submit"] == 1.5, result)
    with open(os.path.join(bus, "full.machine.xml"), "w",
              encoding="utf-8") as file:
        file.write(text)
    bench.run("export", "full", "-o", bench.path("full.orrery"))
    result = elsewhere.run("import", bench.path("full.orrery"))
    tap.claim("what orrery calibrate has found goes into one file and comes "
              "out of it", result.code == 0 and os.path.exists(os.path.join(
                  elsewhere.sampling, "bus", "full.machine.xml")) and
              elsewhere.show("full")["costs_us"]["submit"] == 7.25, result)
    # The new description has no measured values: the old ones must go.
    os.remove(os.path.join(bus, "lab.bandwidth"))
    os.remove(os.path.join(bus, "lab.latency"))
    bench.run("export", "lab", "-o", packed)
    result = elsewhere.run("import", packed, "--force")
    tap.claim("no values of a former machine of that name remain",
              result.code == 0 and
              elsewhere.show("lab")["bus"]["source"] == "routes", result)


# ---- hostile files ----

def tar_info(kind, name, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def hostile_tests(tap, bench):
    good = platform(1).encode()
    model = "evil/codelets/45/gemm.evil"
    text = (b"45\n1\n1\n0\n0\n1\n1\n0\n0\t0\t0\t0\tnan\tnan\t0\t0\t0\n"
            b"nan\tnan\tnan\n0\n")
    before = sorted(os.listdir(bench.folder))
    cases = [
        ("a path upwards", [("evil/../../up", b"x")], "no place"),
        ("an absolute path", [("/evil/platform.xml", good)], "outside"),
        ("another folder", [("other/platform.xml", good)], "outside"),
        ("a path upwards among the models",
         [("evil/platform.xml", good),
          ("evil/codelets/45/../../../gemm.evil", text)], "no place"),
        ("a hidden file", [("evil/codelets/45/.x", b"")], "no place"),
        ("a file that no machine has", [("evil/bin/sh", b"x")], "no place"),
        ("a symbolic link", [("", tar_info(tarfile.SYMTYPE,
                                           "evil/platform.xml",
                                           "/etc/passwd"))], "link"),
        ("a hard link", [("evil/platform.xml", good),
                         ("", tar_info(tarfile.LNKTYPE, model,
                                       "evil/platform.xml"))], "link"),
        ("a device", [("", tar_info(tarfile.CHRTYPE, "evil/platform.xml"))],
         "device"),
        ("a pipe", [("", tar_info(tarfile.FIFOTYPE, "evil/platform.xml"))],
         "device"),
        ("a file twice", [("evil/platform.xml", good)] * 2, "twice"),
        ("no description", [], "platform.xml"),
        ("a broken description", [("evil/platform.xml", b"<platform")],
         "evil.xml"),
        ("entities", [("evil/platform.xml", b'<!DOCTYPE p [<!ENTITY a "x">]>'
                       b'<platform version="4.1">&a;</platform>')],
         "evil.xml"),
        ("a broken model", [("evil/platform.xml", good), (model, b"44\n")],
         "gemm.evil"),
        ("a broken side file",
         [("evil/platform.xml", good), (model, text),
          ("evil/codelets/45.orrery/gemm.evil", b"nonsense\n")], "gemm.evil"),
        ("a model of another host",
         [("evil/platform.xml", good), ("evil/codelets/45/gemm.box", text)],
         "host evil"),
        ("broken bus parameters",
         [("evil/platform.xml", good), ("evil/platform.bandwidth", b"x\n"),
          ("evil/platform.latency", b"x\n")], "platform.bandwidth"),
        ("too many files",
         [("evil/codelets/45/m%d.evil" % i, b"") for i in range(4200)],
         "more than"),
    ]
    for what, members, word in cases:
        packed = pack(bench.path("evil.orrery"), members)
        result = bench.run("import", packed)
        tap.claim(f"{what} is refused, nothing is written",
                  result.code == 1 and word in result.err and
                  not bench.files(), result)
        result = bench.run("show", packed)
        if word not in ("gemm.evil", "host evil", "platform.bandwidth"):
            tap.claim(f"{what} is refused by show", result.code == 1, result)
    big = tarfile.TarInfo("evil/platform.xml")
    big.size = 1 << 50
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT) as tar:
        info = tarfile.TarInfo("evil/orrery-machine")
        info.size = len(MARK)
        tar.addfile(info, io.BytesIO(MARK))
    with open(bench.path("evil.orrery"), "wb") as file:
        file.write(raw.getvalue()[:1024] + big.tobuf(tarfile.GNU_FORMAT))
    result = bench.run("import", bench.path("evil.orrery"))
    tap.claim("a size of a petabyte is refused", result.code == 1 and
              "larger than" in result.err, result)
    zeros = pack(bench.path("evil.orrery"),
                 [("evil/platform.xml", b" " * (300 << 20))])
    result = bench.run("import", zeros)
    tap.claim("what grows when it is unpacked is refused",
              os.path.getsize(zeros) < 1 << 20 and result.code == 1 and
              "larger than" in result.err, result)
    result = bench.run("import", pack(bench.path("evil.orrery"), [
        ("evil/platform.xml", good)], mark=b"orrery machine 2\n"))
    tap.claim("another version of the format is refused by name",
              result.code == 1 and "version" in result.err, result)
    result = bench.run("import", pack(bench.path("evil.orrery"), [
        ("evil/platform.xml", good)], mark=None))
    tap.claim("any other tar is refused", result.code == 1 and
              "begins with" in result.err, result)
    for folder in ("..", ".hidden"):
        result = bench.run("import", pack(bench.path("evil.orrery"), [
            (folder + "/platform.xml", good)], folder=folder))
        tap.claim(f"a machine called {folder} is refused", result.code == 1 and
                  not bench.files(), result)
    packed = pack(bench.path("evil.orrery"), [("evil/platform.xml", good)])
    with open(packed, "rb") as file:
        whole = file.read()
    refused = 0
    for cut in range(0, len(whole), 7):
        with open(packed, "wb") as file:
            file.write(whole[:cut])
        result = bench.run("import", packed)
        refused += result.code == 1 and not bench.files()
    tap.claim("a file cut anywhere is refused",
              refused == len(range(0, len(whole), 7)))
    with open(packed, "w", encoding="ascii") as file:
        file.write("no archive\n")
    result = bench.run("import", packed)
    tap.claim("what is no archive is refused", result.code == 1 and
              "not a machine" in result.err, result)
    tap.claim("nothing was left anywhere", sorted(
        n for n in os.listdir(bench.folder) if n != "evil.orrery" and
        n != "sampling") == [n for n in before if n != "evil.orrery" and
                             n != "sampling"])


# ---- new ----

def new_tests(tap, bench):
    result = bench.run("new", "lab", "--cpu", "EPYC 7763", "--cores", "32",
                       "--gpu", "h100 pcie", "--gpus", "3", "--gpu-memory",
                       "40GiB", "--link", "pcie5", "--models")
    root = json.loads(bench.run("show", "lab", "--json").out)
    tap.claim("new makes a machine that -m finds", result.code == 0 and
              root["cpus"] == 32 and root["cuda_devices"] == 3 and
              root["provenance"] == "derived", result)
    hosts = {h["id"]: h["properties"] for h in root["hosts"]}
    links = {link["id"]: link for link in root["links"]}
    rate = 32e9 * 16 / 8 * 128 / 130 * 0.86
    tap.claim("its parameters are the published ones",
              hosts["MAIN"]["model"] == "AMD EPYC 7763" and
              hosts["CUDA2"]["model"] == "NVIDIA H100 PCIe 80GB" and
              hosts["CUDA2"]["memsize"] == str(40 << 30) and
              abs(links["PCIe-CUDA1"]["bytes_per_second"] / rate - 1) < 1e-4
              and links["PCIe-CUDA1"]["sharing"] == "SPLITDUPLEX" and
              links["Host"]["bytes_per_second"] == 143360e6)
    paths = {m["symbol"]: m["file"] for m in root["models"]}
    there = {m["symbol"]: m["file"] for m in json.loads(
        bench.run("show", "h100-pcie-4", "--json").out)["models"]}
    ours = util.numbers(paths["chol_model_gemm"])
    theirs = util.numbers(there["chol_model_gemm"])
    row = theirs.index(float(int("d46431bb", 16)))
    mine = ours.index(float(int("d46431bb", 16)))
    ratio = ours[mine + 3] / theirs[row + 3]
    tap.claim("models are scaled by peaks and say so",
              set(paths) == set(there) and
              abs(ratio - (2.4 * 64) / (2.45 * 32)) < 1e-5 and
              "Derived, not measured" in open(
                  paths["chol_model_gemm"], encoding="ascii").read(), result)
    result = bench.run("new", "volta", "--cpu", "EPYC 7763", "--gpu",
                       "V100 SXM2 32GB", "--models")
    paths = {m["symbol"]: m["file"] for m in json.loads(
        bench.run("show", "volta", "--json").out)["models"]}
    with open(paths["chol_model_trsm"], encoding="ascii") as source:
        rows = [float(line.split()[3]) for line in source
                if line.startswith("ff82dda0")]  # two tiles of 960
    # 12 us, 0.5 us a row, and 0.8 of 15.7 TFLOP/s: a chain does not go with the
    # peak of the A100 that the models come from.
    tap.claim("models of devices are scaled by the law, not by peaks",
              "a100-pcie-1" in result.out and len(rows) == 2 and
              abs(rows[1] / (12 + 0.5 * 960 + 960**3 / 12.56e6) - 1) < 1e-4,
              result)
    result = bench.run("new", "lab", "--cpu", "2", "--cores", "2")
    tap.claim("new overwrites nothing", result.code == 1 and
              "--force" in result.err, result)
    out = bench.path("ring.xml")
    result = bench.run("new", "ring", "--cpu", "2.4GHz", "--cores", "8",
                       "--gpu", "Toy", "--gpus", "4", "--gpu-memory", "16GiB",
                       "--link", "pcie3,nvlink", "-o", out)
    root = json.loads(bench.run("show", out, "--json").out)
    names = {link["id"] for link in root["links"]}
    tap.claim("nvlink joins each pair", result.code == 0 and
              {"NVLink-CUDA%d-CUDA%d" % (i, j) for i in range(4)
               for j in range(i + 1, 4)} <= names, result)
    tap.claim("assumptions are printed and kept", "assumed: " in result.out and
              "32 flop" in root["properties"]["orrery-assumed"], result)
    bench.run("new", "sw", "--cpu", "EPYC 7763", "--cores", "8", "--gpu",
              "H100 SXM", "--gpus", "4", "--link", "nvswitch", "-o", out,
              "--force")
    root = json.loads(bench.run("show", out, "--json").out)
    tap.claim("nvswitch gives each device a port",
              root["bus"]["bandwidth_mb_per_s"][1][2] == 382500 and
              {"NVLink-CUDA%d" % i for i in range(4)} <=
              {link["id"] for link in root["links"]})
    for gpu, model in (
            ("NVIDIA A100-SXM4-80GB", "NVIDIA A100 SXM4 80GB"),
            ("NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM5 80GB"),
            ("Tesla V100-SXM2-32GB", "NVIDIA Tesla V100 SXM2 32GB"),
            ("l4", "NVIDIA L4 24GB"), ("MI250X", "AMD Instinct MI250X die 64GB")):
        bench.run("new", "sw", "--cpu", "Intel(R) Xeon(R) Platinum 8480C CPU @ "
                  "2.00GHz", "--numa", "2", "--gpu", gpu, "-o", out, "--force")
        root = json.loads(bench.run("show", out, "--json").out)
        hosts = {h["id"]: h for h in root["hosts"]}
        tap.claim("a name as drivers write it is that part: " + gpu,
                  hosts["CUDA0"]["properties"]["model"] == model and
                  hosts["MAIN"]["properties"]["model"] ==
                  "Intel Xeon Platinum 8480C" and root["cpus"] == 112)
        tap.claim("it has its published peaks and their source: " + gpu,
                  hosts["CUDA0"]["rates"]["peak-fp32"] > 1e13 and
                  hosts["CUDA0"]["rates"]["peak-fp64"] > 1e11 and
                  hosts["CUDA0"]["rates"]["memory-bandwidth"] > 1e11 and
                  hosts["CPU3"]["rates"]["peak-fp64"] == 64e9 and
                  "published figures: " in root["origin"])
    result = bench.run("new", "said", "--cpu", "2", "--cores", "2", "--json")
    said = json.loads(result.out) if result.code == 0 else {}
    tap.claim("new says as JSON what it made and assumed",
              said.get("cpus") == 2 and "32 flop" in said["assumed"] and
              said["file"] in said["files"] and
              os.path.exists(said["file"]), result)
    for words, word in (
            (["--cpu", "Abacus", "--cores", "2"], "EPYC 7763"),
            (["--cpu", "2", "--cores", "0"], "--cores 0"),
            (["--cpu", "2", "--cores", "2x"], "--cores 2x"),
            (["--cpu", "2"], "--cores"),
            (["--cpu", "2", "--cores", "2", "--gpu", "Toy"], "--gpu-memory"),
            (["--cpu", "2", "--cores", "2", "--gpu", "H100 SXM",
              "--gpu-memory", "much"], "16GiB"),
            (["--cpu", "2", "--cores", "2", "--gpu", "H100 SXM",
              "--gpus", "500"], "--gpus 500"),
            (["--cpu", "2", "--cores", "2", "--gpu", "H100 SXM",
              "--link", "agp"], "nvswitch"),
            (["--cores", "2"], "--cpu"),
            # A part is never taken that was not asked for.
            (["--cpu", "Xeon"], "Xeon Silver 4510, Xeon 8480C"),
            (["--cpu", "7763"], "(EPYC 7763)"),
            (["--cpu", "2", "--cores", "2", "--gpu", "H100"],
             "(H100 PCIe, H100 SXM)"),
            (["--cpu", "2", "--cores", "2", "--gpu", "L4S"], "L40S"),
            (["--cpu", "2", "--cores", "2", "--gpu", "RTX 4090 Laptop GPU"],
             "RTX 4090"),
            (["--cpu", "2", "--cores", "2", "--gpu", "H100 PCIe 94GB"],
             "H100 PCIe"),
            (["--cpu", "2", "--cores", "2", "--gpu", "V100S PCIe"],
             "V100 PCIe"),
            (["--cpu", "2", "--cores", "2", "--gpu", "H100 PCIe", "--gpus",
              "4", "--link", "nvswitch"], "SXM"),
            (["--cpu", "2", "--cores", "2", "--gpu", "RTX 4090", "--gpus", "2",
              "--link", "nvlink"], "no such links")):
        result = bench.run("new", "bad", *words)
        tap.claim("new %s is refused with a remedy" % " ".join(words),
                  result.code in (1, 2) and word in result.err and
                  not os.path.exists(os.path.join(
                      bench.sampling, "bus", "bad.platform.v4.xml")), result)


def check_tests(tap, bench):
    result = bench.run("check")
    lines = result.out.splitlines()
    machines = [m["name"] for m in json.loads(bench.run("list", "--json").out)
                if m.get("provenance") == "derived" and m["catalogue"]]
    tap.claim("check has a line for each derived machine's parts",
              result.code == 0 and len(machines) >= 10 and
              {line.split()[0] for line in lines[1:]} == set(machines),
              result)
    docs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                        "docs", "CATALOGUE.md")
    with open(docs, encoding="utf-8") as said:
        text = said.read()
    tap.claim("docs/CATALOGUE.md has what check prints",
              all(line in text for line in lines), result)
    result = bench.run("check", "mixed-a100-v100", "--json")
    parts = json.loads(result.out) if result.code == 0 else []
    rows = {(p["part"], r["kernel"], round(r["side"])): r for p in parts
            for r in p["kernels"]}
    same = [r for r in rows.values() if r["carried_over_by"] == "same part"]
    trsm = rows.get(("NVIDIA A100 PCIe 40GB", "chol_model_trsm", 800), {})
    tap.claim("each part is held against the same part where it was measured",
              [p["measured_machine"] for p in parts] ==
              ["sirocco-v100", "sirocco-a100", "sirocco-v100"] and
              trsm.get("measured_us") == 250.6 and
              trsm["off"] == trsm["derived_us"] / 250.6 - 1, result)
    tap.claim("the law is near the measures of the same part",
              len(same) == 18 and all(abs(r["off"]) < 0.25 for r in same) and
              sorted(abs(r["off"]) for r in same)[9] < 0.08, result)
    # Twice as slow is seen.
    slow = os.path.join(bench.sampling, "slow")
    shutil.copytree(os.path.join(bench.env["ORRERY_PLATFORM_DIR"],
                                 "a100-pcie-1"), slow)
    for folder in (os.path.join(slow, "codelets", "45"),):
        for name in os.listdir(folder):
            os.rename(os.path.join(folder, name), os.path.join(
                folder, name.replace(".a100-pcie-1", ".slow")))
    model = os.path.join(slow, "codelets", "45", "chol_model_trsm.slow")
    with open(model, encoding="ascii") as source:
        text = source.read()
    with open(model, "w", encoding="ascii") as out:
        for line in text.splitlines(True):
            words = line.split("\t")
            if len(words) == 8 and len(words[0]) == 8:
                words[3] = "%e" % (2 * float(words[3]))
            out.write("\t".join(words))
    result = bench.run("check", slow, "--json")
    off = [r["off"] for p in json.loads(result.out or "[]")
           for r in p["kernels"] if p["part"] != "core" and
           r["kernel"] == "chol_model_trsm"]
    tap.claim("a law that is twice too slow is seen", len(off) == 2 and
              all(0.9 < x < 1.2 for x in off), result)
    result = bench.run("check", "sirocco-v100")
    tap.claim("a measured machine has nothing to check", result.code == 1 and
              "not derived" in result.err, result)
    result = bench.run("list")
    tap.claim("list shows the licence of measured machines",
              any(line.startswith("sirocco-v100") and "CeCILL-C" in line
                  for line in result.out.splitlines()), result)
    result = bench.run("show", "gemini-1")
    tap.claim("show says where figures come from",
              "StarPU, tag papers/ICPP2023" in result.out and
              "LGPL-2.1-or-later" in result.out and
              "partly measured" in result.out and
              "peak fp32 15.7 Tflop/s, fp64 7.8 Tflop/s; memory 900 GB/s" in
              result.out, result)


def answers_tests(tap, bench):
    def ask(text):
        done = subprocess.run(
            [bench.orrery, "machine", "new", "asked", "-o",
             bench.path("asked.xml"), "--force"], input=text, env=bench.env,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100,
            encoding="utf-8", check=False)
        return util.Result(["new asked"], done.returncode, done.stdout,
                           done.stderr)

    result = ask("EPYC 7763\n\n2\nRTX 4090\n\npcie4\n")
    root = json.loads(bench.run("show", bench.path("asked.xml"),
                                "--json").out)
    hosts = {h["id"]: h["properties"] for h in root["hosts"]}
    tap.claim("new reads answers, an empty one takes what is usual",
              result.code == 0 and root["cpus"] == 64 and
              root["cuda_devices"] == 2 and
              hosts["CUDA0"]["memsize"] == str(24564 << 20) and
              hosts["CUDA0"]["memcpy_peer"] == "0", result)
    result = ask("3.0\n4\n0\n")
    tap.claim("no GPUs, no questions about them", result.code == 0, result)
    result = ask("3.0\n")
    tap.claim("a missing answer is named", result.code == 1 and
              '"cores"' in result.err, result)


# ---- hwloc and nvidia-smi ----

def hwloc_xml(gpus, with_cuda=True, nodes=2, cores=2):
    """What lstopo writes: `gpus` per node, behind one bridge each node."""
    def sets(first, n, node_first, nnodes):
        mask = "0x%08x" % (((1 << n) - 1) << first)
        node = "0x%08x" % (((1 << nnodes) - 1) << node_first)
        return (f'cpuset="{mask}" complete_cpuset="{mask}" nodeset="{node}" '
                f'complete_nodeset="{node}"')
    text, serial, gpu = "", 100, 0
    for node in range(nodes):
        text += (f'<object type="Package" os_index="{node}" '
                 f'{sets(node * cores, cores, node, 1)} '
                 f'gp_index="{serial}"><info name="CPUModel" '
                 'value="AMD EPYC 7763 64-Core Processor"/>'
                 f'<object type="NUMANode" os_index="{node}" '
                 f'{sets(node * cores, cores, node, 1)} '
                 f'gp_index="{serial + 1}" local_memory="1073741824"/>')
        serial += 2
        for core in range(node * cores, (node + 1) * cores):
            inner = sets(core, 1, node, 1)
            text += (f'<object type="Core" os_index="{core}" {inner} '
                     f'gp_index="{serial}"><object type="PU" '
                     f'os_index="{core}" {inner} gp_index="{serial + 1}"/>'
                     "</object>")
            serial += 2
        if gpus:
            bus = 0x40 * (node + 1)
            text += (f'<object type="Bridge" gp_index="{serial}" '
                     'bridge_type="0-1" depth="0" '
                     f'bridge_pci="0000:[{bus:02x}-{bus + 9:02x}]">'
                     f'<object type="Bridge" gp_index="{serial + 1}" '
                     'bridge_type="1-1" depth="1" '
                     f'bridge_pci="0000:[{bus + 1:02x}-{bus + 9:02x}]" '
                     f'pci_busid="0000:{bus:02x}:01.0" '
                     'pci_type="0604 [8086:2030] [0000:0000] 00" '
                     'pci_link_speed="31.507692">')
            serial += 2
            for i in range(gpus):
                text += (f'<object type="PCIDev" gp_index="{serial}" '
                         f'pci_busid="0000:{bus + 2 + i:02x}:00.0" '
                         'pci_type="0302 [10de:20b0] [10de:144e] a1" '
                         'pci_link_speed="31.507692">')
                if with_cuda:
                    text += (f'<object type="OSDev" gp_index="{serial + 1}" '
                             f'name="cuda{gpu}" subtype="CUDA" '
                             'osdev_type="5"><info name="GPUModel" '
                             'value="NVIDIA A100-SXM4-40GB"/><info '
                             'name="CUDAGlobalMemorySize" value="41536256"/>'
                             "</object>")
                text += "</object>"
                serial += 2
                gpu += 1
            text += "</object></object>"
        text += "</object>"
    whole = sets(0, nodes * cores, 0, nodes)
    mask = whole.split('"')[1]
    node = whole.split('"')[5]
    return ('<?xml version="1.0" encoding="UTF-8"?>\n'
            '<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'
            '<topology version="2.0"><object type="Machine" os_index="0" '
            f'{whole} allowed_cpuset="{mask}" allowed_nodeset="{node}" '
            f'gp_index="1">{text}</object></topology>\n')


def topo_text(n, relation, numa=None):
    lines = ["\t\033[4m" + "\t".join("GPU%d" % i for i in range(n)) +
             "\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\033[0m"]
    for i in range(n):
        lines.append("GPU%d\t" % i + "\t".join(
            " X " if i == j else relation(min(i, j), max(i, j))
            for j in range(n)) + "\tSYS\t0-23\t%s\t\tN/A" %
            ("N/A" if numa is None else numa(i)))
    lines += ["NIC0\t" + "\t".join(["SYS"] * n) + "\t X ", "", "Legend:", "",
              "  X    = Self", "  SYS  = Connection traversing PCIe"]
    return "\n".join(lines) + "\n"


def topology_tests(tap, bench):
    plain = bench.write("plain.xml", hwloc_xml(2))
    out = bench.path("out.xml")

    def get(*words):
        result = bench.run("import", "--hwloc", *words, "-o", out, "--force")
        if result.code:
            return result, {}, {}, {}
        root = json.loads(bench.run("show", out, "--json").out)
        routes = {(r["from"], r["to"]): [hop["link"] for hop in r["links"]]
                  for r in root["routes"]}
        links = {link["id"]: link for link in root["links"]}
        return result, root, routes, links

    result, root, routes, links = get(plain)
    hosts = {h["id"]: h["properties"] for h in root.get("hosts", [])}
    tap.claim("hwloc's XML gives cores, GPUs, their models and memory",
              result.code == 0 and root["cpus"] == 4 and
              root["cuda_devices"] == 4 and
              hosts["CUDA3"]["model"] == "NVIDIA A100 SXM4 40GB" and
              hosts["CUDA3"]["memsize"] == str(41536256 * 1024), result)
    tap.claim("GPUs behind one bridge share a switch, those of other nodes "
              "the interconnect", routes.get(("RAM", "CUDA0")) ==
              ["Host", "PCIe-switch0", "PCIe-CUDA0"] and
              routes.get(("RAM", "CUDA2")) ==
              ["Host", "Interconnect-0-1", "PCIe-switch1", "PCIe-CUDA2"] and
              routes.get(("CUDA0", "CUDA1")) == ["PCIe-CUDA0", "PCIe-CUDA1"]
              and routes.get(("CUDA1", "CUDA2")) ==
              ["PCIe-CUDA1", "PCIe-switch0", "PCIe-peer-CUDA1-CUDA2",
               "Interconnect-0-1", "PCIe-switch1", "PCIe-CUDA2"], result)
    tap.claim("NUMA nodes become main memories with links and places",
              hosts["RAM1"]["memsize"] == str(1 << 30) and
              (hosts["CPU3"]["numa"], hosts["CPU3"]["package"]) == ("1", "1")
              and hosts["CUDA2"]["numa"] == "1" and
              hosts["CUDA2"]["pci"] == "0000:82:00.0" and
              routes[("RAM0", "RAM1")] ==
              ["Host", "Interconnect-0-1", "Host1"] and
              routes[("CUDA2", "RAM1")] ==
              ["PCIe-CUDA2", "PCIe-switch1", "Host1"] and
              "between two sockets" in result.out, result)
    duo = bench.run("new", "duo", "--cpu", "EPYC 7763", "--cores", "128",
                    "--gpu", "H100 PCIe", "--gpus", "4", "--numa", "2",
                    "-o", bench.path("duo.xml"))
    place = json.loads(bench.run("show", bench.path("duo.xml"), "--json")
                       .out).get("topology", {})
    tap.claim("new --numa makes sockets with equal parts",
              [(n["host"], len(n["cpus"])) for n in place["numa_nodes"]] ==
              [("RAM0", 64), ("RAM1", 64)] and
              [g["numa_node"] for g in place["gpus"]] == [0, 0, 1, 1], duo)
    tap.claim("new --numa wants a number that can be",
              bench.run("new", "duo", "--cpu", "2", "--cores", "4", "--numa",
                        "5", "-o", bench.path("no.xml")).code == 1)
    tap.claim("link speeds are hwloc's and said to be assumed",
              abs(links["PCIe-CUDA0"]["bytes_per_second"] - 31.507692e9 * .81)
              < 1e6 and "hwloc looked" in result.out and
              root["provenance"] == "derived", result)
    result, root, routes, links = get(plain, "--pcie", "3")
    tap.claim("--pcie wins over hwloc", abs(
        links["PCIe-CUDA0"]["bytes_per_second"] - 15.753846e9 * .78) < 1e6,
              result)

    def cube(i, j):
        return "NV%d" % (2 if j - i == 1 else 1) if j - i < 3 else "SYS"

    topo = bench.write("topo.txt", topo_text(4, cube, lambda i: i // 2))
    result, root, routes, links = get(plain, "--nvidia-topo", topo)
    tap.claim("NVLinks of single pairs add up", result.code == 0 and
              routes[("CUDA0", "CUDA1")] == ["NVLink-CUDA0-CUDA1"] and
              links["NVLink-CUDA0-CUDA1"]["bytes_per_second"] ==
              2 * 25e9 * .92 and
              links["NVLink-CUDA0-CUDA2"]["bytes_per_second"] == 25e9 * .92
              and "Interconnect-0-1" in routes[("CUDA0", "CUDA3")], result)
    bare = bench.write("bare.xml", hwloc_xml(0))
    topo = bench.write("topo.txt", topo_text(8, lambda i, j: "NV18",
                                             lambda i: i // 4))
    result, root, routes, links = get(bare, "--nvidia-topo", topo, "--gpu",
                                      "H100 SXM", "--pcie", "5")
    tap.claim("more NVLinks than a device has lead to a switch",
              result.code == 0 and
              routes[("CUDA0", "CUDA7")] == ["NVLink-CUDA0", "NVLink-CUDA7"]
              and links["NVLink-CUDA0"]["bytes_per_second"] ==
              18 * 25e9 * .85, result)

    def pcie(i, j):
        return ("PIX" if i // 2 == j // 2 else
                "PHB" if j < 4 else "NODE" if i >= 4 else "SYS")

    topo = bench.write("topo.txt", topo_text(6, pcie,
                                             lambda i: 0 if i < 4 else 1))
    result, root, routes, links = get(bare, "--nvidia-topo", topo, "--gpu",
                                      "RTX 4090", "--pcie", "4")
    tap.claim("PIX is a switch, PHB the host bridge, SYS the interconnect",
              result.code == 0 and
              routes[("RAM", "CUDA1")] ==
              ["Host", "PCIe-switch0", "PCIe-CUDA1"] and
              routes[("RAM", "CUDA5")] ==
              ["Host", "Interconnect-0-1", "PCIe-switch2", "PCIe-CUDA5"] and
              ("CUDA0", "CUDA1") not in routes, result)
    silent = bench.write("silent.xml", hwloc_xml(1, with_cuda=False))
    result = get(silent)[0]
    tap.claim("unknown GPUs need --gpu", result.code == 1 and
              "--gpu" in result.err, result)
    result = get(silent, "--gpu", "H100 PCIe")[0]
    tap.claim("--gpu gives their model", result.code == 0, result)
    result = bench.run("import", "--hwloc", plain, "--name", "found")
    tap.claim("without -o the machine is found by its name",
              result.code == 0 and bench.show("found")["cuda_devices"] == 4,
              result)
    good = topo_text(4, cube)
    for what, text, word in (
            ("no matrix", "nothing\n", "GPU0"),
            ("an unknown connection", good.replace("NV2", "ZZ9", 1), "ZZ9"),
            ("a line that is missing",
             "\n".join(line for line in good.splitlines()
                       if not line.startswith("GPU2")), "GPU2"),
            ("a line twice", good.replace("\nGPU3\t", "\nGPU1\t"), ":5"),
            ("a short line", "\tGPU0\tGPU1\nGPU0\t X \n", ":2"),
            ("no names of columns", good.split("\n", 1)[1], "column names"),
            ("contradiction", good.replace("NV1", "NV3", 1), "contradict"),
            ("another number of GPUs", topo_text(2, cube), "one machine")):
        topo = bench.write("topo.txt", text)
        result = get(plain, "--nvidia-topo", topo)[0]
        tap.claim(f"nvidia-smi topo with {what} is refused",
                  result.code == 1 and word in result.err, result)
    result = get(bench.write("broken.xml", "<topology"))[0]
    tap.claim("XML that hwloc cannot read is refused", result.code == 1 and
              "lstopo" in result.err, result)
    tap.claim("import wants a file or --hwloc", bench.run("import").code == 2
              and bench.run("import", plain).code == 2)


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


def main():
    orrery, display, catalogue, packed = sys.argv[1:]
    shared = util.shared_folder()
    tap = util.Tap()
    tests = (("show", show_tests, ()),
             ("picture", picture_tests, (catalogue, shared)),
             ("export", export_tests, (shared,)),
             ("side", side_tests, ()),
             ("hostile", hostile_tests, ()),
             ("new", new_tests, ()),
             ("check", check_tests, ()),
             ("answers", answers_tests, ()),
             ("topology", topology_tests, ()),
             ("diff", diff_tests, ()),
             ("names", names_tests, ()),
             ("display", display_tests, (display,)))
    for name, function, more in tests:
        if packed != "1" and name in ("export", "side", "hostile"):
            tap.skip(f"{name} of packed machines", "built without libarchive")
            continue
        folder = tempfile.mkdtemp(prefix="machine-tools-" + name)
        try:
            function(tap, Bench(orrery, folder), *more)
        finally:
            shutil.rmtree(folder)
    tap.end()


if __name__ == "__main__":
    main()
