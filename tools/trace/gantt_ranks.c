/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/trace/gantt_ranks.c - see gantt_ranks.h. Time is divided into columns; in each the share
 * of a row's workers that executed a kernel is the height of its colour. So a row of any
 * number of workers is as high as one, and looks full where all of them computed.
 */
#include "tools/trace/gantt_ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/plot.h"
#include "tools/common/tool.h"

enum {
    WIDTH = 1400, /* pixels, as those below */
    LEFT = 230,
    RIGHT = 240,
    TITLE = 40,
    ROW = 22,
    AXIS = 40,
    LOWER = 150, /* what ranks sent */
    TEXT = 30,
    COLUMNS = 450,
    MOST_ROWS = 48, /* of ranks by kinds of workers */
    MOST_RANKS = 32, /* a row each */
    SERIES = PLOT_SERIES - 1 /* kernels with a colour of their own */
};

/* Workers that share a row. */
struct row {
    char label[64];
    unsigned first, last; /* ranks */
    char kind[24];        /* letters of the workers' names; "": any */
    unsigned nworkers;
    double busy; /* ms */
};

struct picture {
    const struct rank_traces *traces;
    double begin, span;    /* ms */
    struct row *rows;      /* owned, as all below */
    unsigned nrows, room;
    const char **kernels;  /* the names of those that took longest; borrowed */
    double *took;          /* ms */
    unsigned nkernels;
    float *shares;         /* by row, series and column; the last series has the others */
    double sent[COLUMNS];  /* bytes */
    struct plot plot;
};

static float *share_of(const struct picture *p, unsigned row, unsigned series)
{
    return &p->shares[((size_t)row * (SERIES + 1) + series) * COLUMNS];
}

/* --- rows --- */

static size_t kind_length(const char *name)
{
    return strcspn(name, " _0123456789");
}

static bool is_in_row(const struct row *row, unsigned rank, const char *worker)
{
    size_t n = strlen(row->kind);

    return rank >= row->first && rank <= row->last &&
           (n == 0 || (kind_length(worker) == n && !strncmp(worker, row->kind, n)));
}

/* The row of a worker that has one; nrows: none. */
static unsigned find_row(const struct picture *p, unsigned rank, const char *worker)
{
    unsigned row = 0;

    while (row < p->nrows && !is_in_row(&p->rows[row], rank, worker))
        row++;
    return row;
}

static int add_row(struct picture *p, unsigned first, unsigned last, const char *worker)
{
    struct row *row;

    if (p->nrows == p->room) {
        unsigned room = p->room ? 2 * p->room : 64;
        struct row *grown = realloc(p->rows, room * sizeof(*grown));

        if (!grown)
            return -1;
        p->rows = grown;
        p->room = room;
    }
    row = &p->rows[p->nrows++];
    *row = (struct row){.first = first, .last = last};
    if (worker)
        snprintf(row->kind, sizeof(row->kind), "%.*s", (int)kind_length(worker), worker);
    return 0;
}

/* A row for each kind of worker of each rank that executed something. */
static int add_kinds(struct picture *p)
{
    int rc = 0;

    for (unsigned r = 0; r < p->traces->n; r++) {
        const struct trace *trace = &p->traces->of[r];

        for (size_t t = 0; t < trace->ntasks && rc == 0; t++) {
            const char *worker = trace->workers[trace->tasks[t].worker].name;

            if (find_row(p, r, worker) == p->nrows)
                rc = add_row(p, r, r, worker);
        }
    }
    return rc;
}

/* Rows that have any kind of worker. */
static int add_ranks(struct picture *p)
{
    unsigned n = p->traces->n, together = (n + MOST_RANKS - 1) / MOST_RANKS;
    int rc = 0;

    for (unsigned r = 0; r < n && rc == 0; r += together)
        rc = add_row(p, r, r + together < n ? r + together - 1 : n - 1, NULL);
    return rc;
}

/* Of a rank's workers those count that are of a kind which executed something there: processors
 * beside devices often do not. */
static int add_rows(struct picture *p)
{
    struct picture kinds = {.traces = p->traces};
    int rc = add_kinds(&kinds);

    if (rc == 0)
        rc = kinds.nrows <= MOST_ROWS ? add_kinds(p) : add_ranks(p);
    for (unsigned r = 0; r < p->traces->n && rc == 0; r++)
        for (unsigned w = 0; w < p->traces->of[r].nworkers; w++) {
            const char *worker = p->traces->of[r].workers[w].name;
            unsigned row = find_row(p, r, worker);

            if (find_row(&kinds, r, worker) < kinds.nrows)
                p->rows[row].nworkers++;
        }
    free(kinds.rows);
    return rc;
}

/* --- kernels --- */

static unsigned find_kernel(const struct picture *p, const char *name)
{
    unsigned k = 0;

    while (k < p->nkernels && strcmp(p->kernels[k], name) != 0)
        k++;
    return k;
}

/* The longest first; those behind the SERIES-th share a colour. */
static void sort_kernels(struct picture *p)
{
    for (unsigned i = 1; i < p->nkernels; i++)
        for (unsigned k = i; k > 0 && p->took[k] > p->took[k - 1]; k--) {
            const char *name = p->kernels[k];
            double took = p->took[k];

            p->kernels[k] = p->kernels[k - 1];
            p->took[k] = p->took[k - 1];
            p->kernels[k - 1] = name;
            p->took[k - 1] = took;
        }
}

static int find_kernels(struct picture *p)
{
    unsigned room = 0;

    for (unsigned r = 0; r < p->traces->n; r++)
        for (size_t t = 0; t < p->traces->of[r].ntasks; t++) {
            const struct trace_task *task = &p->traces->of[r].tasks[t];
            unsigned k = find_kernel(p, task->name);

            if (k == room) {
                const char **names = realloc(p->kernels, (room + 16) * sizeof(*names));
                double *took;

                if (!names)
                    return -1;
                p->kernels = names;
                took = realloc(p->took, (room + 16) * sizeof(*took));
                if (!took)
                    return -1;
                p->took = took;
                room += 16;
            }
            if (k == p->nkernels) {
                p->kernels[p->nkernels] = task->name;
                p->took[p->nkernels++] = 0;
            }
            p->took[k] += task->end - task->start;
        }
    sort_kernels(p);
    return 0;
}

/* --- columns --- */

/* Calls `add` for the part of the time that lies in each column. */
static void divide(const struct picture *p, double start, double end,
                   void (*add)(void *to, unsigned column, double ms), void *to)
{
    double width = p->span / COLUMNS, from = start - p->begin, until = end - p->begin;

    for (unsigned c = (unsigned)fmax(0, from / width); c < COLUMNS && c * width < until; c++) {
        double ms = fmin(until, (c + 1) * width) - fmax(from, c * width);

        if (ms > 0)
            add(to, c, ms);
    }
}

static void add_busy(void *to, unsigned column, double ms)
{
    ((float *)to)[column] += (float)ms;
}

static void take_tasks(struct picture *p)
{
    double width = p->span / COLUMNS;

    for (unsigned r = 0; r < p->traces->n; r++)
        for (size_t t = 0; t < p->traces->of[r].ntasks; t++) {
            const struct trace_task *task = &p->traces->of[r].tasks[t];
            unsigned row = find_row(p, r, p->traces->of[r].workers[task->worker].name);
            unsigned k = find_kernel(p, task->name);

            p->rows[row].busy += task->end - task->start;
            divide(p, task->start, task->end, add_busy,
                   share_of(p, row, k < SERIES ? k : SERIES));
        }
    for (unsigned row = 0; row < p->nrows; row++)
        for (size_t i = 0; i < (SERIES + 1) * (size_t)COLUMNS; i++)
            share_of(p, row, 0)[i] /= (float)(width * p->rows[row].nworkers);
}

struct sending {
    double *sent, rate;
};

static void add_sent(void *to, unsigned column, double ms)
{
    const struct sending *sending = to;

    sending->sent[column] += sending->rate * ms;
}

/* As if its bytes were on the way evenly from when its value was there. */
static void take_messages(struct picture *p)
{
    for (unsigned r = 0; r < p->traces->n; r++)
        for (size_t m = 0; m < p->traces->of[r].nmessages; m++) {
            const struct trace_message *message = &p->traces->of[r].messages[m];
            double ms = message->end - message->start;
            struct sending sending = {p->sent, message->bytes / ms};

            if (!message->received && ms > 0)
                divide(p, message->start, message->end, add_sent, &sending);
        }
}

/* --- drawing --- */

static void label_rows(struct picture *p)
{
    for (unsigned i = 0; i < p->nrows; i++) {
        struct row *row = &p->rows[i];
        double share = row->busy / (p->span * (row->nworkers ? row->nworkers : 1));
        char ranks[32];

        if (row->first == row->last)
            snprintf(ranks, sizeof(ranks), "rank %u", row->first);
        else
            snprintf(ranks, sizeof(ranks), "ranks %u to %u", row->first, row->last);
        snprintf(row->label, sizeof(row->label), "%s%s%s  %3.0f %%", ranks, *row->kind ? " " : "",
                 row->kind, 100 * share);
    }
}

static void put_panel(const struct picture *p, double height, unsigned top, unsigned bottom)
{
    fprintf(p->plot.pipe,
            "set lmargin at screen %.6f\nset rmargin at screen %.6f\n"
            "set tmargin at screen %.6f\nset bmargin at screen %.6f\n"
            "set key at screen %.6f, screen %.6f left top Left reverse samplen 1.5\n",
            (double)LEFT / WIDTH, 1 - (double)RIGHT / WIDTH, 1 - top / height,
            1 - bottom / height, 1 - (RIGHT - 8.) / WIDTH, 1 - top / height);
}

/* The boxes of a series; what lies below them in a column are those before. gnuplot needs a
 * point at least, which stands outside. */
static void put_series(const struct picture *p, unsigned series)
{
    double width = p->span / COLUMNS;

    fputs("-1 -5 -1 -1 -5 -5\n", p->plot.pipe);
    for (unsigned row = 0; row < p->nrows; row++)
        for (unsigned c = 0; c < COLUMNS; c++) {
            double below = 0, share = share_of(p, row, series)[c];

            for (unsigned s = 0; s < series; s++)
                below += (double)share_of(p, row, s)[c];
            if (share > 1e-3)
                fprintf(p->plot.pipe, "%.6f %.4f %.6f %.6f %.4f %.4f\n", (c + .5) * width,
                        row + .4, c * width, (c + 1) * width, row + .4 - .8 * (below + share),
                        row + .4 - .8 * below);
        }
    fputs("e\n", p->plot.pipe);
}

static unsigned count_series(const struct picture *p)
{
    return p->nkernels > SERIES ? SERIES + 1 : p->nkernels;
}

static void put_rows(const struct picture *p, const char *title)
{
    FILE *to = p->plot.pipe;
    unsigned n = count_series(p);

    fputs("set title ", to);
    plot_text(to, title);
    fprintf(to,
            "\nset border 1\nset style fill solid 1.0 noborder\n"
            "set grid x front lc rgb '#bbbbbb'\nset xrange [0:%.6f]\nset yrange [%.2f:-0.6]\n"
            "set ytics scale 0 (",
            p->span, p->nrows - 0.4);
    for (unsigned i = 0; i < p->nrows; i++) {
        plot_tic(to, p->rows[i].label);
        fprintf(to, " %u%s", i, i + 1 < p->nrows ? ", " : "");
    }
    fputs(")\n", to);
    (void)plot_time_tics(to, p->span, false);
    fputs("plot ", to);
    for (unsigned s = 0; s < n; s++) {
        fprintf(to, "'-' using 1:2:3:4:5:6 with boxxyerror lc rgb '%s' title ", plot_colour(s));
        plot_text(to, s < SERIES ? p->kernels[s] : "other kernels");
        fputs(", ", to);
    }
    fputs("NaN notitle\n", to);
    for (unsigned s = 0; s < n; s++)
        put_series(p, s);
}

static void put_messages(const struct picture *p)
{
    FILE *to = p->plot.pipe;
    double width = p->span / COLUMNS;

    fprintf(to, "set xlabel 'time since the first task (%s)'\n",
            plot_time_tics(to, p->span, false));
    fputs("unset title\nset border 3\nset ytics auto scale 1\nset yrange [0:*]\n"
          "set ylabel 'between ranks (GB/s)'\nset grid xtics ytics back lc rgb '#dddddd'\n"
          "plot '-' using 1:2 with steps lw 1.5 lc rgb '#404040' title 'messages'\n",
          to);
    for (unsigned c = 0; c < COLUMNS; c++)
        fprintf(to, "%.6f %.6f\n", c * width, p->sent[c] / width / 1e6);
    fputs("e\n", to);
}

static int draw(struct picture *p, const char *path, const char *title)
{
    unsigned rows = ROW * (p->nrows > 8 ? p->nrows : 8);
    unsigned height = TITLE + rows + AXIS + LOWER + AXIS + TEXT;

    if (plot_begin(&p->plot, path, WIDTH, height) < 0)
        return -1;
    fputs("set encoding utf8\nset multiplot\n", p->plot.pipe);
    put_panel(p, height, TITLE, TITLE + rows);
    put_rows(p, title);
    put_panel(p, height, TITLE + rows + AXIS, TITLE + rows + AXIS + LOWER);
    put_messages(p);
    fputs("unset multiplot\n", p->plot.pipe);
    return plot_end(&p->plot);
}

static int measure(struct picture *p)
{
    double end = 0;

    p->begin = INFINITY;
    for (unsigned r = 0; r < p->traces->n; r++)
        if (p->traces->of[r].ntasks) {
            p->begin = fmin(p->begin, p->traces->of[r].begin);
            end = fmax(end, p->traces->of[r].end);
        }
    p->begin = isfinite(p->begin) ? p->begin : 0;
    p->span = end > p->begin ? end - p->begin : 1;
    if (add_rows(p) < 0 || find_kernels(p) < 0)
        return -1;
    p->shares = calloc((size_t)p->nrows * (SERIES + 1) * COLUMNS + 1, sizeof(*p->shares));
    if (!p->shares)
        return -1;
    take_tasks(p);
    take_messages(p);
    label_rows(p);
    return 0;
}

int gantt_ranks_draw(const struct rank_traces *traces, const char *path, const char *title)
{
    struct picture p = {.traces = traces};
    int rc = measure(&p);

    rc = rc ? tool_fail(-1, "%s cannot be drawn: out of memory", path) : draw(&p, path, title);
    free(p.rows);
    free(p.kernels);
    free(p.took);
    free(p.shares);
    return rc;
}
