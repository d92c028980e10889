#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulate the same tasks on several machines, one after the other, in one
process and without a line of C.

usage: two_machines.py MACHINE [MACHINE...]   (for instance: mirage attila)

Machines are named as for `orrery run -m`. The tasks multiply 960 by 960 tiles
of floats and take what the performance model chol_model_gemm of each machine
says; the kernel itself is not run. ORRERY_LIBRARY names liborrery.so where the
system does not find it.
"""

import ctypes
import ctypes.util
import os
import sys
from ctypes import c_char, c_char_p, c_int, c_size_t, c_uint32, c_void_p

TILE = 960
CHAINS, LENGTH = 12, 10
R, RW = 1, 3
HISTORY_BASED = 4
IMPLEMENTATIONS, BUFFERS = 4, 8

KERNEL = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)


class PerfModel(ctypes.Structure):
    """struct starpu_perfmodel as far as `symbol`; the library owns the rest."""

    _fields_ = [
        ("type", c_int),
        ("cost_functions", c_void_p * 3),
        ("size_base", c_void_p),
        ("footprint", c_void_p),
        ("symbol", c_char_p),
        ("rest", c_char * 4096),
    ]


class Codelet(ctypes.Structure):
    """struct starpu_codelet as far as `model`."""

    _fields_ = [
        ("where", c_uint32),
        ("can_execute", c_void_p),
        ("type", c_int),
        ("max_parallelism", c_int),
        ("old_functions", c_void_p * 3),
        ("cpu_funcs", KERNEL * IMPLEMENTATIONS),
        ("cuda_funcs", c_void_p * IMPLEMENTATIONS),
        ("cuda_flags", c_char * IMPLEMENTATIONS),
        ("hip_funcs", c_void_p * IMPLEMENTATIONS),
        ("hip_flags", c_char * IMPLEMENTATIONS),
        ("opencl_funcs", c_void_p * IMPLEMENTATIONS),
        ("opencl_flags", c_char * IMPLEMENTATIONS),
        ("max_fpga_funcs", c_void_p * IMPLEMENTATIONS),
        ("cpu_funcs_name", c_char_p * IMPLEMENTATIONS),
        ("bubble_functions", c_void_p * 2),
        ("nbuffers", c_int),
        ("modes", c_int * BUFFERS),
        ("dyn_modes", c_void_p),
        ("specific_nodes", c_int),
        ("nodes", c_int * BUFFERS),
        ("dyn_nodes", c_void_p),
        ("model", ctypes.POINTER(PerfModel)),
        ("rest", c_char * 16384),
    ]


@KERNEL
def kernel(_buffers, _arg):
    """Stands for the kernel: simulated workers let its time pass instead."""


def load():
    """Opens liborrery and declares what its functions return."""
    name = os.environ.get("ORRERY_LIBRARY") or ctypes.util.find_library(
        "orrery"
    )
    try:
        library = ctypes.CDLL(name or "liborrery.so")
    except OSError as error:
        sys.exit(f"two_machines.py: {error}; set ORRERY_LIBRARY to its path")
    library.starpu_timing_now.restype = ctypes.c_double
    library.starpu_shutdown.restype = None
    library.starpu_matrix_data_register.restype = None
    library.starpu_data_unregister.restype = None
    library.starpu_data_unregister.argtypes = [c_void_p]
    return library


def make_codelet():
    """A gemm: two tiles read, one written. The caller keeps both alive."""
    model = PerfModel(type=HISTORY_BASED, symbol=b"chol_model_gemm")
    codelet = Codelet(nbuffers=3, model=ctypes.pointer(model))
    codelet.cpu_funcs[0] = kernel
    for buffer, mode in enumerate((R, R, RW)):
        codelet.modes[buffer] = mode
    return codelet, model


def register(library, memory):
    handle = c_void_p()
    library.starpu_matrix_data_register(
        ctypes.byref(handle), c_int(0), c_void_p(ctypes.addressof(memory)),
        c_uint32(TILE), c_uint32(TILE), c_uint32(TILE), c_size_t(4),
    )
    return handle


def makespan(library, machine):
    """Virtual milliseconds that CHAINS chains of LENGTH tasks take."""
    os.environ["ORRERY_MACHINE"] = machine
    if library.starpu_init(None) != 0:
        sys.exit(f"two_machines.py: {machine} cannot be simulated")
    codelet, model = make_codelet()
    memory = [(ctypes.c_float * (TILE * TILE))() for _ in range(CHAINS + 2)]
    handles = [register(library, tile) for tile in memory]
    start = library.starpu_timing_now()
    for _ in range(LENGTH):
        for chain in handles[2:]:
            result = library.starpu_task_insert(
                ctypes.byref(codelet), c_int(R), handles[0], c_int(R),
                handles[1], c_int(RW), chain, c_int(0),
            )
            if result != 0:
                sys.exit(f"two_machines.py: {os.strerror(-result)}")
    library.starpu_task_wait_for_all()
    elapsed = (library.starpu_timing_now() - start) / 1000
    for handle in handles:
        library.starpu_data_unregister(handle)
    library.starpu_shutdown()
    del model
    return elapsed


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if len(sys.argv) > 1 else 2
    library = load()
    for machine in sys.argv[1:]:
        print(f"{machine}: {makespan(library, machine):.3f} ms", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
