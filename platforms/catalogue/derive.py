#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Derives the machines of the catalogue from published figures.

    derive.py [FOLDER]     writes all machines below FOLDER (default: the folder
                           of this script)

Nothing here was measured. A machine is made of the published figures in the
tables below (sources beside them) and of the assumptions of this text, and all
its files say "derived". Same script, same bytes.

Time of a kernel on a tile of side n:

    t(n) = launch + flops(n) / (peak * best * n / (n + half))

 * peak    published single-precision peak of one core or one device, at base
           clock for processors, boost clock (as published) for devices;
 * best    the part of it that very large tiles reach, per kernel;
 * half    the tile side at which half of that is reached (Hockney's n_1/2):
           small tiles fill neither a vector unit's pipeline nor a device's
           multiprocessors, and short loops have more overhead;
 * launch  what starting the kernel takes, however small the tile. A potrf on a
           device is a sequence of small panel kernels: its launch is larger
           and its efficiency is a small part of gemm's.

flops: potrf n^3/3, trsm n^3, syrk n^3, gemm 2 n^3.

Spread: standard deviation is 2 % of the mean on processor cores, 1 % on
devices. Each row stands for 10 samples, the least that counts as calibrated.

Links: a large copy reaches 85 % of a bus's published rate (protocol headers and
flow control), main memory gives copies 70 % of its published rate. One-way
latencies are those that small copies typically see, software included: 8 us
over PCIe, 5 us between devices over NVLink.

A machine whose devices number g has g more cores than CPU workers: each device
is driven by one core.
"""

import os
import sys
import textwrap

# ---------------------------------------------------------------- devices
# fp32: TFLOP/s outside tensor cores, which single precision does not use.

DEVICES = {
    # NVIDIA H100 Tensor Core GPU Datasheet, "H100 PCIe": FP32 51 teraFLOPS,
    # 80 GB, PCIe Gen5 128 GB/s (both directions together).
    "H100 PCIe": {"model": "NVIDIA H100 PCIe 80GB", "fp32": 51.0,
                  "memory": 80 * 2**30},
    # NVIDIA H100 Tensor Core GPU Datasheet, "H100 SXM": FP32 67 teraFLOPS,
    # 80 GB, NVLink 900 GB/s (both directions together), PCIe Gen5 128 GB/s.
    "H100 SXM": {"model": "NVIDIA H100 SXM5 80GB", "fp32": 67.0,
                 "memory": 80 * 2**30},
    # NVIDIA Ada GPU Architecture whitepaper, GeForce RTX 4090: peak FP32
    # 82.6 TFLOPS, 24 GB, PCI Express Gen 4 x16, no NVLink.
    "RTX 4090": {"model": "NVIDIA GeForce RTX 4090", "fp32": 82.6,
                 "memory": 24 * 2**30},
}

# ------------------------------------------------------------- processors
# clock: base GHz. flops: single precision per cycle and core: two 512-bit FMA
# units give 2 * 16 * 2 = 64, two 256-bit ones (or one 512-bit) 32.

PROCESSORS = {
    # Intel ARK, Xeon Silver 4510: 12 cores, 2.40 GHz base, 2 AVX-512 FMA units,
    # 8 channels of DDR5-4400, PCIe 5.0.
    "Xeon 4510": {"model": "Intel Xeon Silver 4510", "clock": 2.4, "flops": 64,
                  "memory_rate": 8 * 4400e6 * 8},
    # NVIDIA DGX H100 Datasheet: dual Intel Xeon Platinum 8480C, 112 cores in
    # all, 2.00 GHz base. Intel ARK, Xeon Platinum 8480+ (same die): 2 AVX-512
    # FMA units, 8 channels of DDR5-4800 a socket.
    "2 Xeon 8480C": {"model": "2 x Intel Xeon Platinum 8480C", "clock": 2.0,
                     "flops": 64, "memory_rate": 2 * 8 * 4800e6 * 8},
    # AMD Ryzen 9 7950X product page: 16 cores, 4.5 GHz base, 2 channels of
    # DDR5-5200. AMD Software Optimization Guide for Zen 4: two 256-bit FMA
    # pipes.
    "Ryzen 7950X": {"model": "AMD Ryzen 9 7950X", "clock": 4.5, "flops": 32,
                    "memory_rate": 2 * 5200e6 * 8},
    # AMD EPYC 7763 product page: 64 cores, 2.45 GHz base, 8 channels of
    # DDR4-3200. AMD Software Optimization Guide for Zen 3: two 256-bit FMA
    # pipes.
    "EPYC 7763": {"model": "AMD EPYC 7763", "clock": 2.45, "flops": 32,
                  "memory_rate": 8 * 3200e6 * 8},
}

# ------------------------------------------------------------------ links
# Bytes per second, one direction.

# PCI-SIG, PCI Express Base Specification: 32 GT/s (5.0) or 16 GT/s (4.0) a
# lane, 128b/130b encoding.
PCIE5_X16 = 32e9 * 16 / 8 * 128 / 130
PCIE4_X8 = 16e9 * 8 / 8 * 128 / 130
# NVIDIA H100 datasheet: 900 GB/s both directions together, through NVSwitch at
# full rate between any two devices.
NVLINK4 = 450e9

BUS_EFFICIENCY = 0.85
MEMORY_EFFICIENCY = 0.70
PCIE_LATENCY = 8e-6
NVLINK_LATENCY = 5e-6

# --------------------------------------------------------------- machines

MACHINES = {
    "h100-pcie-4": {
        "title": "a server with four H100 PCIe and 12 cores, 8 of them free "
                 "for kernels",
        "processor": "Xeon 4510", "cores": 12,
        "device": "H100 PCIe", "devices": 4,
        "pcie": PCIE5_X16, "nvlink": None, "peer": True,
    },
    "hgx-h100-8": {
        "title": "eight H100 SXM behind NVSwitch, 112 cores, as in a DGX H100",
        "processor": "2 Xeon 8480C", "cores": 112,
        "device": "H100 SXM", "devices": 8,
        "pcie": PCIE5_X16, "nvlink": NVLINK4, "peer": True,
    },
    "rtx4090-2": {
        "title": "a workstation with two RTX 4090 at eight PCIe lanes each, "
                 "which cannot copy to each other directly",
        "processor": "Ryzen 7950X", "cores": 16,
        "device": "RTX 4090", "devices": 2,
        "pcie": PCIE4_X8, "nvlink": None, "peer": False,
    },
    "epyc-64": {
        "title": "a 64-core processor without devices",
        "processor": "EPYC 7763", "cores": 64,
        "device": None, "devices": 0,
        "pcie": None, "nvlink": None, "peer": False,
    },
}

# ---------------------------------------------------------------- kernels
# Per kernel: operands, flops as a part of n^3, then (best, half, launch in us)
# on a core and on a device. Assumptions, in the range that published BLAS and
# LAPACK comparisons show for such hardware.

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
    for (n, operands), value in KNOWN.items():
        assert footprint(n, operands) == value, (n, operands)


# ------------------------------------------------------------ model files


def peak(machine, kind):
    """Published flop/s of one core or device."""
    if kind == "device":
        return DEVICES[machine["device"]]["fp32"] * 1e12
    processor = PROCESSORS[machine["processor"]]
    return processor["clock"] * 1e9 * processor["flops"]


def duration_us(machine, kernel, kind, n):
    best, half, launch = KERNELS[kernel][kind]
    flops = KERNELS[kernel]["work"] * n**3
    rate = peak(machine, kind) * best * n / (n + half)
    return launch + flops / rate * 1e6


def row(machine, kernel, kind, n):
    operands = KERNELS[kernel]["operands"]
    mean = duration_us(machine, kernel, kind, n)
    deviation = SPREAD[kind] * mean
    return "%08x\t%-15d\t%-15e\t%-15e\t%-15e\t%-15e\t%-15e\t%d\n" % (
        footprint(n, operands), operands * n * n * ELEMENT,
        KERNELS[kernel]["work"] * n**3, mean, deviation, SAMPLES * mean,
        SAMPLES * (mean**2 + deviation**2), SAMPLES)


def comb(machine, kernel, number, kind, device):
    name = "cpu0" if kind == "core" else "cuda%d" % device
    sums = "\t".join(["%-15e" % 0.0] * 4 + ["%-15s" % "nan"] * 2)
    return "".join([
        "####################\n# COMB_%d\n" % number,
        "# number of devices\n1\n",
        "# device type (0 CPU, 1 CUDA)\n%d\n" % (kind == "device"),
        "# device number\n%d\n" % device,
        "# number of cores\n1\n",
        "# number of implementations\n1\n",
        "##########\n# Model for %s_impl0 (Comb%d)\n" % (name, number),
        "# number of entries\n%d\n" % len(TILES),
        "# sumlnx\tsumlnx2\tsumlny\tsumlnxlny\talpha\tbeta\tn\tminx\tmaxx\n",
        sums + "\t0\t%-15d\t%-15d\n" % (0, 0),
        "# a\tb\tc\n" + "\t".join(["%-15s" % "nan"] * 3) + "\n",
        "# no multiple regression\n0\n",
        "# hash\tsize\tflops\tmean (us)\tdev (us)\tsum\tsum2\tn\n",
        "".join(row(machine, kernel, kind, n) for n in TILES),
        "\n"])


def model_file(machine, kernel):
    combs = [("core", 0)]
    combs += [("device", i) for i in range(machine["devices"])]
    return "".join([
        "##################\n",
        "# Derived from published figures by platforms/catalogue/derive.py,\n",
        "# not measured.\n",
        "# Performance Model Version\n45\n\n",
        "# number of combinations\n%d\n" % len(combs),
        "".join(comb(machine, kernel, i, kind, device)
                for i, (kind, device) in enumerate(combs))])


# --------------------------------------------------------- platform files


def rate(value):
    """A bandwidth, cut to whole megabytes per second."""
    return "%dMBps" % int(value / 1e6)


def latency(value):
    return "%gus" % (value * 1e6)


def prop(ident, value):
    return '      <prop id="%s" value="%s"/>\n' % (ident, value)


def hosts(machine):
    text = '    <host id="MAIN" speed="1f">\n'
    text += prop("orrery-provenance", "derived")
    text += prop("model", PROCESSORS[machine["processor"]]["model"])
    text += "    </host>\n"
    for i in range(machine["cores"]):
        text += '    <host id="CPU%d" speed="2Gf"/>\n' % i
    for i in range(machine["devices"]):
        device = DEVICES[machine["device"]]
        text += '    <host id="CUDA%d" speed="2Gf">\n' % i
        text += prop("model", device["model"])
        text += prop("memsize", device["memory"])
        text += prop("memcpy_peer", int(machine["peer"]))
        text += "    </host>\n"
    return text + '    <host id="RAM" speed="1f"/>\n'


def link(ident, bandwidth, delay, split):
    policy = ' sharing_policy="SPLITDUPLEX"' if split else ""
    return '    <link id="%s" bandwidth="%s" latency="%s"%s/>\n' % (
        ident, rate(bandwidth), latency(delay), policy)


def links(machine):
    memory = PROCESSORS[machine["processor"]]["memory_rate"]
    text = link("Host", memory * MEMORY_EFFICIENCY, 0, False)
    for i in range(machine["devices"]):
        text += link("PCIe-CUDA%d" % i, machine["pcie"] * BUS_EFFICIENCY,
                     PCIE_LATENCY, True)
    if machine["nvlink"]:
        for i in range(machine["devices"]):
            # Half of the latency: a copy passes two of these.
            text += link("NVLink-CUDA%d" % i,
                         machine["nvlink"] * BUS_EFFICIENCY,
                         NVLINK_LATENCY / 2, True)
    return text


def route(source, target, hops):
    text = '    <route src="%s" dst="%s" symmetrical="YES">\n' % (source,
                                                                  target)
    for ident, direction in hops:
        where = ' direction="%s"' % direction if direction else ""
        text += '      <link_ctn id="%s"%s/>\n' % (ident, where)
    return text + "    </route>\n"


def routes(machine):
    """Up is towards main memory, or towards the switch."""
    text = ""
    for i in range(machine["devices"]):
        text += route("RAM", "CUDA%d" % i,
                      [("Host", None), ("PCIe-CUDA%d" % i, "DOWN")])
    bus = "NVLink" if machine["nvlink"] else "PCIe"
    for i in range(machine["devices"] if machine["peer"] else 0):
        for j in range(i + 1, machine["devices"]):
            text += route("CUDA%d" % i, "CUDA%d" % j,
                          [("%s-CUDA%d" % (bus, i), "UP"),
                           ("%s-CUDA%d" % (bus, j), "DOWN")])
    return text


OPTIONS = (("network/TCP-gamma", "-1"), ("network/latency-factor", "1"),
           ("network/bandwidth-factor", "1"), ("network/weight-S", "0.0"),
           ("network/crosstraffic", "0"))


def platform_file(name, machine):
    about = textwrap.fill(
        "%s: %s. Derived from published figures by "
        "platforms/catalogue/derive.py, not measured." % (
            name, machine["title"]),
        width=70, subsequent_indent="     ", break_on_hyphens=False)
    return "".join([
        "<?xml version='1.0'?>\n",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n',
        "<!-- %s -->\n" % about,
        '<platform version="4.1">\n  <config>\n',
        "".join('    <prop id="%s" value="%s"/>\n' % option
                for option in OPTIONS),
        '  </config>\n  <zone id="AS0" routing="Full">\n',
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
        for kernel in KERNELS:
            write(os.path.join(folder, name, "codelets", "45",
                               "chol_model_%s.%s" % (kernel, name)),
                  model_file(machine, kernel))


if __name__ == "__main__":
    main(sys.argv)
