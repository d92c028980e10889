/* SPDX-License-Identifier: LGPL-2.1-or-later */
import fr.labri.hpccloud.starpu.DataSet;
import fr.labri.hpccloud.starpu.StarPU;
import fr.labri.hpccloud.starpu.StarPUException;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** Pi by chance, as a set. usage: Pi3 [SLICES [POINTS]] */
public class Pi3
{
    public static void main(String[] args) throws StarPUException
    {
        int slices = args.length > 0 ? Integer.parseInt(args[0]) : 1000;
        int points = args.length > 1 ? Integer.parseInt(args[1]) : 100_000;
        AtomicInteger seeds = new AtomicInteger();

        StarPU.init();
        long inside = new DataSet<Long>(slices)
                          .partition(10)
                          .init(nothing -> thrown(seeds.getAndIncrement(), points))
                          .reduce((n, sum) -> n + sum, 0L);

        System.out.println("pi is about " + 4.0 * inside / ((double) slices * points));
        StarPU.shutdown();
    }

    private static long thrown(int seed, int points)
    {
        SplittableRandom random = new SplittableRandom(seed);
        long inside = 0;

        for (int k = 0; k < points; k++) {
            double x = random.nextDouble(), y = random.nextDouble();

            inside += x * x + y * y < 1 ? 1 : 0;
        }
        return inside;
    }
}
