/* SPDX-License-Identifier: LGPL-2.1-or-later */
import fr.labri.hpccloud.starpu.Codelet;
import fr.labri.hpccloud.starpu.DataHandle;
import fr.labri.hpccloud.starpu.DataHandle.AccessMode;
import fr.labri.hpccloud.starpu.IntegerVariableHandle;
import fr.labri.hpccloud.starpu.IntegerVectorHandle;
import fr.labri.hpccloud.starpu.StarPU;
import fr.labri.hpccloud.starpu.StarPUException;
import java.util.SplittableRandom;

/** Pi by chance: points in a square, counted by integers. usage: Pi1 [SLICES [POINTS]] */
public class Pi1
{
    private static int points = 100_000;

    /** For each element, a seed, how many of so many points are in the circle. */
    static class Throw extends Codelet
    {
        @Override
        public void run(DataHandle[] buffers)
        {
            IntegerVectorHandle slices = (IntegerVectorHandle) buffers[0];

            for (int i = 0; i < slices.getSize(); i++) {
                SplittableRandom random = new SplittableRandom(slices.getValueAt(i));
                int inside = 0;

                for (int k = 0; k < points; k++) {
                    double x = random.nextDouble(), y = random.nextDouble();

                    inside += x * x + y * y < 1 ? 1 : 0;
                }
                slices.setValueAt(i, inside);
            }
        }

        @Override
        public AccessMode[] getAccessModes()
        {
            return new AccessMode[] {AccessMode.STARPU_RW};
        }

        @Override
        public String getName()
        {
            return "throw";
        }
    }

    /** Adds the elements up. */
    static class Sum extends Codelet
    {
        @Override
        public void run(DataHandle[] buffers)
        {
            IntegerVectorHandle slices = (IntegerVectorHandle) buffers[0];
            IntegerVariableHandle<?> sum = (IntegerVariableHandle<?>) buffers[1];
            int total = 0;

            for (int i = 0; i < slices.getSize(); i++)
                total += slices.getValueAt(i);
            sum.setValue(total);
        }

        @Override
        public AccessMode[] getAccessModes()
        {
            return new AccessMode[] {AccessMode.STARPU_R, AccessMode.STARPU_W};
        }

        @Override
        public String getName()
        {
            return "sum";
        }
    }

    public static void main(String[] args) throws StarPUException
    {
        int slices = args.length > 0 ? Integer.parseInt(args[0]) : 1000;

        points = args.length > 1 ? Integer.parseInt(args[1]) : points;
        StarPU.init();
        IntegerVectorHandle inside = IntegerVectorHandle.register(slices);
        IntegerVariableHandle<?> sum = IntegerVariableHandle.register();

        for (int i = 0; i < slices; i++)
            inside.setValueAt(i, i);
        inside.partition(10);
        for (DataHandle part : inside.getHandles())
            StarPU.submitTask(new Throw(), false, part);
        StarPU.reduceCodelet(new Sum(), true, inside, sum);
        sum.acquire();
        System.out.println("pi is about " + 4.0 * sum.getValue() / ((double) slices * points));
        sum.release();
        sum.unregister();
        inside.unregister();
        StarPU.shutdown();
    }
}
