/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A task that is about to be submitted: a codelet, data, and what it may have beside.
 * Each is submitted once.
 */
public final class Task
{
    /* Equal in native/task.c. */
    static final int SYNCHRONOUS = 1, AWAITED = 2, PROMISED = 4;

    /* Texts in C, which stay: a trace has them until it is written. */
    private static final ConcurrentHashMap<String, Long> NAMES = new ConcurrentHashMap<>();

    final Codelet codelet;
    final DataHandle[] handles;
    private int priority;
    private String name;
    private ByteBuffer argument;
    private TaskFuture<Void> future;
    private boolean submitted;
    private boolean kept; /* of a reduction: it is called again and again */
    private volatile Throwable failure;

    /** The handles are those of the codelet's access modes, in that order. */
    public Task(Codelet codelet, DataHandle... handles)
    {
        this.codelet = codelet;
        this.handles = handles;
    }

    /* What the tasks of a reduction call. */
    static Task ofReduction(Codelet codelet, DataHandle prototype)
    {
        Task task = new Task(codelet, prototype);

        task.kept = true;
        return task;
    }

    /** More goes first, with policies that have priorities. */
    public Task priority(int priority)
    {
        this.priority = priority;
        return this;
    }

    /** In traces, in the place of the codelet's name. The library keeps each name. */
    public Task name(String name)
    {
        this.name = name;
        return this;
    }

    /** What kernels in C get as their argument: a direct buffer, which they read later. */
    public Task argument(ByteBuffer argument)
    {
        this.argument = argument;
        return this;
    }

    /**
     * Submits it. The future is complete when the task has ended, exceptionally if its
     * kernel has thrown. What depends on the future runs on the worker, and must not wait.
     */
    public CompletableFuture<Void> submit() throws StarPUException
    {
        boolean ok = false;

        future = new TaskFuture<>();
        TaskFuture.OPEN.incrementAndGet();
        try {
            submit(PROMISED);
            ok = true;
            return future;
        } finally {
            if (!ok)
                TaskFuture.OPEN.decrementAndGet();
        }
    }

    /** Submits it, without a future, which costs less. */
    public void submitOnly() throws StarPUException
    {
        submit(0);
    }

    /* The address of the task in C if it is AWAITED. */
    long submit(int flags) throws StarPUException
    {
        long codeletNumber = codelet.peer(handles.length);
        long[] numbers = new long[handles.length];
        int number;
        boolean ok = false;

        if (submitted)
            throw new StarPUException("StarPU.submitTask: this task was submitted already");
        submitted = true;
        for (int i = 0; i < numbers.length; i++)
            numbers[i] = handles[i].forTask(codelet, i);
        number = TaskTable.put(this);
        try {
            long task = Native.submit(codeletNumber, numbers, numbers.length, number, flags,
                                      priority, argument == null ? 0 : Native.address(argument),
                                      name == null ? 0
                                                   : NAMES.computeIfAbsent(name, Native::text));

            ok = true;
            return task;
        } finally {
            if (!ok)
                TaskTable.takeBack(number);
        }
    }

    boolean isKept()
    {
        return kept || future != null || argument != null;
    }

    void fail(Throwable e)
    {
        failure = e;
        if (future == null)
            StarPU.failed(e);
    }

    void complete()
    {
        TaskFuture.OPEN.decrementAndGet();
        if (failure != null)
            future.completeExceptionally(failure);
        else
            future.complete(null);
    }

    Throwable failure()
    {
        return failure;
    }
}
