/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-trace.c - libFuzzer target for the reader of traces in CSV: no
 * text crashes it, what it accepts is in order and within its own limits, and
 * errors name the text. One thread.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/common/trace_csv.h"

static void check(const struct trace *trace)
{
    for (size_t t = 0; t < trace->ntasks; t++) {
        const struct trace_task *task = &trace->tasks[t];

        must(task->worker < trace->nworkers && task->name);
        must(task->submitted <= task->ready && task->ready <= task->taken);
        must(task->taken <= task->start && task->start <= task->end);
        must(trace->begin <= task->submitted && task->end <= trace->end);
        must(t == 0 || trace->tasks[t - 1].start <= task->start);
    }
    for (size_t w = 0; w < trace->nwaits; w++) {
        const struct trace_wait *wait = &trace->waits[w];

        must(wait->task < trace->ntasks && wait->start < wait->end);
        must(trace->tasks[wait->task].start <= wait->start);
        must(wait->end <= trace->tasks[wait->task].end);
        must(w == 0 || trace->waits[w - 1].task <= wait->task);
    }
    for (size_t s = 0; s < trace->nstates; s++)
        must(trace->states[s].worker < trace->nworkers &&
             trace->states[s].kind);
    for (size_t s = 0; s < trace->nsteals; s++)
        must(trace->steals[s].thief < trace->nworkers &&
             trace->steals[s].victim < trace->nworkers);
    for (size_t m = 0; m < trace->nmarks; m++)
        must(trace->marks[m].text != NULL);
    for (size_t c = 0; c < trace->ncopies; c++) {
        must(trace->copies[c].from < trace->nnodes);
        must(trace->copies[c].to < trace->nnodes);
        must(c == 0 || trace->copies[c - 1].end <= trace->copies[c].end);
    }
    for (size_t i = 0; i < trace->memory.n; i++)
        must(trace->memory.items[i].node < trace->nnodes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace trace;
    struct orr_error err = {""};
    FILE *f = size ? fmemopen((void *)(uintptr_t)data, size, "r")
                   : fopen("/dev/null", "r");

    must(f != NULL);
    if (trace_csv_parse(f, "fuzz", &trace, &err) == 0) {
        check(&trace);
        trace_csv_done(&trace);
    } else {
        must(strncmp(err.text, "fuzz:", 5) == 0);
    }
    fclose(f);
    return 0;
}
