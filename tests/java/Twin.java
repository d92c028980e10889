/* SPDX-License-Identifier: LGPL-2.1-or-later */
import fr.labri.hpccloud.starpu.Codelet;
import fr.labri.hpccloud.starpu.DataHandle;
import fr.labri.hpccloud.starpu.DataHandle.AccessMode;
import fr.labri.hpccloud.starpu.DoubleVariable;
import fr.labri.hpccloud.starpu.FloatMatrix;
import fr.labri.hpccloud.starpu.FloatVector;
import fr.labri.hpccloud.starpu.StarPU;
import fr.labri.hpccloud.starpu.StarPUException;
import fr.labri.hpccloud.starpu.Task;

/**
 * What tests/fortran/twin.c is in C: a vector in parts, a factorisation in tiles, a
 * reduction; and N tasks on one datum. Their kernels do nothing.
 * usage: Twin vector|cholesky|redux|tasks N [WARM_UP]
 */
public class Twin
{
    static final AccessMode R = AccessMode.STARPU_R, RW = AccessMode.STARPU_RW;

    static final class Nothing extends Codelet
    {
        private final String name;
        private final AccessMode[] modes;

        Nothing(String name, AccessMode... modes)
        {
            this.name = name;
            this.modes = modes;
        }

        @Override
        public void run(DataHandle[] buffers)
        {
        }

        @Override
        public AccessMode[] getAccessModes()
        {
            return modes;
        }

        @Override
        public String getName()
        {
            return name;
        }

        @Override
        public String getModelName()
        {
            return null;
        }

        @Override
        public boolean runsOnSimulatedDevices()
        {
            return true;
        }
    }

    static final Codelet SCALE = new Nothing("scale", RW), POTRF = new Nothing("potrf", RW),
                         TRSM = new Nothing("trsm", R, RW), SYRK = new Nothing("syrk", R, RW),
                         GEMM = new Nothing("gemm", R, R, RW),
                         CONTRIBUTE = new Nothing("contribute", AccessMode.STARPU_REDUX),
                         ZERO = new Nothing("zero", AccessMode.STARPU_W),
                         ADD = new Nothing("add", AccessMode.STARPU_COMMUTE, R);

    static void vector(int n) throws StarPUException
    {
        FloatVector v = FloatVector.allocate(4096);

        v.partition(8);
        for (int i = 0; i < n; i++)
            for (DataHandle part : v.getHandles())
                StarPU.submitTask(SCALE, false, part);
        StarPU.taskWaitForAll();
        v.unregister();
    }

    /* Tile (i, j) of the program in C is that of column i, row j. */
    static void cholesky(int n) throws StarPUException
    {
        FloatMatrix m = FloatMatrix.allocate(256, 256);

        m.partition(n, n);
        for (int k = 0; k < n; k++) {
            new Task(POTRF, m.getSubData(k, k)).priority(2 * (n - k)).submitOnly();
            for (int i = k + 1; i < n; i++)
                new Task(TRSM, m.getSubData(k, k), m.getSubData(k, i))
                    .priority(2 * (n - k) - 1)
                    .submitOnly();
            for (int j = k + 1; j < n; j++) {
                StarPU.submitTask(SYRK, false, m.getSubData(k, j), m.getSubData(j, j));
                for (int i = j + 1; i < n; i++)
                    StarPU.submitTask(GEMM, false, m.getSubData(k, i), m.getSubData(k, j),
                                      m.getSubData(j, i));
            }
        }
        StarPU.taskWaitForAll();
        m.unregister();
    }

    static void redux(int n) throws StarPUException
    {
        DoubleVariable sum = DoubleVariable.allocate();

        sum.setReductionMethods(ADD, ZERO);
        for (int i = 0; i < n; i++)
            StarPU.submitTask(CONTRIBUTE, false, sum);
        StarPU.taskWaitForAll();
        sum.unregister();
    }

    static void tasks(int n) throws StarPUException
    {
        DoubleVariable sum = DoubleVariable.allocate();

        for (int i = 0; i < n; i++)
            StarPU.submitTask(SCALE, false, sum);
        StarPU.taskWaitForAll();
        sum.unregister();
    }

    static void run(String which, int n) throws StarPUException
    {
        switch (which) {
        case "vector":
            vector(n);
            break;
        case "cholesky":
            cholesky(n);
            break;
        case "redux":
            redux(n);
            break;
        default:
            tasks(n);
            break;
        }
    }

    public static void main(String[] args) throws StarPUException
    {
        StarPU.init();
        if (args.length > 2)
            run(args[0], Integer.parseInt(args[2]));
        double start = StarPU.timingNow();

        run(args[0], Integer.parseInt(args[1]));
        System.out.printf("%.3f%n", StarPU.timingNow() - start);
        StarPU.shutdown();
    }
}
