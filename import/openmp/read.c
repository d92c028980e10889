/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/openmp/read.c - the log of an OpenMP program as a flow, see formats.h and tree.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import/formats.h"
#include "import/openmp/reader.h"

static const double default_grain_us = 20;

static int read_names(struct omp_reader *r)
{
    struct omp_log_event event;
    int rc = 0;

    r->names = omp_names_new();
    if (!r->names)
        return -ENOMEM;
    while (!rc && omp_log_next(r->log, &event))
        if (event.text)
            rc = omp_names_add(r->names, event.event->a, event.event->b, event.text,
                               event.event->kind == ORR_OMP_DATUM ? OMP_VARIABLE
                               : event.event->flags & 1         ? OMP_RETURN
                                                                : OMP_FUNCTION);
    omp_log_rewind(r->log);
    return rc ? rc : omp_names_resolve(r->names);
}

/* --- what the record lacks --- */

static int note_times(struct omp_reader *r)
{
    const struct orr_omp_header *header = omp_log_header(r->log);
    double ms = (double)(r->ended - r->begun) / 1e6;
    int rc = flow_note(r->flow,
                       "OpenMP: %zu parallel regions of up to %u threads, with %zu tasks, took "
                       "%.3f ms from the first to the end of the last; what was before and "
                       "after is left out",
                       r->nregions, r->team, r->ntasks, ms);

    if (!rc && header->cpu_clock)
        rc = flow_note(r->flow, "times are the processor's, without what threads waited for it "
                                "(%u threads, %llu processors)",
                       r->team, (unsigned long long)header->processors);
    if (!rc && !header->cpu_clock && r->team > header->processors)
        rc = flow_note(r->flow, "later regions had more threads than processors (%llu): times "
                                "have turns of other threads in them",
                       (unsigned long long)header->processors);
    return rc;
}

static int note_model(struct omp_reader *r)
{
    int rc = flow_note(r->flow,
                       "tasks of less than %g us with all that they created are one, and loops "
                       "are cut into up to 64 pieces: --grain",
                       r->tree.grain);

    if (!rc && r->flow->ndata && !omp_log_header(r->log)->sizes)
        rc = flow_note(r->flow, "depend clauses give addresses alone: data have no size, and "
                                "nothing is transferred: --sizes");
    else if (!rc && r->flow->ndata)
        rc = omp_settle_sizes(r);
    if (!rc && r->nexclusions)
        rc = flow_note(
            r->flow,
            "critical sections and locks (%zu, in which %.3f ms were waited) "
            "exclude nobody",
            r->nexclusions, r->exclusion_us / 1e3);
    if (!rc && r->tree.nsources)
        rc = flow_note(
            r->flow,
            "loops with ordered keep the order of their %zu iterations; those of less "
            "than %g us are one after the other: --grain",
            r->tree.nsources, r->tree.grain);
    if (!rc && omp_names_lack_lines(r->names))
        rc = flow_note(r->flow, "tasks without line: the program has no debugging information "
                                "(-g), or addr2line is missing (Debian: binutils)");
    return rc;
}

static int note_counts(struct omp_reader *r)
{
    static const struct {
        const char *what, *how;
    } texts[ORR_OMP_NNOTES] = {
        [ORR_OMP_TARGET] = {"target regions", "are part of the task that met them"},
        [ORR_OMP_CANCEL] = {"cancellations", "leave what was cancelled as long as it ran"},
        [ORR_OMP_DETACH] = {"tasks with detach", "end with their body"},
        [ORR_OMP_TEAMS] = {"teams", "have their regions one after the other"},
    };
    int rc = 0;

    for (size_t n = 0; !rc && n < ORR_OMP_NNOTES; n++)
        if (r->notes[n] && texts[n].what)
            rc = flow_note(r->flow, "%s (%lu) %s", texts[n].what, r->notes[n], texts[n].how);
    if (!rc && r->nall)
        rc = flow_note(r->flow, "depend(omp_all_memory) (%zu) orders nothing", r->nall);
    return rc;
}

static int note_end(struct omp_reader *r)
{
    const struct orr_omp_header *header = omp_log_header(r->log);
    int rc = 0;

    if (!header->ended)
        rc = flow_note(r->flow, "the program did not come to its end: tasks that ran are as long "
                                "as they had run");
    if (!rc && header->forked)
        rc = flow_note(r->flow, "the program has forked: what its child did with OpenMP is "
                                "left out");
    if (!rc && header->lost)
        rc = flow_note(r->flow, "the file system was full: the record ends before the program "
                                "did");
    if (!rc && r->lost)
        rc = flow_note(r->flow, "some events are about tasks or regions whose beginning is "
                                "missing");
    if (!rc && r->together)
        rc = flow_note(r->flow, "several threads had parallel regions at one time, which come "
                                "one after the other");
    return rc;
}

static int read_log(struct omp_reader *r)
{
    int rc;

    r->threads = calloc(omp_log_threads(r->log) + 1, sizeof(*r->threads));
    if (!r->threads)
        return -ENOMEM;
    rc = read_names(r);
    if (!rc)
        rc = omp_read_events(r);
    if (!rc && !r->nregions)
        return flow_wrong(r->flow, "%s had no parallel region of OpenMP",
                          strnlen(omp_log_header(r->log)->program, 1) ? "the program" : "it");
    if (!rc)
        rc = note_times(r);
    if (!rc)
        rc = note_model(r);
    if (!rc)
        rc = note_counts(r);
    return rc ? rc : note_end(r);
}

/* Flags of the record's run. */
static uint64_t threads_like(uint64_t runtime)
{
    static const uint64_t flags[ORR_OMP_NRUNTIMES] = {
        [ORR_OMP_LIBGOMP] = ORR_RUN_THREADS_OLDEST,
        [ORR_OMP_LIBOMP] = ORR_RUN_THREADS_NEWEST};

    return runtime < ORR_OMP_NRUNTIMES ? flags[runtime] : 0;
}

int import_openmp(struct flow *flow, const char *path, const struct orr_import_options *options)
{
    struct omp_reader r = {
        .flow = flow,
        .tree.grain = options->grain_us > 0   ? options->grain_us
                      : options->grain_us < 0 ? 0
                                              : default_grain_us,
    };
    int rc = omp_log_open(path, &r.log, flow->err);

    if (rc)
        return rc;
    flow->host = options->host;
    flow->costs_in_times = true;
    flow->threads = threads_like(omp_log_header(r.log)->runtime);
    rc = read_log(&r);
    for (size_t t = 0; r.threads && t < omp_log_threads(r.log); t++)
        free(r.threads[t].outer);
    for (size_t d = 0; d < r.roomsets; d++) {
        free(r.sets[d].now.at);
        free(r.sets[d].before.at);
    }
    free(r.sets);
    free(r.places);
    free(r.threads);
    omp_map_done(&r.tasks);
    omp_map_done(&r.regions);
    omp_names_free(r.names);
    omp_log_close(r.log);
    return rc;
}
