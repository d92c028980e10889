/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-omp-loops.c - loops and sections that threads share: each iteration
 * once, in the chunks of its schedule, ordered parts in order.
 */
#include <stdbool.h>

#include "omp.h"

enum { MOST = 300 };

enum form { FOR, FOR_ALT, INLINE, INLINE_ALT, NFORMS };

struct loop {
    unsigned long long n, chunk;
    int schedule, ordered;
    enum form form;
    atomic_int times[MOST];
    int by[MOST];                       /* thread of each iteration */
    unsigned long long begins[MOST];    /* of its chunk */
    atomic_int next, late, bad, nparts; /* of ordered parts */
    int parts; /* how often an iteration has one: every … */
};

struct part {
    struct loop *loop;
    int i;
};

/* Nobody else is here, and all earlier ones were, while it waits as well. */
static void in_turn(void *arg)
{
    const struct part *part = arg;
    struct loop *loop = part->loop;

    if (part->i < loop->next)
        loop->bad = 1;
    loop->next = part->i;
    atomic_fetch_add(&loop->nparts, 1);
    starpu_omp_taskwait();
    if (loop->next != part->i)
        loop->bad = 1;
}

static void ordered_part(struct loop *loop, unsigned long long i)
{
    struct part part = {loop, (int)i};

    if (i % (unsigned long long)loop->parts)
        return;
    if (i % 2) {
        starpu_omp_ordered(in_turn, &part);
        return;
    }
    starpu_omp_ordered_inline_begin();
    in_turn(&part);
    starpu_omp_ordered_inline_end();
}

static void range(unsigned long long begin, unsigned long long end, void *arg)
{
    struct loop *loop = arg;

    for (unsigned long long i = begin; i < end; i++) {
        atomic_fetch_add(&loop->times[i], 1);
        loop->by[i] = starpu_omp_get_thread_num();
        loop->begins[i] = begin;
        if (loop->ordered)
            ordered_part(loop, i);
    }
}

static void first_and_number(unsigned long long first, unsigned long long n,
                             void *arg)
{
    range(first, first + n, arg);
}

static void do_loop(struct loop *l)
{
    unsigned long long i, n;

    switch (l->form) {
    case FOR:
        starpu_omp_for(first_and_number, l, l->n, l->chunk, l->schedule,
                       l->ordered, 0);
        break;
    case FOR_ALT:
        starpu_omp_for_alt(range, l, l->n, l->chunk, l->schedule, l->ordered,
                           0);
        break;
    case INLINE:
        if (starpu_omp_for_inline_first(l->n, l->chunk, l->schedule, l->ordered,
                                        &i, &n))
            do
                range(i, i + n, l);
            while (starpu_omp_for_inline_next(l->n, l->chunk, l->schedule,
                                              l->ordered, &i, &n));
        break;
    default:
        if (starpu_omp_for_inline_first_alt(l->n, l->chunk, l->schedule,
                                            l->ordered, &i, &n))
            do
                range(i, n, l);
            while (starpu_omp_for_inline_next_alt(l->n, l->chunk, l->schedule,
                                                  l->ordered, &i, &n));
    }
}

static void execute(void *buffers[], void *arg)
{
    struct loop *loop = arg;

    (void)buffers;
    do_loop(loop);
    for (unsigned long long i = 0; loop->form <= FOR_ALT && i < loop->n; i++)
        if (loop->times[i] != 1)
            loop->late = 1; /* passed the barrier before all were done */
}

/* The thread that OpenMP prescribes for an iteration of a static loop. */
static int owner(const struct loop *loop, unsigned long long i, int threads)
{
    unsigned long long t = (unsigned long long)threads;
    unsigned long long each = loop->n / t, longer = loop->n % t;

    if (loop->chunk)
        return (int)(i / loop->chunk % t);
    if (i < longer * (each + 1))
        return (int)(i / (each + 1));
    return (int)((i - longer * (each + 1)) / each + longer);
}

static void check_chunks(const struct loop *loop, unsigned long long chunk)
{
    for (unsigned long long i = 0; i < loop->n; i++)
        ck_assert_uint_eq(loop->begins[i], i - i % chunk);
}

static void check(const struct loop *loop, int threads)
{
    for (unsigned long long i = 0; i < MOST; i++)
        ck_assert_int_eq(loop->times[i], i < loop->n);
    ck_assert_int_eq(loop->late, 0);
    ck_assert_int_eq(loop->bad, 0);
    if (loop->ordered)
        ck_assert_int_eq(loop->nparts,
                         ((int)loop->n + loop->parts - 1) / loop->parts);
    if (loop->schedule == starpu_omp_sched_static)
        for (unsigned long long i = 0; i < loop->n; i++)
            ck_assert_int_eq(loop->by[i], owner(loop, i, threads));
    if (loop->schedule == starpu_omp_sched_dynamic)
        check_chunks(loop, loop->chunk ? loop->chunk : 1);
    if (loop->schedule == starpu_omp_sched_static && loop->chunk)
        check_chunks(loop, loop->chunk);
    if (loop->schedule == starpu_omp_sched_guided && loop->n) /* the first */
        ck_assert_uint_eq(loop->begins[loop->n / (unsigned)threads
                                           ? loop->n / (unsigned)threads - 1
                                           : 0],
                          0);
}

static void try_loop(unsigned long long n, unsigned long long chunk,
                     int schedule, int ordered, int parts, int threads)
{
    for (int form = 0; form < NFORMS; form++) {
        struct loop *loop = calloc(1, sizeof(*loop));

        loop->n = n;
        loop->chunk = chunk;
        loop->schedule = schedule;
        loop->ordered = ordered;
        loop->parts = parts;
        loop->form = (enum form)form;
        omp_parallel(threads, execute, loop);
        check(loop, threads);
        free(loop);
    }
}

START_TEST(each_iteration_is_executed_once_by_whom_the_schedule_says)
{
    static const unsigned long long sizes[] = {0, 1, 7, 64, MOST - 1};
    static const unsigned long long chunks[] = {0, 1, 3, 1000};

    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++)
        for (int s = 0; s < 5; s++)
            for (int c = 0; c < 4; c++)
                for (int schedule = starpu_omp_sched_undefined;
                     schedule <= starpu_omp_sched_runtime; schedule++)
                    try_loop(sizes[s], chunks[c], schedule, 0, 1,
                             omp_threads[t]);
    starpu_omp_shutdown();
}
END_TEST

START_TEST(ordered_parts_come_in_the_order_of_iterations)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++)
        for (int parts = 1; parts <= 3; parts++)
            for (int schedule = starpu_omp_sched_static;
                 schedule <= starpu_omp_sched_auto; schedule++)
                for (unsigned long long chunk = 0; chunk <= 2; chunk++)
                    try_loop(40, chunk, schedule, 1, parts, omp_threads[t]);
    starpu_omp_shutdown();
}
END_TEST

/* Thread 1 has a lock until its ordered part, for which thread 0 waits after its own,
 * in the same chunk; a task shows that it does wait. */
struct early {
    starpu_omp_lock_t lock;
    atomic_int done[2], late;
};

static void end_task(void *buffers[], void *arg)
{
    (void)buffers;
    starpu_usleep(50);
    atomic_store((atomic_int *)arg, 1);
}

static void wait_for_later(unsigned long long begin, unsigned long long end,
                           void *arg)
{
    struct early *early = arg;

    (void)end;
    starpu_omp_ordered_inline_begin();
    if (begin == 1)
        starpu_omp_unset_lock(&early->lock);
    starpu_omp_ordered_inline_end();
    if (begin == 0) {
        starpu_omp_set_lock(&early->lock);
        starpu_omp_unset_lock(&early->lock);
    }
    omp_spawn(end_task, &early->done[begin]);
    starpu_omp_taskwait();
    if (!early->done[begin])
        early->late = 1;
}

static void end_early(void *buffers[], void *arg)
{
    struct early *early = arg;

    (void)buffers;
    if (!starpu_omp_master_inline())
        starpu_omp_set_lock(&early->lock);
    starpu_omp_barrier();
    starpu_omp_for_alt(wait_for_later, early, 2, 0, starpu_omp_sched_static, 1,
                       0);
    ck_assert_int_eq(early->late, 0);
}

START_TEST(an_ordered_part_ends_before_its_iteration)
{
    struct early early = {.late = 0};

    omp_open(_i);
    starpu_omp_init_lock(&early.lock);
    omp_parallel(2, end_early, &early);
    starpu_omp_destroy_lock(&early.lock);
    starpu_omp_shutdown();
}
END_TEST

/* What the last two of four loops in a row find must not be the others'. */
struct row {
    atomic_int sums[4];
};

static void add_to(unsigned long long begin, unsigned long long end, void *arg)
{
    atomic_fetch_add((atomic_int *)arg, (int)(end - begin));
}

static void loops_in_a_row(void *buffers[], void *arg)
{
    struct row *row = arg;

    (void)buffers;
    for (int i = 0; i < 4; i++)
        starpu_omp_for_alt(
            add_to, &row->sums[i], 100, (unsigned)i,
            i % 2 ? starpu_omp_sched_dynamic : starpu_omp_sched_static, 0, 1);
}

START_TEST(threads_may_be_in_different_loops)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++) {
        struct row row = {0};

        omp_parallel(omp_threads[t], loops_in_a_row, &row);
        for (int i = 0; i < 4; i++)
            ck_assert_int_eq(row.sums[i], 100);
    }
    starpu_omp_shutdown();
}
END_TEST

static void look_at_chunks(unsigned long long begin, unsigned long long end,
                           void *arg)
{
    (void)begin;
    if (end - begin == 5)
        atomic_fetch_add((atomic_int *)arg, 1);
}

static void runtime_loop(void *buffers[], void *arg)
{
    enum starpu_omp_sched_value kind;
    int chunk;

    (void)buffers;
    starpu_omp_get_schedule(&kind, &chunk); /* inherited */
    ck_assert_int_eq((int)kind, starpu_omp_sched_dynamic);
    ck_assert_int_eq(chunk, 5);
    starpu_omp_for_alt(look_at_chunks, arg, 50, 0, starpu_omp_sched_runtime, 0,
                       0);
}

START_TEST(a_loop_may_leave_its_schedule_to_the_program)
{
    atomic_int n = 0;

    omp_open(_i);
    starpu_omp_set_schedule(starpu_omp_sched_dynamic, 5);
    omp_parallel(2, runtime_loop, &n);
    ck_assert_int_eq(n, 10);
    starpu_omp_shutdown();
}
END_TEST

/* -- sections -- */

struct sections {
    atomic_int times[5], combined[5];
    atomic_int late;
};

static void section(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void numbered_section(unsigned long long i, void *arg)
{
    atomic_fetch_add(&((struct sections *)arg)->combined[i], 1);
}

static void do_sections(void *buffers[], void *arg)
{
    struct sections *sections = arg;
    void (*functions[5])(void *) = {section, section, section, section,
                                    section};
    void *args[5];

    (void)buffers;
    for (int i = 0; i < 5; i++)
        args[i] = &sections->times[i];
    starpu_omp_sections(5, functions, args, 0);
    for (int i = 0; i < 5; i++)
        if (sections->times[i] != 1)
            sections->late = 1;
    starpu_omp_sections_combined(5, numbered_section, sections, 0);
    for (int i = 0; i < 5; i++)
        if (sections->combined[i] != 1)
            sections->late = 1;
}

START_TEST(each_section_is_executed_once)
{
    omp_open(_i);
    for (int t = 0; t < NTHREADS; t++) {
        struct sections sections = {0};

        omp_parallel(omp_threads[t], do_sections, &sections);
        ck_assert_int_eq(sections.late, 0);
        for (int i = 0; i < 5; i++) {
            ck_assert_int_eq(sections.times[i], 1);
            ck_assert_int_eq(sections.combined[i], 1);
        }
    }
    starpu_omp_shutdown();
}
END_TEST

SUITE_MAIN(omp_loops)
{
    Suite *suite = suite_create("loops that threads of OpenMP share");
    TCase *each = tcase_create("on each machine");

    tcase_set_timeout(each, 120);
    suite_add_tcase(suite, each);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(each_iteration_is_executed_once_by_whom_the_schedule_says);
    EACH(ordered_parts_come_in_the_order_of_iterations);
    EACH(an_ordered_part_ends_before_its_iteration);
    EACH(threads_may_be_in_different_loops);
    EACH(a_loop_may_leave_its_schedule_to_the_program);
    EACH(each_section_is_executed_once);
    return suite_main(suite);
}
