/* SPDX-License-Identifier: LGPL-2.1-or-later */
import fr.labri.hpccloud.starpu.*;
import fr.labri.hpccloud.starpu.DataHandle.AccessMode;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * What a JVM and a run do to each other: up-calls, collections, exceptions, deep stacks,
 * threads, futures. Each test says its name; with kernels run the values are checked, too.
 * usage: Runs KERNELS_LIBRARY, or Runs tasks N: that many, and whether references leak
 */
public class Runs
{
    private static final int N = 2000;
    private static String library;

    /** Does something, and adds 1 to an int. */
    static class Counting extends Codelet
    {
        interface Body
        {
            void run(IntegerVariableHandle<?> n) throws StarPUException;
        }

        private final Body body;

        Counting(Body body)
        {
            this.body = body;
        }

        @Override
        public void run(DataHandle[] buffers)
        {
            IntegerVariableHandle<?> n = (IntegerVariableHandle<?>) buffers[0];

            try {
                body.run(n);
            } catch (StarPUException e) {
                throw new IllegalStateException(e);
            }
            n.setValue(n.getValue() + 1);
        }

        @Override
        public AccessMode[] getAccessModes()
        {
            return new AccessMode[] {AccessMode.STARPU_RW};
        }
    }

    static void submit(int n, Codelet codelet) throws StarPUException
    {
        IntegerVariableHandle<?> x = IntegerVariableHandle.register();

        for (int i = 0; i < n; i++)
            StarPU.submitTask(codelet, false, x);
        StarPU.taskWaitForAll();
        expect(x, n, "kernels were called");
        x.unregister();
    }

    static void expect(IntegerVariableHandle<?> x, int n, String claim)
    {
        x.acquire();
        if (StarPU.runsKernels())
            Check.equal(x.getValue(), n, claim);
        x.release();
    }

    static void kernelsInC() throws Exception
    {
        NativeFunction increment = NativeFunction.of(library, "increment");
        NativeFunction add = NativeFunction.of(library, "add_argument");
        ByteBuffer seven = ByteBuffer.allocateDirect(4).order(ByteOrder.nativeOrder());
        IntegerVariableHandle<?> x = IntegerVariableHandle.register();
        List<String> alive = new ArrayList<>();

        seven.putInt(0, 7);
        submit(N, new Counting(n -> { }) {
            @Override
            public NativeFunction getCpuFunction()
            {
                return increment;
            }
        });
        new Task(new Counting(n -> { }) {
            @Override
            public NativeFunction getCpuFunction()
            {
                return add;
            }
        }, x).argument(seven).submit().get();
        expect(x, 7, "a kernel in C has an argument");
        for (int i = 0; i < 100_000; i++)
            alive.add("x" + i);
        System.gc();
        Check.equal(alive.get(99_999), "x99999", "the JVM goes on");
        Check.thrown(StarPUException.class, "no_such", () -> NativeFunction.of(library, "no_such"));
    }

    static void kernelsInJava() throws Exception
    {
        submit(N, new Counting(n -> { }));
    }

    static void garbage() throws Exception
    {
        submit(N / 4, new Counting(n -> {
            Object[] o = new Object[20];

            for (int i = 0; i < o.length; i++)
                o[i] = new byte[10_000];
            if (n.getValue() % 100 == 0)
                System.gc();
        }));
    }

    static int depth(int n)
    {
        return n == 0 ? 0 : 1 + depth(n - 1);
    }

    static void deepStacks() throws Exception
    {
        submit(N / 4, new Counting(n -> Check.equal(depth(3000), 3000, "a deep stack")));
        submit(5, new Counting(n -> Check.thrown(StackOverflowError.class, "",
                                                 () -> depth(1 << 30))));
    }

    static void chain() throws Exception
    {
        IntegerVariableHandle<?> x = IntegerVariableHandle.register();
        Counting[] link = new Counting[1];

        link[0] = new Counting(n -> {
            if (n.getValue() < 499)
                StarPU.submitTask(link[0], false, x);
            if (n.getValue() % 50 == 0)
                System.gc();
        });
        StarPU.submitTask(link[0], false, x);
        StarPU.taskWaitForAll();
        expect(x, 500, "each kernel submits the next");
    }

    static void fails()
    {
        throw new UnsupportedOperationException("in a kernel");
    }

    static void exceptions() throws Exception
    {
        IntegerVariableHandle<?> x = IntegerVariableHandle.register();
        Counting caught = new Counting(n -> Check.thrown(UnsupportedOperationException.class, "in",
                                                         Runs::fails));
        Counting bad = new Counting(n -> fails());

        submit(N / 10, caught);
        if (!StarPU.runsKernels())
            return;
        StarPU.submitTask(bad, false, x);
        StarPU.submitTask(bad, false, x);
        Throwable e = Check.thrown(StarPUException.class, "in a kernel", StarPU::taskWaitForAll);
        Check.equal(e.getCause().getStackTrace()[0].getMethodName(), "fails", "the kernel's stack");
        Check.equal(e.getSuppressed().length, 1, "the other one");
        StarPU.taskWaitForAll();
        Check.thrown(StarPUException.class, "in a kernel", () -> StarPU.submitTask(bad, true, x));
        StarPU.taskWaitForAll();
        long task = StarPU.submitTask_(bad, x);
        Check.thrown(StarPUException.class, "in a kernel",
                     () -> StarPU.waitForTasks(new long[] {task}));
        submit(5, new Counting(n -> { }));
    }

    static int value(int[] of)
    {
        return of[0];
    }

    static void implicitChecks() throws Exception
    {
        int caught = 0;

        for (int i = 0; i < 200_000; i++)
            try {
                value(i % 50_000 == 49_999 ? null : new int[1]);
            } catch (NullPointerException e) {
                caught++;
            }
        Check.equal(caught, 4, "null was seen");
        Check.thrown(StackOverflowError.class, "", () -> depth(1 << 30));
        submit(20, new Counting(n -> Check.thrown(NullPointerException.class, "",
                                                  () -> value(null))));
        System.gc();
    }

    static void secondThread() throws Exception
    {
        IntegerVariableHandle<?> x = IntegerVariableHandle.register();
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = new Thread(() -> {
            try {
                for (int i = 0; i < 100; i++)
                    StarPU.submitTask(new Counting(n -> { }), false, x);
            } catch (Throwable e) {
                thrown.set(e);
            }
        });

        thread.start();
        thread.join();
        StarPU.taskWaitForAll();
        if (StarPU.isSimulated()) {
            Check.that(thrown.get() instanceof StarPUException &&
                           thrown.get().getMessage().contains("StarPU.submitTask: called by a " +
                                                              "second thread"),
                       "a second thread is refused: " + thrown.get());
            expect(x, 0, "nothing was submitted");
        } else {
            Check.equal(thrown.get(), null, "a second thread submits");
            expect(x, 100, "a second thread submits");
        }
    }

    /** Several threads submit, wait and read at once; simulated, one does. */
    static void threads() throws Exception
    {
        int nthreads = StarPU.isSimulated() ? 0 : 4, ntasks = 2000;
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        IntegerVariableHandle<?> common = IntegerVariableHandle.register();
        VectorHandle<String> words = VectorHandle.register(1);

        words.setValueAt(0, "read by all");
        for (int t = 0; t < nthreads; t++)
            threads.add(new Thread(() -> {
                try {
                    IntegerVariableHandle<?> own = IntegerVariableHandle.register();
                    List<CompletableFuture<Void>> futures = new ArrayList<>();

                    for (int i = 0; i < ntasks; i++) {
                        StarPU.submitTask(new Counting(n -> { }), i % 100 == 0, common);
                        futures.add(StarPU.submit(new Counting(n -> { }), own));
                        words.acquire();
                        Check.equal(words.getValueAt(0), "read by all", "an object");
                        words.release();
                    }
                    for (CompletableFuture<Void> future : futures)
                        future.get();
                    expect(own, ntasks, "tasks of one thread");
                    own.unregister();
                } catch (Throwable e) {
                    thrown.set(e);
                }
            }));
        threads.forEach(Thread::start);
        for (Thread thread : threads)
            thread.join();
        Check.equal(thrown.get(), null, "what a thread has thrown");
        expect(common, nthreads * ntasks, "tasks of all threads");
    }

    static void kernelThatWaits() throws Exception
    {
        IntegerVariableHandle<?> x = IntegerVariableHandle.register(),
                                 y = IntegerVariableHandle.register();

        y.setValue(3);
        StarPU.submitTask(new Counting(n -> {
            y.acquire();
            n.setValue(y.getValue());
            y.release();
        }), false, x);
        if (StarPU.isSimulated() && StarPU.runsKernels())
            Check.thrown(StarPUException.class, "acquire: would wait", StarPU::taskWaitForAll);
        else
            StarPU.taskWaitForAll();
        expect(x, StarPU.isSimulated() ? 0 : 4, "what it has read");
    }

    /** Its worker executes others meanwhile, in Java as well, beneath it on the stack. */
    static void kernelsInKernels() throws Exception
    {
        IntegerVariableHandle<?> x = IntegerVariableHandle.register(),
                                 y = IntegerVariableHandle.register();

        if (StarPU.isSimulated())
            return;
        for (int i = 0; i < 50; i++)
            StarPU.submitTask(new Counting(n -> {
                for (int k = 0; k < 4; k++)
                    StarPU.submitTask(new Counting(m -> System.gc()), false, y);
                y.acquire();
                n.setValue(n.getValue() + y.getValue() - n.getValue());
                y.release();
                n.setValue(n.getValue() - 1);
            }), false, x);
        StarPU.taskWaitForAll();
        expect(x, 200, "each kernel waits for four others");
    }

    static void futures() throws Exception
    {
        IntegerVariableHandle<?> x = IntegerVariableHandle.register();
        Counting add = new Counting(n -> { });
        AtomicInteger after = new AtomicInteger();
        List<CompletableFuture<?>> all = new ArrayList<>();

        StarPU.submit(add, x).get();
        CompletableFuture<Integer> then =
            new Task(add, x).priority(1).name("named").submit().thenApply(nothing -> 17);
        Check.equal(then.join(), 17, "what depends on a future");
        Check.equal(StarPU.submit(add, x).thenApplyAsync(nothing -> 18).join(), 18,
                    "what depends on it, in another thread");
        for (int i = 0; i < 50; i++)
            all.add(StarPU.submit(add, x).thenRun(after::incrementAndGet));
        StarPU.join(CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0])));
        Check.equal(after.get(), 50, "all futures");
        expect(x, 53, "tasks with futures");
        if (!StarPU.runsKernels())
            return;
        CompletableFuture<Void> failed = StarPU.submit(new Counting(n -> fails()), x);
        Throwable e = Check.thrown(ExecutionException.class, "in a kernel", failed::get);
        Check.equal(e.getCause().getStackTrace()[0].getMethodName(), "fails", "the kernel's stack");
        Check.thrown(CompletionException.class, "in a kernel", failed::join);
        StarPU.taskWaitForAll();
        StarPU.submit(new Counting(n -> Check.thrown(IllegalStateException.class, "would wait",
                                                     () -> StarPU.join(new CompletableFuture<>()))),
                      x)
            .get();
    }

    static void estimates() throws Exception
    {
        AtomicInteger asked = new AtomicInteger();
        IntegerVariableHandle<?> x = IntegerVariableHandle.register();
        double start = StarPU.timingNow();
        Codelet timed = new Counting(n -> { }) {
            @Override
            public String getName()
            {
                return "timed";
            }

            @Override
            public double getTime(WorkerType type, DataHandle[] handles)
            {
                asked.incrementAndGet();
                return type == WorkerType.CPU && handles.length == 1 ? 250 : Double.NaN;
            }
        };

        for (int i = 0; i < 10; i++)
            StarPU.submitTask(timed, false, x);
        StarPU.taskWaitForAll();
        if (StarPU.isSimulated())
            Check.that(asked.get() > 0 && StarPU.timingNow() - start >= 2500,
                       "the times of getTime: " + asked + ", " + (StarPU.timingNow() - start));
    }

    static void use(List<WeakReference<Object>> all) throws Exception
    {
        LongVariable sum = LongVariable.allocate();
        VectorHandle<String> words = VectorHandle.register(3);

        sum.setReductionMethods(new Handles.Kernel(b -> { }, AccessMode.STARPU_COMMUTE,
                                                   AccessMode.STARPU_R),
                                new Handles.Kernel(b -> { }, AccessMode.STARPU_W));
        StarPU.submitTask(new Handles.Kernel(b -> { }, AccessMode.STARPU_REDUX), false, sum);
        StarPU.submitTask(new Handles.Kernel(b -> { }, AccessMode.STARPU_RW), false, words);
        all.add(new WeakReference<>(sum));
        all.add(new WeakReference<>(words));
    }

    /** What the program refers to no more goes. */
    static void forgotten() throws Exception
    {
        List<WeakReference<Object>> all = new ArrayList<>();

        for (int i = 0; i < 500; i++)
            use(all);
        for (int round = 0; round < 100 && all.stream().anyMatch(r -> r.get() != null); round++) {
            StarPU.taskWaitForAll();
            System.gc();
        }
        Check.equal(all.stream().filter(r -> r.get() != null).count(), 0L, "are still there");
    }

    /** "JNI global refs: 17, weak refs: 0" */
    static int globalReferences() throws Exception
    {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        String text = (String) server.invoke(
            new ObjectName("com.sun.management:type=DiagnosticCommand"), "threadPrint",
            new Object[] {new String[0]}, new String[] {String[].class.getName()});
        String after = text.substring(text.indexOf("JNI global refs: ") + 17);

        return Integer.parseInt(after.substring(0, after.indexOf(',')));
    }

    /** The JVM has some more of its own now and then. */
    private static final int OF_THE_JVM = 8;

    static void many(int n) throws Exception
    {
        VectorHandle<String> v = VectorHandle.register(4);
        Counting add = new Counting(k -> { });
        int before = 0;

        for (int i = 0; i < 10; i++) {
            submit(n / 10, add);
            for (int k = 0; k < 1000; k++)
                v.setValueAt(k % 4, "v" + k);
            if (i == 0)
                before = globalReferences();
        }
        Check.that(globalReferences() < before + OF_THE_JVM,
                   "JNI had " + before + " global references, then " + globalReferences());
    }

    public static void main(String[] args) throws Exception
    {
        library = args[0];
        if (args.length == 2) {
            Check.test("tasks", () -> many(Integer.parseInt(args[1])));
            Check.end();
        }
        for (int round = 0; round < 3; round++)
            Check.test("kernels in C", Runs::kernelsInC);
        Check.test("kernels in Java", Runs::kernelsInJava);
        Check.test("garbage", Runs::garbage);
        Check.test("deep stacks", Runs::deepStacks);
        Check.test("chain", Runs::chain);
        Check.test("exceptions", Runs::exceptions);
        Check.test("implicit checks", Runs::implicitChecks);
        Check.test("second thread", Runs::secondThread);
        Check.test("threads", Runs::threads);
        Check.test("kernel that waits", Runs::kernelThatWaits);
        Check.test("kernels in kernels", Runs::kernelsInKernels);
        Check.test("futures", Runs::futures);
        Check.test("estimates", Runs::estimates);
        Check.test("forgotten data", Runs::forgotten);
        Check.test("references", () -> many(5000));
        StarPU.init(Map.of("STARPU_NCPU", "1"));
        Check.that(StarPU.getWorkerCount() >= 1, "variables of the environment");
        StarPU.init(); /* once more: the second shutdown is the one */
        StarPU.shutdown();
        if (StarPU.runsKernels()) {
            StarPU.submitTask(new Counting(n -> fails()), false, IntegerVariableHandle.register());
            Check.thrown(StarPUException.class, "in a kernel", StarPU::shutdown);
        } else {
            StarPU.shutdown();
        }
        StarPU.setenv("ORRERY_MACHINE", "no-such-machine", true);
        Check.thrown(StarPUException.class, "ORRERY_MACHINE", StarPU::init);
        Check.end();
    }
}
