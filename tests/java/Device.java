/* SPDX-License-Identifier: LGPL-2.1-or-later */
import fr.labri.hpccloud.starpu.Codelet;
import fr.labri.hpccloud.starpu.DataHandle;
import fr.labri.hpccloud.starpu.DataHandle.AccessMode;
import fr.labri.hpccloud.starpu.FloatVector;
import fr.labri.hpccloud.starpu.NativeFunction;
import fr.labri.hpccloud.starpu.StarPU;

/** Tasks that a GPU has a function of C for, and processors one of Java. usage: Device KERNELS */
public class Device
{
    public static void main(String[] args) throws Exception
    {
        StarPU.init();
        NativeFunction scale = NativeFunction.of(args[0], "scale_on_device").asynchronous();
        Codelet twice = new Codelet() {
            @Override
            public void run(DataHandle[] buffers)
            {
                FloatVector v = (FloatVector) buffers[0];

                for (int i = 0; i < v.getSize(); i++)
                    v.set(i, 2 * v.get(i));
            }

            @Override
            public AccessMode[] getAccessModes()
            {
                return new AccessMode[] {AccessMode.STARPU_RW};
            }

            @Override
            public NativeFunction getCudaFunction()
            {
                return scale;
            }
        };
        FloatVector v = FloatVector.allocate(1000);
        int right = 0;

        for (int i = 0; i < v.getSize(); i++)
            v.set(i, i);
        v.partition(4);
        for (int round = 0; round < 5; round++)
            for (DataHandle part : v.getHandles())
                StarPU.submitTask(twice, false, part);
        v.unpartition();
        v.acquire();
        for (int i = 0; i < v.getSize(); i++)
            right += v.get(i) == 32 * i ? 1 : 0;
        v.release();
        Check.equal(right, 1000, "elements of both kinds of kernels");
        StarPU.shutdown();
        Check.end();
    }
}
