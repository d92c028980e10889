/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;

/** A vector of int, under StarPU's name; IntVector has more. */
public class IntegerVectorHandle extends ScalarVectorHandle<Integer>
{
    IntegerVectorHandle()
    {
    }

    protected IntegerVectorHandle(long handle)
    {
        super(handle);
        typed = at(handle, nx);
    }

    private static IntBuffer at(long handle, int n)
    {
        return Native.view(Native.words(handle).get(Native.ADDRESS), (long) n * Integer.BYTES)
            .order(java.nio.ByteOrder.nativeOrder())
            .asIntBuffer();
    }

    /** Registers a vector of zeros. */
    public static IntegerVectorHandle register(int size)
    {
        IntegerVectorHandle vector = new IntegerVectorHandle();
        ByteBuffer memory = Scalars.memory((long) size * Integer.BYTES);

        vector.register(Native.registerVector(memory, size, Integer.BYTES), memory);
        vector.place(memory, size, 1);
        return vector;
    }

    @Override
    int elementSize()
    {
        return Integer.BYTES;
    }

    @Override
    Buffer typed(ByteBuffer bytes)
    {
        return bytes.asIntBuffer();
    }

    @Override
    MemoryHandle blank()
    {
        return new IntegerVectorHandle();
    }

    /** Outside of kernels between acquire and release. */
    public int getValueAt(int index)
    {
        return ((IntBuffer) typed).get(index(index));
    }

    public void setValueAt(int index, int value)
    {
        ((IntBuffer) typed).put(index(index), value);
    }
}
