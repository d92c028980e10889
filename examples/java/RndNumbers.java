/* SPDX-License-Identifier: LGPL-2.1-or-later */
import fr.labri.hpccloud.starpu.DataSet;
import fr.labri.hpccloud.starpu.StarPU;
import fr.labri.hpccloud.starpu.StarPUException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** How many of some numbers by chance are primes. usage: RndNumbers [N [BLOCK]] */
public class RndNumbers
{
    static boolean isPrime(int n)
    {
        for (int d = 2; (long) d * d <= n; d++)
            if (n % d == 0)
                return false;
        return n > 1;
    }

    public static void main(String[] args) throws StarPUException
    {
        int n = args.length > 0 ? Integer.parseInt(args[0]) : 100_000;
        int block = args.length > 1 ? Integer.parseInt(args[1]) : 5000;
        Random random = new Random(7);
        List<Integer> numbers = new ArrayList<>();

        for (int i = 0; i < n; i++)
            numbers.add(random.nextInt(1_000_000));
        StarPU.init();
        int primes = new DataSet<>(numbers)
                         .splitByBlocks(block)
                         .map(x -> isPrime(x) ? 1 : 0)
                         .reduce((x, sum) -> x + sum, 0, Integer::sum);

        System.out.println(primes + " of " + n + " numbers are primes");
        StarPU.shutdown();
    }
}
