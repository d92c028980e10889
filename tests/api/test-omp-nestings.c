/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-omp-nestings.c - random programs of OpenMP: constructs in each
 * other, of which it is counted how often the innermost statement is executed. That
 * is known from the program: all threads of a region execute the same construct, a
 * loop divides the count among them, a task has one thread; and libgomp executes it
 * as often, where it is found (ORR_TEST_LIBGOMP). The seed is printed.
 */
#include <stdio.h>
#include <string.h>

#include "../rng.h"
#include "nestings.h"
#include "omp.h"

#if defined(ORR_TEST_LIBGOMP)
#    define WITH_LIBGOMP 1
#else
#    define WITH_LIBGOMP 0
#endif

/* In all; 10,000 with --full. */
static unsigned nprograms = 3000;

static unsigned below(uint64_t *rng, unsigned n)
{
    return (unsigned)(rng_next(rng) % n);
}

static struct node *make(uint64_t *rng, unsigned depth, bool in_region);

static struct node *make_list(uint64_t *rng, unsigned depth, bool in_region)
{
    struct node *list = NULL;

    for (unsigned i = below(rng, 2) + 1; i > 0; i--) {
        struct node *node = make(rng, depth, in_region);

        node->next = list;
        list = node;
    }
    return list;
}

static enum construct choose(uint64_t *rng, unsigned depth, bool in_region)
{
    if (depth == 0)
        return STATEMENT;
    for (;;) {
        enum construct construct = (enum construct)below(rng, NCONSTRUCTS);
        bool of_region = construct == BARRIER || construct == SINGLE ||
                         construct == LOOP || construct == ORDERED ||
                         construct == SECTIONS || construct == MASTER;

        if (!of_region || in_region)
            return construct;
    }
}

static struct node *make(uint64_t *rng, unsigned depth, bool in_region)
{
    struct node *node = calloc(1, sizeof(*node));

    node->construct = choose(rng, depth, in_region);
    node->n = 1 + (int)below(rng, 4);
    node->schedule = 1 + (int)below(rng, 4);
    node->chunk = (int)below(rng, 3);
    node->nowait = below(rng, 2);
    if (node->construct != STATEMENT && node->construct != BARRIER)
        node->inside = make_list(rng, depth - 1, node->construct == REGION);
    return node;
}

/* `arrivals`: threads that come, in all; `teams`: how often a team does. */
static void expect(struct node *node, int arrivals, int teams)
{
    for (; node; node = node->next) {
        int inside = arrivals;

        switch (node->construct) {
        case SINGLE:
        case MASTER:
            inside = teams;
            break;
        case LOOP:
        case ORDERED:
        case SECTIONS:
            inside = teams * node->n;
            break;
        case REGION:
        case TASKS:
        case DEPENDENT:
        case TASKLOOP:
            inside = arrivals * node->n;
            break;
        default:
            break;
        }
        node->expected += inside;
        /* In a region each of its threads has a team of n; elsewhere who comes
         * is alone, and may meet what tasks meet. */
        expect(node->inside, inside,
               node->construct == REGION ? arrivals : inside);
    }
}

static void execute(struct node *list);

static void run_inside(struct node *node)
{
    atomic_fetch_add(&node->times, 1);
    execute(node->inside);
}

static void run_inside_of(void *arg)
{
    run_inside(arg);
}

static void task_body(void *buffers[], void *arg)
{
    (void)buffers;
    run_inside(arg);
}

static void iterate(unsigned long long begin, unsigned long long end, void *arg)
{
    struct node *node = arg;

    for (unsigned long long i = begin; i < end; i++)
        if (node->construct == ORDERED)
            starpu_omp_ordered(run_inside_of, node);
        else
            run_inside(node);
}

static void one_section(unsigned long long i, void *arg)
{
    (void)i;
    run_inside(arg);
}

static void create_tasks(void *arg)
{
    struct node *node = arg;

    for (int i = 0; i < node->n; i++) {
        struct starpu_omp_task_region_attr attr = omp_task(task_body, node);

        attr.if_clause = node->chunk != 1;
        attr.final_clause = node->schedule == 4;
        attr.priority = i;
        starpu_omp_task_region(&attr);
    }
}

static void create_dependent_tasks(struct node *node)
{
    struct starpu_omp_task_region_attr attr = omp_task(task_body, node);
    starpu_data_handle_t handle;
    int datum;

    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&datum,
                                  sizeof(datum));
    attr.cl.nbuffers = 1;
    attr.cl.modes[0] = STARPU_RW;
    attr.handles = &handle;
    for (int i = 0; i < node->n; i++)
        starpu_omp_task_region(&attr);
    starpu_data_unregister(handle);
}

struct piece {
    struct starpu_omp_task_region_attr attr;
    struct node *node;
    atomic_int *done; /* of this taskloop */
};

static void run_piece(void *buffers[], void *arg)
{
    struct piece *piece = arg;

    (void)buffers;
    for (unsigned long long i = piece->attr.begin_i; i < piece->attr.end_i; i++)
        run_inside(piece->node);
    atomic_fetch_add(piece->done, (int)piece->attr.chunk);
}

static void create_taskloop(struct node *node)
{
    atomic_int done = 0;
    struct piece piece = {.node = node, .done = &done};

    piece.attr = omp_task(run_piece, &piece);
    piece.attr.cl_arg_size = sizeof(piece);
    piece.attr.nb_iterations = (unsigned)node->n;
    piece.attr.num_tasks = node->chunk;
    starpu_omp_taskloop_inline_begin(&piece.attr);
    starpu_omp_taskloop_inline_end(&piece.attr);
    if (done != node->n)
        node->broken = true;
}

static void execute_one(struct node *node)
{
    switch (node->construct) {
    case STATEMENT:
        atomic_fetch_add(&node->times, 1);
        break;
    case BARRIER:
        atomic_fetch_add(&node->times, 1);
        starpu_omp_barrier();
        break;
    case SINGLE:
        starpu_omp_single(run_inside_of, node, node->nowait);
        break;
    case MASTER:
        starpu_omp_master(run_inside_of, node);
        break;
    case CRITICAL: /* its inside may come here again: no section of that name */
        atomic_fetch_add(&node->times, 1);
        starpu_omp_critical_inline_begin("counts");
        if (atomic_fetch_add(&node->together, 1))
            node->broken = true;
        atomic_fetch_sub(&node->together, 1);
        starpu_omp_critical_inline_end("counts");
        execute(node->inside);
        break;
    case LOOP:
    case ORDERED:
        starpu_omp_for_alt(iterate, node, (unsigned)node->n,
                           (unsigned)node->chunk, node->schedule,
                           node->construct == ORDERED, node->nowait);
        break;
    case SECTIONS:
        starpu_omp_sections_combined((unsigned)node->n, one_section, node,
                                     node->nowait);
        break;
    case REGION:
        omp_parallel(node->n, task_body, node);
        break;
    case TASKS:
        create_tasks(node);
        if (!node->nowait)
            starpu_omp_taskwait();
        break;
    case GROUP:
        starpu_omp_taskgroup(run_inside_of, node);
        break;
    case TASKLOOP:
        create_taskloop(node);
        break;
    default:
        create_dependent_tasks(node);
    }
}

static void execute(struct node *list)
{
    for (; list; list = list->next)
        execute_one(list);
}

/* What libgomp's threads have read before a region's end, which the sanitizer does
 * not see. */
static void release(struct node *node)
{
#ifdef __SANITIZE_THREAD__
    (void)node;
#else
    free(node);
#endif
}

/* Returns how many nodes were wrong, and frees them. */
static int check(struct node *list, unsigned long seed)
{
    int wrong = 0;

    while (list) {
        struct node *next = list->next;

        wrong += check(list->inside, seed);
        if (list->times != list->expected || list->broken ||
            (WITH_LIBGOMP && list->theirs != list->expected)) {
            fprintf(stderr,
                    "seed %lu: construct %d of %d was executed %d times%s, by "
                    "libgomp %d times, instead of %d\n",
                    seed, (int)list->construct, list->n, list->times,
                    list->broken ? " and together" : "", list->theirs,
                    list->expected);
            wrong++;
        }
        release(list);
        list = next;
    }
    return wrong;
}

static void try_program(unsigned long seed)
{
    uint64_t rng = rng_of(seed);
    struct node root = {.construct = REGION};

    root.n = 1 + (int)below(&rng, 8);
    root.inside = make_list(&rng, 4, true);
    root.expected = root.n;
    expect(root.inside, root.n, 1);
    omp_parallel(root.n, task_body, &root);
    ck_assert_int_eq(root.times, root.n);
#if WITH_LIBGOMP
    nestings_run_libgomp(&root);
    ck_assert_int_eq(root.theirs, root.n);
#endif
    ck_assert_int_eq(check(root.inside, seed), 0);
}

START_TEST(constructs_in_constructs_are_executed_as_often_as_they_say)
{
    omp_open(_i);
    starpu_omp_set_nested(1);
    for (unsigned long seed = 1; seed <= nprograms / NMACHINES + 1; seed++)
        try_program(seed + 10000 * (unsigned)_i);
    starpu_omp_shutdown();
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("nestings of OpenMP's constructs");
    TCase *each = tcase_create("on each machine");

    if (argc > 1 && strcmp(argv[1], "--full") == 0)
        nprograms = 10000;
    tcase_set_timeout(each, 300);
    suite_add_tcase(suite, each);
    tcase_add_loop_test(
        each, constructs_in_constructs_are_executed_as_often_as_they_say, 0,
        NMACHINES);
    return suite_main(suite);
}
