#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery machine export` and `import`: round trips, what lies beside models,
hostile files. Prints TAP.

    test-machine-packed.py ORRERY
"""
import io
import json
import os
import sys
import tarfile
import tempfile

import tools_util as util
from machine_bench import Bench, platform, run_all

MARK = b"orrery machine 1\n"


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


if __name__ == "__main__":
    run_all(sys.argv[1], ("export", export_tests, util.shared_folder()),
            ("side", side_tests), ("hostile", hostile_tests))
