/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.io.Serializable;
import java.util.Objects;

/** Three values. */
public final class Tuple3<K, U, V> implements Serializable
{
    private static final long serialVersionUID = 1;
    @SuppressWarnings("serial")
    private final K first;
    @SuppressWarnings("serial")
    private final U second;
    @SuppressWarnings("serial")
    private final V third;

    public Tuple3(K first, U second, V third)
    {
        this.first = first;
        this.second = second;
        this.third = third;
    }

    public K _1()
    {
        return first;
    }

    public U _2()
    {
        return second;
    }

    public V _3()
    {
        return third;
    }

    /** The first value as a key of the others. */
    public Tuple2<K, Tuple2<U, V>> toKeyPairs()
    {
        return new Tuple2<>(first, new Tuple2<>(second, third));
    }

    @Override
    public boolean equals(Object other)
    {
        return other instanceof Tuple3 && toKeyPairs().equals(((Tuple3<?, ?, ?>) other).toKeyPairs());
    }

    @Override
    public int hashCode()
    {
        return Objects.hash(first, second, third);
    }

    @Override
    public String toString()
    {
        return "(" + first + ", " + second + ", " + third + ")";
    }
}
