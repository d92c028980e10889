#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the machines of the catalogue.

    derive.py FOLDER       writes all machines below FOLDER, and removes what else
                           was there; the build does so (platforms/meson.build)

Those below are derived: nothing of them was measured by us. They are made of
published figures of parts (parts.py, with sources), of a law of how long kernels
take (law.py), whose parameters are fitted to the measures of others that it
names, and of the assumptions stated in both; all their files say "derived". The
measured machines are in measured.py. Same scripts, same bytes.

A machine whose devices number g has g more cores than CPU workers: each device
is driven by one core.
"""
import os
import shutil
import sys

import files
import law
import measured
import parts

# devices: (device, rate of its bus, group). Devices of a group copy to each
# other; None: to none. switch: groups behind one PCIe switch, and its uplink.
# fabric: devices copy to each other through a switch of their own links, each at
# its full rate ("switch"), or share them out among all others ("mesh").
# sockets: the socket of each device; count: how many there are. Each socket has
# a NUMA node RAM<socket>, the cores next to it in equal parts, and a link to
# each other socket. RAM is main memory for those who do not tell nodes apart:
# all of it at socket 0.
PCIE3, PCIE4, PCIE5 = (parts.pcie(n) for n in (3, 4, 5))

MACHINES = {
    "laptop-8": {
        "title": "a laptop with 8 cores and no device",
        "processor": "Ryzen 5800U", "devices": [],
    },
    "epyc-64": {
        "title": "a 64-core processor without devices",
        "processor": "EPYC 7763", "devices": [],
    },
    "a100-pcie-1": {
        "title": "a server with one A100 PCIe and 64 cores",
        "processor": "EPYC 7763",
        "devices": [("A100 PCIe 40GB", PCIE4, None)],
    },
    "h100-pcie-4": {
        "title": "a server with four H100 PCIe and 12 cores",
        "processor": "Xeon Silver 4510",
        "devices": [("H100 PCIe", PCIE5, "all")] * 4,
    },
    "hgx-h100-8": {
        "title": "eight H100 SXM behind NVSwitch, 112 cores, as in a DGX H100",
        "processor": "Xeon 8480C", "count": 2, "fabric": "switch",
        "sockets": [0] * 4 + [1] * 4,
        "devices": [("H100 SXM", PCIE5, "all")] * 8,
    },
    "mi300x-8": {
        "title": "eight MI300X joined by Infinity Fabric, 192 cores",
        "processor": "EPYC 9654", "count": 2, "fabric": "mesh",
        "sockets": [0] * 4 + [1] * 4,
        "devices": [("MI300X", PCIE5, "all")] * 8,
    },
    "rtx4090-2": {
        "title": "a workstation with two RTX 4090 at eight PCIe lanes each",
        "note": " The devices cannot copy to each other directly.",
        "processor": "Ryzen 7950X",
        "devices": [("RTX 4090", parts.pcie(4, 8), None)] * 2,
    },
    "mixed-a100-v100": {
        "title": "two A100 PCIe, two V100 PCIe behind a switch, 64 cores",
        "processor": "EPYC 7763",
        "devices": [("A100 PCIe 40GB", PCIE4, "Ampere")] * 2 +
                   [("V100 PCIe", PCIE3, "Volta")] * 2,
        "switch": ("Volta", PCIE3),
    },
    "gtx1650-4gb": {
        "title": "a desktop with 6 cores and a GTX 1650, whose 4 GB fill soon",
        "processor": "Ryzen 3600", "devices": [("GTX 1650", PCIE3, None)],
    },
    "thunderbolt-rtx3080": {
        "title": "a laptop with 4 cores and an RTX 3080 behind Thunderbolt",
        "processor": "Core 1165G7", "latency": parts.THUNDERBOLT_LATENCY,
        "efficiency": 1, "devices": [("RTX 3080", parts.THUNDERBOLT, None)],
    },
    # Dell PowerEdge R940xa: four processors, up to four double-width devices
    # in a ratio of 1 to 1. Seen. That each hangs at a socket of its own and
    # that each pair of sockets has one UPI link is our reading of it.
    "r940xa-4": {
        "title": "a server with four sockets of 28 cores, each with a V100",
        "processor": "Xeon 8180", "count": 4, "sockets": [0, 1, 2, 3],
        "devices": [("V100 PCIe", PCIE3, None)] * 4,
    },
}

SOCKETS_NOTE = (" With STARPU_USE_NUMA=1 each socket has a memory node; else "
                "all data lies at socket 0 and cores of other sockets reach it "
                "at no cost.")

TILES = (320, 480, 512, 640, 960, 1024, 1440, 1600, 1920, 2880, 3840)
LENGTHS = (62500, 125000, 250000, 1000000)  # of vector_scal's pieces
LETTERS = {"fp32": "s", "fp64": "d"}
BYTES = {"fp32": 4, "fp64": 8}
ABOUT = ["Derived from published figures by platforms/catalogue/derive.py,",
         "not measured."]

# ------------------------------------------------------------ kernel models


def tile_rows(processor, device, kernel, precision, tiles):
    """Of a core (device None) or a device."""
    operands = law.KERNELS[kernel]["operands"]
    spread = law.SPREAD["device" if device else "core"]
    rows = []
    for n in tiles:
        us = (law.device_us(device, kernel, precision, n) if device else
              law.core_us(processor, kernel, precision, n))
        rows.append(files.row(files.footprint(n, operands),
                              operands * n * n * BYTES[precision],
                              law.flops(kernel, n), us, spread * us, files.CALIBRATED))
    return rows


def models(machine):
    texts = {}
    for precision, letter in LETTERS.items():
        for kernel in law.KERNELS:
            places = [(None, tile_rows(machine["processor"], None, kernel,
                                       precision, TILES))]
            for i, (device, _, _) in enumerate(machine["devices"]):
                places.append((i, tile_rows(None, device, kernel, precision,
                                            TILES)))
            for symbol in files.symbols(letter + kernel):
                texts[symbol] = files.model_file(ABOUT, places)
    rows = []
    for nx in LENGTHS:
        us = law.vector_us(machine["processor"], nx * BYTES["fp32"])
        rows.append(files.row(files.vector_footprint(nx), nx * BYTES["fp32"],
                              nx, us, law.SPREAD["core"] * us, files.CALIBRATED))
    texts["vector_scal"] = files.model_file(ABOUT, [(None, rows)])
    return texts


# --------------------------------------------------------- platform files


def nsockets(machine):
    return machine.get("count", 1)


def socket_of(machine, device):
    return machine.get("sockets", [0] * len(machine["devices"]))[device]


def memory_link(socket):
    """What all copies from and to a socket's memory share."""
    return "Host%d" % socket if socket else "Host"


def between(source, target):
    """The hop from a socket to another: up is towards the lower one."""
    first, second = sorted((source, target))
    return ("UPI-%d-%d" % (first, second), "DOWN" if source < target else "UP")


def hosts(machine):
    part = parts.PROCESSORS[machine["processor"]]
    count = nsockets(machine)
    cores = count * part["cores"]
    text = files.host("MAIN", "1f", [
        ("orrery-provenance", "derived"),
        ("model", "%s%s" % ("%d x " % count if count > 1 else "",
                            part["model"]))] + files.core_rates(part) + [
        ("orrery-memory-bandwidth", "%gGBps" % (parts.CORE_STREAM / 1e9))])
    several = part["l3_cores"] < part["cores"]
    for i in range(cores):
        socket, cache = parts.place(i, cores, count, part["l3_cores"])
        text += files.host("CPU%d" % i, "2Gf", [
            ("package", socket if count > 1 else None),
            ("numa", socket if count > 1 else None),
            ("l3", cache if several else None)])
    for i, (name, _, group) in enumerate(machine["devices"]):
        text += files.host("CUDA%d" % i, "2Gf", [
            ("numa", socket_of(machine, i) if count > 1 else None),
            ("model", parts.DEVICES[name]["model"]),
            ("memsize", parts.DEVICES[name]["memory"]),
            ("memcpy_peer", int(group is not None))] +
            files.device_rates(parts.DEVICES[name]))
    channels = [("orrery-memory-bandwidth", files.rate(part["memory_rate"]))]
    text += files.host("RAM", "1f", channels)
    for socket in range(count if count > 1 else 0):
        text += files.host("RAM%d" % socket, "1f", channels)
    return text


def peers(machine):
    """Pairs of devices that copy to each other, the lower one first."""
    groups = [group for _, _, group in machine["devices"]]
    return [(i, j) for i in range(len(groups)) for j in range(i + 1, len(groups))
            if groups[i] and groups[i] == groups[j]]


def behind_switch(machine, device):
    return ("switch" in machine and
            machine["switch"][0] == machine["devices"][device][2])


def bus_rate(machine, published):
    generation = next((n for n in (3, 4, 5) if published in
                       (parts.pcie(n), parts.pcie(n, 8))), None)
    return published * machine.get("efficiency",
                                   parts.PCIE_EFFICIENCY.get(generation))


def device_links(machine):
    text = ""
    if "switch" in machine:
        text += files.link("PCIe-switch", bus_rate(machine,
                                                   machine["switch"][1]), 0,
                           True)
    for i, (_, bus, _) in enumerate(machine["devices"]):
        text += files.link("PCIe-CUDA%d" % i, bus_rate(machine, bus),
                           machine.get("latency", parts.PCIE_LATENCY), True)
    return text


def port_rate(name):
    return parts.DEVICES[name]["link"] * parts.link_efficiency(name)


def peer_links(machine):
    """What copies between devices pass besides, or instead of, the bus."""
    names = [name for name, _, _ in machine["devices"]]
    fabric, text = machine.get("fabric"), ""
    if fabric == "switch":
        # Half of the latency: a copy passes two of these.
        return "".join(files.link("NVLink-CUDA%d" % i, port_rate(name),
                                  parts.SWITCH_LATENCY / 2, True)
                       for i, name in enumerate(names))
    for i, j in peers(machine):
        if fabric == "mesh":
            text += files.link("NVLink-CUDA%d-CUDA%d" % (i, j),
                               port_rate(names[i]) / (len(names) - 1),
                               parts.LINK_LATENCY, True)
        elif not behind_switch(machine, i):
            bus = machine["devices"][i][1]
            text += files.link("PCIe-peer-CUDA%d-CUDA%d" % (i, j),
                               bus * parts.PEER_EFFICIENCY, 0, True)
    return text


def links(machine):
    part = parts.PROCESSORS[machine["processor"]]
    count, text = nsockets(machine), ""
    for socket in range(count):
        text += files.link(memory_link(socket), part["memory_rate"] *
                           parts.MEMORY_EFFICIENCY, 0, False)
    for first in range(count):
        for second in range(first + 1, count):
            text += files.link("UPI-%d-%d" % (first, second),
                               part["socket_rate"] / (count - 1) *
                               parts.SOCKET_EFFICIENCY, parts.SOCKET_LATENCY,
                               True)
    return text + device_links(machine) + peer_links(machine)


def way_down(machine, i, memory=0):
    """The hops from a socket's memory to device i."""
    socket = socket_of(machine, i)
    hops = [(memory_link(memory), None)]
    if socket != memory:
        hops.append(between(memory, socket))
    if behind_switch(machine, i):
        hops.append(("PCIe-switch", "DOWN"))
    return hops + [("PCIe-CUDA%d" % i, "DOWN")]


def peer_hops(machine, i, j):
    fabric = machine.get("fabric")
    if fabric == "mesh":
        return [("NVLink-CUDA%d-CUDA%d" % (i, j), "DOWN")]
    bus = "NVLink" if fabric else "PCIe"
    hops = [("%s-CUDA%d" % (bus, i), "UP")]
    if not fabric and not behind_switch(machine, i):
        hops.append(("PCIe-peer-CUDA%d-CUDA%d" % (i, j), "DOWN"))
    if not fabric and socket_of(machine, i) != socket_of(machine, j):
        hops.append(between(socket_of(machine, i), socket_of(machine, j)))
    return hops + [("%s-CUDA%d" % (bus, j), "DOWN")]


def routes(machine):
    """Up is towards main memory, or towards the switch."""
    text = ""
    ndevices, count = len(machine["devices"]), nsockets(machine)
    for i in range(ndevices):
        text += files.route("RAM", "CUDA%d" % i, way_down(machine, i))
    for first in range(count if count > 1 else 0):
        for i in range(ndevices):
            text += files.route("RAM%d" % first, "CUDA%d" % i,
                                way_down(machine, i, first))
        for second in range(first + 1, count):
            text += files.route("RAM%d" % first, "RAM%d" % second, [
                (memory_link(first), None), between(first, second),
                (memory_link(second), None)])
    for i, j in peers(machine):
        text += files.route("CUDA%d" % i, "CUDA%d" % j,
                            peer_hops(machine, i, j))
    return text


def sources(machine):
    """What a machine's figures come from, each once."""
    devices = [parts.DEVICES[name]["source"]
               for name, _, _ in machine["devices"]]
    return list(dict.fromkeys(
        [parts.PROCESSORS[machine["processor"]]["source"]] + devices))


def platform(name, machine):
    note = machine.get("note", "") + (
        SOCKETS_NOTE if nsockets(machine) > 1 else "")
    about = ("%s: %s. Derived from published figures by "
             "platforms/catalogue/derive.py, not measured. Sources: %s. The "
             "scripts say which of them were seen, and what is assumed.%s" % (
                 name, machine["title"], "; ".join(sources(machine)), note))
    return files.platform_file(about, [
        ("description", machine["title"]),
        ("orrery-origin", "published figures: " + "; ".join(sources(machine))),
    ], hosts(machine) + links(machine) + routes(machine))


# -------------------------------------------------------------------- main


def main(arguments):
    if len(arguments) != 2 or arguments[1] == "--help":
        sys.exit(__doc__)
    folder = arguments[1]
    files.check_hashes()
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if not os.path.exists(os.path.join(folder, name, "platform.xml")):
            sys.exit("%s: %s is no machine, nothing was written" % (folder, name))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, machine in MACHINES.items():
        files.write(folder, name, platform(name, machine), models(machine))
    measured.write_all(folder, tile_rows)


if __name__ == "__main__":
    main(sys.argv)
