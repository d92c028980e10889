/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A datum that tasks use: registered, or a part of one, or a buffer of a kernel. */
public abstract class DataHandle
{
    /** How a task uses a datum. */
    public enum AccessMode {
        STARPU_R(1),
        STARPU_W(2),
        STARPU_RW(3),
        STARPU_REDUX(8),
        STARPU_SCRATCH(4),
        /** As RW, in any order with others that do: what adds to a datum. */
        STARPU_COMMUTE(3 | 16);

        final int flags; /* enum starpu_data_access_mode */

        AccessMode(int flags)
        {
            this.flags = flags;
        }

        boolean writes()
        {
            return (flags & (2 | 8)) != 0;
        }
    }

    /** In numbers of kernels' buffers: they are addresses of interfaces, and this. */
    static final long IN_KERNEL = 1;

    /** The handle's number in C; in a kernel the address of the interface, with a mark. */
    protected long nativeHandle;

    private Registered registered; /* null: a part, or a buffer of a kernel */
    private DataHandle whole;      /* of a part */
    private DataHandle[] children;
    private int columns; /* children in a row of them */

    protected DataHandle()
    {
    }

    protected DataHandle(long handle)
    {
        nativeHandle = handle;
    }

    final void register(long handle, Object memory)
    {
        nativeHandle = handle;
        registered = Registered.add(this, handle, memory);
    }

    /** For classes that register by the functions below: shutdown unregisters it. */
    protected <T extends DataHandle> T setRegistered()
    {
        @SuppressWarnings("unchecked")
        T self = (T) this;

        if (registered == null)
            registered = Registered.add(this, nativeHandle, Scalars.takeMemory(nativeHandle));
        return self;
    }

    final boolean isInKernel()
    {
        return (nativeHandle & IN_KERNEL) != 0;
    }

    /* An object of the same class on a part, or a kernel's buffer: a class that is not of
     * this package has a constructor for that, from the number. */
    DataHandle over(long number, long address, int first, int nx, int ny, int ld)
    {
        return overByNumber(number);
    }

    final DataHandle overByNumber(long number)
    {
        try {
            Constructor<? extends DataHandle> constructor =
                getClass().getDeclaredConstructor(long.class);

            constructor.setAccessible(true);
            return constructor.newInstance(number);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(getClass().getName() + " needs a constructor (long)", e);
        }
    }

    private DataHandle over(long number)
    {
        java.nio.LongBuffer words = Native.words(number);
        DataHandle part = over(number, words.get(Native.ADDRESS), (int) words.get(Native.FIRST),
                               (int) words.get(Native.NX), (int) words.get(Native.NY),
                               (int) words.get(Native.LD));

        part.whole = this;
        return part;
    }

    /* Whether C still knows it. */
    private boolean isThere()
    {
        return whole != null ? whole.isThere() && whole.children != null
                             : registered == null || registered.isOpen();
    }

    final void check(String call)
    {
        if (!isThere())
            throw new IllegalStateException(call + ": this datum " +
                                      (whole != null ? "is a part of one that was put together"
                                                     : "is not registered any more"));
    }

    /* Its number for a task that uses it as its i-th. */
    long forTask(Codelet codelet, int i)
    {
        if (isInKernel())
            throw new IllegalStateException("StarPU.submitTask: a buffer of a kernel is no handle");
        check("StarPU.submitTask");
        return nativeHandle;
    }

    @Override
    public String toString()
    {
        return getClass().getSimpleName() + "@" + Long.toHexString(nativeHandle);
    }

    /**
     * What tasks with STARPU_REDUX do: `init' makes a value that changes nothing
     * (STARPU_W), `redux' adds the second (STARPU_R) to the first (STARPU_RW).
     */
    public void setReductionMethods(Codelet redux, Codelet init)
    {
        check("setReductionMethods");
        try {
            int reduxNumber = TaskTable.put(Task.ofReduction(redux, prototype()));
            int initNumber = TaskTable.put(Task.ofReduction(init, prototype()));

            Native.setReductionMethods(nativeHandle, redux.findPeer(Codelet.REDUCES), reduxNumber,
                                       init.findPeer(Codelet.INITIALISES), initNumber);
            if (registered != null)
                registered.setReduction(reduxNumber, initNumber);
        } catch (StarPUException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /* What buffers of a reduction are made after: it must not keep the datum alive. */
    private DataHandle prototype()
    {
        DataHandle prototype = over(nativeHandle);

        prototype.whole = null;
        return prototype;
    }

    /** Gives the datum back; its values are in its memory then. Waits for its tasks. */
    public void unregister()
    {
        if (registered == null)
            return;
        children = null;
        registered.unregister(true);
    }

    /** Lets the program read it, until release. */
    public void acquire()
    {
        acquire(AccessMode.STARPU_R);
    }

    /** Waits until the program may use it like that, until release. In a kernel nothing. */
    public void acquire(AccessMode mode)
    {
        if (isInKernel())
            return;
        check("acquire");
        Native.acquire(nativeHandle, mode.flags);
    }

    /** The program uses it no more. */
    public void release()
    {
        if (!isInKernel())
            Native.release(nativeHandle);
    }

    /** Cuts it into n parts, of which the first may be larger; rows of a matrix. */
    public void partition(int n)
    {
        cut(n, 0);
    }

    final void cut(int n, int m)
    {
        check("partition");
        if (children != null)
            throw new IllegalStateException("partition: it has parts already: unpartition it before");
        if (n <= 0 || m < 0)
            throw new IllegalStateException("partition: " + n + " parts");
        Native.partition(nativeHandle, n, m);
        if (registered != null)
            registered.setPartitioned(true);
        columns = m;
        children = new DataHandle[m > 0 ? n * m : n];
    }

    /** How many parts there are, 0: none. */
    public int getNbChildren()
    {
        return children == null ? 0 : children.length;
    }

    /** The same, 1 without parts. */
    public int getNbHandles()
    {
        return children == null ? 1 : children.length;
    }

    /** A part, valid until unpartition. */
    public DataHandle getSubData(int index)
    {
        if (children == null || index < 0 || index >= children.length)
            throw new IllegalStateException("getSubData: there is no part " + index + " of " +
                                      getNbChildren());
        if (children[index] == null)
            children[index] =
                over(columns > 0 ? Native.child(nativeHandle, index / columns, index % columns)
                                 : Native.child(nativeHandle, index, -1));
        return children[index];
    }

    /** A part of a matrix that was cut in both directions: the row of parts, the column. */
    public DataHandle getSubData(int row, int column)
    {
        if (columns == 0 || column < 0 || column >= columns)
            throw new IllegalStateException("getSubData: there is no part " + row + ", " + column);
        return getSubData(row * columns + column);
    }

    final DataHandle partOrSelf(int index)
    {
        return children == null ? this : getSubData(index);
    }

    /** Puts the parts together; waits for their tasks. */
    public void unpartition()
    {
        check("unpartition");
        if (children == null)
            return;
        Native.unpartition(nativeHandle);
        if (registered != null)
            registered.setPartitioned(false);
        children = null;
        columns = 0;
    }

    /** The parts in order, or itself. */
    public Iterable<DataHandle> getHandles()
    {
        List<DataHandle> handles = new ArrayList<>();

        for (int i = 0; i < getNbHandles(); i++)
            handles.add(partOrSelf(i));
        return Collections.unmodifiableList(handles);
    }

    /** In traces and messages. */
    public DataHandle setName(String name)
    {
        check("setName");
        Native.setName(nativeHandle, name);
        return this;
    }

    /* --- by numbers, for classes of handles that a program adds --- */

    protected static void setReductionMethods(long handle, Codelet redux, Codelet init)
    {
        new Scalars(handle).setReductionMethods(redux, init);
    }

    private static ByteBuffer at(long handle, int index, int size)
    {
        return Scalars.at(handle, index, size);
    }

    protected static long variableRegisterInt()
    {
        return Scalars.registerVariable(Integer.BYTES);
    }

    protected static int variableGetIntValue(long handle)
    {
        return at(handle, 0, Integer.BYTES).getInt();
    }

    protected static void variableSetIntValue(long handle, int value)
    {
        at(handle, 0, Integer.BYTES).putInt(value);
    }

    protected static long variableRegisterLong()
    {
        return Scalars.registerVariable(Long.BYTES);
    }

    protected static long variableGetLongValue(long handle)
    {
        return at(handle, 0, Long.BYTES).getLong();
    }

    protected static void variableSetLongValue(long handle, long value)
    {
        at(handle, 0, Long.BYTES).putLong(value);
    }

    protected static long variableRegisterFloat()
    {
        return Scalars.registerVariable(Float.BYTES);
    }

    protected static float variableGetFloatValue(long handle)
    {
        return at(handle, 0, Float.BYTES).getFloat();
    }

    protected static void variableSetFloatValue(long handle, float value)
    {
        at(handle, 0, Float.BYTES).putFloat(value);
    }

    protected static long variableRegisterDouble()
    {
        return Scalars.registerVariable(Double.BYTES);
    }

    protected static double variableGetDoubleValue(long handle)
    {
        return at(handle, 0, Double.BYTES).getDouble();
    }

    protected static void variableSetValueAsDouble(long handle, double value)
    {
        at(handle, 0, Double.BYTES).putDouble(value);
    }

    protected static int vectorGetSize(long handle)
    {
        return (int) Native.words(handle).get(Native.NX);
    }

    protected static long vectorRegisterInt(int n)
    {
        return Scalars.registerVector(n, Integer.BYTES);
    }

    protected static int vectorGetIntAt(long handle, int index)
    {
        return at(handle, index, Integer.BYTES).getInt();
    }

    protected static void vectorSetIntAt(long handle, int index, int value)
    {
        at(handle, index, Integer.BYTES).putInt(value);
    }

    protected static float vectorGetFloatAt(long handle, int index)
    {
        return at(handle, index, Float.BYTES).getFloat();
    }

    protected static void vectorSetFloatAt(long handle, int index, float value)
    {
        at(handle, index, Float.BYTES).putFloat(value);
    }

    protected static long vectorGetLongAt(long handle, int index)
    {
        return at(handle, index, Long.BYTES).getLong();
    }

    protected static void vectorSetLongAt(long handle, int index, long value)
    {
        at(handle, index, Long.BYTES).putLong(value);
    }

    protected static double vectorGetDoubleAt(long handle, int index)
    {
        return at(handle, index, Double.BYTES).getDouble();
    }

    protected static void vectorSetDoubleAt(long handle, int index, double value)
    {
        at(handle, index, Double.BYTES).putDouble(value);
    }
}
