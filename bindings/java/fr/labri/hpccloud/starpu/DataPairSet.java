/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * A set of pairs of keys and values. What brings equal keys together cuts each part by the
 * keys' hashes, and makes a part of each such piece of all of them.
 */
public class DataPairSet<K, V> extends DataSet<Tuple2<K, V>>
{
    public DataPairSet(int size)
    {
        super(size);
    }

    public DataPairSet(Collection<Tuple2<K, V>> collection)
    {
        super(collection);
    }

    public DataPairSet(Map<K, V> map)
    {
        super(map.entrySet()
                  .stream()
                  .map(e -> new Tuple2<>(e.getKey(), e.getValue()))
                  .collect(Collectors.toList()));
    }

    public DataPairSet(Collection<Tuple2<K, V>> collection, int nbParts)
    {
        super(collection, nbParts);
    }

    DataPairSet(DataSet<?> source, String operation, Parts.Stage stage)
    {
        super(source, operation, stage);
    }

    private DataPairSet(String operation, int nparts, Supplier<Parts> maker,
                        DataSet<?>... sources)
    {
        super(operation, nparts, maker, sources);
    }

    private static Object key(Object pair)
    {
        return ((Tuple2<?, ?>) pair)._1();
    }

    private static Object value(Object pair)
    {
        return ((Tuple2<?, ?>) pair)._2();
    }

    /* Parts of n pieces each. */
    private Parts byKey(String operation, int n, Supplier<Parts.Collector> collector)
    {
        Pending pending = through(operation);

        return pending.from.split(label(pending.names), pending.stages, collector, n,
                                  pair -> bucket(key(pair), n));
    }

    /** For each pair of this set and each of the other one with that key: both values. */
    public <U> DataPairSet<K, Tuple2<V, U>> join(DataPairSet<K, U> other) throws StarPUException
    {
        int n = getNbParts();

        return new DataPairSet<>("join", n, () -> {
            Parts left = byKey("join", n, Parts::list);
            Parts right = other.byKey("join", n, Parts::list);
            List<VectorHandle<Object>> both = new ArrayList<>(left.boxes);
            Parts made = new Parts();

            both.addAll(right.boxes);
            for (int i = 0; i < n; i++) {
                int piece = i;

                made.boxes.add(Parts.make(label("join"), both,
                                          arrays -> joined(arrays, left.boxes.size(), piece)));
            }
            return made;
        }, this, other);
    }

    private static Object[] joined(Object[][] arrays, int nleft, int piece)
    {
        Map<Object, List<Object>> right = new LinkedHashMap<>();
        List<Object> pairs = new ArrayList<>();

        Parts.gather(arrays, nleft, arrays.length, piece,
                     pair -> right.computeIfAbsent(key(pair), k -> new ArrayList<>())
                                 .add(value(pair)));
        Parts.gather(arrays, 0, nleft, piece, pair -> {
            for (Object other : right.getOrDefault(key(pair), List.of()))
                pairs.add(new Tuple2<>(key(pair), new Tuple2<>(value(pair), other)));
        });
        return pairs.toArray();
    }

    private static Object[] pairs(Map<Object, ?> map)
    {
        List<Object> pairs = new ArrayList<>();

        map.forEach((key, value) -> pairs.add(new Tuple2<>(key, value)));
        return pairs.toArray();
    }

    private static Parts.Collector grouping()
    {
        Map<Object, Set<Object>> groups = new LinkedHashMap<>();

        return Parts.collector(pair -> groups.computeIfAbsent(key(pair),
                                                              k -> new LinkedHashSet<>())
                                           .add(value(pair)),
                               () -> pairs(groups));
    }

    /** For each key the set of its values. */
    public DataPairSet<K, Set<V>> groupByKey()
    {
        int n = getNbParts();

        return new DataPairSet<>("groupByKey", n,
                                 () -> byKey("groupByKey", n, Parts::list)
                                           .merge(label("groupByKey"), n,
                                                  DataPairSet::grouping),
                                 this);
    }

    @SuppressWarnings("unchecked")
    private static <V> Parts.Collector reducing(BiFunction<V, V, V> function)
    {
        Map<Object, Object> values = new LinkedHashMap<>();

        return Parts.collector(pair -> {
            Object key = key(pair);

            values.put(key, values.containsKey(key)
                                ? function.apply((V) values.get(key), (V) value(pair))
                                : value(pair));
        }, () -> pairs(values));
    }

    /** For each key its values, combined by the function; in each part first. */
    public <U> DataPairSet<K, V> reduceByKey(BiFunction<V, V, V> function) throws StarPUException
    {
        int n = getNbParts();

        return new DataPairSet<>("reduceByKey", n,
                                 () -> byKey("reduceByKey", n, () -> reducing(function))
                                           .merge(label("reduceByKey"), n,
                                                  () -> reducing(function)),
                                 this);
    }
}
