#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines that nobody has measured: `orrery machine new` and `check`, what hwloc
and nvidia-smi say (`import --hwloc`). Prints TAP.

    test-machine-new.py ORRERY
"""
import json
import os
import re
import shutil
import subprocess
import sys

import tools_util as util
from machine_bench import run_all


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
    tap.claim("cores say which cache they share",
              [hosts["CPU%d" % i].get("l3") for i in (0, 7, 8, 31)] ==
              ["0", "0", "1", "3"] and "package" not in hosts["CPU0"], hosts)
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
    two = bench.run("new", "two", "--cpu", "2.4GHz", "--cores", "8", "--gpu",
                    "A100-SXM4-80GB", "--gpus", "2", "--link", "nvlink", "-o",
                    bench.path("two.xml"))
    tap.claim("of two devices the peer is the other one",
              "to the other device each way" in two.out and
              "peers" not in two.out, two)
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
            (["--cpu", "Xeon Platinum 8480"], "Xeon 8480C, Xeon 8480+"),
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
              "--link", "nvlink"], "no links of that kind"),
            # Nothing that is asked for is left out without a word.
            (["--cpu", "2", "--cores", "2", "--link", "pcie5"],
             "--link pcie5 is of GPUs"),
            (["--cpu", "2", "--cores", "2", "--gpus", "0", "--gpu-memory",
              "16GiB"], "--gpu-memory 16GiB is of GPUs"),
            (["--cpu", "2", "--cores", "2", "--gpu-tflops", "3"],
             "--gpu-tflops 3 is of GPUs"),
            (["--cpu", "2", "--cores", "2", "--no-peer"], "--no-peer is of"),
            (["--cpu", "EPYC 7763", "--core-flops", "3"], "is known"),
            (["--cpu", "EPYC 7763", "--cores", "500"], "--numa 8 makes room"),
            (["--cpu", "EPYC 7763", "--cores", "129", "--numa", "2"],
             "2 sockets of the AMD EPYC 7763 have 128"),
            (["--link", "pcie5"], "which processor"),
            (["--cpu", "2", "--cores", "2", "--gpu", "H100 PCIe",
              "--gpu-memory", "16"], "such as 16GiB"),
            (["--cpu", "2", "--cores", "2", "--gpu", "H100 PCIe",
              "--gpu-memory", "94GiB"], "has 80 GiB")):
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
              "are measured: only those that are derived" in result.err, result)
    result = bench.run("check", "gemini-1")
    tap.claim("nor has one that is partly so", result.code == 1 and
              "are partly measured: only" in result.err, result)
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
              and ("l3" in hosts["CPU3"]) == ("l3-cache" in hosts["CPU3"])
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
    near = os.path.join(os.path.dirname(os.path.abspath(__file__)), "near.hwloc.xml")
    with open(near, encoding="utf-8") as file:
        lacking = re.sub(' complete_cpuset="[^"]*"', "", file.read(), count=1)
    result = get(bench.write("lacking.xml", lacking))[0]
    tap.claim("so is XML that lacks what hwloc takes for granted", result.code == 1 and
              "lacking.xml: hwloc cannot read it" in result.err, result)
    with open(near, encoding="utf-8") as file:
        text = file.read()
    for kind, number in (("NUMANode", ""), ("NUMANode", 'os_index="4000000000"'),
                         ("PU", 'os_index="70000"')):
        result = get(bench.write("odd.xml", text.replace(
            f'"{kind}" os_index="0"', f'"{kind}" {number}', 1)))[0]
        tap.claim(f"so is a {kind} with {number or 'no number'}", result.code == 1 and (
            "odd.xml: a processor or memory has no os_index, or one from 65536 on" in result.err or
            kind == "PU" and "odd.xml: hwloc cannot read it" in result.err), result)
    tap.claim("import wants a file or --hwloc", bench.run("import").code == 2
              and bench.run("import", plain).code == 2)


if __name__ == "__main__":
    run_all(sys.argv[1], ("new", new_tests), ("check", check_tests),
            ("answers", answers_tests), ("topology", topology_tests))
