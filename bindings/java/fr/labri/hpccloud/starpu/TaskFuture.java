/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import java.util.concurrent.atomic.AtomicInteger;

/** A future for which a simulation goes on while it is waited for. */
final class TaskFuture<T> extends CompletableFuture<T>
{
    /** Tasks whose futures are to come. */
    static final AtomicInteger OPEN = new AtomicInteger();

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture()
    {
        return new TaskFuture<>();
    }

    @Override
    public T get() throws InterruptedException, ExecutionException
    {
        goOn(this);
        return super.get();
    }

    /** Simulated, the time is not looked at: virtual time is no time to wait. */
    @Override
    public T get(long timeout, TimeUnit unit)
        throws InterruptedException, ExecutionException, TimeoutException
    {
        goOn(this);
        return super.get(timeout, unit);
    }

    @Override
    public T join()
    {
        goOn(this);
        return super.join();
    }

    /** Lets a simulation go on until the future is complete, or depends on tasks no more. */
    static void goOn(CompletableFuture<?> future)
    {
        if (future.isDone() || !Native.takesPart())
            return;
        if (Native.isInTask())
            throw new IllegalStateException("a kernel, or what depends on a future, would " +
                                            "wait for a task: submit a task behind it");
        if (!Native.isSimulated())
            return;
        try {
            while (!future.isDone() && OPEN.get() > 0)
                Native.waitForCompletion();
        } catch (StarPUException e) {
            throw new IllegalStateException(e);
        }
    }
}
