/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.io.Serializable;
import java.util.Objects;

/** Two values. */
public final class Tuple2<U, V> implements Serializable
{
    private static final long serialVersionUID = 1;
    @SuppressWarnings("serial")
    private final U first;
    @SuppressWarnings("serial")
    private final V second;

    public Tuple2(U first, V second)
    {
        this.first = first;
        this.second = second;
    }

    public U _1()
    {
        return first;
    }

    public V _2()
    {
        return second;
    }

    @Override
    public boolean equals(Object other)
    {
        return other instanceof Tuple2 && Objects.equals(first, ((Tuple2<?, ?>) other).first) &&
            Objects.equals(second, ((Tuple2<?, ?>) other).second);
    }

    @Override
    public int hashCode()
    {
        return 31 * Objects.hashCode(first) + Objects.hashCode(second);
    }

    @Override
    public String toString()
    {
        return "(" + first + ", " + second + ")";
    }
}
