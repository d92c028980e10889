/* SPDX-License-Identifier: LGPL-2.1-or-later */
import fr.labri.hpccloud.starpu.Codelet;
import fr.labri.hpccloud.starpu.DataHandle;
import fr.labri.hpccloud.starpu.DataHandle.AccessMode;
import fr.labri.hpccloud.starpu.StarPU;
import fr.labri.hpccloud.starpu.StarPUException;
import fr.labri.hpccloud.starpu.VectorHandle;
import java.io.Serializable;
import java.util.SplittableRandom;

/** Pi by chance, counted in objects. usage: Pi2 [SLICES [POINTS]] */
public class Pi2
{
    /** Points of one slice. */
    static final class Slice implements Serializable
    {
        private static final long serialVersionUID = 1;
        final long points, inside;

        Slice(long points, long inside)
        {
            this.points = points;
            this.inside = inside;
        }

        static Slice thrown(long seed, int points)
        {
            SplittableRandom random = new SplittableRandom(seed);
            long inside = 0;

            for (int k = 0; k < points; k++) {
                double x = random.nextDouble(), y = random.nextDouble();

                inside += x * x + y * y < 1 ? 1 : 0;
            }
            return new Slice(points, inside);
        }

        Slice plus(Slice other)
        {
            return new Slice(points + other.points, inside + other.inside);
        }
    }

    static class Throw extends Codelet
    {
        private final int points;

        Throw(int points)
        {
            this.points = points;
        }

        @Override
        @SuppressWarnings("unchecked")
        public void run(DataHandle[] buffers)
        {
            VectorHandle<Long> seeds = (VectorHandle<Long>) buffers[0];
            VectorHandle<Slice> slices = (VectorHandle<Slice>) buffers[1];

            for (int i = 0; i < seeds.getSize(); i++)
                slices.setValueAt(i, Slice.thrown(seeds.getValueAt(i), points));
        }

        @Override
        public AccessMode[] getAccessModes()
        {
            return new AccessMode[] {AccessMode.STARPU_R, AccessMode.STARPU_W};
        }

        @Override
        public String getName()
        {
            return "throw2";
        }
    }

    /** One slice of all. */
    static class Add extends Codelet
    {
        @Override
        @SuppressWarnings("unchecked")
        public void run(DataHandle[] buffers)
        {
            VectorHandle<Slice> slices = (VectorHandle<Slice>) buffers[0];
            VectorHandle<Slice> sum = (VectorHandle<Slice>) buffers[1];
            Slice all = new Slice(0, 0);

            for (int i = 0; i < slices.getSize(); i++)
                all = all.plus(slices.getValueAt(i));
            sum.setValueAt(0, all);
        }

        @Override
        public AccessMode[] getAccessModes()
        {
            return new AccessMode[] {AccessMode.STARPU_R, AccessMode.STARPU_W};
        }

        @Override
        public String getName()
        {
            return "add2";
        }
    }

    public static void main(String[] args) throws StarPUException
    {
        int slices = args.length > 0 ? Integer.parseInt(args[0]) : 1000;
        int points = args.length > 1 ? Integer.parseInt(args[1]) : 100_000;

        StarPU.init();
        VectorHandle<Long> seeds = VectorHandle.register(slices);
        VectorHandle<Slice> thrown = VectorHandle.register(slices);
        VectorHandle<Slice> sum = VectorHandle.register(1);

        seeds.acquire(AccessMode.STARPU_W);
        for (int i = 0; i < slices; i++)
            seeds.setValueAt(i, (long) i);
        seeds.release();
        seeds.partition(10);
        thrown.partition(10);
        StarPU.mapCodelet(new Throw(points), false, seeds, thrown);
        StarPU.reduceCodelet(new Add(), true, thrown, sum);
        sum.acquire();
        if (StarPU.runsKernels())
            System.out.println("pi is about " + 4.0 * sum.getValueAt(0).inside /
                               sum.getValueAt(0).points);
        sum.release();
        StarPU.shutdown();
    }
}
