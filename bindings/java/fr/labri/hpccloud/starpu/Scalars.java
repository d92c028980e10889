/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Data by their numbers alone: behind the static functions of DataHandle. */
final class Scalars extends DataHandle
{
    /* Memory of those that no object has taken yet. */
    private static final Map<Long, ByteBuffer> MEMORY = new ConcurrentHashMap<>();

    Scalars(long handle)
    {
        super(handle);
    }

    @Override
    DataHandle over(long number, long address, int first, int nx, int ny, int ld)
    {
        return new Scalars(number);
    }

    static ByteBuffer memory(long bytes)
    {
        if (bytes < 0 || bytes > Integer.MAX_VALUE)
            throw new IllegalStateException("register: " + bytes + " bytes are not what a buffer " +
                                      "of Java can have, 0 to 2^31 - 1");
        /* C refuses an address that is none. */
        return ByteBuffer.allocateDirect(Math.max(1, (int) bytes)).order(ByteOrder.nativeOrder());
    }

    static long registerVariable(int size)
    {
        ByteBuffer memory = memory(size);
        long handle = Native.registerVariable(memory, size);

        MEMORY.put(handle, memory);
        return handle;
    }

    static long registerVector(int n, int size)
    {
        ByteBuffer memory = memory((long) n * size);
        long handle = Native.registerVector(memory, n, size);

        MEMORY.put(handle, memory);
        return handle;
    }

    static ByteBuffer takeMemory(long handle)
    {
        return MEMORY.remove(handle);
    }

    static ByteBuffer at(long handle, int index, int size)
    {
        java.nio.LongBuffer words = Native.words(handle);

        if (index < 0 || index >= words.get(Native.NX))
            throw new IndexOutOfBoundsException(index + " of " + words.get(Native.NX));
        return Native.view(words.get(Native.ADDRESS) + (long) index * size, size)
            .order(ByteOrder.nativeOrder());
    }
}
