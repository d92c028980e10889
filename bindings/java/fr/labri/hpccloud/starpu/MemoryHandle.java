/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Data whose elements are in memory as in C: a buffer of Java's lies on it, so that no
 * element costs a call. Rows of a matrix are ld elements apart.
 */
abstract class MemoryHandle extends DataHandle
{
    /** A buffer on some memory. Kernels ask for the same one again and again. */
    private static final class View
    {
        final long address;
        final int bytes;
        final Buffer typed;

        View(long address, int bytes, Buffer typed)
        {
            this.address = address;
            this.bytes = bytes;
            this.typed = typed;
        }
    }

    private View cached;
    Buffer typed; /* only read and written by index: threads share it */
    int nx, ny, ld;

    abstract int elementSize();

    abstract Buffer typed(ByteBuffer bytes);

    /* Another one of this class. */
    abstract MemoryHandle blank();

    final void place(ByteBuffer bytes, int width, int height)
    {
        ByteBuffer all = bytes.duplicate();

        all.clear();
        nx = ld = width;
        ny = height;
        typed = typed(all.order(ByteOrder.nativeOrder()));
    }

    @Override
    DataHandle over(long number, long address, int first, int width, int height, int pitch)
    {
        MemoryHandle other = blank();
        int bytes = width == 0 || height == 0
                        ? 0
                        : ((height - 1) * pitch + width) * elementSize();
        View view = cached;

        if (view == null || view.address != address || view.bytes != bytes) {
            view = new View(address, bytes,
                            typed(Native.view(address, bytes).order(ByteOrder.nativeOrder())));
            cached = view;
        }
        other.nativeHandle = number;
        other.nx = width;
        other.ny = height;
        other.ld = pitch;
        other.typed = view.typed;
        return other;
    }

    final int index(int i)
    {
        if (i < 0 || i >= nx)
            throw new IndexOutOfBoundsException(i + " of " + nx);
        return i;
    }

    final int index(int row, int column)
    {
        if (row < 0 || row >= ny || column < 0 || column >= nx)
            throw new IndexOutOfBoundsException(row + ", " + column + " of " + ny + " x " + nx);
        return row * ld + column;
    }
}
