/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

/** The arrays behind vectors of objects, which C knows by number, from 1. Any thread. */
final class ObjectArrays
{
    private static volatile Object[][] arrays = new Object[64][];
    private static int[] free = new int[64];
    private static int nfree, nused = 1;

    private ObjectArrays()
    {
    }

    static synchronized int add(Object[] array)
    {
        int number = nfree > 0 ? free[--nfree] : nused++;

        if (number == arrays.length) {
            Object[][] longer = java.util.Arrays.copyOf(arrays, 2 * number);

            free = java.util.Arrays.copyOf(free, 2 * number);
            longer[number] = array;
            arrays = longer;
        } else {
            arrays[number] = array;
        }
        return number;
    }

    static synchronized void remove(int number)
    {
        if (number == 0)
            return;
        arrays[number] = null;
        free[nfree++] = number;
    }

    static Object[] get(int number)
    {
        return arrays[number];
    }
}
