/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.io.IOException;

/**
 * A vector of objects. Tasks on processors use it; kernels and the program have the
 * elements as they are. Elements that go to a disk, or another process, are serialised.
 */
public class VectorHandle<T> extends DataHandle
{
    /** Prints what is serialised. */
    public static boolean enableTrace = System.getenv("STARPUJNI_TRACE") != null;

    private Object[] array; /* null: not acquired, nor in a kernel */
    private int first, size;
    private int acquired; /* by threads of the program that read it at once */
    private boolean initialised = true; /* what was never written has no value to read */

    protected VectorHandle()
    {
    }

    protected VectorHandle(long handle)
    {
        super(handle);
        look();
    }

    /** Registers a vector of so many nulls. */
    public static <E> VectorHandle<E> register(int size)
    {
        VectorHandle<E> vector = new VectorHandle<>();

        if (size < 0)
            throw new IllegalStateException("register: a vector of " + size + " elements");
        vector.register(Native.registerObjects(size), null);
        vector.size = size;
        vector.initialised = false;
        return vector;
    }

    @Override
    DataHandle over(long number, long address, int firstElement, int nx, int ny, int ld)
    {
        VectorHandle<T> other;

        if (getClass() != VectorHandle.class)
            return overByNumber(number);
        other = new VectorHandle<>();

        other.nativeHandle = number;
        other.size = nx;
        other.first = firstElement;
        if (other.isInKernel())
            other.array = ObjectArrays.get((int) address);
        return other;
    }

    @Override
    long forTask(Codelet codelet, int i)
    {
        if (codelet.modes[i] != AccessMode.STARPU_SCRATCH)
            needValue(codelet.modes[i] != AccessMode.STARPU_W);
        return super.forTask(codelet, i);
    }

    /* Elements are null until they are written; for C they are nothing. */
    private void needValue(boolean reads)
    {
        if (initialised)
            return;
        initialised = true;
        if (reads)
            initialise(nativeHandle);
    }

    private static void initialise(long handle)
    {
        Native.acquire(handle, AccessMode.STARPU_W.flags);
        Native.release(handle);
    }

    @Override
    public void acquire(AccessMode mode)
    {
        if (isInKernel())
            return;
        check("acquire");
        needValue(mode != AccessMode.STARPU_W);
        super.acquire(mode);
        synchronized (this) {
            acquired++;
            look();
        }
    }

    @Override
    public void release()
    {
        if (isInKernel())
            return;
        synchronized (this) {
            if (--acquired == 0)
                array = null;
        }
        super.release();
    }

    @Override
    public void partition(int n)
    {
        needValue(true);
        super.partition(n);
    }

    private void look()
    {
        java.nio.LongBuffer words = Native.words(nativeHandle);

        array = ObjectArrays.get((int) words.get(Native.ADDRESS));
        first = (int) words.get(Native.FIRST);
        size = (int) words.get(Native.NX);
    }

    /** How many elements it has. */
    public int getSize()
    {
        return size;
    }

    /** Outside of kernels and without acquire: waits for the tasks that write it. */
    public T getValueAt(int index)
    {
        if (array != null || isInKernel())
            return element(index);
        acquire(AccessMode.STARPU_R);
        try {
            return element(index);
        } finally {
            release();
        }
    }

    @SuppressWarnings("unchecked")
    private T element(int index)
    {
        return array == null ? null : (T) array[first + check(index)];
    }

    private int check(int index)
    {
        if (index < 0 || index >= size)
            throw new IndexOutOfBoundsException(index + " of " + size);
        return index;
    }

    /** The same. */
    public void setValueAt(int index, T value)
    {
        if (array != null || isInKernel()) {
            set(index, value);
            return;
        }
        acquire(AccessMode.STARPU_RW);
        try {
            set(index, value);
        } finally {
            release();
        }
    }

    private void set(int index, T value)
    {
        check(index);
        if (array != null)
            array[first + index] = value;
    }

    /** The elements, serialised. */
    public byte[] pack() throws IOException
    {
        Object[] elements = new Object[size];

        for (int i = 0; i < size; i++)
            elements[i] = getValueAt(i);
        return Native.serialise(elements, 0, size);
    }

    /** Elements that were; there must be as many. */
    public void unpack(byte[] bytes) throws IOException, ClassNotFoundException
    {
        Object[] elements = new Object[size];

        Native.deserialise(elements, 0, size, bytes);
        for (int i = 0; i < size; i++) {
            @SuppressWarnings("unchecked")
            T element = (T) elements[i];

            setValueAt(i, element);
        }
    }

    /* --- by numbers, for classes of handles that a program adds --- */

    protected static long vectorObjectRegister(int n)
    {
        long handle = Native.registerObjects(n);

        initialise(handle);
        return handle;
    }

    protected static int vectorObjectGetSize(long handle)
    {
        return vectorGetSize(handle);
    }

    protected static <E> E vectorObjectGetAt(long handle, int index)
    {
        return new VectorHandle<E>(handle).element(index);
    }

    protected static void vectorObjectSetAt(long handle, int index, Object value)
    {
        new VectorHandle<Object>(handle).set(index, value);
    }

    protected static byte[] pack(long handle) throws IOException
    {
        return new VectorHandle<Object>(handle).pack();
    }

    protected static <T> void unpack(long handle, byte[] bytes)
        throws IOException, ClassNotFoundException
    {
        new VectorHandle<T>(handle).unpack(bytes);
    }
}
