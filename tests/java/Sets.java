/* SPDX-License-Identifier: LGPL-2.1-or-later */
import fr.labri.hpccloud.starpu.DataPairSet;
import fr.labri.hpccloud.starpu.DataSet;
import fr.labri.hpccloud.starpu.StarPU;
import fr.labri.hpccloud.starpu.Tuple2;
import fr.labri.hpccloud.starpu.VectorHandle;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/** Sets by chance against what Java's own collections give. usage: Sets SEED ROUNDS */
public class Sets
{
    static <T> List<T> list(DataSet<T> set)
    {
        List<T> all = new ArrayList<>();

        for (T x : set.collect())
            all.add(x);
        return all;
    }

    static List<Integer> numbers(Random random)
    {
        List<Integer> numbers = new ArrayList<>();
        int n = random.nextInt(60);

        for (int i = 0; i < n; i++)
            numbers.add(random.nextInt(30));
        return numbers;
    }

    /** Steps by chance, on the set and on a list. */
    static void chain(Random random) throws Exception
    {
        List<Integer> expected = numbers(random);
        DataSet<Integer> set = new DataSet<>(expected, 1 + random.nextInt(5));

        for (int step = random.nextInt(6); step > 0; step--) {
            int k = 1 + random.nextInt(4);

            switch (random.nextInt(8)) {
            case 0:
                set = set.map(x -> x + k);
                expected = expected.stream().map(x -> x + k).collect(Collectors.toList());
                break;
            case 1:
                set = set.filter(x -> x % k == 0);
                expected = expected.stream().filter(x -> x % k == 0).collect(Collectors.toList());
                break;
            case 2:
                set = set.flatMap(x -> Collections.nCopies(x % k, x).iterator());
                expected = expected.stream()
                               .flatMap(x -> Collections.nCopies(x % k, x).stream())
                               .collect(Collectors.toList());
                break;
            case 3:
                set = set.sortBy(x -> -x / k);
                expected = new ArrayList<>(expected);
                expected.sort((a, b) -> Integer.compare(-a / k, -b / k));
                break;
            case 4:
                List<Integer> more = numbers(random);

                set = set.union(new DataSet<>(more, k));
                expected = new ArrayList<>(expected);
                expected.addAll(more);
                break;
            case 5:
                set = set.partition(k);
                break;
            case 6:
                set = set.splitByBlocks(5 * k);
                break;
            default:
                set = set.cache();
                break;
            }
        }
        Check.equal(list(set), expected, "steps by chance");
        results(set, expected);
    }

    static void results(DataSet<Integer> set, List<Integer> expected) throws Exception
    {
        int sum = expected.stream().mapToInt(x -> x).sum();

        Check.equal(set.getSize(), expected.size(), "size");
        Check.equal(set.count(), (long) expected.size(), "count");
        Check.equal(set.reduce((x, s) -> x + s, 0), sum, "reduce in order");
        Check.equal(set.<String>reduce((x, s) -> s + x, ""),
                    expected.stream().map(String::valueOf).collect(Collectors.joining()),
                    "reduce in order, of texts");
        Check.equal(set.reduce((x, s) -> x + s, 0, Integer::sum), sum, "reduce as a tree");
        Check.equal(set.reduce(Math::max), expected.stream().reduce(Math::max), "reduce by pairs");
        Check.equal(set.take(7), expected.subList(0, Math.min(7, expected.size())), "take");
        Check.equal(new HashSet<>(list(set.distinct())), new HashSet<>(expected), "distinct");
        Check.equal(list(set.distinct()).size(), new HashSet<>(expected).size(), "each once");
    }

    static <T> Map<T, Integer> counted(Iterable<T> of)
    {
        Map<T, Integer> counts = new HashMap<>();

        for (T x : of)
            counts.merge(x, 1, Integer::sum);
        return counts;
    }

    static void pairs(Random random) throws Exception
    {
        List<Integer> left = numbers(random), right = numbers(random);
        int m = 1 + random.nextInt(5), parts = 1 + random.nextInt(4);
        DataPairSet<Integer, Integer> a =
            new DataSet<>(left, parts).mapToPair(x -> new Tuple2<>(x % m, x));
        DataPairSet<Integer, Integer> b =
            new DataSet<>(right, 1 + random.nextInt(4)).mapToPair(x -> new Tuple2<>(x % m, x));
        Map<Integer, Integer> sums = new HashMap<>();
        Map<Integer, Set<Integer>> groups = new HashMap<>();
        List<Tuple2<Integer, Tuple2<Integer, Integer>>> joined = new ArrayList<>();

        for (int x : left) {
            sums.merge(x % m, x, Integer::sum);
            groups.computeIfAbsent(x % m, k -> new HashSet<>()).add(x);
            for (int y : right)
                if (x % m == y % m)
                    joined.add(new Tuple2<>(x % m, new Tuple2<>(x, y)));
        }
        Check.equal(counted(a.join(b).collect()), counted(joined), "join");
        Check.equal(map(a.reduceByKey(Integer::sum)), sums, "reduceByKey");
        Check.equal(map(a.groupByKey()), groups, "groupByKey");
        Check.equal(map(new DataPairSet<>(sums)), sums, "a set of a map");
    }

    static <K, V> Map<K, V> map(DataSet<Tuple2<K, V>> set)
    {
        Map<K, V> map = new HashMap<>();

        for (Tuple2<K, V> pair : set.collect())
            Check.equal(map.put(pair._1(), pair._2()), null, "a key once");
        return map;
    }

    /** Fills a vector as sets are filled. */
    static final class Filled extends DataSet<Integer>
    {
        Filled(VectorHandle<Integer> vector) throws Exception
        {
            super(0);
            init(vector, (Void nothing) -> 7);
        }
    }

    /** How often functions are called, and how many tasks there are. */
    static void calls() throws Exception
    {
        VectorHandle<Integer> vector = VectorHandle.register(5);

        vector.partition(2);
        Check.equal(new Filled(vector).getSize(), 0, "an empty set");
        vector.unpartition();
        Check.equal(vector.getValueAt(4), 7, "a vector that was filled");
        AtomicInteger mapped = new AtomicInteger(), flat = new AtomicInteger();
        DataSet<Integer> set =
            new DataSet<>(Arrays.asList(1, 2, 3, 4, 5, 6), 3)
                .map(x -> mapped.incrementAndGet() > 0 ? x : 0)
                .flatMap(x -> {
                    flat.incrementAndGet();
                    return Arrays.asList(x, x).iterator();
                });

        Check.equal(mapped.get() + flat.get(), 0, "nothing is done before it is asked for");
        Check.equal(set.getSize(), 12, "twice six");
        Check.equal(set.count(), 12L, "twice six");
        Check.equal(mapped.get(), 6, "each element once");
        Check.equal(flat.get(), 6, "each element once");
        DataSet<Integer> filled = new DataSet<Integer>(10).partition(4).init(x -> flat.get());
        Check.equal(list(filled), Collections.nCopies(10, 6), "init");
        Check.equal(list(DataSet.readFile(
                        new ByteArrayInputStream("a\nb\n".getBytes(StandardCharsets.UTF_8)),
                        line -> line + line)),
                    Arrays.asList("aa", "bb"), "readFile");
        Check.equal(new DataSet<Integer>(new LinkedHashSet<>()).reduce(Math::max), Optional.empty(),
                    "nothing of none");
        Check.thrown(IllegalArgumentException.class, "0 parts", () -> filled.partition(0));
        Check.thrown(IllegalStateException.class, "in a set",
                     () -> filled.map(x -> fails()).collect());
    }

    private static int fails()
    {
        throw new UnsupportedOperationException("in a set");
    }

    public static void main(String[] args) throws Exception
    {
        Random random = new Random(Long.parseLong(args[0]));
        int rounds = Integer.parseInt(args[1]);

        Check.test("chains", () -> {
            for (int i = 0; i < rounds; i++)
                chain(random);
        });
        Check.test("pairs", () -> {
            for (int i = 0; i < rounds; i++)
                pairs(random);
        });
        Check.test("calls", Sets::calls);
        Check.end();
    }
}
