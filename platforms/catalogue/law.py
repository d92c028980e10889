# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long a kernel takes on a tile of side n, where nothing was measured:

    t(n) = launch + chain * n + flops(n) / (peak * best * n / (n + half))

 * peak    published, of one core or one device, in the precision; tensor or
           matrix cores count where libraries use them for it: double precision
           on NVIDIA, both on AMD, never TF32;
 * best    the part of it that very large tiles reach, per kernel;
 * half    the tile side at which half of that is reached (Hockney's n_1/2);
 * chain   us per row of what cannot be parallel: the steps along the diagonal
           of trsm and potrf wait for each other, and a faster device does not
           do them sooner. That is why potrf on a device does not go with its
           peak;
 * launch  what starting the kernel takes, however small the tile, us.

flops: potrf n^3/3, trsm n^3, syrk n^3, gemm 2 n^3.

Parameters of devices are in parts.py: best and half of gemm, chain of trsm and
potrf. From these: syrk has SYRK of gemm's best and a half that is larger by
SYRK_HALF (measured on A100, V100, RTX 8000, P100: 0.45, 0.48, 0.43, 0.54 of the
peak at 1600, P100: 1240), trsm TRSM and potrf POTRF of the vector units' peak
besides their chain (gemini-1: 1.5, 4.5 and 8.6 TFLOP/s of trsm at 960, 1920 and
3840, which a chain of 0.54 us and 0.8 of the peak give).

Cores: in each precision the part of the peak at base clock that a core reaches
while all others work as well, as in sirocco-v100 (measured.py: 0.67, 0.59, 0.63
and 0.51 at 1600); half is assumed. Alone a core is 13 to 31 % faster.

Spread: standard deviation is 2 % of the mean on processor cores, 1 % on devices.

vector_scal, which only processors run, is bound by memory: a core streams
CORE_STREAM bytes per second, reading and writing each element once.
"""
import parts

# Operands of a task, flops as a part of n^3, then (best, half, launch) of a core
# and the launch of a device.
KERNELS = {
    "potrf": {"operands": 1, "work": 1 / 3, "core": (0.56, 160, 2.0),
              "launch": 20.0},
    "trsm": {"operands": 2, "work": 1, "core": (0.66, 80, 1.5),
             "launch": 12.0},
    "syrk": {"operands": 2, "work": 1, "core": (0.62, 60, 1.2),
             "launch": 5.0},
    "gemm": {"operands": 3, "work": 2, "core": (0.69, 40, 1.0),
             "launch": 4.0},
}
SYRK = {"fp32": 0.65, "fp64": 0.75}
SYRK_HALF = {"fp32": 150, "fp64": 50}
TRSM = 0.80
POTRF = 0.22
# Chain in double precision where only that in single precision is known: by 1.3
# as on A100 and V100, by 5.8 as on RTX 8000, which has a 32nd of the units.
CHAIN64, CHAIN64_SLOW = 1.3, 5.8
# Few units are busy with any tile: (best, half) as on RTX 8000.
GEMM64_SLOW = (0.87, 0)
# Part of a device's memory bandwidth that products reach, assumed.
GEMM_MEMORY = 0.8
# Single-precision gemm is judged against others' measures (judge.py): it is to
# be within this factor, in either direction.
GEMM_RANGE = 1.25

CALL = 0.5  # us, calling vector_scal's loop
SPREAD = {"core": 0.02, "device": 0.01}


def parameter(name, key):
    """A law's parameter of a device, or of the device that it refers to."""
    law = parts.DEVICES[name]["law"]
    return law[key] if key in law else parameter(law["as"], key)


def gemm_peak(name, precision):
    """TFLOP/s of the units that libraries use for products."""
    part = parts.DEVICES[name]
    matrix = precision == "fp64" or part["model"].startswith("AMD")
    return (part[precision + "_tensor"] if matrix else None) or part[precision]


def is_slow(name):
    """Whether a device has few units of double precision."""
    return parts.DEVICES[name]["fp64"] * 4 < parts.DEVICES[name]["fp32"]


def chain(name, kernel, precision):
    if precision == "fp32":
        return parameter(name, kernel)
    known = name
    while kernel not in parts.DEVICES[known]["law"]:
        known = parts.DEVICES[known]["law"]["as"]
    law = parts.DEVICES[known]["law"]
    if kernel + "64" in law and is_slow(known) == is_slow(name):
        return law[kernel + "64"]
    return law[kernel] * (CHAIN64_SLOW if is_slow(name) else CHAIN64)


def parameters(name, kernel, precision):
    """Of a device: launch (us), chain (us per row), peak * best (flop/s), half."""
    launch = KERNELS[kernel]["launch"]
    if kernel in ("trsm", "potrf"):
        share = TRSM if kernel == "trsm" else POTRF
        return (launch, float(chain(name, kernel, precision)),
                parts.DEVICES[name][precision] * 1e12 * share, 0.0)
    best, half = parameter(name, "gemm")
    if precision == "fp64" and is_slow(name):
        best, half = GEMM64_SLOW
    if kernel == "syrk":
        best *= SYRK[precision]
        half += SYRK_HALF[precision]
    return launch, 0.0, gemm_peak(name, precision) * 1e12 * best, float(half)


def flops(kernel, n):
    return KERNELS[kernel]["work"] * n**3


def device_us(name, kernel, precision, n):
    launch, steps, rate, half = parameters(name, kernel, precision)
    return launch + steps * n + flops(kernel, n) / rate * (1 + half / n) * 1e6


def gemm_us(name, m, n, k, batch=1):
    """A single-precision product of any shape takes as long as one of as many
    flops of square matrices, or as its matrices take to be read."""
    work = device_us(name, "gemm", "fp32", (batch * m * n * k)**(1 / 3))
    moved = 4 * batch * (m * n + m * k + n * k)
    memory = moved / (parts.DEVICES[name]["bandwidth"] * 1e9 *
                      GEMM_MEMORY) * 1e6
    return max(work, KERNELS["gemm"]["launch"] + memory)


def core_peak(processor, precision):
    part = parts.PROCESSORS[processor]
    return part["clock"] * 1e9 * part["flops"] / (1 if precision == "fp32"
                                                  else 2)


def core_us(processor, kernel, precision, n):
    best, half, launch = KERNELS[kernel]["core"]
    return launch + flops(kernel, n) / (
        core_peak(processor, precision) * best * n / (n + half)) * 1e6


def vector_us(processor, nbytes):
    memory = parts.PROCESSORS[processor]["memory_rate"]
    return CALL + 2 * nbytes / min(parts.CORE_STREAM,
                                   memory * parts.MEMORY_EFFICIENCY) * 1e6
