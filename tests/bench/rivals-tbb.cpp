/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/rivals-tbb.cpp - see rivals.h. Without buffers a task group, else a flow
 * graph, whose nodes and edges are made before the first one runs.
 */
#include <deque>
#include <vector>

#include <tbb/flow_graph.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "rivals.h"

namespace flow = tbb::flow;
using node = flow::continue_node<flow::continue_msg>;

static void run_group(int ntasks)
{
    tbb::task_group group;

    for (int i = 0; i < ntasks; i++)
        group.run([] { __asm__ volatile(""); });
    group.wait();
}

static void run_graph(int ntasks, int nbuffers)
{
    std::vector<node *> last(NDATA, nullptr);
    std::vector<node *> first;
    flow::graph graph;
    std::deque<node> nodes; /* of the graph, which ends after them */

    for (int i = 0; i < ntasks; i++) {
        bool waits = false;

        nodes.emplace_back(graph, [](const flow::continue_msg &) {
            __asm__ volatile("");
        });
        for (int b = 0; b < nbuffers; b++) {
            node *&before = last[datum_of(i, b)];

            if (before) {
                flow::make_edge(*before, nodes.back());
                waits = true;
            }
            before = &nodes.back();
        }
        if (!waits)
            first.push_back(&nodes.back());
    }
    for (node *task : first)
        task->try_put(flow::continue_msg());
    graph.wait_for_all();
}

static void run(int ntasks, int nbuffers, int nthreads)
{
    tbb::task_arena arena(nthreads);

    arena.execute([=] {
        if (nbuffers == 0)
            run_group(ntasks);
        else
            run_graph(ntasks, nbuffers);
    });
}

int main(int argc, char **argv)
{
    return rivals_main(argc, argv, run);
}
