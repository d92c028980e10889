/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.util.Arrays;

/**
 * Tasks by the numbers that C knows them by, from 1. A number is used again once its task
 * has ended, which C tells in bulk. Any thread.
 */
final class TaskTable
{
    private static volatile Task[] tasks = new Task[1];
    private static int[] free = new int[0];
    private static int nfree;

    private TaskTable()
    {
    }

    static synchronized int put(Task task) throws StarPUException
    {
        int number;

        if (nfree == 0)
            takeEnded();
        if (nfree == 0)
            grow();
        number = free[--nfree];
        tasks[number] = task;
        return number;
    }

    /* Those that have ended may still be here, where no kernel was called. */
    private static void takeEnded()
    {
        Task[] now = tasks;

        nfree = Native.takeEnded(free);
        for (int i = 0; i < nfree; i++)
            now[free[i]] = null;
    }

    private static void grow() throws StarPUException
    {
        int before = tasks.length, after = before + Math.max(256, before);

        if (!Native.reserveNumbers(after))
            throw new StarPUException("StarPU.submitTask: no memory for one more task");
        tasks = Arrays.copyOf(tasks, after);
        free = new int[after];
        for (int number = after - 1; number >= before; number--)
            free[nfree++] = number;
    }

    /** It was not submitted, or is no task of a program. */
    static synchronized void takeBack(int number)
    {
        tasks[number] = null;
        free[nfree++] = number;
    }

    static Task get(int number)
    {
        return tasks[number];
    }

    /** Its kernel is not called again: what nobody else wants may go. */
    static void executed(int number, Task task)
    {
        if (!task.isKept())
            tasks[number] = null;
    }

    /** All tasks have ended. */
    static synchronized void clear()
    {
        int n;
        int[] ended = new int[free.length];

        while ((n = Native.takeEnded(ended)) > 0)
            for (int i = 0; i < n; i++) {
                tasks[ended[i]] = null;
                free[nfree++] = ended[i];
            }
    }
}
