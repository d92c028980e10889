/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;

/** An int. */
public class IntegerVariableHandle<T> extends MemoryHandle
{
    IntegerVariableHandle()
    {
    }

    protected IntegerVariableHandle(long handle)
    {
        nativeHandle = handle;
        place(Native.view(Native.words(handle).get(Native.ADDRESS), Integer.BYTES), 1, 1);
    }

    /** Registers an int, 0. */
    @SuppressWarnings("rawtypes")
    public static IntegerVariableHandle register()
    {
        IntegerVariableHandle<Integer> variable = new IntegerVariableHandle<>();
        ByteBuffer memory = Scalars.memory(Integer.BYTES);

        variable.register(Native.registerVariable(memory, Integer.BYTES), memory);
        variable.place(memory, 1, 1);
        return variable;
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
        return new IntegerVariableHandle<Integer>();
    }

    /** Outside of kernels between acquire and release. */
    public int getValue()
    {
        return ((IntBuffer) typed).get(0);
    }

    public void setValue(int value)
    {
        ((IntBuffer) typed).put(0, value);
    }
}
