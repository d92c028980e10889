/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * What tasks of one kind do. Names, modes and the like are asked for once for each object;
 * all objects of a class with the same ones are one codelet for policies and models.
 */
public abstract class Codelet
{
    private static final String DEFAULT_NAME = "codelet";
    /* Roles, equal in native/task.c. */
    static final int OF_TASKS = 0, REDUCES = 1, INITIALISES = 2;

    private static final Map<String, Long> PEERS = new HashMap<>();

    private volatile long peer;
    private int peerRun; /* of which run: devices differ */
    private int nbuffers;
    DataHandle.AccessMode[] modes;

    public Codelet()
    {
    }

    /**
     * The kernel, on a processor. The buffers are the data of this execution, of the classes
     * of the handles, and nothing afterwards. What it throws, the next wait does.
     */
    public abstract void run(DataHandle[] buffers);

    /** How each of the data is used. */
    public abstract DataHandle.AccessMode[] getAccessModes();

    /** How many that are. */
    public final int getNbBuffers()
    {
        return modes().length;
    }

    /** In traces and reports. A codelet with a name of its own has a model of that name. */
    public String getName()
    {
        return DEFAULT_NAME;
    }

    /**
     * The symbol of the performance model that is measured: a file, kept beside those of
     * other programs. Null: none.
     */
    public String getModelName()
    {
        String name = getName();

        return name.equals(DEFAULT_NAME) ? null : name;
    }

    /**
     * How long the kernel takes, µs, in the place of measures: where this is overridden
     * policies ask it for each task. NaN: unknown there. It may run at any time, and must
     * not wait.
     */
    public double getTime(WorkerType type, DataHandle[] handles)
    {
        return Double.NaN;
    }

    /** A function that processors execute in the place of run; null: none. */
    public NativeFunction getCpuFunction()
    {
        return null;
    }

    /** One that CUDA devices have; null: none. */
    public NativeFunction getCudaFunction()
    {
        return null;
    }

    /**
     * Whether CUDA devices that are simulated execute it, though there is no function: a
     * study of what one would bring.
     */
    public boolean runsOnSimulatedDevices()
    {
        return false;
    }

    private DataHandle.AccessMode[] modes()
    {
        if (modes == null)
            modes = getAccessModes();
        return modes;
    }

    /* The codelet in C for tasks with so many handles. */
    long peer(int n) throws StarPUException
    {
        if (peer == 0 || peerRun != StarPU.run()) {
            nbuffers = modes().length;
            peer = findPeer(OF_TASKS);
            peerRun = StarPU.run();
        }
        if (n != nbuffers)
            throw new StarPUException("StarPU.submitTask: " + n + " handles for codelet `" +
                                      getName() + "', which has " + nbuffers +
                                      " access modes");
        return peer;
    }

    /* One in a role, the same for all objects that are alike. */
    long findPeer(int role) throws StarPUException
    {
        NativeFunction cpu = getCpuFunction(), cuda = getCudaFunction();
        boolean device = runsOnSimulatedDevices();
        String key = String.join("\n", getClass().getName(), getName(), getModelName(),
                                 Arrays.toString(modes()), role + " " + device + " " +
                                     Native.isSimulated(),
                                 String.valueOf(cpu == null ? 0 : cpu.address),
                                 cuda == null ? "0" : cuda.address + " " + cuda.asynchronous);

        synchronized (PEERS) {
            Long known = PEERS.get(key);

            if (known == null) {
                known = newPeer(role, cpu, cuda);
                PEERS.put(key, known);
            }
            return known;
        }
    }

    private long newPeer(int role, NativeFunction cpu, NativeFunction cuda)
        throws StarPUException
    {
        int[] flags = new int[modes().length];

        for (int i = 0; i < flags.length; i++)
            flags[i] = modes[i].flags;
        return Native.newCodelet(getName(), getModelName(), overridesTime(), flags, role,
                                 cpu == null ? 0 : cpu.address, cuda == null ? 0 : cuda.address,
                                 cuda != null && cuda.asynchronous, runsOnSimulatedDevices());
    }

    private boolean overridesTime() throws StarPUException
    {
        try {
            return getClass().getMethod("getTime", WorkerType.class, DataHandle[].class)
                       .getDeclaringClass() != Codelet.class;
        } catch (NoSuchMethodException e) {
            throw new StarPUException("codelet", e);
        }
    }
}
