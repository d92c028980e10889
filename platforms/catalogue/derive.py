#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Derives the machines of the catalogue from published figures.

    derive.py [FOLDER]     writes all machines below FOLDER (default: the folder
                           of this script)

Nothing here was measured by us. Of each published figure the text beside it
says where it stands and, in the end, whether we have seen it there or in a
document that quotes it (seen), or wrote it from memory (unseen). A machine is
made of the published figures in the tables below (sources beside them) and of
the assumptions of this text, and all its files say "derived". Same script, same
bytes.

Time of a kernel on a tile of side n:

    t(n) = launch + flops(n) / (peak * best * n / (n + half))

 * peak    published single-precision peak of one core or one device, at base
           clock for processors, boost clock (as published) for devices;
 * best    the part of it that very large tiles reach, per kernel;
 * half    the tile side at which half of that is reached (Hockney's n_1/2):
           small tiles fill neither a vector unit's pipeline nor a device's
           multiprocessors, and short loops have more overhead. On devices
           it is that of 132 multiprocessors, and goes with the square root
           of their number, since a tile is cut into n^2 pieces for them;
 * launch  what starting the kernel takes, however small the tile. A potrf on a
           device is a sequence of small panel kernels: its launch is larger
           and its efficiency is a small part of gemm's.

flops: potrf n^3/3, trsm n^3, syrk n^3, gemm 2 n^3.

Spread: standard deviation is 2 % of the mean on processor cores, 1 % on
devices. Each row stands for 10 samples, the least that counts as calibrated.

vector_scal, which only processors run, is bound by memory: a core streams
CORE_STREAM bytes per second, reading and writing each element once.

Links: a large copy reaches 85 % of a bus's published rate (headers, flow
control). Measured: 24.8 GB/s of 31.5 on PCIe 4.0 x16 (A100 SXM4, nvbandwidth,
forums.developer.nvidia.com/t/352186), 55.6 GB/s of 63.0 on PCIe 5.0 x16
(NVIDIA's post on NVbandwidth): 79 % and 88 %. NVLink reaches 91 %: Dell
measured 91.3 % (P100) and 95.8 % (V100) of its rate with
p2pBandwidthLatencyTest (Dell HPC, "PowerEdge C4130 configuration K"). Main
memory gives copies 70 % of its published rate, assumed. One-way latencies are
those that small copies typically see, software included, assumed: 8 us over
PCIe, 15 us over Thunderbolt, 5 us between devices over NVLink.

A machine whose devices number g has g more cores than CPU workers: each device
is driven by one core.
"""

import math
import os
import sys
import textwrap

# ---------------------------------------------------------------- devices
# fp32: TFLOP/s outside tensor cores, which single precision does not use; sms:
# multiprocessors; source: as files cite it.

DEVICES = {
    # NVIDIA H100 Tensor Core GPU Datasheet, "H100 PCIe": FP32 51 teraFLOPS,
    # 80 GB, PCIe Gen5 128 GB/s (both directions together), 114
    # multiprocessors (14,592 cores). Seen.
    "H100 PCIe": {"model": "NVIDIA H100 PCIe 80GB", "fp32": 51.0, "sms": 114,
                  "memory": 80 * 2**30,
                  "source": "NVIDIA H100 Datasheet"},
    # NVIDIA H100 Tensor Core GPU Datasheet, "H100 SXM": FP32 67 teraFLOPS,
    # 80 GB, NVLink 900 GB/s (both directions together), PCIe Gen5 128 GB/s,
    # 132 multiprocessors. Seen.
    "H100 SXM": {"model": "NVIDIA H100 SXM5 80GB", "fp32": 67.0, "sms": 132,
                 "memory": 80 * 2**30,
                 "source": "NVIDIA H100 Datasheet"},
    # NVIDIA Ada GPU Architecture whitepaper, GeForce RTX 4090: peak FP32
    # 82.6 TFLOPS, 24 GB, PCI Express Gen 4 x16, no NVLink, 128
    # multiprocessors. Seen.
    "RTX 4090": {"model": "NVIDIA GeForce RTX 4090", "fp32": 82.6, "sms": 128,
                 "memory": 24 * 2**30,
                 "source": "NVIDIA Ada GPU Architecture whitepaper"},
    # NVIDIA A100 40GB PCIe Product Brief PB-10137-001 and A100 datasheet: FP32
    # 19.5 TFLOPS, 40 GB, PCI Express Gen4 x16, 108 multiprocessors. Seen. A
    # device of that size reports 42405855232 bytes (PC2, Paderborn).
    "A100 PCIe": {"model": "NVIDIA A100 PCIe 40GB", "fp32": 19.5, "sms": 108,
                  "memory": 42405855232,
                  "source": "NVIDIA PB-10137-001, A100 Datasheet"},
    # Tesla V100 PCIe, Product Brief PB-08744-001: FP32 14 TFLOPS, 16 GB, PCI
    # Express 3.0 x16, 80 multiprocessors. Seen.
    "V100 PCIe": {"model": "NVIDIA Tesla V100 PCIe 16GB", "fp32": 14.0,
                  "sms": 80, "memory": 16 * 2**30,
                  "source": "NVIDIA PB-08744-001"},
    # GeForce RTX 3080 (10 GB): FP32 29.8 TFLOPS, 68 multiprocessors (8704
    # cores). Seen.
    "RTX 3080": {"model": "NVIDIA GeForce RTX 3080", "fp32": 29.8, "sms": 68,
                 "memory": 10 * 2**30,
                 "source": "NVIDIA GeForce RTX 3080 page"},
    # GeForce GTX 1650 (GDDR5): 896 cores at 1665 MHz boost, FP32 2.98 TFLOPS,
    # 4 GB, PCI Express 3.0 x16, 14 multiprocessors. Seen.
    "GTX 1650": {"model": "NVIDIA GeForce GTX 1650", "fp32": 2.984, "sms": 14,
                 "memory": 4 * 2**30,
                 "source": "NVIDIA GeForce GTX 1650 page"},
}

# ------------------------------------------------------------- processors
# clock: base GHz. flops: single precision per cycle and core: two 512-bit FMA
# units give 2 * 16 * 2 = 64, two 256-bit ones (or one 512-bit) 32.

# Processors run long AVX-512 loops below their base clock, so the figures of
# Xeons flatter them.

PROCESSORS = {
    # Intel ARK, Xeon Silver 4510: 12 cores, 2.40 GHz base, 2 AVX-512 FMA units,
    # 8 channels of DDR5-4400, PCIe 5.0. Unseen.
    "Xeon 4510": {"model": "Intel Xeon Silver 4510", "clock": 2.4, "flops": 64,
                  "memory_rate": 8 * 4400e6 * 8,
                  "source": "Intel ARK Xeon Silver 4510"},
    # NVIDIA DGX H100 Datasheet: dual Intel Xeon Platinum 8480C, 112 cores in
    # all, 2.00 GHz base, unseen. Sapphire Rapids: 8 channels of DDR5-4800 a
    # socket, seen; 2 AVX-512 FMA units, unseen.
    "2 Xeon 8480C": {"model": "2 x Intel Xeon Platinum 8480C", "clock": 2.0,
                     "flops": 64, "memory_rate": 2 * 8 * 4800e6 * 8,
                     "source": "NVIDIA DGX H100 Datasheet"},
    # AMD Ryzen 9 7950X product page: 16 cores, 4.5 GHz base, 2 channels of
    # DDR5-5200. Seen. AMD Software Optimization Guide for Zen 4: two 256-bit
    # FMA pipes. Unseen.
    "Ryzen 7950X": {"model": "AMD Ryzen 9 7950X", "clock": 4.5, "flops": 32,
                    "memory_rate": 2 * 5200e6 * 8,
                    "source": "AMD Ryzen 9 7950X page"},
    # AMD EPYC 7763 product page: 64 cores, 2.45 GHz base, 8 channels of
    # DDR4-3200 (204.8 GB/s). Seen. AMD Software Optimization Guide for Zen 3:
    # two 256-bit FMA pipes. Unseen.
    "EPYC 7763": {"model": "AMD EPYC 7763", "clock": 2.45, "flops": 32,
                  "memory_rate": 8 * 3200e6 * 8,
                  "source": "AMD EPYC 7763 page"},
    # AMD Ryzen 7 5800U: 8 Zen 3 cores, 1.9 GHz base. Seen. 2 channels of
    # DDR4-3200. Unseen.
    "Ryzen 5800U": {"model": "AMD Ryzen 7 5800U", "clock": 1.9, "flops": 32,
                    "memory_rate": 2 * 3200e6 * 8,
                    "source": "AMD Ryzen 7 5800U page"},
    # AMD Ryzen 5 3600: 6 Zen 2 cores, 3.6 GHz base, 2 channels of DDR4-3200.
    # Seen. Zen 2: two 256-bit FMA pipes. Unseen.
    "Ryzen 3600": {"model": "AMD Ryzen 5 3600", "clock": 3.6, "flops": 32,
                   "memory_rate": 2 * 3200e6 * 8,
                   "source": "AMD Ryzen 5 3600 page"},
    # Intel Core i7-1165G7: 4 cores, 2.8 GHz base. Seen. One 512-bit FMA unit,
    # LPDDR4x-4266 on 128 bits. Unseen.
    "Core 1165G7": {"model": "Intel Core i7-1165G7", "clock": 2.8, "flops": 32,
                    "memory_rate": 4266e6 * 16,
                    "source": "Intel ARK Core i7-1165G7"},
    # Intel Xeon Platinum 8180: 28 cores, 2.50 GHz base, 6 channels of
    # DDR4-2666, 3 UPI links of 10.4 GT/s. Seen. 2 AVX-512 FMA units. Unseen.
    # The rate is that of one socket.
    "4 Xeon 8180": {"model": "4 x Intel Xeon Platinum 8180", "clock": 2.5,
                    "flops": 64, "memory_rate": 6 * 2666e6 * 8,
                    "source": "Intel ARK Xeon Platinum 8180"},
}

# ------------------------------------------------------------------ links
# Bytes per second, one direction.

# PCI-SIG, PCI Express Base Specification: 32 GT/s (5.0) 16 GT/s (4.0) or 8
# GT/s (3.0) a lane, 128b/130b encoding.
PCIE5_X16 = 32e9 * 16 / 8 * 128 / 130
PCIE4_X16 = 16e9 * 16 / 8 * 128 / 130
PCIE4_X8 = 16e9 * 8 / 8 * 128 / 130
PCIE3_X16 = 8e9 * 16 / 8 * 128 / 130
# NVIDIA H100 datasheet: 900 GB/s both directions together, through NVSwitch at
# full rate between any two devices. Seen.
NVLINK4 = 450e9
# Thunderbolt 3 and 4 carry PCIe at 32 Gbit/s at most; users measure 19 to 22
# Gbit/s from host to device. The upper of the two, which BUS_EFFICIENCY does
# not lower again. Seen.
THUNDERBOLT = 22e9 / 8 / 0.85
# Intel UPI: 10.4 GT/s (seen), 2 bytes a transfer and direction (unseen).
UPI = 10.4e9 * 2

BUS_EFFICIENCY = 0.85
NVLINK_EFFICIENCY = 0.91
MEMORY_EFFICIENCY = 0.70
PCIE_LATENCY = 8e-6
THUNDERBOLT_LATENCY = 15e-6
NVLINK_LATENCY = 5e-6

# --------------------------------------------------------------- machines

# devices: (device, rate of its bus, group). Devices of a group copy to each
# other; None: to none. switch: groups behind one PCIe switch, and its uplink.
# sockets: the socket of each device. Each socket has a NUMA node RAM<socket>,
# the cores next to it in equal parts, and a link to each other socket. RAM is
# main memory for those who do not tell nodes apart: all of it at socket 0.

MACHINES = {
    "laptop-8": {
        "title": "a laptop with 8 cores and no device",
        "processor": "Ryzen 5800U", "cores": 8, "devices": [],
    },
    "epyc-64": {
        "title": "a 64-core processor without devices",
        "processor": "EPYC 7763", "cores": 64, "devices": [],
    },
    "a100-pcie-1": {
        "title": "a server with one A100 PCIe and 64 cores",
        "processor": "EPYC 7763", "cores": 64,
        "devices": [("A100 PCIe", PCIE4_X16, None)],
    },
    "h100-pcie-4": {
        "title": "a server with four H100 PCIe and 12 cores",
        "processor": "Xeon 4510", "cores": 12,
        "devices": [("H100 PCIe", PCIE5_X16, "all")] * 4,
    },
    "hgx-h100-8": {
        "title": "eight H100 SXM behind NVSwitch, 112 cores, as in a DGX H100",
        "processor": "2 Xeon 8480C", "cores": 112, "nvlink": NVLINK4,
        "devices": [("H100 SXM", PCIE5_X16, "all")] * 8,
    },
    "rtx4090-2": {
        "title": "a workstation with two RTX 4090 at eight PCIe lanes each",
        "note": " The devices cannot copy to each other directly.",
        "processor": "Ryzen 7950X", "cores": 16,
        "devices": [("RTX 4090", PCIE4_X8, None)] * 2,
    },
    "mixed-a100-v100": {
        "title": "two A100 PCIe, two V100 PCIe behind a switch, 64 cores",
        "processor": "EPYC 7763", "cores": 64,
        "devices": [("A100 PCIe", PCIE4_X16, "Ampere")] * 2 +
                   [("V100 PCIe", PCIE3_X16, "Volta")] * 2,
        "switch": ("Volta", PCIE3_X16),
    },
    "gtx1650-4gb": {
        "title": "a desktop with 6 cores and a GTX 1650, whose 4 GB fill soon",
        "processor": "Ryzen 3600", "cores": 6,
        "devices": [("GTX 1650", PCIE3_X16, None)],
    },
    "thunderbolt-rtx3080": {
        "title": "a laptop with 4 cores and an RTX 3080 behind Thunderbolt",
        "processor": "Core 1165G7", "cores": 4, "latency": THUNDERBOLT_LATENCY,
        "devices": [("RTX 3080", THUNDERBOLT, None)],
    },
    # Dell PowerEdge R940xa: four processors, up to four double-width devices
    # in a ratio of 1 to 1. Seen. That each hangs at a socket of its own and
    # that each pair of sockets has one UPI link is our reading of it.
    "r940xa-4": {
        "title": "a server with four sockets of 28 cores, each with a V100",
        "note": " With STARPU_USE_NUMA=1 each socket has a memory node; else "
                "all data lies at socket 0 and cores of other sockets reach "
                "it at no cost.",
        "processor": "4 Xeon 8180", "cores": 112, "sockets": [0, 1, 2, 3],
        "devices": [("V100 PCIe", PCIE3_X16, None)] * 4,
    },
}

# ---------------------------------------------------------------- kernels
# Per kernel: operands, flops as a part of n^3, then (best, half, launch in us)
# on a core and on a device. Assumptions, in the range that published BLAS and
# LAPACK comparisons show for such hardware. One that we have seen: cuBLAS sgemm
# on an RTX 3060 Laptop, n = 1024, 5.7 TFLOP/s (lessup.github.io/
# sgemm-optimization), half of its peak or so; the law gives 0.7 of it there.

KERNELS = {
    "potrf": {"operands": 1, "work": 1 / 3,
              "core": (0.65, 160, 2.0), "device": (0.10, 8000, 60.0)},
    "trsm": {"operands": 2, "work": 1,
             "core": (0.75, 80, 1.5), "device": (0.60, 1500, 12.0)},
    "syrk": {"operands": 2, "work": 1,
             "core": (0.80, 60, 1.2), "device": (0.80, 700, 5.0)},
    "gemm": {"operands": 3, "work": 2,
             "core": (0.85, 40, 1.0), "device": (0.88, 500, 4.0)},
}

TILES = (320, 480, 512, 640, 960, 1024, 1440, 1920)
LENGTHS = (62500, 125000, 250000, 1000000)  # of vector_scal's pieces
# One core's share of a memory that others also use, assumed: 10 GB/s.
CORE_STREAM = 10e9
CALL = 0.5  # us, calling vector_scal's loop
ELEMENT = 4  # bytes, single precision
SAMPLES = 10
SPREAD = {"core": 0.02, "device": 0.01}

# ---------------------------------------------------------------- hashes


def crc_byte(byte, crc):
    crc ^= byte << 24
    for _ in range(8):
        carry = crc & 0x80000000
        crc = (crc << 1) & 0xFFFFFFFF
        if carry:
            crc ^= 0x1EDC6F41
    return crc


def crc_u32(value, crc):
    for byte in value.to_bytes(4, "little"):
        crc = crc_byte(byte, crc)
    return crc


def footprint(n, operands):
    """The hash of a task on `operands` square matrices of side n."""
    matrix = crc_u32(crc_u32(n, n), 0)  # nx fed to ny; interface number 0
    crc = 0
    for _ in range(operands):
        crc = crc_u32(matrix, crc)
    return crc


def vector_footprint(nx):
    """The hash of a task on one vector of nx elements."""
    return crc_u32(crc_u32(crc_u32(nx, 0), 2), 0)  # interface number 2


# Hashes that StarPU gives to such tasks.
KNOWN = {
    (320, 1): 0xCEA37D6D, (320, 2): 0x2C1922B7, (320, 3): 0xD46431BB,
    (960, 1): 0x617E5FE6, (960, 2): 0xFF82DDA0, (960, 3): 0x24C84A50,
    (640, 1): 0xAFDD228B, (640, 2): 0xD39BFF17, (640, 3): 0xF0AC7BEB,
    (32, 1): 0xE5A07E31, (32, 2): 0x1827CAF5, (32, 3): 0x6E96D715,
}


def check_hashes():
    assert crc_u32(1, 0) == 0xFC93054A
    assert crc_u32(0x12345678, 0) == 0x9DCBB3B7
    assert vector_footprint(1024) == 0xA3D3725E
    for (n, operands), value in KNOWN.items():
        assert footprint(n, operands) == value, (n, operands)


# ------------------------------------------------------------ model files


# A place is where a kernel runs: None is a core, else one of `devices`.


def peak(machine, place):
    """Published flop/s of one core or device."""
    if place:
        return DEVICES[place[0]]["fp32"] * 1e12
    processor = PROCESSORS[machine["processor"]]
    return processor["clock"] * 1e9 * processor["flops"]


def duration_us(machine, kernel, place, n):
    best, half, launch = KERNELS[kernel]["device" if place else "core"]
    if place:
        half *= math.sqrt(DEVICES[place[0]]["sms"] / 132)
    flops = KERNELS[kernel]["work"] * n**3
    rate = peak(machine, place) * best * n / (n + half)
    return launch + flops / rate * 1e6


def row(footprint_, size, flops, mean, spread):
    deviation = spread * mean
    return "%08x\t%-15d\t%-15e\t%-15e\t%-15e\t%-15e\t%-15e\t%d\n" % (
        footprint_, size, flops, mean, deviation, SAMPLES * mean,
        SAMPLES * (mean**2 + deviation**2), SAMPLES)


def tile_rows(machine, kernel, place):
    operands = KERNELS[kernel]["operands"]
    return [row(footprint(n, operands), operands * n * n * ELEMENT,
                KERNELS[kernel]["work"] * n**3,
                duration_us(machine, kernel, place, n),
                SPREAD["device" if place else "core"]) for n in TILES]


def vector_rows(machine):
    memory = PROCESSORS[machine["processor"]]["memory_rate"]
    rate = min(CORE_STREAM, memory * MEMORY_EFFICIENCY)
    return [row(vector_footprint(nx), nx * ELEMENT, nx,
                CALL + 2 * nx * ELEMENT / rate * 1e6, SPREAD["core"])
            for nx in LENGTHS]


def comb(number, device, rows):
    """The rows of a core (device None) or of a device."""
    name = "cpu0" if device is None else "cuda%d" % device
    sums = "\t".join(["%-15e" % 0.0] * 4 + ["%-15s" % "nan"] * 2)
    return "".join([
        "####################\n# COMB_%d\n" % number,
        "# number of devices\n1\n",
        "# device type (0 CPU, 1 CUDA)\n%d\n" % (device is not None),
        "# device number\n%d\n" % (device or 0),
        "# number of cores\n1\n",
        "# number of implementations\n1\n",
        "##########\n# Model for %s_impl0 (Comb%d)\n" % (name, number),
        "# number of entries\n%d\n" % len(rows),
        "# sumlnx\tsumlnx2\tsumlny\tsumlnxlny\talpha\tbeta\tn\tminx\tmaxx\n",
        sums + "\t0\t%-15d\t%-15d\n" % (0, 0),
        "# a\tb\tc\n" + "\t".join(["%-15s" % "nan"] * 3) + "\n",
        "# no multiple regression\n0\n",
        "# hash\tsize\tflops\tmean (us)\tdev (us)\tsum\tsum2\tn\n",
        "".join(rows),
        "\n"])


def model_file(combs):
    return "".join([
        "##################\n",
        "# Derived from published figures by platforms/catalogue/derive.py,\n",
        "# not measured.\n",
        "# Performance Model Version\n45\n\n",
        "# number of combinations\n%d\n" % len(combs),
        "".join(combs)])


def tile_file(machine, kernel):
    combs = [comb(0, None, tile_rows(machine, kernel, None))]
    for i, place in enumerate(machine["devices"]):
        combs.append(comb(1 + i, i, tile_rows(machine, kernel, place)))
    return model_file(combs)


def vector_file(machine):
    return model_file([comb(0, None, vector_rows(machine))])


# --------------------------------------------------------- platform files


def rate(value):
    """A bandwidth, cut to whole megabytes per second."""
    return "%dMBps" % int(value / 1e6)


def latency(value):
    return "%gus" % (value * 1e6)


def prop(ident, value):
    return '      <prop id="%s" value="%s"/>\n' % (ident, value)


def nsockets(machine):
    return len(set(machine.get("sockets", [0])))


def memory_link(socket):
    """What all copies from and to a socket's memory share."""
    return "Host%d" % socket if socket else "Host"


def between(source, target):
    """The hop from a socket to another: up is towards the lower one."""
    first, second = sorted((source, target))
    return ("UPI-%d-%d" % (first, second), "DOWN" if source < target else "UP")


def hosts(machine):
    text = '    <host id="MAIN" speed="1f">\n'
    text += prop("orrery-provenance", "derived")
    text += prop("model", PROCESSORS[machine["processor"]]["model"])
    text += "    </host>\n"
    count = nsockets(machine)
    for i in range(machine["cores"]):
        if count == 1:
            text += '    <host id="CPU%d" speed="2Gf"/>\n' % i
            continue
        text += '    <host id="CPU%d" speed="2Gf">\n' % i
        text += prop("numa", i * count // machine["cores"]) + "    </host>\n"
    for i, (name, _, group) in enumerate(machine["devices"]):
        text += '    <host id="CUDA%d" speed="2Gf">\n' % i
        if count > 1:
            text += prop("numa", machine["sockets"][i])
        text += prop("model", DEVICES[name]["model"])
        text += prop("memsize", DEVICES[name]["memory"])
        text += prop("memcpy_peer", int(group is not None))
        text += "    </host>\n"
    text += '    <host id="RAM" speed="1f"/>\n'
    for socket in range(count if count > 1 else 0):
        text += '    <host id="RAM%d" speed="1f"/>\n' % socket
    return text


def link(ident, bandwidth, delay, split):
    policy = ' sharing_policy="SPLITDUPLEX"' if split else ""
    return '    <link id="%s" bandwidth="%s" latency="%s"%s/>\n' % (
        ident, rate(bandwidth), latency(delay), policy)


def links(machine):
    memory = PROCESSORS[machine["processor"]]["memory_rate"]
    text = ""
    for socket in range(nsockets(machine)):
        text += link(memory_link(socket), memory * MEMORY_EFFICIENCY, 0, False)
    for first in range(nsockets(machine)):
        for second in range(first + 1, nsockets(machine)):
            text += link("UPI-%d-%d" % (first, second), UPI * BUS_EFFICIENCY,
                         0, True)
    if "switch" in machine:
        text += link("PCIe-switch", machine["switch"][1] * BUS_EFFICIENCY, 0,
                     True)
    for i, (_, bus, _) in enumerate(machine["devices"]):
        text += link("PCIe-CUDA%d" % i, bus * BUS_EFFICIENCY,
                     machine.get("latency", PCIE_LATENCY), True)
    for i in range(len(machine["devices"]) if "nvlink" in machine else 0):
        # Half of the latency: a copy passes two of these.
        text += link("NVLink-CUDA%d" % i,
                     machine["nvlink"] * NVLINK_EFFICIENCY,
                     NVLINK_LATENCY / 2, True)
    return text


def route(source, target, hops):
    text = '    <route src="%s" dst="%s" symmetrical="YES">\n' % (source,
                                                                  target)
    for ident, direction in hops:
        where = ' direction="%s"' % direction if direction else ""
        text += '      <link_ctn id="%s"%s/>\n' % (ident, where)
    return text + "    </route>\n"


def way_down(machine, i, memory=0):
    """The hops from a socket's memory to device i."""
    socket = machine.get("sockets", [0] * len(machine["devices"]))[i]
    hops = [(memory_link(memory), None)]
    if socket != memory:
        hops.append(between(memory, socket))
    if "switch" in machine and machine["switch"][0] == machine["devices"][i][2]:
        hops.append(("PCIe-switch", "DOWN"))
    return hops + [("PCIe-CUDA%d" % i, "DOWN")]


def routes(machine):
    """Up is towards main memory, or towards the switch."""
    text = ""
    groups = [group for _, _, group in machine["devices"]]
    for i in range(len(groups)):
        text += route("RAM", "CUDA%d" % i, way_down(machine, i))
    count = nsockets(machine)
    for first in range(count if count > 1 else 0):
        for i in range(len(groups)):
            text += route("RAM%d" % first, "CUDA%d" % i,
                          way_down(machine, i, first))
        for second in range(first + 1, count):
            text += route("RAM%d" % first, "RAM%d" % second,
                          [(memory_link(first), None), between(first, second),
                           (memory_link(second), None)])
    bus = "NVLink" if "nvlink" in machine else "PCIe"
    for i, group in enumerate(groups):
        for j in range(i + 1, len(groups)):
            if group and groups[j] == group:
                text += route("CUDA%d" % i, "CUDA%d" % j,
                              [("%s-CUDA%d" % (bus, i), "UP"),
                               ("%s-CUDA%d" % (bus, j), "DOWN")])
    return text


OPTIONS = (("network/TCP-gamma", "-1"), ("network/latency-factor", "1"),
           ("network/bandwidth-factor", "1"), ("network/weight-S", "0.0"),
           ("network/crosstraffic", "0"), ("network/optim", "Full"))


def sources(machine):
    """What a machine's figures come from, each once."""
    devices = [DEVICES[name]["source"] for name, _, _ in machine["devices"]]
    return list(dict.fromkeys(
        [PROCESSORS[machine["processor"]]["source"]] + devices))


def platform_file(name, machine):
    about = textwrap.fill(
        "%s: %s. Derived from published figures by "
        "platforms/catalogue/derive.py, not measured. Sources: %s. The script "
        "says which of them were seen, and what is assumed.%s" % (
            name, machine["title"], "; ".join(sources(machine)),
            machine.get("note", "")),
        width=70, subsequent_indent="     ", break_on_hyphens=False)
    return "".join([
        "<?xml version='1.0'?>\n",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n',
        "<!-- %s -->\n" % about,
        '<platform version="4.1">\n  <config>\n',
        "".join('    <prop id="%s" value="%s"/>\n' % option
                for option in OPTIONS),
        '  </config>\n  <zone id="AS0" routing="Full">\n',
        '    <prop id="description" value="%s"/>\n' % machine["title"],
        hosts(machine), links(machine), routes(machine),
        "  </zone>\n</platform>\n"])


# -------------------------------------------------------------------- main


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii", newline="\n") as out:
        out.write(text)


def main(arguments):
    if len(arguments) > 2 or arguments[1:2] == ["--help"]:
        sys.exit(__doc__)
    folder = arguments[1] if len(arguments) == 2 else os.path.dirname(
        os.path.abspath(arguments[0]))
    check_hashes()
    for name, machine in MACHINES.items():
        write(os.path.join(folder, name, "platform.xml"),
              platform_file(name, machine))
        models = os.path.join(folder, name, "codelets", "45")
        for kernel in KERNELS:
            write(os.path.join(models, "chol_model_%s.%s" % (kernel, name)),
                  tile_file(machine, kernel))
        write(os.path.join(models, "vector_scal.%s" % name),
              vector_file(machine))


if __name__ == "__main__":
    main(sys.argv)
