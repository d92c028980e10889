/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

/**
 * A function of C, void f(void *buffers[], void *argument), as StarPU's kernels are: what a
 * codelet may have in the place of run, or for CUDA devices.
 */
public final class NativeFunction
{
    final long address;

    private NativeFunction(long address)
    {
        this.address = address;
    }

    /** By the path of a shared library, which stays loaded, and the function's name. */
    public static NativeFunction of(String library, String name) throws StarPUException
    {
        return new NativeFunction(Native.findFunction(library, name));
    }
}
