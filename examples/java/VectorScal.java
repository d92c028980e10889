/* SPDX-License-Identifier: LGPL-2.1-or-later */
import fr.labri.hpccloud.starpu.Codelet;
import fr.labri.hpccloud.starpu.DataHandle;
import fr.labri.hpccloud.starpu.DataHandle.AccessMode;
import fr.labri.hpccloud.starpu.FloatVector;
import fr.labri.hpccloud.starpu.StarPU;
import fr.labri.hpccloud.starpu.StarPUException;

/** Scales a vector, in parts. usage: VectorScal [N [PARTS]] */
public class VectorScal
{
    private static final float FACTOR = 3.5f;

    /** Multiplies the elements, in their place. */
    static class Scale extends Codelet
    {
        @Override
        public void run(DataHandle[] buffers)
        {
            FloatVector v = (FloatVector) buffers[0];

            for (int i = 0; i < v.getSize(); i++)
                v.set(i, FACTOR * v.get(i));
        }

        @Override
        public AccessMode[] getAccessModes()
        {
            return new AccessMode[] {AccessMode.STARPU_RW};
        }

        @Override
        public String getName()
        {
            return "scale";
        }

        @Override
        public boolean runsOnSimulatedDevices()
        {
            return true;
        }
    }

    public static void main(String[] args) throws StarPUException
    {
        int n = args.length > 0 ? Integer.parseInt(args[0]) : 1 << 20;
        int parts = args.length > 1 ? Integer.parseInt(args[1]) : 16;
        int wrong = 0;

        StarPU.init();
        FloatVector v = FloatVector.allocate(n);

        for (int i = 0; i < n; i++)
            v.set(i, i % 1000);
        v.partition(parts);
        double start = StarPU.timingNow();

        for (DataHandle part : v.getHandles())
            StarPU.submitTask(new Scale(), false, part);
        StarPU.taskWaitForAll();
        System.out.printf("%d tasks: %.3f ms%n", parts, (StarPU.timingNow() - start) / 1000);
        v.unpartition();
        v.acquire();
        for (int i = 0; i < n; i++)
            if (v.get(i) != FACTOR * (i % 1000))
                wrong++;
        v.release();
        if (StarPU.runsKernels())
            System.out.println(wrong == 0 ? "all elements are right" : wrong + " are wrong");
        StarPU.shutdown();
    }
}
