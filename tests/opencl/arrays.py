# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program of pyopencl: a kernel of its own, arrays, a reduction, a build that fails.
usage: arrays.py [check]"""
import sys

import numpy as np
import pyopencl as cl
import pyopencl.array as arrays

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
values = np.arange(5000, dtype=np.float32)
here = cl.Buffer(context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
there = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, values.nbytes)
program = cl.Program(context, """
    __kernel void twice(__global const float *a, __global float *to)
    { int i = get_global_id(0); to[i] = 2 * a[i]; }""").build()
event = cl.Kernel(program, "twice")(queue, values.shape, None, here, there)
event.wait()
assert event.profile.end >= event.profile.start
out = np.empty_like(values)
cl.enqueue_copy(queue, out, there)
summed = (arrays.to_device(queue, values) * 2 + arrays.arange(queue, 5000, dtype=np.float32)).get()
total = arrays.sum(arrays.to_device(queue, np.ones(5000, np.float32))).get()
try:
    cl.Program(context, "__kernel void wrong( {").build()
    failed = False
except cl.RuntimeError as error:
    failed = "Build" in str(error)
assert failed, "a program that does not compile was built"
if sys.argv[1:] == ["check"]:
    right = np.array_equal(out, 2 * values) and np.array_equal(summed, 3 * values) and total == 5000
    print("right" if right else "WRONG")
