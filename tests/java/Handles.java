/* SPDX-License-Identifier: LGPL-2.1-or-later */
import fr.labri.hpccloud.starpu.*;
import fr.labri.hpccloud.starpu.DataHandle.AccessMode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;

/** Data of each kind: registered, used by tasks, cut, put together, packed. */
public class Handles
{
    /** A codelet of a function. */
    static final class Kernel extends Codelet
    {
        interface Body
        {
            void run(DataHandle[] buffers);
        }

        private final AccessMode[] modes;
        private final Body body;

        Kernel(Body body, AccessMode... modes)
        {
            this.body = body;
            this.modes = modes;
        }

        @Override
        public void run(DataHandle[] buffers)
        {
            body.run(buffers);
        }

        @Override
        public AccessMode[] getAccessModes()
        {
            return modes;
        }
    }

    /** A handle that a program adds, by the functions of DataHandle. */
    public static final class FloatVariableHandle extends DataHandle
    {
        protected FloatVariableHandle(long handle)
        {
            super(handle);
        }

        static FloatVariableHandle register()
        {
            return new FloatVariableHandle(variableRegisterFloat()).setRegistered();
        }

        float get()
        {
            return variableGetFloatValue(nativeHandle);
        }

        void set(float value)
        {
            variableSetFloatValue(nativeHandle, value);
        }
    }

    /** The same of vectors. */
    public static final class FloatVectorHandle extends ScalarVectorHandle<Float>
    {
        protected FloatVectorHandle(long handle)
        {
            super(handle);
        }

        static FloatVectorHandle register(int n)
        {
            return new FloatVectorHandle(vectorRegisterInt(n)).setRegistered();
        }

        float get(int index)
        {
            return vectorGetFloatAt(nativeHandle, index);
        }

        void set(int index, float value)
        {
            vectorSetFloatAt(nativeHandle, index, value);
        }
    }

    /** And of objects. */
    public static final class Words extends VectorHandle<String>
    {
        protected Words(long handle)
        {
            super(handle);
        }

        static Words ofSize(int n)
        {
            return new Words(vectorObjectRegister(n)).setRegistered();
        }

        long nativeHandle()
        {
            return nativeHandle;
        }

        static void byNumber(long handle) throws Exception
        {
            Check.equal(vectorObjectGetSize(handle), 2, "how many objects");
            vectorObjectSetAt(handle, 1, "one");
            Check.equal(vectorObjectGetAt(handle, 1), "one", "an object by number");
            byte[] bytes = pack(handle);
            vectorObjectSetAt(handle, 1, "other");
            unpack(handle, bytes);
            Check.equal(vectorObjectGetAt(handle, 1), "one", "as it was packed");
        }
    }

    /** Each type by numbers. */
    public static final class Numbers extends DataHandle
    {
        static void check()
        {
            long i = variableRegisterInt(), l = variableRegisterLong(),
                 d = variableRegisterDouble(), v = vectorRegisterInt(8);

            variableSetIntValue(i, 1);
            variableSetLongValue(l, 1L << 40);
            variableSetValueAsDouble(d, .5);
            vectorSetIntAt(v, 7, 3);
            vectorSetLongAt(v, 1, 1L << 50);
            Check.equal(variableGetIntValue(i), 1, "an int");
            Check.equal(variableGetLongValue(l), 1L << 40, "a long");
            Check.equal(variableGetDoubleValue(d), .5, "a double");
            Check.equal(vectorGetIntAt(v, 7), 3, "an int of a vector");
            Check.equal(vectorGetLongAt(v, 1), 1L << 50, "a long of one");
            vectorSetDoubleAt(v, 1, 2.5);
            Check.equal(vectorGetDoubleAt(v, 1), 2.5, "a double of one");
            Check.thrown(IndexOutOfBoundsException.class, "8 of 8", () -> vectorGetIntAt(v, 8));
            for (long handle : new long[] {i, l, d, v})
                new Owner(handle).unregister();
        }
    }

    /** Takes a datum by its number. */
    public static final class Owner extends DataHandle
    {
        protected Owner(long handle)
        {
            super(handle);
            setRegistered();
        }
    }

    static void integers() throws StarPUException
    {
        IntegerVariableHandle<?> n = IntegerVariableHandle.register();
        IntegerVectorHandle v = IntegerVectorHandle.register(103);
        Kernel count = new Kernel(b -> {
            IntegerVectorHandle part = (IntegerVectorHandle) b[0];

            for (int i = 0; i < part.getSize(); i++)
                part.setValueAt(i, part.getValueAt(i) + i);
        }, AccessMode.STARPU_RW);

        n.setValue(5);
        for (int i = 0; i < 20; i++)
            StarPU.submitTask(new Kernel(b -> {
                IntegerVariableHandle<?> x = (IntegerVariableHandle<?>) b[0];

                x.setValue(x.getValue() + 1);
            }, AccessMode.STARPU_RW), i % 2 == 0, n);
        n.acquire();
        Check.equal(n.getValue(), 25, "20 tasks add 1 to 5");
        n.release();
        v.partition(4);
        Check.equal(v.getNbChildren(), 4, "parts");
        Check.equal(((IntegerVectorHandle) v.getSubData(0)).getSize(), 26, "the first part");
        for (DataHandle part : v.getHandles())
            StarPU.submitTask(count, false, part);
        Check.thrown(IllegalStateException.class, "parts already", () -> v.partition(2));
        v.unpartition();
        Check.equal(v.getNbHandles(), 1, "itself");
        v.acquire();
        Check.equal(v.getValueAt(102), 24, "the last element of the last part of 25");
        v.release();
        v.unregister();
        Check.thrown(IllegalStateException.class, "not registered any more", v::acquire);
        Check.thrown(IndexOutOfBoundsException.class, "103 of 103", () -> v.getValueAt(103));
    }

    static void buffers() throws StarPUException
    {
        ByteBuffer memory = ByteBuffer.allocateDirect(4 * 50).order(ByteOrder.nativeOrder());
        FloatVector v = FloatVector.wrap(memory, 50);
        DoubleMatrix m = DoubleMatrix.allocate(30, 20);
        ByteBuffer far = ByteBuffer.allocateDirect(40);
        LongVector l = LongVector.allocate(0);

        StarPU.submitTask(new Kernel(b -> {
            FloatBuffer x = ((FloatVector) b[0]).buffer();

            while (x.hasRemaining())
                x.put(x.position());
        }, AccessMode.STARPU_W), true, v);
        Check.equal(memory.getFloat(4 * 49), 49f, "a kernel writes the program's buffer");
        Check.equal(l.getSize(), 0, "an empty vector");
        m.partition(3, 2);
        Check.equal(m.getNbChildren(), 6, "tiles");
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 2; j++) {
                double at = 10 * i + j;

                StarPU.submitTask(new Kernel(b -> {
                    DoubleMatrix tile = (DoubleMatrix) b[0];

                    for (int r = 0; r < tile.getRows(); r++)
                        for (int c = 0; c < tile.getColumns(); c++)
                            tile.set(r, c, at);
                }, AccessMode.STARPU_W), false, m.getSubData(i, j));
            }
        DataHandle tile = m.getSubData(2, 1);
        m.unpartition();
        m.acquire();
        Check.equal(m.get(9, 9), 0., "the last of the first tile");
        Check.equal(m.get(29, 19), 21., "the last of the last tile");
        Check.equal(m.get(20, 9), 20., "the last of a row of the tile before");
        m.release();
        Check.thrown(IllegalStateException.class, "a part of one that was put together",
                     () -> StarPU.submitTask(new Kernel(b -> { }, AccessMode.STARPU_R), true, tile));
        Check.thrown(IllegalStateException.class, "not direct",
                     () -> FloatVector.wrap(ByteBuffer.allocate(40), 10));
        Check.thrown(IllegalStateException.class, "fewer than 400 bytes",
                     () -> FloatVector.wrap(ByteBuffer.allocateDirect(40), 100));
        Check.thrown(IllegalStateException.class, "no size", () -> FloatVector.wrap(memory, -1));
        far.position(20);
        IntVector behind = IntVector.wrap(far, 10), sliced = IntVector.wrap(far.slice(), 5);
        StarPU.submitTask(new Kernel(b -> ((IntVector) b[0]).set(1, 5), AccessMode.STARPU_RW), true,
                          behind);
        Check.equal(behind.get(1), 5, "a buffer from its beginning, wherever it stands");
        StarPU.submitTask(new Kernel(b -> ((IntVector) b[0]).set(4, 6), AccessMode.STARPU_RW), true,
                          sliced);
        Check.equal(sliced.get(4), 6, "a slice");
        Check.equal(behind.get(9), 6, "the same memory");
        Check.thrown(IllegalStateException.class, "2^31", () -> DoubleVector.allocate(1 << 30));
    }

    static void added() throws Exception
    {
        FloatVectorHandle v = FloatVectorHandle.register(3);
        Words words = Words.ofSize(2);

        StarPU.submitTask(new Kernel(b -> ((FloatVectorHandle) b[0]).set(2, 1.5f),
                                     AccessMode.STARPU_RW), true, v);
        v.acquire();
        Check.equal(v.get(2), 1.5f, "a vector of the program's own");
        v.release();
        StarPU.submitTask(new Kernel(b -> {
            Words inside = (Words) b[0];

            inside.setValueAt(0, "from " + inside.getValueAt(0));
            try {
                Words.byNumber(inside.nativeHandle());
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, AccessMode.STARPU_RW), true, words);
        Check.equal(words.getValueAt(0), "from null", "objects of the program's own");
        Numbers.check();
        FloatVariableHandle x = FloatVariableHandle.register();

        x.set(1.5f);
        StarPU.submitTask(new Kernel(b -> {
            FloatVariableHandle y = (FloatVariableHandle) b[0];

            y.set(2 * y.get());
        }, AccessMode.STARPU_RW), true, x);
        x.acquire();
        Check.equal(x.get(), 3f, "a handle of the program's own");
        x.release();
        x.unregister();
    }

    static void objects() throws Exception
    {
        VectorHandle<List<Integer>> v = VectorHandle.register(10);
        VectorHandle<String> copy = VectorHandle.register(10);

        Check.equal(v.getValueAt(3), null, "what nobody has written");
        v.setValueAt(3, List.of(7));
        Check.equal(v.getValueAt(3), List.of(7), "an object of the program's");
        v.partition(3);
        Check.equal(((VectorHandle<?>) v.getSubData(0)).getSize(), 4, "the first part");
        for (DataHandle part : v.getHandles())
            StarPU.submitTask(new Kernel(b -> {
                @SuppressWarnings("unchecked")
                VectorHandle<List<Integer>> p = (VectorHandle<List<Integer>>) b[0];

                for (int i = 0; i < p.getSize(); i++)
                    p.setValueAt(i, new ArrayList<>(List.of(i)));
            }, AccessMode.STARPU_RW), false, part);
        v.unpartition();
        StarPU.submitTask(new Kernel(b -> {
            for (int i = 0; i < 10; i++) {
                @SuppressWarnings("unchecked")
                List<Integer> list = ((VectorHandle<List<Integer>>) b[0]).getValueAt(i);
                @SuppressWarnings("unchecked")
                VectorHandle<String> out = (VectorHandle<String>) b[1];

                out.setValueAt(i, list.toString());
            }
        }, AccessMode.STARPU_R, AccessMode.STARPU_W), false, v, copy);
        copy.acquire();
        Check.equal(copy.getValueAt(4), "[0]", "the first of the second part");
        Check.equal(copy.getValueAt(9), "[2]", "the last of the last");
        byte[] bytes = copy.pack();
        copy.release();
        VectorHandle<String> other = VectorHandle.register(10);

        other.unpack(bytes);
        Check.equal(other.getValueAt(9), "[2]", "unpacked");
        Check.thrown(java.io.IOException.class, "10 objects for a vector of 4",
                     () -> VectorHandle.<String>register(4).unpack(bytes));
        VectorHandle<Object> bad = VectorHandle.register(1);

        bad.setValueAt(0, new Object());
        Check.thrown(java.io.NotSerializableException.class, "Object", bad::pack);
    }

    static void reductions() throws StarPUException
    {
        LongVariable sum = LongVariable.allocate();
        VectorHandle<String> words = VectorHandle.register(1);

        sum.set(1000);
        sum.setReductionMethods(
            new Kernel(b -> {
                LongVariable x = (LongVariable) b[0], y = (LongVariable) b[1];

                x.set(x.get() + y.get());
            }, AccessMode.STARPU_COMMUTE, AccessMode.STARPU_R),
            new Kernel(b -> ((LongVariable) b[0]).set(0), AccessMode.STARPU_W));
        for (int i = 0; i < 100; i++) {
            int value = i;

            StarPU.submitTask(new Kernel(b -> {
                LongVariable x = (LongVariable) b[0];

                x.set(x.get() + value);
            }, AccessMode.STARPU_REDUX), false, sum);
        }
        sum.acquire();
        Check.equal(sum.get(), 1000L + 4950, "a reduction");
        sum.release();
        words.setValueAt(0, "");
        words.setReductionMethods(new Kernel(b -> join(b[0], b[1]), AccessMode.STARPU_RW,
                                             AccessMode.STARPU_R),
                                  new Kernel(b -> set(b[0], ""), AccessMode.STARPU_W));
        for (int i = 0; i < 30; i++)
            StarPU.submitTask(new Kernel(b -> set(b[0], text(b[0]) + "x"),
                                         AccessMode.STARPU_REDUX), false, words);
        words.acquire();
        Check.equal(words.getValueAt(0), "x".repeat(30), "a reduction of objects");
        words.release();
    }

    @SuppressWarnings("unchecked")
    private static String text(DataHandle handle)
    {
        return ((VectorHandle<String>) handle).getValueAt(0);
    }

    @SuppressWarnings("unchecked")
    private static void set(DataHandle handle, String text)
    {
        ((VectorHandle<String>) handle).setValueAt(0, text);
    }

    private static void join(DataHandle one, DataHandle other)
    {
        set(one, text(one) + text(other));
    }

    /** More than a task structure has room for. */
    static void many() throws StarPUException
    {
        int n = 40;
        AccessMode[] modes = new AccessMode[n];
        DataHandle[] handles = new DataHandle[n];
        IntegerVariableHandle<?> last = IntegerVariableHandle.register();

        for (int i = 0; i < n; i++) {
            IntegerVariableHandle<?> x = i == n - 1 ? last : IntegerVariableHandle.register();

            x.setValue(i);
            modes[i] = i == n - 1 ? AccessMode.STARPU_RW : AccessMode.STARPU_R;
            handles[i] = x;
        }
        StarPU.submitTask(new Kernel(b -> {
            int sum = 0;

            for (DataHandle x : b)
                sum += ((IntegerVariableHandle<?>) x).getValue();
            ((IntegerVariableHandle<?>) b[n - 1]).setValue(sum);
        }, modes), true, handles);
        last.acquire();
        Check.equal(last.getValue(), n * (n - 1) / 2, "a task with many buffers");
        last.release();
        Check.thrown(StarPUException.class, "1 handles for codelet",
                     () -> StarPU.submitTask(new Kernel(b -> { }, modes), true, last));
    }

    static void numbers() throws StarPUException
    {
        IntegerVariableHandle<?> x = IntegerVariableHandle.register();
        Kernel add = new Kernel(b -> {
            IntegerVariableHandle<?> y = (IntegerVariableHandle<?>) b[0];

            y.setValue(y.getValue() + 1);
        }, AccessMode.STARPU_RW);
        long[] tasks = {StarPU.submitTask_(add, x), StarPU.submitTask_(add, x)};

        StarPU.waitForTasks(new long[0]);
        StarPU.waitForTasks(tasks);
        Check.equal(x.getValue(), 2, "both tasks");
        Check.thrown(StarPUException.class, "no task of submitTask_",
                     () -> StarPU.waitForTasks(tasks));
        StarPU.submitTask_(add, x); /* nobody waits for it */
        StarPU.mapCodelet(new Kernel(b -> ((IntegerVariableHandle<?>) b[1]).setValue(9),
                                     AccessMode.STARPU_R, AccessMode.STARPU_W),
                          true, x, IntegerVariableHandle.register());
        double a = StarPU.drand48();
        Check.that(a >= 0 && a < 1 && a != StarPU.drand48(), "numbers by chance");
    }

    static void joined() throws StarPUException
    {
        IntegerVectorHandle a = IntegerVectorHandle.register(6), b = IntegerVectorHandle.register(6),
                            c = IntegerVectorHandle.register(2);

        for (int i = 0; i < 6; i++) {
            a.setValueAt(i, i);
            b.setValueAt(i, 10 * i);
        }
        a.partition(2);
        b.partition(3);
        c.partition(2);
        StarPU.joinCodelet(new Kernel(x -> {
            IntegerVectorHandle left = (IntegerVectorHandle) x[0], right = (IntegerVectorHandle) x[1],
                                sum = (IntegerVectorHandle) x[2];

            for (int i = 0; i < left.getSize(); i++)
                for (int j = 0; j < right.getSize(); j++)
                    sum.setValueAt(0, sum.getValueAt(0) + left.getValueAt(i) * right.getValueAt(j));
        }, AccessMode.STARPU_R, AccessMode.STARPU_R, AccessMode.STARPU_RW), true, a, b, c);
        c.unpartition();
        Check.equal(c.getValueAt(0), 3 * 150, "the first half with all");
        Check.equal(c.getValueAt(1), 12 * 150, "the second half with all");
        IntegerVectorHandle whole = a;
        IntegerVariableHandle<?> sum = IntegerVariableHandle.register();
        StarPU.reduceCodelet(new Kernel(x -> {
            IntegerVectorHandle all = (IntegerVectorHandle) x[0];

            for (int i = 0; i < all.getSize(); i++)
                ((IntegerVariableHandle<?>) x[1])
                    .setValue(((IntegerVariableHandle<?>) x[1]).getValue() + all.getValueAt(i));
        }, AccessMode.STARPU_R, AccessMode.STARPU_RW), true, whole, sum);
        Check.equal(sum.getValue(), 15, "all in one task");
        Check.equal(whole.getNbChildren(), 0, "put together");
    }

    static void tuples()
    {
        Tuple3<Integer, String, Long> t = new Tuple3<>(1, "a", 2L);

        Check.equal(new Tuple2<>(1, null), new Tuple2<>(1, null), "equal pairs");
        Check.that(!new Tuple2<>(1, 2).equals(null), "a pair is not null");
        Check.equal(new Tuple2<>(1, 2).hashCode(), new Tuple2<>(1, 2).hashCode(), "equal hashes");
        Check.equal(t.toKeyPairs(), new Tuple2<>(1, new Tuple2<>("a", 2L)), "a key and a pair");
        Check.equal(t, new Tuple3<>(1, "a", 2L), "equal triples");
        Check.equal(t.toString() + t._1() + t._2() + t._3(), "(1, a, 2)1a2", "texts");
        Check.equal(new Tuple2<>("x", 3).toString(), "(x, 3)", "text of a pair");
    }

    public static void main(String[] args) throws Exception
    {
        Check.test("integers", Handles::integers);
        Check.test("buffers", Handles::buffers);
        Check.test("a class of handles that a program adds", Handles::added);
        Check.test("objects", Handles::objects);
        Check.test("reductions", Handles::reductions);
        Check.test("many buffers", Handles::many);
        Check.test("numbers of tasks", Handles::numbers);
        Check.test("tasks on parts of two data", Handles::joined);
        tuples();
        Check.thrown(IllegalStateException.class, "StarPU.init", () -> FloatVector.allocate(1));
        Check.end();
    }
}
