/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/report.h - the report of a run: the JSON file that ORRERY_REPORT
 * names. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "core/base/error.h"

/* One kernel of one size on one architecture; µs. */
struct report_kernel {
    const char *name, *arch; /* borrowed from the report: the model's symbol,
                              * else the codelet's name; "cpu0" */
    const char *symbol; /* the same: of the model, which is not the name if the codelet
                         * has none of its own */
    unsigned implementation;
    uint32_t footprint;
    json_int_t size, count;
    bool model;                 /* its times lie in a model file */
    double mean_us, typical_us; /* typical: without outliers */
    double p25_us, median_us;   /* lower quartile */
    double aside_share;         /* of its runs, the outliers; NaN */
    double other_us;            /* median of these; NaN */
    double other_share;         /* of its runs, those near that; NaN */
    double predicted_us;        /* by its model; NaN: none */
    const char *origin;         /* of that; "" if the report does not say */
    double off_by;              /* how far it may be off, relative; NaN */
};

/* Whether both are the same kernel of the same size at the same place. */
bool report_same_kernel(const struct report_kernel *a,
                        const struct report_kernel *b);

struct report {
    json_t *json; /* owned; NULL: there is none */
    bool simulated;
    const char *machine, *scheduler, *exit; /* borrowed from json, never NULL */
    const char *provenance, *assumed;       /* the same, or NULL */
    const char *not_measured; /* of what is measured; the same, or NULL */
    const char *host;                       /* whose models; "" if unknown */
    double makespan_us, flops, wall_s;
    double modelled_us; /* makespan of the tasks that have models */
    json_int_t clock_asked; /* how often the program asked clocks for the time … */
    bool clock_virtual;     /* … and got the simulation's */
    json_int_t tasks, transfers, transferred_bytes, evictions;
    json_int_t messages, message_bytes; /* of all ranks together (rank_reports.h); else 0 */
    struct report_kernel *kernels; /* owned; missing values are NaN or 0 */
    size_t nkernels;
};

/* Reads the file; *ret is ended with report_done. Errors: -ENOENT there is no
 * such file; -EINVAL with a message. */
int report_read(const char *path, struct report *ret, struct orr_error *err);
void report_done(struct report *report);

/* The same of JSON that is there already, of which it takes the reference. Errors:
 * -EINVAL it is no object; -ENOMEM; without a message. */
int report_take(json_t *json, struct report *ret);

/* The unit in which people read times up to `us`: ms below 10 s, then s, from 10 min on
 * min, from 10 h on h, from 10 days on d. */
struct report_unit {
    const char *name;
    double us;
};
struct report_unit report_unit_of(double us);

/* "61.061 ms", "14.638 min"; "0.830 us" below 0.1 ms. Returns text. */
#define REPORT_TIME_MAX 48
const char *report_time_text(double us, char text[REPORT_TIME_MAX]);

/* Where the machine's figures come from: "measured but for link "Host"", "unknown". */
void report_provenance(const struct report *report, char *text, size_t size);

/* The same for a picture, with the machine's: "figures derived, edited; times
 * 100.0 % assumed"; "" for a real run. */
void report_caption(const struct report *report, char *text, size_t size);

/* Whether the run came to its end: the figures of others say nothing. */
bool report_is_whole(const struct report *report);

/* The report as it is to be printed, a new reference: one of a run that did not
 * come to its end has no makespan. */
json_t *report_json(const struct report *report);

/* 10^9 flop per second, 0 when the program did not give its flops. */
double report_gflops(const struct report *report);

/* Workers of one type: those whose names differ in their numbers only. */
struct report_kind {
    char name[32]; /* "CPU", "CUDA" */
    unsigned workers;
    double busy_us;
    json_int_t tasks;
};

/* Fills at most `max` types, in order of appearance; returns how many. */
unsigned report_kinds(const struct report *report, struct report_kind *kinds,
                      unsigned max);

/* Share of the time of all workers in which they had no task; NaN: not known. */
double report_idle(const struct report *report);

/* What all of the machine drew, in joules; NaN: no power is known of a part of it. */
double report_joules(const struct report *report);

/* "12.300 J, 45.0 % of them when idle"; the missing part; "" without. In `text`, which is
 * returned. */
const char *report_energy_text(const struct report *report, char *text, size_t size);

/* Copies between two memory nodes, µs in all. */
struct report_link {
    const char *from, *to; /* borrowed from the report */
    json_int_t count, bytes;
    double total_us;
    double predicted_us, alone_us; /* as schedulers expect; of an idle link;
                                    * NaN: not known */
};

size_t report_nlinks(const struct report *report);
struct report_link report_link(const struct report *report, size_t l);

/* Data that left memory that was full and came back to it, though no task had
 * written them meanwhile. */
struct report_return {
    const char *data, *task; /* borrowed from the report: "A(3,4)"; for whom */
    json_int_t count, bytes;
};

/* Those with the most bytes, the largest first. */
size_t report_nreturns(const struct report *report);
struct report_return report_return(const struct report *report, size_t r);

/* "79.1 % measured, 20.9 % interpolated (off by up to 8.0 %)": the share of the
 * time of tasks that comes from where; "" for a real run, and where all was
 * measured or nothing is known. */
void report_figures(const struct report *report, char *text, size_t size);

/* "192.0 MiB"; "328 B" is not "0.0 MiB". In `text`, which is returned. */
const char *report_bytes_text(json_int_t bytes, char text[32]);

/* Prints what the result rests on: edits, assumptions, where times come from, models
 * that are not to be trusted; nothing for a real run that was asked nothing. */
void report_print_basis(const struct report *report);

/* Prints makespan, speed, tasks, transfers and the use of each type. */
void report_print(const struct report *report);
