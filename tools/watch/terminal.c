/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/watch/terminal.c - see terminal.h. */
#include "tools/watch/terminal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/number.h"
#include "tools/common/tool.h"

#define GET(place) atomic_load_explicit(&(place), memory_order_relaxed)

enum { HOT = 5, MOST_NODES = 6 };
static const double screen_s = 0.25, line_s = 1;

/* Of all runs together. */
struct sum {
    double busy_us, worker_us;
    unsigned long bytes, under_way, messages;
    unsigned nworkers, nbusy;
};

struct page {
    FILE *to;
    unsigned rows, columns, n; /* lines that were written */
};

static struct sum sum_of(struct source *source)
{
    struct sum sum = {0};

    for (unsigned r = 0; r < WATCH_RUNS; r++) {
        const struct source_run *run = source_at(source, r);
        const struct watch_run *shown = run ? run->part.run : NULL;

        for (uint32_t i = 0; run && i < shown->nworkers; i++) {
            sum.busy_us += GET(run->part.lanes[i].busy_us);
            sum.nbusy += GET(run->part.lanes[i].task) != 0;
            sum.worker_us += source_date(run) - shown->opened_us;
            sum.nworkers++;
        }
        for (uint32_t i = 0; run && i < shown->nnodes * shown->nnodes; i++) {
            const struct watch_link *link = &run->part.links[i];

            sum.bytes += GET(link->bytes);
            sum.under_way += GET(link->begun) - GET(link->ended);
        }
        if (run)
            sum.messages += GET(shown->sent);
    }
    return sum;
}

static double share(double part, double whole)
{
    double per_cent = whole > 0 ? 100 * part / whole : 0;

    return per_cent < 100 ? per_cent : 100;
}

/* The kernel that has taken most of the time: its name and share. */
static const char *hottest(struct source *source, double busy_us, double *ret_share)
{
    const char *name = NULL;
    double most = 0;

    for (unsigned r = 0; r < WATCH_RUNS; r++) {
        const struct source_run *run = source_at(source, r);

        for (unsigned k = 0; run && k < GET(run->part.run->nkernels); k++) {
            unsigned long n;
            double us;

            source_kernel(run, k, &n, &us);
            if (us > most) {
                most = us;
                name = run->part.run->kernels[k];
            }
        }
    }
    *ret_share = share(most, busy_us);
    return name;
}

/* --- a line --- */

static void show_line(struct terminal *terminal, struct source *source, double seconds)
{
    struct source_totals totals;
    struct sum sum = sum_of(source);
    double hot_share;
    const char *hot = hottest(source, sum.busy_us, &hot_share);

    source_count(source, &totals);
    orr_fprintf(stderr,
                "orrery: watch: %.6f s%s: %lu submitted, %lu waiting, %lu ready, %lu running, "
                "%lu ended",
                totals.date_us / 1e6, totals.is_virtual ? " of virtual time" : "",
                totals.submitted, totals.waiting, totals.ready, totals.running, totals.ended);
    if (seconds > 0)
        orr_fprintf(stderr, ", %.0f tasks/s",
                    (double)(totals.ended - terminal->before) / seconds);
    orr_fprintf(stderr, "; workers %.0f %% busy", share(sum.busy_us, sum.worker_us));
    if (hot)
        orr_fprintf(stderr, ", %s %.0f %% of that", hot, hot_share);
    if (sum.bytes)
        orr_fprintf(stderr, "; %.1f MB copied", (double)sum.bytes / 1e6);
    if (sum.messages)
        fprintf(stderr, "; %lu messages", sum.messages);
    fprintf(stderr, "%s\n", totals.stands ? "; DEADLOCK" : "");
    terminal->before = totals.ended;
}

/* --- a screen --- */

static void page_line(struct page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void page_line(struct page *page, const char *format, ...)
{
    char text[512];
    va_list args;

    if (page->n + 1 >= page->rows)
        return;
    va_start(args, format);
    orr_vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(page->to, "%.*s\033[K\r\n", (int)page->columns, text);
    page->n++;
}

static const char *bar(double per_cent, char text[12])
{
    int n = (int)(per_cent / 10 + 0.5);

    for (int i = 0; i < 10; i++)
        text[i] = i < n ? '#' : '.';
    text[10] = '\0';
    return text;
}

static void page_workers(struct page *page, const struct source_run *run, unsigned most)
{
    const struct watch_run *shown = run->part.run;
    double us = source_date(run) - shown->opened_us;
    char text[12];

    for (uint32_t i = 0; i < shown->nworkers; i++) {
        const struct watch_lane *lane = &run->part.lanes[i];
        double busy = share(GET(lane->busy_us), us);
        uint64_t task = GET(lane->task);
        unsigned kernel = GET(lane->kernel);

        if (i + 1 >= most && shown->nworkers > most) {
            page_line(page, "  ... and %u more workers", shown->nworkers - i);
            return;
        }
        if (task && kernel < WATCH_KERNELS)
            page_line(page, "  %-26.26s %s %3.0f %% %8lu tasks  %s #%llu", lane->name,
                      bar(busy, text), busy, GET(lane->executed), shown->kernels[kernel],
                      (unsigned long long)task);
        else
            page_line(page, "  %-26.26s %s %3.0f %% %8lu tasks  %s", lane->name,
                      bar(busy, text), busy, GET(lane->executed), source_state(run, i));
    }
}

struct hot {
    const char *name;
    unsigned long n;
    double us;
};

static int compare_hot(const void *a, const void *b)
{
    const struct hot *x = a, *y = b;

    return (y->us > x->us) - (y->us < x->us);
}

static void page_kernels(struct page *page, const struct source_run *run)
{
    struct hot hot[WATCH_KERNELS];
    unsigned n = GET(run->part.run->nkernels);
    double all = 0;

    for (unsigned k = 0; k < n; k++) {
        hot[k].name = run->part.run->kernels[k];
        source_kernel(run, k, &hot[k].n, &hot[k].us);
        all += hot[k].us;
    }
    qsort(hot, n, sizeof(*hot), compare_hot);
    for (unsigned k = 0; k < n && k < HOT; k++)
        page_line(page, "  %-26.26s %3.0f %% of the time %8lu tasks  %.3f ms each", hot[k].name,
                  share(hot[k].us, all), hot[k].n,
                  hot[k].n ? hot[k].us / (double)hot[k].n / 1e3 : 0);
}

static void page_nodes(struct page *page, const struct source_run *run)
{
    for (uint32_t i = 0, n = 0; i < run->part.run->nnodes && n < MOST_NODES; i++) {
        const struct watch_node *node = &run->part.nodes[i];
        double used = (double)GET(node->used);
        char text[12];

        if (!*node->name || (used <= 0 && !node->capacity))
            continue;
        n++;
        if (node->capacity)
            page_line(page, "  %-26.26s %s %.1f of %.0f MB", node->name,
                      bar(share(used, (double)node->capacity), text), used / 1e6,
                      (double)node->capacity / 1e6);
        else
            page_line(page, "  %-26.26s %.1f MB", node->name, used / 1e6);
    }
}

static void show_screen(struct terminal *terminal, struct source *source, const char *program,
                        double seconds)
{
    struct winsize size = {0};
    struct page page = {.to = stderr, .rows = 24, .columns = 80};
    struct source_totals totals;
    struct sum sum = sum_of(source);
    unsigned most;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
        page.rows = size.ws_row;
        page.columns = size.ws_col;
    }
    source_count(source, &totals);
    fputs("\033[H", stderr);
    page_line(&page, "%s: %.6f s%s%s", program, totals.date_us / 1e6,
              totals.is_virtual ? " of virtual time" : "",
              totals.stands    ? ", in a DEADLOCK"
              : totals.nruns   ? totals.nopen ? "" : ", its run has ended"
                               : ", no run yet");
    page_line(&page, "tasks: %lu submitted, %lu waiting, %lu ready, %lu running, %lu ended",
              totals.submitted, totals.waiting, totals.ready, totals.running, totals.ended);
    page_line(&page, "%.0f tasks/s; %u of %u workers busy; %.1f MB copied, %.1f MB/s, %lu under "
                     "way; %lu messages",
              seconds > 0 ? (double)(totals.ended - terminal->before) / seconds : 0, sum.nbusy,
              sum.nworkers, (double)sum.bytes / 1e6,
              seconds > 0 ? (double)(sum.bytes - terminal->before_bytes) / seconds / 1e6 : 0,
              sum.under_way, sum.messages);
    most = page.rows > 20 ? page.rows - 4 - HOT - MOST_NODES : 4;
    for (unsigned r = 0; r < WATCH_RUNS; r++) {
        const struct source_run *run = source_at(source, r);

        if (!run || (totals.nopen && GET(run->part.run->state) != WATCH_OPEN))
            continue;
        page_workers(&page, run, most);
        page_kernels(&page, run);
        page_nodes(&page, run);
    }
    fputs("\033[J", stderr);
    fflush(stderr);
    terminal->before = totals.ended;
    terminal->before_bytes = sum.bytes;
}

void terminal_begin(struct terminal *terminal)
{
    const char *kind = getenv("TERM");

    terminal->is_screen = isatty(STDERR_FILENO) && kind && strcmp(kind, "dumb") != 0;
    terminal->last_s = tool_now_s();
    if (terminal->is_screen)
        fputs("\033[?1049h\033[H\033[J", stderr);
}

void terminal_end(struct terminal *terminal)
{
    if (terminal->is_screen)
        fputs("\033[?1049l", stderr);
    fflush(stderr);
    terminal->is_screen = false;
}

void terminal_show(struct terminal *terminal, struct source *source, const char *program,
                   bool last)
{
    double now_s = tool_now_s(), seconds = now_s - terminal->last_s;

    if (last) {
        show_line(terminal, source, 0);
        return;
    }
    if (seconds < (terminal->is_screen ? screen_s : line_s))
        return;
    if (terminal->is_screen)
        show_screen(terminal, source, program, seconds);
    else
        show_line(terminal, source, seconds);
    terminal->last_s = now_s;
}
