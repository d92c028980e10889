/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;

/**
 * The C side. Its functions are in bindings/java/native; those that it calls up are below.
 * The latter let nothing out: C has no handlers.
 */
final class Native
{
    /* What C tells of a buffer: words, in this order. */
    static final int INTERFACE = 0, ADDRESS = 1, FIRST = 2, NX = 3, NY = 4, LD = 5, WORDS = 6;

    private static final String LIBRARY = "orrery_jni";

    static {
        load();
    }

    private Native()
    {
    }

    /* That of the property orrery.jni; beside the jar; where Java looks. */
    private static void load()
    {
        String named = System.getProperty("orrery.jni");
        File beside = null;

        try {
            File jar = new File(
                Native.class.getProtectionDomain().getCodeSource().getLocation().toURI());

            beside = new File(jar.getParentFile(), System.mapLibraryName(LIBRARY));
        } catch (URISyntaxException | NullPointerException | IllegalArgumentException e) {
            /* Java looks. */
        }
        if (named != null)
            System.load(new File(named).getAbsolutePath());
        else if (beside != null && beside.exists())
            System.load(beside.getAbsolutePath());
        else
            System.loadLibrary(LIBRARY);
    }

    /* --- the run --- */

    static native void setenv(String name, String value, boolean overwrite);
    static native int init() throws StarPUException;
    static native void shutdown() throws StarPUException;
    static native boolean isInitialized();
    static native boolean takesPart();
    static native boolean isSimulated();
    static native boolean runsKernels();
    static native boolean isInTask();
    static native void waitForAll() throws StarPUException;
    static native void waitForCompletion() throws StarPUException;
    static native double now();
    static native double drand48();
    static native int workers();

    /* --- data: what is wrong with a call is an IllegalStateException --- */

    static native long registerVariable(ByteBuffer memory, int size);
    static native long registerVector(ByteBuffer memory, int n, int size);
    static native long registerMatrix(ByteBuffer memory, int nx, int ny, int size);
    static native long registerObjects(int n);
    static native void unregister(long handle, boolean wanted);
    static native void setName(long handle, String name);
    static native void acquire(long handle, int mode);
    static native void release(long handle);
    static native void partition(long handle, int n, int m);
    static native void unpartition(long handle);
    static native long child(long handle, int i, int j);
    static native void describe(long handle, long[] words);
    static native ByteBuffer view(long address, long bytes);
    static native long address(ByteBuffer buffer);

    /* --- tasks --- */

    static native long newCodelet(String name, String model, boolean costs, int[] modes,
                                  int role, long cpu, long cuda, boolean asynchronous,
                                  boolean device)
        throws StarPUException;
    static native void setReductionMethods(long handle, long redux, int reduxNumber, long init,
                                           int initNumber);
    static native long findFunction(String library, String name) throws StarPUException;
    static native boolean reserveNumbers(int n);
    static native int takeEnded(int[] numbers);
    static native long submit(long codelet, long[] handles, int n, int number, int flags,
                              int priority, long argument, long name) throws StarPUException;
    static native long text(String text);
    static native void waitForTask(long task) throws StarPUException;
    static native void destroyTask(long task);

    /* --- called up --- */

    /** The kernel of task `number' with n buffers, described in the frame. */
    static void execute(int number, ByteBuffer frame, int n)
    {
        Task task = TaskTable.get(number);

        try {
            task.codelet.run(buffersOf(task, frame.order(ByteOrder.nativeOrder()), n));
        } catch (Throwable e) {
            task.fail(e);
        }
        TaskTable.executed(number, task);
    }

    private static DataHandle[] buffersOf(Task task, ByteBuffer frame, int n)
    {
        DataHandle[] buffers = new DataHandle[n];

        for (int i = 0; i < n; i++) {
            int at = i * WORDS * 8;

            buffers[i] = task.handles[i % task.handles.length].over(
                frame.getLong(at + INTERFACE * 8) | DataHandle.IN_KERNEL,
                frame.getLong(at + ADDRESS * 8), (int) frame.getLong(at + FIRST * 8),
                (int) frame.getLong(at + NX * 8), (int) frame.getLong(at + NY * 8),
                (int) frame.getLong(at + LD * 8));
        }
        return buffers;
    }

    /** A task that was promised has ended. */
    static void completed(int number)
    {
        try {
            TaskTable.get(number).complete();
        } catch (Throwable e) {
            StarPU.failed(e);
        }
    }

    /** µs on a worker of that type; NaN: unknown. */
    static double cost(int number, int type)
    {
        try {
            Task task = TaskTable.get(number);

            return task == null ? Double.NaN
                                : task.codelet.getTime(WorkerType.of(type), task.handles);
        } catch (Throwable e) {
            StarPU.failed(e);
            return Double.NaN;
        }
    }

    /** A new array of n elements; its number, 0: no memory. */
    static int allocate(int n)
    {
        try {
            return ObjectArrays.add(new Object[n]);
        } catch (OutOfMemoryError e) {
            return 0;
        }
    }

    static void free(int array)
    {
        ObjectArrays.remove(array);
    }

    static void copy(int source, int first, int destination, int destinationFirst, int n)
    {
        System.arraycopy(ObjectArrays.get(source), first, ObjectArrays.get(destination),
                         destinationFirst, n);
    }

    /** Elements as bytes; null: they are not serialisable, which the next wait says. */
    static byte[] pack(int array, int first, int n)
    {
        try {
            return serialise(ObjectArrays.get(array), first, n);
        } catch (Throwable e) {
            StarPU.failed(e);
            return null;
        }
    }

    static boolean unpack(int array, int first, int n, byte[] bytes)
    {
        try {
            deserialise(ObjectArrays.get(array), first, n, bytes);
            return true;
        } catch (Throwable e) {
            StarPU.failed(e);
            return false;
        }
    }

    /** The count, then each element. */
    static byte[] serialise(Object[] array, int first, int n) throws IOException
    {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeInt(n);
            for (int i = 0; i < n; i++)
                out.writeObject(array[first + i]);
        }
        if (VectorHandle.enableTrace || StarPU.enableTrace)
            System.err.println("orrery: pack " + n + " objects: " + bytes.size() + " bytes");
        return bytes.toByteArray();
    }

    static void deserialise(Object[] array, int first, int n, byte[] bytes)
        throws IOException, ClassNotFoundException
    {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            int count = in.readInt();

            if (count != n)
                throw new IOException(count + " objects for a vector of " + n);
            for (int i = 0; i < n; i++)
                array[first + i] = in.readObject();
        }
        if (VectorHandle.enableTrace || StarPU.enableTrace)
            System.err.println("orrery: unpack " + n + " objects: " + bytes.length + " bytes");
    }

    /* --- words of a handle in main memory --- */

    static LongBuffer words(long handle)
    {
        long[] words = new long[WORDS];

        describe(handle, words);
        return LongBuffer.wrap(words);
    }
}
