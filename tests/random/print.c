/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/print.c - see print.h. A printed program consists of bytes.h,
 * preamble.c, a codelet per kind of task, a record per access, and a function
 * per graph and thread with the calls, as one would write them by hand.
 */
#include "print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "embedded.h"
#include "print_calls.h"

/* -- what the calls need -- */

static void print_places(const struct printer *p, enum places places)
{
    fprintf(p->out, ", .specific_nodes = 1, .nodes = {");
    for (unsigned k = 0; k < MAX_BUFFERS; k++)
        fprintf(p->out, "%s%d", k ? ", " : "", place_of(places, k));
    fprintf(p->out, "}");
}

static void print_codelet(const struct printer *p, const struct call *call)
{
    static const char *const where[] = {
        [WHERE_ANY] = "STARPU_CPU | STARPU_CUDA",
        [WHERE_CPU] = "STARPU_CPU",
        [WHERE_CUDA] = "STARPU_CUDA",
    };
    char name[32];

    print_codelet_name(call, name, sizeof(name));
    fprintf(p->out,
            "static struct starpu_codelet %s = {.name = \"%s\", .where = %s",
            name, codelet_names[call->length], where[call->where]);
    if (call->refused)
        fprintf(p->out, ", .can_execute = accepts");
    if (call->async)
        fprintf(p->out, ", .cuda_flags = {STARPU_CUDA_ASYNC}");
    if (call->places != PLACES_WORKER)
        print_places(p, (enum places)call->places);
    fprintf(p->out, "};\n");
}

static void print_codelets(const struct printer *p)
{
    bool done[2][NPLACES][4][NWHERES][2] = {{{{{false}}}}};

    for (unsigned g = 0; g < p->program->ngraphs; g++) {
        const struct graph *graph = &p->program->graphs[g];

        for (unsigned i = 0; i < graph->ncalls; i++) {
            const struct call *call = &graph->calls[i];
            bool *seen = &done[call->refused != 0][call->places][call->length]
                              [call->where][call->async];

            if (call->kind == CALL_TASK && !*seen) {
                print_codelet(p, call);
                *seen = true;
            }
        }
    }
}

static void print_memory(const struct printer *p)
{
    const struct graph *graph = p->graph;

    for (unsigned d = 0; d < graph->ndata; d++)
        if (data_has_memory(&graph->data[d]))
            fprintf(p->out, "static uint64_t m%u[%zu];\n", p->base + d,
                    shape_home(&graph->data[d].shape));
}

/* -- the functions -- */

static void print_thread(struct printer *p, unsigned thread)
{
    const struct graph *graph = p->graph;
    struct around now = {false, 0};
    bool inside = false;

    fprintf(p->out,
            "\nstatic void *graph%u_thread%u(void *arg)\n{\n"
            "    starpu_data_handle_t pieces[MAX_PIECES];\n"
            "    struct starpu_task *task = arg;\n\n"
            "    (void)task, (void)pieces;\n",
            p->number, thread);
    for (unsigned i = 0; i < graph->ncalls; i++) {
        const struct call *call = &graph->calls[i];

        if (call->kind == CALL_JOIN)
            inside = false;
        if (inside && call->thread == thread)
            print_call(p, i, &now);
        if (call->kind == CALL_FORK)
            inside = true;
    }
    print_around(p, &now, (struct around){false, 0});
    fprintf(p->out, "    return NULL;\n}\n");
}

static void print_fork(const struct printer *p)
{
    for (unsigned t = 1; t < p->graph->nthreads; t++)
        fprintf(p->out,
                "    CHECK(starpu_pthread_create(&threads[%u], NULL, "
                "graph%u_thread%u, NULL));\n",
                t, p->number, t);
}

static void print_join(const struct printer *p)
{
    for (unsigned t = 1; t < p->graph->nthreads; t++)
        fprintf(p->out, "    CHECK(starpu_pthread_join(threads[%u], NULL));\n",
                t);
}

static void print_main_thread(struct printer *p)
{
    struct around now = {false, 0};

    for (unsigned i = 0; i < p->graph->ncalls; i++) {
        const struct call *call = &p->graph->calls[i];

        if (call->kind == CALL_JOIN)
            print_around(p, &now, (struct around){false, 0});
        if (call->kind == CALL_FORK)
            print_fork(p);
        else if (call->kind == CALL_JOIN)
            print_join(p);
        else if (call->thread == 0)
            print_call(p, i, &now);
    }
    print_around(p, &now, (struct around){false, 0});
}

static bool has_arbiter(const struct graph *graph)
{
    for (unsigned d = 0; d < graph->ndata; d++)
        if (graph->data[d].arbitered)
            return true;
    return false;
}

static void print_graph(struct printer *p)
{
    fprintf(p->out, "\n/* -- graph %u -- */\n\n", p->number);
    print_memory(p);
    if (p->graph->kept | p->graph->awaited)
        fprintf(p->out, "static struct starpu_task *t%u[%u];\n", p->number,
                MAX_TASKS);
    for (unsigned i = 0; i < p->graph->ncalls; i++)
        print_work(p, i);
    for (unsigned t = 1; t < p->graph->nthreads; t++)
        print_thread(p, t);
    fprintf(p->out,
            "\nstatic void graph%u(void)\n{\n"
            "    starpu_pthread_t threads[%u];\n"
            "    starpu_data_handle_t pieces[MAX_PIECES];\n"
            "    struct starpu_task *task;\n\n"
            "    (void)threads, (void)task, (void)pieces;\n",
            p->number, p->graph->nthreads);
    if (has_arbiter(p->graph))
        fprintf(p->out, "    arbiter = starpu_arbiter_create();\n");
    print_main_thread(p);
    if (has_arbiter(p->graph))
        fprintf(p->out, "    starpu_arbiter_destroy(arbiter);\n");
    for (unsigned t = 0; t < MAX_TASKS; t++)
        if (p->graph->kept & bit(t))
            fprintf(p->out, "    starpu_task_destroy(t%u[%u]);\n", p->number,
                    t);
    fprintf(p->out, "}\n");
}

/* -- beginning and end -- */

static void print_variable(const char *name, const char *value, void *arg)
{
    FILE *out = arg;

    if (value)
        fprintf(out, " *     %s='%s' \\\n", name, value);
}

static void print_head(const struct printer *p, const char *text)
{
    const struct machine *machine = &p->program->machine;

    fprintf(p->out,
            "/*\n"
            " * %s\n"
            " *\n"
            " * cc -o random random.c $(pkg-config --cflags --libs "
            "starpu-1.4) &&\n",
            text);
    machine_environment(machine, print_variable, p->out);
    fprintf(p->out, " *     ./random\n */\n");
}

static void print_machine(const struct printer *p)
{
    fprintf(p->out, "\nstatic const char machine[] =\n");
    machine_write(p->out, &p->program->machine, "    \"", "\\n\"\n");
    fprintf(p->out, "    ;\n\n"
                    "static void choose_machine(void)\n"
                    "{\n"
                    "    char path[] = \"/tmp/random-XXXXXX.xml\";\n"
                    "    int fd = mkstemps(path, 4);\n\n"
                    "    if (write(fd, machine, sizeof(machine) - 1) < 0)\n"
                    "        exit(2);\n"
                    "    close(fd);\n"
                    "    setenv(\"ORRERY_MACHINE\", path, 1);\n"
                    "}\n");
}

static void print_main(const struct printer *p)
{
    fprintf(p->out, "\nint main(void)\n{\n");
    if (!p->program->machine.real)
        fprintf(p->out, "    choose_machine();\n");
    fprintf(p->out, "    if (starpu_init(NULL) != 0)\n        return 2;\n");
    if (!p->program->machine.real)
        fprintf(p->out, "    unlink(getenv(\"ORRERY_MACHINE\"));\n");
    if (p->program->machine.contexts)
        fprintf(p->out,
                "    second = starpu_sched_ctx_create(NULL, -1, \"second\", "
                "STARPU_SCHED_CTX_POLICY_NAME, \"%s\", 0);\n",
                machine_second_policy(&p->program->machine));
    for (unsigned g = 0; g < p->program->ngraphs; g++)
        fprintf(p->out, "    graph%u();\n", g);
    fprintf(p->out, "    starpu_shutdown();\n    return failures != 0;\n}\n");
}

static void print_extras(const struct printer *p)
{
    bool redux = false, arbiter = false;

    for (unsigned g = 0; g < p->program->ngraphs; g++) {
        const struct graph *graph = &p->program->graphs[g];

        arbiter |= has_arbiter(graph);
        for (unsigned d = 0; d < graph->ndata; d++)
            redux |= graph->data[d].redux;
    }
    if (redux)
        fputs(redux_text, p->out);
    if (arbiter)
        fprintf(p->out, "static starpu_arbiter_t arbiter;\n");
}

/* Those of all data, by their numbers. */
static void print_shapes(FILE *out, const struct program *program)
{
    static const char *const names[NLAYOUTS] = {
        "VECTOR", "VARIABLE", "MATRIX", "BLOCK",   "TENSOR",      "NDIM",
        "CSR",    "BCSR",     "COO",    "NOTHING", "MULTIFORMAT", "OWN"};

    fprintf(out, "\nstatic const struct shape shapes[NDATA] = {\n");
    for (unsigned g = 0; g < program->ngraphs; g++)
        for (unsigned d = 0; d < program->graphs[g].ndata; d++) {
            const struct shape *s = &program->graphs[g].data[d].shape;

            fprintf(out, "    {%s, %u, %u, {%u", names[s->layout], s->ndim,
                    s->pad, s->nn[0]);
            for (unsigned k = 1; k < MAX_DIMS; k++)
                fprintf(out, ", %u", s->nn[k]);
            fprintf(out, "}},\n");
        }
    fprintf(out, "};\n");
}

static unsigned count_data(const struct program *program)
{
    unsigned n = 0;

    for (unsigned g = 0; g < program->ngraphs; g++)
        n += program->graphs[g].ndata;
    return n;
}

static void print_graphs(struct printer *p)
{
    static struct answers answers;

    p->answers = &answers;
    for (unsigned g = 0; g < p->program->ngraphs; g++) {
        p->graph = &p->program->graphs[g];
        p->number = g;
        if (oracle_ask(p->graph, &p->program->machine, &answers) != 0)
            abort();
        print_graph(p);
        p->base += p->graph->ndata;
    }
}

void program_print(FILE *out, const struct program *program, const char *text)
{
    struct printer p = {.out = out, .program = program};

    print_head(&p, text);
    fprintf(out, "#ifndef _GNU_SOURCE\n#    define _GNU_SOURCE\n#endif\n\n");
    fprintf(out, "enum { NDATA = %u };\n\n", count_data(program));
    fputs(bytes_text, out);
    fputs(own_text, out);
    fputs(layout_text, out);
    fputs(shape_calls_text, out);
    print_shapes(out, program);
    fputs(preamble_text, out);
    if (!program->machine.real)
        print_machine(&p);
    fprintf(out, "\n/* -- what it does -- */\n\n");
    print_extras(&p);
    print_codelets(&p);
    print_graphs(&p);
    print_main(&p);
}
