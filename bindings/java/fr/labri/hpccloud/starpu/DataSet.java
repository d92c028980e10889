/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Elements in parts, and tasks on them. What makes a set of another one only notes what is
 * to be done; tasks are submitted once a result is asked for (reduce, count, collect, take,
 * getSize, cache), and steps that need no other part are one task per part: map, map and
 * filter are.
 *
 * <p>Functions are called by several workers at once, once for each element. A set keeps its
 * parts once they were computed (cache, collect, take, getSize, or two sets that are made of
 * it); one that was only on the way to another is computed again when it is used again: cache
 * it before, as must be what is not the same each time.
 */
public class DataSet<T>
{
    /** A function that makes a pair. */
    public interface PairFunction<T, K, V> extends Function<T, Tuple2<K, V>>
    {
    }

    /* A set is one of: elements that no task has seen; a stage behind another set; or what
     * `maker' makes. All become parts. */
    private Object[] elements;
    private DataSet<?> source;
    private Parts.Stage stage;
    private Supplier<Parts> maker;
    private Parts parts;

    private int nparts;
    private int nderived; /* sets that are made of this one */
    private String operation = "init";
    private String name;

    /** A set of so many nulls, for init. */
    public DataSet(int size)
    {
        elements = new Object[size];
        nparts = 1;
    }

    public DataSet(Collection<T> collection)
    {
        this(collection, 1);
    }

    /** A copy of the elements, in so many parts. */
    public DataSet(Collection<T> collection, int nbParts)
    {
        elements = collection.toArray();
        nparts = atLeastOne(nbParts);
    }

    DataSet(DataSet<?> source, String operation, Parts.Stage stage)
    {
        source.nderived++;
        this.source = source;
        this.operation = operation;
        this.stage = stage;
        nparts = source.nparts;
    }

    DataSet(String operation, int nparts, Supplier<Parts> maker, DataSet<?>... sources)
    {
        for (DataSet<?> of : sources)
            of.nderived++;
        this.operation = operation;
        this.nparts = nparts;
        this.maker = maker;
    }

    private static int atLeastOne(int nbParts)
    {
        if (nbParts < 1)
            throw new IllegalArgumentException("a set in " + nbParts + " parts");
        return nbParts;
    }

    /** A line of the file is an element. */
    public static <E> DataSet<E> readFile(InputStream stream, Function<String, E> function)
    {
        List<E> lines = new ArrayList<>();

        try (BufferedReader reader =
                 new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine())
                lines.add(function.apply(line));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new DataSet<>(lines);
    }

    /** The tasks that make this set have this name, and a performance model of that name. */
    public DataSet<T> named(String name)
    {
        this.name = name;
        return this;
    }

    final Parts.Label label(String what)
    {
        return new Parts.Label(name != null ? name : what, name != null);
    }

    /* --- parts --- */

    /** How many parts it has, or will have. */
    public int getNbParts()
    {
        return nparts;
    }

    /** Puts the elements into so many parts; returns itself. Waits if there are parts. */
    public DataSet<T> partition(int nbParts)
    {
        atLeastOne(nbParts);
        if (nbParts == nparts)
            return this;
        if (elements == null) {
            elements = parts().collect().toArray();
            source = null;
            maker = null;
        }
        parts = null;
        nparts = nbParts;
        return this;
    }

    /** Puts them into parts of that many elements at most; returns itself. */
    public DataSet<T> splitByBlocks(int blockSize)
    {
        int size = getSize();

        return size > blockSize ? partition((size + blockSize - 1) / blockSize) : this;
    }

    /** Submits the tasks that make this set, unless they were; returns itself. */
    public DataSet<T> cache()
    {
        parts();
        return this;
    }

    final Parts parts()
    {
        if (parts == null && elements != null) {
            parts = Parts.of(elements, nparts);
            elements = null;
        } else if (parts == null && maker != null) {
            parts = maker.get();
            maker = null;
        } else if (parts == null) {
            Pending pending = pending();

            parts = pending.from.map(label(pending.names), pending.stages, Parts::list);
            source = null;
            stage = null;
        }
        return parts;
    }

    /** Parts that exist, and the stages from there to a set. */
    static final class Pending
    {
        Parts from;
        String names = "";
        final List<Parts.Stage> stages = new ArrayList<>();
    }

    /* What several sets are made of is made once. */
    final Pending pending()
    {
        Pending pending = new Pending();
        DataSet<?> set = this;

        while (set.parts == null && set.source != null && (set == this || set.nderived < 2)) {
            pending.stages.add(0, set.stage);
            pending.names = (set.name != null ? set.name : set.operation) +
                (pending.names.isEmpty() ? "" : "+" + pending.names);
            set = set.source;
        }
        pending.from = set.parts();
        return pending;
    }

    /* Parts with stages behind, for one more step in the same task. */
    final Pending through(String operation)
    {
        Pending pending;

        if (nderived > 1)
            parts();
        pending = pending();
        pending.names += pending.names.isEmpty() ? operation : "+" + operation;
        return pending;
    }

    /* --- sets of sets --- */

    /** Makes the elements, each with a call of the function; returns itself. */
    public DataSet<T> init(Function<Void, T> function) throws StarPUException
    {
        Parts blank = Parts.of(new Object[getSize()], nparts);

        source = null;
        maker = null;
        elements = null;
        parts = blank.map(label("init"), List.of(next -> x -> next.accept(function.apply(null))),
                          Parts::list);
        return this;
    }

    /** A task for each part of a vector fills that. */
    protected static <T> void init(DataHandle handle, Function<Void, T> function)
        throws StarPUException
    {
        Codelet fill = new Codelet() {
            @Override
            public void run(DataHandle[] buffers)
            {
                @SuppressWarnings("unchecked")
                VectorHandle<T> part = (VectorHandle<T>) buffers[0];

                for (int i = 0; i < part.getSize(); i++)
                    part.setValueAt(i, function.apply(null));
            }

            @Override
            public DataHandle.AccessMode[] getAccessModes()
            {
                return new DataHandle.AccessMode[] {DataHandle.AccessMode.STARPU_W};
            }
        };

        for (DataHandle part : handle.getHandles())
            StarPU.submitTask(fill, false, part);
    }

    @SuppressWarnings("unchecked")
    private static <A, B> Parts.Stage mapping(Function<A, B> function)
    {
        return next -> x -> next.accept(function.apply((A) x));
    }

    /** The function of each element. */
    public <K> DataSet<K> map(Function<T, K> function) throws StarPUException
    {
        return new DataSet<>(this, "map", mapping(function));
    }

    /** The same, whose values are pairs. */
    public <U, V> DataPairSet<U, V> mapToPair(PairFunction<T, U, V> function)
        throws StarPUException
    {
        return new DataPairSet<>(this, "mapToPair", mapping(function));
    }

    /** The elements that the predicate is true of. */
    @SuppressWarnings("unchecked")
    public DataSet<T> filter(Predicate<T> predicate)
    {
        return new DataSet<>(this, "filter", next -> x -> {
            if (predicate.test((T) x))
                next.accept(x);
        });
    }

    /** All that the function has for each element, which it is called with once. */
    @SuppressWarnings("unchecked")
    public <K> DataSet<K> flatMap(Function<T, Iterator<K>> function) throws StarPUException
    {
        return new DataSet<>(this, "flatMap", next -> x -> {
            for (Iterator<K> all = function.apply((T) x); all.hasNext();)
                next.accept(all.next());
        });
    }

    /** The parts of both. */
    public DataSet<T> union(DataSet<T> other) throws StarPUException
    {
        return new DataSet<>("union", nparts + other.nparts, () -> {
            Parts both = new Parts();

            both.boxes.addAll(parts().boxes);
            both.boxes.addAll(other.parts().boxes);
            return both;
        }, this, other);
    }

    static int bucket(Object key, int n)
    {
        int hash = key == null ? 0 : key.hashCode();

        return Math.floorMod(hash ^ hash >>> 16, n);
    }

    private static Parts.Collector set()
    {
        LinkedHashSet<Object> elements = new LinkedHashSet<>();

        return Parts.collector(elements::add, elements::toArray);
    }

    /** Each value once, where the first of them was or in another part. */
    public DataSet<T> distinct()
    {
        return new DataSet<>("distinct", nparts, () -> {
            Pending pending = through("distinct");

            return pending.from
                .split(label(pending.names), pending.stages, DataSet::set, nparts,
                       x -> bucket(x, nparts))
                .merge(label("distinct"), nparts, DataSet::set);
        }, this);
    }

    /**
     * The elements in the order of their keys, equal ones as they were: each part is sorted,
     * cut at keys that are in about equal numbers, and what is between two of these is
     * merged.
     */
    public <C extends Comparable<? super C>> DataSet<T> sortBy(Function<T, C> key)
    {
        @SuppressWarnings("unchecked")
        Function<Object, C> keyOf = x -> key.apply((T) x);
        Comparator<Object> order = Comparator.comparing(keyOf);

        return new DataSet<>("sortBy", nparts, () -> {
            Pending pending = through("sortBy");
            Parts sorted = pending.from.map(label(pending.names), pending.stages,
                                            () -> sorting(order));
            Parts.Label label = label("sortBy");
            VectorHandle<Object> limits =
                Parts.make(label, sorted.boxes, arrays -> limits(arrays, order, nparts));
            Parts cut = new Parts();

            for (VectorHandle<Object> box : sorted.boxes)
                cut.boxes.add(Parts.make(label, List.of(box, limits), arrays
                                         -> Parts.distribute(arrays[0], nparts,
                                                             x -> place(arrays[1], x, order))));
            return cut.merge(label, nparts, () -> sorting(order));
        }, this);
    }

    private static Parts.Collector sorting(Comparator<Object> order)
    {
        List<Object> elements = new ArrayList<>();

        return Parts.collector(elements::add, () -> {
            elements.sort(order);
            return elements.toArray();
        });
    }

    /* n - 1 elements at equal distances in what a part in each n-th of it has. */
    private static Object[] limits(Object[][] sorted, Comparator<Object> order, int n)
    {
        List<Object> sample = new ArrayList<>();
        Object[] limits;

        for (Object[] part : sorted)
            for (int i = 1; i <= n && part.length > 0; i++)
                sample.add(part[(int) ((long) i * part.length / (n + 1))]);
        sample.sort(order);
        limits = new Object[sample.isEmpty() ? 0 : n - 1];
        for (int i = 0; i < limits.length; i++)
            limits[i] = sample.get((int) ((long) (i + 1) * sample.size() / n));
        return limits;
    }

    /* How many limits are not above it. */
    private static int place(Object[] limits, Object x, Comparator<Object> order)
    {
        int low = 0, high = limits.length;

        while (low < high) {
            int middle = (low + high) / 2;

            if (order.compare(limits[middle], x) <= 0)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    /* --- results --- */

    /** Folds the elements in their order, from an initial value, one after the other. */
    public <K> K reduce(BiFunction<T, K, K> function, K initial) throws StarPUException
    {
        Pending pending = through("reduce");
        VectorHandle<Object> value = Parts.boxOf(new Object[] {initial});

        for (VectorHandle<Object> box : pending.from.boxes)
            Parts.change(label(pending.names), List.of(box), value, arrays
                         -> Parts.flow(arrays[0], pending.stages,
                                       folding(function, only(arrays[1], initial))));
        return result(value, initial);
    }

    /**
     * Folds each part from the initial value, which must change nothing, and combines what
     * comes out two by two.
     */
    public <K> K reduce(BiFunction<T, K, K> function, K initial, BinaryOperator<K> combine)
        throws StarPUException
    {
        Pending pending = through("reduce");
        Parts folded = pending.from.map(label(pending.names), pending.stages,
                                        () -> folding(function, initial));

        return result(folded.tree(label("reduce"), arrays
                                  -> new Object[] {combine.apply(only(arrays[0], initial),
                                                                 only(arrays[1], initial))}),
                      initial);
    }

    /** Combines the elements two by two, the order kept; nothing of none. */
    public Optional<T> reduce(BinaryOperator<T> combine) throws StarPUException
    {
        Pending pending = through("reduce");
        Parts folded = pending.from.map(label(pending.names), pending.stages,
                                        () -> folding(combine));
        T value = result(folded.tree(label("reduce"), arrays -> combined(combine, arrays)), null);

        return Optional.ofNullable(value);
    }

    /** How many there are. */
    public long count() throws StarPUException
    {
        return reduce((x, n) -> n + 1, 0L, Long::sum);
    }

    @SuppressWarnings("unchecked")
    private static <K> K only(Object[] array, K otherwise)
    {
        return array.length == 0 ? otherwise : (K) array[0];
    }

    private <K> K result(VectorHandle<Object> box, K otherwise) throws StarPUException
    {
        K value = only(Parts.read(box), otherwise);

        StarPU.throwFailures();
        return value;
    }

    @SuppressWarnings("unchecked")
    private static <T, K> Parts.Collector folding(BiFunction<T, K, K> function, K initial)
    {
        Object[] value = {initial};

        return Parts.collector(x -> value[0] = function.apply((T) x, (K) value[0]), () -> value);
    }

    @SuppressWarnings("unchecked")
    private static <T> Parts.Collector folding(BinaryOperator<T> combine)
    {
        List<T> value = new ArrayList<>(1);

        return Parts.collector(x -> {
            if (value.isEmpty())
                value.add((T) x);
            else
                value.set(0, combine.apply(value.get(0), (T) x));
        }, value::toArray);
    }

    @SuppressWarnings("unchecked")
    private static <T> Object[] combined(BinaryOperator<T> combine, Object[][] arrays)
    {
        if (arrays[0].length == 0 || arrays[1].length == 0)
            return arrays[arrays[0].length == 0 ? 1 : 0];
        return new Object[] {combine.apply((T) arrays[0][0], (T) arrays[1][0])};
    }

    private List<Object> all()
    {
        List<Object> all = elements != null ? Arrays.asList(elements) : parts().collect();

        try {
            StarPU.throwFailures();
        } catch (StarPUException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
        return all;
    }

    /** How many there are; computes the set. */
    public int getSize()
    {
        return all().size();
    }

    /** All elements, in the order of the parts. */
    @SuppressWarnings("unchecked")
    public Iterable<T> collect()
    {
        return (List<T>) all();
    }

    /** The first n, or as many as there are. */
    @SuppressWarnings("unchecked")
    public List<T> take(int n)
    {
        List<Object> all = all();

        return new ArrayList<>((List<T>) all.subList(0, Math.min(n, all.size())));
    }
}
