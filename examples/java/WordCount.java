/* SPDX-License-Identifier: LGPL-2.1-or-later */
import fr.labri.hpccloud.starpu.DataPairSet;
import fr.labri.hpccloud.starpu.DataSet;
import fr.labri.hpccloud.starpu.StarPU;
import fr.labri.hpccloud.starpu.StarPUException;
import fr.labri.hpccloud.starpu.Tuple2;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.Arrays;

/** The words of a file, the most frequent first. usage: WordCount FILE [HOW_MANY] */
public class WordCount
{
    public static void main(String[] args) throws StarPUException, IOException
    {
        int most = args.length > 1 ? Integer.parseInt(args[1]) : 10;

        StarPU.init();
        try (FileInputStream file = new FileInputStream(args[0])) {
            DataPairSet<String, Integer> counts =
                DataSet.readFile(file, line -> line.toLowerCase())
                    .splitByBlocks(100)
                    .flatMap(line -> Arrays.asList(line.split("[^a-z]+")).iterator())
                    .filter(word -> !word.isEmpty())
                    .mapToPair(word -> new Tuple2<>(word, 1))
                    .reduceByKey(Integer::sum);

            /* The most frequent first, equal ones by the alphabet. */
            for (Tuple2<String, Integer> pair :
                 counts.sortBy(pair -> String.format("%010d %s", 1_000_000_000 - pair._2(),
                                                     pair._1()))
                     .take(most))
                System.out.println(pair._2() + " " + pair._1());
        }
        StarPU.shutdown();
    }
}
