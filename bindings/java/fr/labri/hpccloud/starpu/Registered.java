/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What Java knows of one registered datum beside its handle object: it outlives that one
 * until the datum is unregistered. Where the program forgets a handle, its datum is
 * unregistered at the next taskWaitForAll, or registration; simulated, where garbage collections must not
 * change what happens, at the end.
 */
final class Registered implements Runnable
{
    private static final Cleaner CLEANER = Cleaner.create();
    private static final Set<Registered> ALL = new LinkedHashSet<>();
    private static final List<Registered> FORGOTTEN = new ArrayList<>();

    private final long handle;
    private final int run;
    /* Read by nobody: it keeps the memory, which C reads and writes. */
    @SuppressWarnings("unused")
    private final Object memory;
    private boolean open = true, partitioned;
    private int[] numbers = {}; /* in TaskTable, of its reduction */

    private Registered(long handle, Object memory)
    {
        this.handle = handle;
        this.memory = memory;
        run = StarPU.run();
    }

    static Registered add(DataHandle owner, long handle, Object memory)
    {
        /* A simulation must not notice when; and a kernel may not wait. */
        if (hasForgotten() && !Native.isSimulated() && !Native.isInTask())
            unregisterForgotten();
        Registered registered = new Registered(handle, memory);

        synchronized (ALL) {
            ALL.add(registered);
        }
        CLEANER.register(owner, registered);
        return registered;
    }

    /** The cleaner's thread, which may not call C in a simulation. */
    @Override
    public void run()
    {
        synchronized (ALL) {
            if (open)
                FORGOTTEN.add(this);
        }
    }

    boolean isOpen()
    {
        return open && run == StarPU.run();
    }

    void setPartitioned(boolean partitioned)
    {
        this.partitioned = partitioned;
    }

    /** Numbers in TaskTable that go with the datum. */
    void setReduction(int... numbers)
    {
        this.numbers = numbers;
    }

    void unregister(boolean wanted)
    {
        if (!isOpen())
            return;
        if (partitioned)
            Native.unpartition(handle);
        partitioned = false;
        Native.unregister(handle, wanted);
        for (int number : numbers)
            TaskTable.takeBack(number);
        synchronized (ALL) {
            open = false;
            ALL.remove(this);
        }
    }

    private static boolean hasForgotten()
    {
        synchronized (ALL) {
            return !FORGOTTEN.isEmpty();
        }
    }

    static void unregisterForgotten()
    {
        List<Registered> now;

        synchronized (ALL) {
            if (FORGOTTEN.isEmpty())
                return;
            now = new ArrayList<>(FORGOTTEN);
            FORGOTTEN.clear();
        }
        for (Registered registered : now)
            registered.unregister(false);
    }

    static void unregisterAll()
    {
        for (;;) {
            Registered first;

            synchronized (ALL) {
                Iterator<Registered> all = ALL.iterator();

                if (!all.hasNext())
                    break;
                first = all.next();
            }
            first.unregister(true);
        }
        synchronized (ALL) {
            FORGOTTEN.clear();
        }
    }
}
