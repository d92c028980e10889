/* SPDX-License-Identifier: LGPL-2.1-or-later */
import fr.labri.hpccloud.starpu.DataPairSet;
import fr.labri.hpccloud.starpu.DataSet;
import fr.labri.hpccloud.starpu.StarPU;
import fr.labri.hpccloud.starpu.StarPUException;
import fr.labri.hpccloud.starpu.Tuple2;
import java.util.LinkedHashSet;
import java.util.Random;
import java.util.Set;

/**
 * Which vertices of a graph can be reached from which: paths are joined with edges until
 * there are no new ones. usage: TransitiveClosure [EDGES [VERTICES [PARTS]]]
 */
public class TransitiveClosure
{
    static Set<Tuple2<Integer, Integer>> graph(int edges, int vertices)
    {
        Random random = new Random(42);
        Set<Tuple2<Integer, Integer>> graph = new LinkedHashSet<>();

        while (graph.size() < edges) {
            int from = random.nextInt(vertices), to = random.nextInt(vertices);

            if (from != to)
                graph.add(new Tuple2<>(from, to));
        }
        return graph;
    }

    public static void main(String[] args) throws StarPUException
    {
        int edges = args.length > 0 ? Integer.parseInt(args[0]) : 200;
        int vertices = args.length > 1 ? Integer.parseInt(args[1]) : 100;
        int parts = args.length > 2 ? Integer.parseInt(args[2]) : 4;

        StarPU.init();
        DataSet<Tuple2<Integer, Integer>> paths = new DataSet<>(graph(edges, vertices), parts);
        /* By where they end: what a path is prolonged by. */
        DataPairSet<Integer, Integer> ends = paths.mapToPair(e -> new Tuple2<>(e._2(), e._1()));
        int before, now = paths.getSize(), rounds = 0;

        ends.cache();
        do {
            before = now;
            DataPairSet<Integer, Integer> begins = paths.mapToPair(p -> p);
            DataSet<Tuple2<Integer, Integer>> longer =
                begins.join(ends).map(joined -> new Tuple2<>(joined._2()._2(), joined._2()._1()));

            paths = paths.union(longer).distinct().partition(parts);
            now = paths.getSize();
            rounds++;
        } while (now != before);
        System.out.println(now + " pairs in " + rounds + " rounds");
        StarPU.shutdown();
    }
}
