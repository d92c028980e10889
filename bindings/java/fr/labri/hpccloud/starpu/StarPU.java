/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The runtime: beginning, end, tasks. The machine is real, or the one that the environment
 * names (ORRERY_MACHINE): then the thread that calls init is the only one that may call.
 */
public class StarPU
{
    /** Prints what is serialised. */
    public static boolean enableTrace = System.getenv("STARPUJNI_TRACE") != null;

    private static final int MOST_SUPPRESSED = 16;

    private static int run;
    private static int depth; /* of init */
    private static final List<Throwable> failures = new ArrayList<>();
    private static final Set<Long> awaited = new HashSet<>();

    public StarPU()
    {
    }

    /** Sets a variable of the environment that the library reads, as setenv in C. */
    public static void setenv(String name, String value, boolean overwrite)
    {
        Native.setenv(name, value, overwrite);
    }

    /** Begins a run. Nothing of one that could not begin stays. */
    public static synchronized void init() throws StarPUException
    {
        Native.init();
        if (depth++ == 0)
            run++;
    }

    /** The same, with variables of the environment. */
    public static void init(Map<String, String> environment) throws StarPUException
    {
        for (Map.Entry<String, String> variable : environment.entrySet())
            setenv(variable.getKey(), variable.getValue(), true);
        init();
    }

    /**
     * Ends the run: waits for all tasks, unregisters what is registered, so that its values
     * are in its memory. Then throws what kernels have thrown that nobody has heard of.
     */
    public static synchronized void shutdown() throws StarPUException
    {
        if (depth == 0)
            return;
        if (depth == 1) {
            Native.waitForAll();
            for (long task : awaited)
                Native.destroyTask(task);
            awaited.clear();
            Registered.unregisterAll();
            TaskTable.clear();
        }
        Native.shutdown();
        depth--;
        throwFailures();
    }

    static int run()
    {
        return run;
    }

    /** Whether the machine is simulated. */
    public static boolean isSimulated()
    {
        return Native.isSimulated();
    }

    /** False where kernels only take virtual time, so that data have no values. */
    public static boolean runsKernels()
    {
        return Native.runsKernels();
    }

    /** µs, virtual ones when simulated. */
    public static double timingNow()
    {
        return Native.now();
    }

    /** How many workers there are. */
    public static int getWorkerCount()
    {
        return Native.workers();
    }

    /** Submits a task; `synchronous': and waits for it. */
    public static void submitTask(Codelet codelet, boolean synchronous, DataHandle... handles)
        throws StarPUException
    {
        Task task = new Task(codelet, handles);

        task.submit(synchronous ? Task.SYNCHRONOUS : 0);
        if (synchronous && task.failure() != null)
            throwFailure(task);
    }

    /** Submits a task, and returns its number for waitForTasks, once. */
    public static long submitTask_(Codelet codelet, DataHandle... handles) throws StarPUException
    {
        long task = new Task(codelet, handles).submit(Task.AWAITED);

        synchronized (awaited) {
            awaited.add(task);
        }
        return task;
    }

    /** Waits for tasks by their numbers. */
    public static void waitForTasks(long[] tasks) throws StarPUException
    {
        synchronized (awaited) {
            for (long task : tasks)
                if (!awaited.remove(task))
                    throw new StarPUException("StarPU.waitForTasks: " + task + " is no task of " +
                                              "submitTask_, or was waited for already");
        }
        for (long task : tasks)
            Native.waitForTask(task);
        throwFailures();
    }

    /** Submits a task; the future is complete when it has ended (Task.submit). */
    public static CompletableFuture<Void> submit(Codelet codelet, DataHandle... handles)
        throws StarPUException
    {
        return new Task(codelet, handles).submit();
    }

    /** Waits for any future that depends on tasks: simulated, the tasks go on meanwhile. */
    public static <T> T join(CompletableFuture<T> future)
    {
        TaskFuture.goOn(future);
        return future.join();
    }

    /** Waits for all tasks that were submitted; throws what their kernels have thrown. */
    public static void taskWaitForAll() throws StarPUException
    {
        Native.waitForAll();
        TaskTable.clear();
        if (!Native.isSimulated())
            Registered.unregisterForgotten();
        throwFailures();
    }

    /** A task for each child of the input, with that child of the output. */
    public static void mapCodelet(Codelet codelet, boolean synchronous, DataHandle input,
                                  DataHandle output) throws StarPUException
    {
        int n = input.getNbChildren();

        if (n == 0)
            submitTask(codelet, false, input, output);
        for (int i = 0; i < n; i++)
            submitTask(codelet, false, input.getSubData(i), output.getSubData(i));
        if (synchronous)
            taskWaitForAll();
    }

    /** A task for each part of the first input, each of the second, and the output's. */
    public static void joinCodelet(Codelet codelet, boolean synchronous, DataHandle input1,
                                   DataHandle input2, DataHandle output) throws StarPUException
    {
        int n = input1.getNbHandles(), m = input2.getNbHandles();

        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                submitTask(codelet, false, input1.partOrSelf(i), input2.partOrSelf(j),
                           output.partOrSelf(i));
        if (synchronous)
            taskWaitForAll();
    }

    /** One task with all of the input, whose parts are put together before. */
    public static void reduceCodelet(Codelet codelet, boolean synchronous, DataHandle input,
                                     DataHandle accumulator) throws StarPUException
    {
        if (input.getNbChildren() > 0)
            input.unpartition();
        submitTask(codelet, synchronous, input, accumulator);
    }

    /** The next of StarPU's numbers by chance, between 0 and 1. */
    public static double drand48()
    {
        return Native.drand48();
    }

    /* --- what kernels throw --- */

    static void failed(Throwable e)
    {
        synchronized (failures) {
            failures.add(e);
        }
    }

    private static StarPUException thrown(Throwable e)
    {
        return new StarPUException("a kernel has thrown " + e, e);
    }

    private static void throwFailure(Task task) throws StarPUException
    {
        synchronized (failures) {
            failures.remove(task.failure());
        }
        throw thrown(task.failure());
    }

    static void throwFailures() throws StarPUException
    {
        StarPUException first = null;

        synchronized (failures) {
            int n = Math.min(failures.size(), 1 + MOST_SUPPRESSED);

            for (int i = 0; i < n; i++)
                if (first == null)
                    first = thrown(failures.get(i));
                else
                    first.addSuppressed(failures.get(i));
            failures.clear();
        }
        if (first != null)
            throw first;
    }
}
