/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/rivals-taskflow.cpp - see rivals.h. Dependent asynchronous tasks, which run
 * while others are submitted (Taskflow 3.5 and later).
 */
#include <memory>
#include <vector>

#include <taskflow/taskflow.hpp>

#include "rivals.h"

static std::unique_ptr<tf::Executor> executor;

static void run(int ntasks, int nbuffers, int nthreads)
{
    std::vector<tf::AsyncTask> last(NDATA), before;
    std::vector<bool> used(NDATA);

    if (!executor)
        executor.reset(new tf::Executor(static_cast<size_t>(nthreads)));
    for (int i = 0; i < ntasks; i++) {
        if (nbuffers == 0) {
            executor->silent_async([] { __asm__ volatile(""); });
            continue;
        }
        before.clear();
        for (int b = 0; b < nbuffers; b++)
            if (used[datum_of(i, b)])
                before.push_back(last[datum_of(i, b)]);
        tf::AsyncTask task = executor->silent_dependent_async(
            [] { __asm__ volatile(""); }, before.begin(), before.end());
        for (int b = 0; b < nbuffers; b++) {
            last[datum_of(i, b)] = task;
            used[datum_of(i, b)] = true;
        }
    }
    executor->wait_for_all();
}

int main(int argc, char **argv)
{
    return rivals_main(argc, argv, run);
}
