/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.nio.Buffer;
import java.nio.ByteBuffer;

/** A vector of numbers. */
public abstract class ScalarVectorHandle<T> extends MemoryHandle
{
    ScalarVectorHandle()
    {
    }

    protected ScalarVectorHandle(long handle)
    {
        nativeHandle = handle;
        nx = vectorGetSize(handle);
    }

    /* A class that the program adds reads its elements by the functions of DataHandle. */
    @Override
    int elementSize()
    {
        return 0;
    }

    @Override
    Buffer typed(ByteBuffer bytes)
    {
        return bytes;
    }

    @Override
    MemoryHandle blank()
    {
        return null;
    }

    @Override
    DataHandle over(long number, long address, int first, int width, int height, int pitch)
    {
        return elementSize() == 0 ? overByNumber(number)
                                  : super.over(number, address, first, width, height, pitch);
    }

    /** How many elements it has. */
    public int getSize()
    {
        return nx;
    }
}
