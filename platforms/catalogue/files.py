# SPDX-License-Identifier: LGPL-2.1-or-later
"""Texts of the catalogue's files: kernel models in StarPU's format, platform
files, and the hashes that StarPU gives to tasks on square matrices and on
vectors."""
import os
import textwrap

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


def matrices_footprint(operands):
    """The hash of a task on matrices: (nx, ny, and what its caller needs) each."""
    crc = 0
    for nx, ny, *_ in operands:
        # ny is fed to nx; interface number 0.
        crc = crc_u32(crc_u32(crc_u32(nx, ny), 0), crc)
    return crc


def footprint(n, operands):
    """The hash of a task on `operands` square matrices of side n."""
    return matrices_footprint([(n, n)] * operands)


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

CALIBRATED = 10  # the fewest samples that count as calibrated


def symbols(kernel):
    """Of models of a kernel as BLAS names it: the example cholesky has names of its own in
    single precision."""
    if kernel in ("sgemm", "spotrf", "ssyrk", "strsm"):
        return [kernel, "chol_model_" + kernel[1:]]
    return [kernel]


def row(footprint_, size, flops, mean, deviation, samples):
    """A line of a model: us, deviation in us."""
    return "%08x\t%-15d\t%-15e\t%-15e\t%-15e\t%-15e\t%-15e\t%d\n" % (
        footprint_, size, flops, mean, deviation, samples * mean,
        samples * (mean**2 + deviation**2), samples)


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


def model_file(about, places):
    """`about`: lines of a comment. `places`: (device or None, rows) each."""
    return "".join([
        "##################\n", "".join("# %s\n" % line for line in about),
        "# Performance Model Version\n45\n\n",
        "# number of combinations\n%d\n" % len(places),
        "".join(comb(i, device, rows)
                for i, (device, rows) in enumerate(places))])


# --------------------------------------------------------- platform files


def rate(value):
    """A bandwidth, cut to whole megabytes per second."""
    return "%dMBps" % int(value / 1e6)


def latency(value):
    return "%gus" % (value * 1e6)


def prop(ident, value, indent="      "):
    return '%s<prop id="%s" value="%s"/>\n' % (indent, ident, value)


def host(ident, speed, props):
    """`props`: a list of (id, value); values None are left out."""
    lines = "".join(prop(*one) for one in props if one[1] is not None)
    if not lines:
        return '    <host id="%s" speed="%s"/>\n' % (ident, speed)
    return '    <host id="%s" speed="%s">\n%s    </host>\n' % (ident, speed,
                                                              lines)


def flop_rate(value, prefix="T"):
    """"19.5Tf", None for None."""
    return None if value is None else "%g%sf" % (value, prefix)


def device_rates(part):
    return [("orrery-peak-fp32", flop_rate(part["fp32"])),
            ("orrery-peak-fp64", flop_rate(part["fp64"])),
            ("orrery-peak-fp32-tensor", flop_rate(part["fp32_tensor"])),
            ("orrery-peak-fp64-tensor", flop_rate(part["fp64_tensor"])),
            ("orrery-memory-bandwidth", "%gGBps" % part["bandwidth"])]


def core_rates(part):
    """Of one core."""
    peak = part["clock"] * part["flops"]
    return [("orrery-peak-fp32", flop_rate(peak, "G")),
            ("orrery-peak-fp64", flop_rate(peak / 2, "G"))]


def link(ident, bandwidth, delay, split, properties=()):
    policy = ' sharing_policy="SPLITDUPLEX"' if split else ""
    text = '    <link id="%s" bandwidth="%s" latency="%s"%s' % (
        ident, rate(bandwidth), latency(delay), policy)
    if not properties:
        return text + "/>\n"
    return text + ">\n" + "".join(
        '      <prop id="%s" value="%s"/>\n' % p for p in properties) + \
        "    </link>\n"


def route(source, target, hops, both=True):
    text = '    <route src="%s" dst="%s" symmetrical="%s">\n' % (
        source, target, "YES" if both else "NO")
    for ident, direction in hops:
        where = ' direction="%s"' % direction if direction else ""
        text += '      <link_ctn id="%s"%s/>\n' % (ident, where)
    return text + "    </route>\n"


OPTIONS = (("network/TCP-gamma", "-1"), ("network/latency-factor", "1"),
           ("network/bandwidth-factor", "1"), ("network/weight-S", "0.0"),
           ("network/crosstraffic", "0"), ("network/optim", "Full"))


def platform_file(about, props, body):
    """`about`: a text; `props`: of the zone; `body`: hosts, links, routes."""
    return "".join([
        "<?xml version='1.0'?>\n",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n',
        "<!-- %s -->\n" % textwrap.fill(
            about, width=70, subsequent_indent="     ",
            break_on_hyphens=False),
        '<platform version="4.1">\n  <config>\n',
        "".join(prop(*option, indent="    ") for option in OPTIONS),
        '  </config>\n  <zone id="AS0" routing="Full">\n',
        "".join(prop(*one, indent="    ") for one in props), body,
        "  </zone>\n</platform>\n"])


def write(folder, name, platform, models):
    """A machine's folder. `models`: {symbol: text}."""
    files = {"platform.xml": platform}
    for symbol, text in models.items():
        files[os.path.join("codelets", "45", "%s.%s" % (symbol, name))] = text
    for path, text in files.items():
        path = os.path.join(folder, name, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii", newline="\n") as out:
            out.write(text)
