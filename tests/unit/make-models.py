#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a small, good set of performance models of a synthetic machine: the
kernels potrf, trsm, syrk and gemm on a core and two GPUs, at six sizes, with
plausible times and samples of little spread. The same each time.

usage: make-models.py SAMPLING_DIRECTORY [HOST [side]]     (HOST: testbox)

With `side`, the files of robust statistics beside them as well.

Tests that damage a model import this file (importlib, for the dash), change
what models() returns and hand it to write().
"""
import math
import os
import random
import sys

SIZES = (320, 480, 640, 960, 1280, 1920)  # sides of tiles of doubles

# name: (tiles it touches, flop over side**3)
KERNELS = {
    "potrf": (1, 1 / 3),
    "trsm": (2, 1.0),
    "syrk": (2, 1.0),
    "gemm": (3, 2.0),
}

# (type, number): the two GPUs are alike but for a per cent.
CPU, CUDA = 0, 1
DEVICES = ((CPU, 0), (CUDA, 0), (CUDA, 1))

# Flop per microsecond at large sizes, and the time of an empty kernel in µs.
RATES = {
    CPU: {"potrf": (12e3, 3.0), "trsm": (16e3, 3.0), "syrk": (17e3, 3.0),
          "gemm": (18e3, 3.0)},
    CUDA: {"potrf": (60e3, 120.0), "trsm": (500e3, 25.0),
           "syrk": (700e3, 18.0), "gemm": (1000e3, 18.0)},
}
SPREAD = 0.012  # standard deviation over mean


def crc_byte(byte, crc):
    crc ^= byte << 24
    for _ in range(8):
        crc = ((crc << 1) ^ 0x1EDC6F41 if crc & 0x80000000 else crc << 1)
        crc &= 0xFFFFFFFF
    return crc


def crc_u32(value, crc):
    for byte in value.to_bytes(4, "little"):
        crc = crc_byte(byte, crc)
    return crc


def footprint(side, operands):
    """Of a task on square matrices, as the runtime computes it."""
    matrix = crc_u32(crc_u32(side, side), 0)
    crc = 0
    for _ in range(operands):
        crc = crc_u32(matrix, crc)
    return crc


def time_of(kernel, device, side):
    """The time without noise in µs: flop over rate, plus the empty kernel."""
    rate, empty = RATES[device[0]][kernel]
    flops = KERNELS[kernel][1] * side ** 3
    return (empty + flops / rate) * (1.01 if device == (CUDA, 1) else 1.0)


def row_of(samples, hash_, size, flops):
    """What a model file says of samples; the samples are kept beside it."""
    n, total = len(samples), math.fsum(samples)
    squares = math.fsum(y * y for y in samples)
    return {"hash": hash_, "size": size, "flops": flops, "n": n,
            "mean": total / n, "sum": total, "sum2": squares,
            "dev": math.sqrt(abs(squares - total * total / n) / n),
            "samples": list(samples)}


def make_rows(kernel, device):
    rng = random.Random(f"{kernel} {device}")
    tiles, per_cube = KERNELS[kernel]
    rows = []
    for side in SIZES:
        mean = time_of(kernel, device, side)
        samples = [mean * math.exp(rng.gauss(0, SPREAD))
                   for _ in range(rng.randrange(24, 61))]
        rows.append(row_of(samples, footprint(side, tiles),
                           tiles * side * side * 8, per_cube * side ** 3))
    return rows


NO_FIT = {"sums": (0.0, 0.0, 0.0, 0.0), "alpha": math.nan, "beta": math.nan,
          "n": 0, "minx": 0, "maxx": 0, "abc": (math.nan,) * 3, "coeff": ()}


def fit_of(kernel, device, rows):
    """The regression parameters, all over samples: alpha x^beta by least squares
    of the logarithms; a x^b + c is the true function, x being bytes."""
    points = [(math.log(row["size"]), math.log(y))
              for row in rows for y in row["samples"]]
    n = len(points)
    sx, sy = (math.fsum(p[i] for p in points) for i in (0, 1))
    sxx = math.fsum(x * x for x, _ in points)
    sxy = math.fsum(x * y for x, y in points)
    beta = (n * sxy - sx * sy) / (n * sxx - sx * sx)
    rate, empty = RATES[device[0]][kernel]
    tiles, per_cube = KERNELS[kernel]
    scale = 1.01 if device == (CUDA, 1) else 1.0
    a = scale * per_cube / rate / (8 * tiles) ** 1.5
    return {"sums": (sx, sxx, sy, sxy), "alpha": math.exp((sy - beta * sx) / n),
            "beta": beta, "n": n, "minx": rows[0]["size"],
            "maxx": rows[-1]["size"], "abc": (a, 1.5, scale * empty),
            "coeff": ()}


def models():
    """{symbol: [{"devices": [(type, number, cores)], "impls": [{"fit", "rows"}
    ]}]}. Only syrk has regression parameters, as models of history type have
    none."""
    made = {}
    for kernel in KERNELS:
        combs = []
        for device in DEVICES:
            rows = make_rows(kernel, device)
            fit = fit_of(kernel, device, rows) if kernel == "syrk" else NO_FIT
            combs.append({"devices": [(*device, 1)],
                          "impls": [{"fit": fit, "rows": rows}]})
        made[kernel] = combs
    return made


def real(value):
    return "%-15e" % value


def text_of(combs):
    """A version-45 file."""
    out = ["# Performance Model Version", "45", "# number of combinations",
           str(len(combs))]
    for number, comb in enumerate(combs):
        out += [f"# COMB_{number}: number of devices", str(len(comb["devices"]))]
        for device in comb["devices"]:
            out += ["# type, number, cores", *map(str, device)]
        out += ["# number of implementations", str(len(comb["impls"]))]
        for impl in comb["impls"]:
            fit, rows = impl["fit"], impl["rows"]
            out += ["# number of entries", str(len(rows)),
                    "\t".join([*map(real, fit["sums"]), real(fit["alpha"]),
                               real(fit["beta"]), str(fit["n"]),
                               str(fit["minx"]), str(fit["maxx"])]),
                    "\t".join(map(real, fit["abc"])),
                    "\t".join([str(len(fit["coeff"])),
                               *map(real, fit["coeff"])])]
            out += ["\t".join(["%08x" % row["hash"], str(row["size"]),
                               *(real(row[key]) for key in
                                 ("flops", "mean", "dev", "sum", "sum2")),
                               str(row["n"])])
                    for row in rows]
    return "\n".join(out) + "\n"


def write(directory, made, host="testbox"):
    """Writes all models below a sampling directory."""
    folder = os.path.join(directory, "codelets", "45")
    os.makedirs(folder, exist_ok=True)
    for symbol, combs in made.items():
        with open(os.path.join(folder, f"{symbol}.{host}"), "w",
                  encoding="ascii") as file:
            file.write(text_of(combs))


def side_text(combs, last_time=1700000000):
    """A side file. What is half as long again as the median was set aside; one
    process had a first run of three times the mean. A row without samples has
    no entry."""
    entries, samples = [], []
    for comb in combs:
        devices = "+".join("%d/%d/%d" % tuple(d) for d in comb["devices"])
        for impl, rows in enumerate(i["rows"] for i in comb["impls"]):
            for row in (r for r in rows if r["samples"]):
                number, recent = len(entries), row["samples"][-128:]
                limit = 1.5 * sorted(recent)[len(recent) // 2]
                kept = [y for y in recent if y <= limit]
                mean = math.fsum(kept) / len(kept)
                entries.append("entry %s %d %08x %d %s %.9g %d %d 1 %.9g %d" % (
                    devices, impl, row["hash"], row["n"],
                    real(row["sum"]).strip(), mean, row["n"],
                    len(recent) - len(kept), 3 * mean, last_time))
                samples.append("recent %d %d %s" % (
                    number, len(recent), " ".join(
                        "%.6g%s" % (y, "" if y <= limit else "!")
                        for y in recent)))
                samples.append("blocks %d 1 %d 0 0 %s" % (
                    number, len(kept), " ".join("%.9g" % y for y in kept)))
    return "\n".join(["orrery-side 1", *entries, "samples", *samples]) + "\n"


def write_sides(directory, made, host="testbox", last_time=1700000000):
    """Writes the side files of write()."""
    folder = os.path.join(directory, "codelets", "45.orrery")
    os.makedirs(folder, exist_ok=True)
    for symbol, combs in made.items():
        with open(os.path.join(folder, f"{symbol}.{host}"), "w",
                  encoding="ascii") as file:
            file.write(side_text(combs, last_time))


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4 or sys.argv[1].startswith("-") or \
            sys.argv[3:] not in ([], ["side"]):
        sys.exit(__doc__)
    write(sys.argv[1], models(), *sys.argv[2:3])
    if sys.argv[3:]:
        write_sides(sys.argv[1], models(), sys.argv[2])
