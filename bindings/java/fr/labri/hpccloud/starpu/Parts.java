/* SPDX-License-Identifier: LGPL-2.1-or-later */
package fr.labri.hpccloud.starpu;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The parts of a set, and tasks that make some of others. A part is a datum with one object,
 * an array of elements: how many there will be is not known when a task is submitted.
 * Simulated without kernels a part has no array, which is taken for an empty one.
 */
final class Parts
{
    private static final Object[] EMPTY = new Object[0];

    /** What is done to elements on their way: given where they go next, where they go. */
    interface Stage
    {
        Consumer<Object> into(Consumer<Object> next);
    }

    /** Where elements end. */
    interface Collector extends Consumer<Object>
    {
        Object[] result();
    }

    /** A task on parts: what it does is the body, with the arrays of those that it reads. */
    private static final class Body extends Codelet
    {
        private final String name;
        private final boolean measured;
        private final int nread;
        private final DataHandle.AccessMode[] all;
        private final Function<Object[][], Object[]> make;

        Body(String name, boolean measured, int nread, DataHandle.AccessMode last,
             Function<Object[][], Object[]> make)
        {
            this.name = name;
            this.measured = measured;
            this.nread = nread;
            this.make = make;
            all = new DataHandle.AccessMode[nread + 1];
            Arrays.fill(all, DataHandle.AccessMode.STARPU_R);
            all[nread] = last;
        }

        @Override
        public void run(DataHandle[] buffers)
        {
            boolean changes = all[nread] == DataHandle.AccessMode.STARPU_RW;
            Object[][] arrays = new Object[changes ? nread + 1 : nread][];

            for (int i = 0; i < arrays.length; i++)
                arrays[i] = arrayOf(box(buffers[i]));
            box(buffers[nread]).setValueAt(0, make.apply(arrays));
        }

        @Override
        public DataHandle.AccessMode[] getAccessModes()
        {
            return all;
        }

        @Override
        public String getName()
        {
            return name;
        }

        @Override
        public String getModelName()
        {
            return measured ? name : null;
        }
    }

    final List<VectorHandle<Object>> boxes = new ArrayList<>();

    @SuppressWarnings("unchecked")
    private static VectorHandle<Object> box(DataHandle handle)
    {
        return (VectorHandle<Object>) handle;
    }

    private static Object[] arrayOf(VectorHandle<Object> box)
    {
        Object[] array = (Object[]) box.getValueAt(0);

        return array == null ? EMPTY : array;
    }

    /** The elements in n blocks, of which the first may be larger. */
    static Parts of(Object[] elements, int n)
    {
        Parts parts = new Parts();
        int least = elements.length / n, rest = elements.length % n, first = 0;

        for (int i = 0; i < n; i++) {
            int after = first + least + (i < rest ? 1 : 0);

            parts.boxes.add(boxOf(Arrays.copyOfRange(elements, first, after)));
            first = after;
        }
        return parts;
    }

    static VectorHandle<Object> boxOf(Object[] array)
    {
        VectorHandle<Object> box = VectorHandle.register(1);

        box.acquire(DataHandle.AccessMode.STARPU_W);
        box.setValueAt(0, array);
        box.release();
        return box;
    }

    /** What a part has; waits for the task that makes it. */
    static Object[] read(VectorHandle<Object> box)
    {
        return arrayOf(box);
    }

    /** A task that makes a part of others. */
    static VectorHandle<Object> make(Label label, List<VectorHandle<Object>> of,
                                     Function<Object[][], Object[]> make)
    {
        VectorHandle<Object> box = VectorHandle.register(1);

        submit(label, of, box, DataHandle.AccessMode.STARPU_W, make);
        return box;
    }

    /** A task that changes one; the last array is what it was. */
    static void change(Label label, List<VectorHandle<Object>> of, VectorHandle<Object> box,
                       Function<Object[][], Object[]> make)
    {
        submit(label, of, box, DataHandle.AccessMode.STARPU_RW, make);
    }

    private static void submit(Label label, List<VectorHandle<Object>> of,
                               VectorHandle<Object> box, DataHandle.AccessMode mode,
                               Function<Object[][], Object[]> make)
    {
        DataHandle[] handles = new DataHandle[of.size() + 1];

        for (int i = 0; i < of.size(); i++)
            handles[i] = of.get(i);
        handles[of.size()] = box;
        try {
            StarPU.submitTask(new Body(label.name, label.measured, of.size(), mode, make), false,
                              handles);
        } catch (StarPUException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /** Elements through the stages into the collector. */
    static Object[] flow(Object[] elements, List<Stage> stages, Collector collector)
    {
        Consumer<Object> first = collector;

        for (int i = stages.size(); i-- > 0;)
            first = stages.get(i).into(first);
        for (Object element : elements)
            first.accept(element);
        return collector.result();
    }

    /** For each part one that has gone through the stages. */
    Parts map(Label label, List<Stage> stages, Supplier<Collector> collector)
    {
        Parts made = new Parts();

        for (VectorHandle<Object> box : boxes)
            made.boxes.add(make(label, List.of(box),
                                arrays -> flow(arrays[0], stages, collector.get())));
        return made;
    }

    /** Each part cut into n buckets, by a number of each element: parts of arrays. */
    Parts split(Label label, List<Stage> stages, Supplier<Collector> collector, int n,
                Function<Object, Integer> bucket)
    {
        Parts made = new Parts();

        for (VectorHandle<Object> box : boxes)
            made.boxes.add(make(label, List.of(box),
                                arrays -> distribute(flow(arrays[0], stages, collector.get()),
                                                     n, bucket)));
        return made;
    }

    static Object[] distribute(Object[] elements, int n, Function<Object, Integer> bucket)
    {
        List<List<Object>> buckets = new ArrayList<>();
        Object[] arrays = new Object[n];

        for (int i = 0; i < n; i++)
            buckets.add(new ArrayList<>());
        for (Object element : elements)
            buckets.get(bucket.apply(element)).add(element);
        for (int i = 0; i < n; i++)
            arrays[i] = buckets.get(i).toArray();
        return arrays;
    }

    /** The elements of bucket i of such parts, in their order. */
    static void gather(Object[][] parts, int from, int to, int i, Consumer<Object> into)
    {
        for (int part = from; part < to; part++)
            if (i < parts[part].length)
                for (Object element : (Object[]) parts[part][i])
                    into.accept(element);
    }

    /** For each bucket the part that the collector makes of it. */
    Parts merge(Label label, int n, Supplier<Collector> collector)
    {
        Parts made = new Parts();

        for (int i = 0; i < n; i++) {
            int bucket = i;

            made.boxes.add(make(label, boxes, arrays -> {
                Collector c = collector.get();

                gather(arrays, 0, arrays.length, bucket, c);
                return c.result();
            }));
        }
        return made;
    }

    /** Combines them two by two until one is left; its number of tasks is that less one. */
    VectorHandle<Object> tree(Label label, Function<Object[][], Object[]> combine)
    {
        List<VectorHandle<Object>> level = new ArrayList<>(boxes);

        while (level.size() > 1) {
            List<VectorHandle<Object>> next = new ArrayList<>();

            for (int i = 0; i + 1 < level.size(); i += 2)
                next.add(make(label, level.subList(i, i + 2), combine));
            if (level.size() % 2 == 1)
                next.add(level.get(level.size() - 1));
            level = next;
        }
        return level.get(0);
    }

    /** All elements, in the order of the parts; waits for them. */
    List<Object> collect()
    {
        List<Object> all = new ArrayList<>();

        for (VectorHandle<Object> box : boxes)
            all.addAll(Arrays.asList(read(box)));
        return all;
    }

    /** How tasks are called, and whether a model of that name is measured. */
    static final class Label
    {
        final String name;
        final boolean measured;

        Label(String name, boolean measured)
        {
            this.name = name;
            this.measured = measured;
        }
    }

    /** A collector that keeps what comes, in order. */
    static Collector list()
    {
        List<Object> elements = new ArrayList<>();

        return collector(elements::add, elements::toArray);
    }

    static Collector collector(Consumer<Object> accept, Supplier<Object[]> result)
    {
        return new Collector() {
            @Override
            public void accept(Object element)
            {
                accept.accept(element);
            }

            @Override
            public Object[] result()
            {
                return result.get();
            }
        };
    }
}
