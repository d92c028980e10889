/* SPDX-License-Identifier: LGPL-2.1-or-later */
import fr.labri.hpccloud.starpu.Codelet;
import fr.labri.hpccloud.starpu.DataHandle;
import fr.labri.hpccloud.starpu.DataHandle.AccessMode;
import fr.labri.hpccloud.starpu.StarPU;
import fr.labri.hpccloud.starpu.VectorHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * Vectors of objects that main memory has no room for go to a disk and come back, serialised.
 * usage: Swap VECTORS LENGTH ROUNDS, with STARPU_LIMIT_CPU_MEM and STARPU_DISK_SWAP.
 */
public class Swap
{
    static final class Fill extends Codelet
    {
        private final int seed;

        Fill(int seed)
        {
            this.seed = seed;
        }

        @Override
        @SuppressWarnings("unchecked")
        public void run(DataHandle[] buffers)
        {
            VectorHandle<String> v = (VectorHandle<String>) buffers[0];

            for (int i = 0; i < v.getSize(); i++)
                v.setValueAt(i, seed + ":" + i);
        }

        @Override
        public AccessMode[] getAccessModes()
        {
            return new AccessMode[] {AccessMode.STARPU_W};
        }
    }

    public static void main(String[] args) throws Exception
    {
        int vectors = Integer.parseInt(args[0]), length = Integer.parseInt(args[1]);
        int rounds = Integer.parseInt(args[2]);
        List<VectorHandle<String>> all = new ArrayList<>();

        StarPU.init();
        for (int k = 0; k < vectors; k++) {
            all.add(VectorHandle.register(length));
            StarPU.submitTask(new Fill(k), false, all.get(k));
        }
        StarPU.taskWaitForAll();
        for (int round = 0; round < rounds; round++)
            for (int k = 0; k < vectors; k++) {
                VectorHandle<String> v = all.get(k);
                int right = 0;

                v.acquire();
                for (int i = 0; i < length; i++)
                    right += v.getValueAt(i).equals(k + ":" + i) ? 1 : 0;
                v.release();
                Check.equal(right, length, "vector " + k + " in round " + round);
            }
        for (VectorHandle<String> v : all)
            v.unregister();
        StarPU.shutdown();
        System.out.println("all vectors are right");
        Check.end();
    }
}
