/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

/**
 * A function of C, void f(void *buffers[], void *argument), as StarPU's kernels are: what a
 * codelet may have in the place of run, or for CUDA devices.
 */
public final class NativeFunction
{
    final long address;
    final boolean asynchronous;

    private NativeFunction(long address, boolean asynchronous)
    {
        this.address = address;
        this.asynchronous = asynchronous;
    }

    /** By the path of a shared library, which stays loaded, and the function's name. */
    public static NativeFunction of(String library, String name) throws StarPUException
    {
        return new NativeFunction(Native.findFunction(library, name), false);
    }

    /**
     * The same, for devices: it only puts its work into the worker's stream, where copies
     * wait for it (STARPU_CUDA_ASYNC).
     */
    public NativeFunction asynchronous()
    {
        return new NativeFunction(address, true);
    }
}
