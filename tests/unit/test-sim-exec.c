/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-sim-exec.c - contexts and virtual time of the simulated
 * machine: the suite that every machine passes, which context runs when, what
 * never switches, and how programs end.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/module.h"
#include "core/base/slab.h"
#include "core/base/wait.h"
#include "sim/machine.h"
#include "tests/suite.h"
#include "tests/unit/child.h"
#include "tests/unit/exec-suite.h"
#include "tests/unit/sim-machine.h"

static struct orr_machine *machine;
static struct orr_exec *exec;

static void open_spec(const struct sim_spec *spec)
{
    machine = sim_machine_open(spec);
    exec = machine->exec;
}

static void setup(void)
{
    open_spec(&(struct sim_spec){.ncuda = 2});
}

static void teardown(void)
{
    machine->ops->close(machine);
}

static struct orr_exec *open_for_suite(void)
{
    setup();
    return exec;
}

static void close_for_suite(struct orr_exec *e)
{
    ck_assert_ptr_eq(e, exec);
    teardown();
}

static const struct exec_maker simulated = {
    .name = "simulated",
    .open = open_for_suite,
    .close = close_for_suite,
};

static struct orr_context *spawn(const char *name, void (*body)(void *),
                                 void *arg)
{
    struct orr_context init = {.name = name}, *context = NULL;

    ck_assert_int_eq(exec->ops->spawn(exec, &init, -1, body, arg, &context), 0);
    return context;
}

static void join(struct orr_context *context)
{
    exec->ops->join(exec, context);
}

static double now(void)
{
    return exec->ops->now(exec);
}

/* -- which context runs when ---------------------------------------------- */

static char story[4096]; /* what happened, one name per step */

static void note(const char *word)
{
    snprintf(story + strlen(story), sizeof(story) - strlen(story), "%s@%g ",
             word, now());
}

static void clear_story(void)
{
    story[0] = '\0';
}

START_TEST(time_begins_at_zero_and_moves_only_by_waiting)
{
    ck_assert_double_eq(now(), 0);
    exec->ops->sleep(exec, 12.5);
    ck_assert_double_eq(now(), 12.5);
    exec->ops->park(exec, 20);
    ck_assert_double_eq(now(), 20);
    exec->ops->sleep(exec, (double)NAN);
    exec->ops->sleep(exec, -3);
    exec->ops->park(exec, 4);
    ck_assert_double_eq(now(), 20);
}
END_TEST

struct sleeper {
    const char *name;
    double us;
    int times;
};

static void sleep_and_note(void *arg)
{
    struct sleeper *s = arg;

    for (int i = 0; i < s->times; i++) {
        exec->ops->sleep(exec, s->us);
        note(s->name);
    }
}

START_TEST(sleepers_wake_by_date_and_ties_in_order_of_their_sleeps)
{
    struct sleeper s[] = {{"a", 30, 2}, {"b", 10, 3}, {"c", 20, 2}};
    struct orr_context *contexts[3];

    for (int i = 0; i < 3; i++)
        contexts[i] = spawn(s[i].name, sleep_and_note, &s[i]);
    for (int i = 0; i < 3; i++)
        join(contexts[i]);
    /* At 30, a slept since 0 and b since 20. */
    ck_assert_str_eq(story, "b@10 c@20 b@20 a@30 b@30 c@40 a@60 ");
}
END_TEST

static void note_name(void *arg)
{
    (void)arg;
    note(orr_self->name);
}

START_TEST(spawned_contexts_run_in_order_and_never_at_once)
{
    static const char *const names[] = {"x", "y", "z"};
    struct orr_context *contexts[3];

    for (int i = 0; i < 3; i++)
        contexts[i] = spawn(names[i], note_name, NULL);
    note("main");
    for (int i = 0; i < 3; i++)
        join(contexts[i]);
    ck_assert_str_eq(story, "main@0 x@0 y@0 z@0 ");
}
END_TEST

struct object {
    struct orr_slab *slab;
    void *at;
};

static void take_and_give_back(void *arg)
{
    struct object *object = arg;

    object->at = orr_slab_get(object->slab);
    orr_slab_put(object->slab, object->at);
}

START_TEST(what_one_context_gives_back_the_next_one_takes)
{
    struct object objects[3];
    struct orr_slab *slab;

    ck_assert_int_eq(orr_slab_new(100, 4, &slab), 0);
    for (int i = 0; i < 3; i++) {
        objects[i].slab = slab;
        if (i < 2)
            join(spawn("it", take_and_give_back, &objects[i]));
        else
            take_and_give_back(&objects[i]);
        ck_assert_ptr_nonnull(objects[i].at);
        ck_assert_ptr_eq(objects[i].at, objects[0].at);
    }
    orr_slab_free(slab);
}
END_TEST

static void park_and_note(void *arg)
{
    (void)arg;
    exec->ops->park(exec, ORR_FOREVER);
    note(orr_self->name);
}

START_TEST(a_wake_queues_and_never_switches)
{
    struct orr_context *a = spawn("a", park_and_note, NULL);
    struct orr_context *b = spawn("b", park_and_note, NULL);

    exec->ops->sleep(exec, 1);
    exec->ops->wake(exec, b);
    exec->ops->wake(exec, a);
    exec->ops->wake(exec, b);
    note("main");
    exec->ops->sleep(exec, 1);
    join(a);
    join(b);
    ck_assert_str_eq(story, "main@1 b@1 a@1 ");
}
END_TEST

static void park_until_and_note(void *arg)
{
    exec->ops->park(exec, *(double *)arg);
    note("first");
    exec->ops->park(exec, now() + 100);
    note("second");
}

START_TEST(a_wake_cancels_the_date_of_a_park)
{
    double until = 50;
    struct orr_context *c = spawn("c", park_until_and_note, &until);

    exec->ops->sleep(exec, 10);
    exec->ops->wake(exec, c);
    join(c);
    /* The date 50 must not end the second park. */
    ck_assert_str_eq(story, "first@10 second@110 ");
}
END_TEST

START_TEST(a_wake_takes_its_cost_but_no_longer_than_the_sleep_was)
{
    double until = 1000;
    struct orr_context *c;

    teardown();
    open_spec(&(struct sim_spec){.wake = 20});
    c = spawn("c", park_until_and_note, &until);
    exec->ops->sleep(exec, 50);
    exec->ops->wake(exec, c);
    exec->ops->wake(exec, c);
    exec->ops->sleep(exec, 25);
    exec->ops->wake(exec, c); /* it has parked again 5 µs ago */
    exec->ops->wake(exec, orr_self);
    exec->ops->park(exec, ORR_FOREVER); /* a token that is there costs nothing */
    note("main");
    join(c);
    ck_assert_str_eq(story, "first@70 main@75 second@80 ");
}
END_TEST

static void park_once(void *arg)
{
    exec->ops->park(exec, ORR_FOREVER);
    *(double *)arg = now();
}

START_TEST(a_wake_after_a_moment_takes_less)
{
    static const double slept[] = {3, 100, 1050, 2000, 5000};
    static const double takes[] = {3, 5, 25, 45, 45};

    teardown();
    open_spec(&(struct sim_spec){.wake = 45, .wake_soon = 5});
    for (unsigned i = 0; i < sizeof(slept) / sizeof(*slept); i++) {
        double ran = 0, woken;
        struct orr_context *c = spawn("c", park_once, &ran);

        exec->ops->sleep(exec, slept[i]);
        woken = now();
        exec->ops->wake(exec, c);
        join(c);
        ck_assert_double_eq_tol(ran - woken, takes[i], 1e-9);
    }
}
END_TEST

static void sleep_long(void *arg)
{
    (void)arg;
    exec->ops->sleep(exec, 30);
    note("slept");
    exec->ops->park(exec, ORR_FOREVER);
    note("parked");
}

START_TEST(a_wake_does_not_shorten_a_sleep_but_is_kept)
{
    struct orr_context *c = spawn("c", sleep_long, NULL);

    exec->ops->sleep(exec, 10);
    exec->ops->wake(exec, c);
    join(c);
    ck_assert_str_eq(story, "slept@30 parked@30 ");
}
END_TEST

START_TEST(a_sleep_of_nothing_lets_ready_contexts_run)
{
    struct orr_context *c = spawn("c", note_name, NULL);

    exec->ops->sleep(exec, 0);
    note("main");
    join(c);
    ck_assert_str_eq(story, "c@0 main@0 ");
}
END_TEST

static void count(void *arg)
{
    exec->ops->sleep(exec, 1);
    ++*(int *)arg;
}

START_TEST(ten_thousand_contexts_live_at_once)
{
    /* Valgrind's address space holds fewer stacks, and SimGrid's take long. */
    const char *stacks = getenv("ORRERY_SIM_CONTEXTS");
    int n = getenv("VALGRIND_RUN") || stacks ? 500 : 10000, counter = 0;
    struct orr_context **contexts = calloc((size_t)n, sizeof(*contexts));

    for (int i = 0; i < n; i++)
        contexts[i] = spawn("many", count, &counter);
    for (int i = 0; i < n; i++)
        join(contexts[i]);
    ck_assert_int_eq(counter, n);
    ck_assert_double_eq(now(), 1);
    free(contexts);
}
END_TEST

/* A lock as a user's one is built: an owner and its waiters. */
static struct {
    struct orr_context *owner, *waiter;
} lock;

static void lock_it(const char *who)
{
    while (lock.owner) {
        lock.waiter = orr_self;
        exec->ops->park(exec, ORR_FOREVER);
    }
    lock.owner = orr_self;
    note(who);
}

static void unlock_it(void)
{
    lock.owner = NULL;
    if (lock.waiter)
        exec->ops->wake(exec, lock.waiter);
    lock.waiter = NULL;
}

static void contend(void *arg)
{
    (void)arg;
    lock_it(orr_self->name);
    unlock_it();
}

START_TEST(a_lock_may_be_held_across_a_virtual_sleep)
{
    struct orr_context *c;

    lock_it("main");
    c = spawn("c", contend, NULL);
    exec->ops->sleep(exec, 40);
    unlock_it();
    join(c);
    ck_assert_str_eq(story, "main@0 c@40 ");
}
END_TEST

/* -- work on processors that others use, too ------------------------------- */

struct piece {
    double after, us;
    bool sleeps; /* instead of working */
};

static void work_and_note(void *arg)
{
    const struct piece *piece = arg;

    exec->ops->sleep(exec, piece->after);
    (piece->sleeps ? exec->ops->sleep : exec->ops->work)(exec, piece->us);
    note(orr_self->name);
}

/* Those of the pieces, on so many processors that they share; 0: each on one of its own. */
static void do_pieces(unsigned nprocessors, struct piece *pieces, unsigned n)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    struct orr_processors processors;
    struct orr_context *contexts[4];

    clear_story();
    orr_processors_init(&processors, nprocessors);
    orr_self->processors = nprocessors ? &processors : NULL;
    for (unsigned i = 0; i < n; i++)
        contexts[i] = spawn(names[i], work_and_note, &pieces[i]);
    for (unsigned i = 0; i < n; i++)
        join(contexts[i]);
    ck_assert_uint_eq(processors.nworking, 0);
    orr_self->processors = NULL;
}

START_TEST(work_takes_its_time_on_processors_of_its_own)
{
    struct piece pieces[] = {{0, 30, false}, {0, 10, false}};

    do_pieces(0, pieces, 2);
    ck_assert_str_eq(story, "b@10 a@30 ");
}
END_TEST

START_TEST(those_who_work_on_one_processor_have_equal_parts)
{
    struct piece pieces[] = {{0, 30, false}, {0, 10, false}};

    do_pieces(1, pieces, 2);
    ck_assert_str_eq(story, "b@20 a@40 ");
}
END_TEST

START_TEST(who_begins_later_slows_the_others_down_from_then_on)
{
    struct piece pieces[] = {{0, 30, false}, {10, 10, false}};

    do_pieces(1, pieces, 2); /* a has 10 alone, then 10 of 20, then 10 alone */
    ck_assert_str_eq(story, "b@30 a@40 ");
}
END_TEST

START_TEST(two_processors_are_enough_for_two_and_shared_by_three)
{
    struct piece two[] = {{0, 30, false}, {0, 10, false}};
    struct piece three[] = {{0, 30, false}, {0, 10, false}, {0, 10, false}};

    do_pieces(2, two, 2);
    ck_assert_str_eq(story, "b@10 a@30 ");
    teardown();
    setup();
    do_pieces(2, three, 3); /* 10 each take 15; the rest of a, 20, is alone */
    ck_assert_str_eq(story, "b@15 c@15 a@35 ");
}
END_TEST

START_TEST(who_sleeps_takes_nothing_of_a_processor)
{
    struct piece pieces[] = {{0, 30, false}, {0, 30, true}};

    do_pieces(1, pieces, 2);
    ck_assert_str_eq(story, "a@30 b@30 ");
}
END_TEST

static void use_floats(void *arg)
{
    volatile double x = 1;

    for (int i = 0; i < 100; i++) {
        x = x * 1.0000001 + (double)i;
        exec->ops->sleep(exec, 1 + i % 3);
    }
    *(double *)arg = x;
}

START_TEST(registers_survive_switches)
{
    double results[8] = {0};
    struct orr_context *contexts[8];

    for (int i = 0; i < 8; i++)
        contexts[i] = spawn("floats", use_floats, &results[i]);
    for (int i = 0; i < 8; i++)
        join(contexts[i]);
    for (int i = 1; i < 8; i++)
        ck_assert_double_eq(results[i], results[0]);
}
END_TEST

struct visits {
    char names[256];
};

static void note_context(struct orr_context *context, void *arg)
{
    struct visits *visits = arg;

    strcat(visits->names, context->name);
    strcat(visits->names, " ");
}

START_TEST(contexts_are_listed_in_order_of_creation)
{
    const struct orr_module *module = orr_module_entry();
    struct visits visits = {.names = ""};
    struct orr_context *a = spawn("a", count, &(int){0});
    struct orr_context *b = spawn("b", count, &(int){0});

    ck_assert_uint_eq(module->abi, ORR_MODULE_ABI);
    join(a);
    spawn("c", count, &(int){0}); /* freed with the machine */
    exec->ops->each(exec, note_context, &visits);
    ck_assert_str_eq(visits.names, "main b c ");
    exec->ops->sleep(exec, 100);
    visits.names[0] = '\0';
    exec->ops->each(exec, note_context, &visits);
    ck_assert_str_eq(visits.names, "main ");
    join(b);
}
END_TEST

START_TEST(a_detached_context_is_freed_by_the_machine)
{
    struct orr_context init = {.name = "detached", .detached = true}, *ignored;
    int n = 0;

    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(exec->ops->spawn(exec, &init, -1, count, &n, &ignored),
                         0);
        exec->ops->sleep(exec, 2);
    }
    ck_assert_int_eq(n, 20);
    spawn("parked for ever", park_and_note, NULL);
    exec->ops->sleep(exec, 2);
}
END_TEST

START_TEST(a_foreign_thread_is_no_context)
{
    ck_assert_ptr_null(exec->ops->adopt(exec));
    exec->ops->relax(exec);
    ck_assert(exec->one_thread && exec->virtual_time);
}
END_TEST

/* -- how programs go on and end ------------------------------------------- */

START_TEST(five_rounds_with_five_machines)
{
    for (unsigned i = 0; i < 5; i++) {
        int n = 0;

        open_spec(&(struct sim_spec){.ncpu = 9 + i,
                                     .ncuda = 1 + i % 3,
                                     .peer = i % 2,
                                     .bandwidth = 1e9 * (1 + i)});
        ck_assert_double_eq(now(), 0);
        ck_assert_uint_eq(machine->nnodes, 2 + i % 3);
        join(spawn("a", count, &n));
        exec->ops->sleep(exec, 10);
        ck_assert_double_eq(now(), 11);
        teardown();
        ck_assert_ptr_null(orr_self);
    }
}
END_TEST

/* A context without one may open one on its engine: test-several-runtimes.c. */
START_TEST(a_context_with_a_runtime_has_one_machine)
{
    static char runtime; /* nobody looks into it */
    struct orr_machine_desc *desc = sim_desc_new(&(struct sim_spec){.ncpu = 1});
    struct orr_machine_options options = sim_options();
    struct orr_machine *second = NULL;
    struct orr_error err = {.text = ""};

    orr_self->runtime = (struct orr_runtime *)&runtime;
    ck_assert_int_eq(orr_sim_open_desc(desc, &options, &second, &err), -EBUSY);
    orr_self->runtime = NULL;
    ck_assert_ptr_null(second);
    ck_assert_str_ne(err.text, "");
    ck_assert_ptr_eq(orr_self->exec, exec);
    sim_desc_free(desc);
}
END_TEST

static void on_signal(int number)
{
    (void)number;
}

START_TEST(the_application_keeps_its_signal_handlers_and_stack)
{
    struct sigaction mine = {.sa_handler = on_signal}, found;
    stack_t before, after;

    sigaltstack(NULL, &before);
    sigaction(SIGINT, &mine, NULL);
    sigaction(SIGSEGV, &mine, NULL);
    setup();
    exec->ops->sleep(exec, 1);
    sigaction(SIGINT, NULL, &found);
    ck_assert(found.sa_handler == on_signal);
    sigaction(SIGSEGV, NULL, &found);
    ck_assert(found.sa_handler == on_signal);
    sigaltstack(NULL, &after);
    ck_assert_int_eq(before.ss_flags, after.ss_flags);
    if (!(before.ss_flags & SS_DISABLE))
        ck_assert_ptr_eq(before.ss_sp, after.ss_sp);
    teardown();
    sigaction(SIGINT, NULL, &found);
    ck_assert(found.sa_handler == on_signal);
}
END_TEST

static void sleeper_for_ever(void *arg)
{
    (void)arg;
    for (;;)
        exec->ops->sleep(exec, 1);
}

static void begin_then_exit(void *arg)
{
    setup();
    spawn("for ever", sleeper_for_ever, NULL);
    exec->ops->sleep(exec, 10);
    puts("before exit");
    exit(arg ? 7 : 0);
}

static void exit_in_context(void *arg)
{
    (void)arg;
    exit(9);
}

static void exit_from_another(void *arg)
{
    (void)arg;
    setup();
    spawn("the one that exits", exit_in_context, NULL);
    exec->ops->sleep(exec, 10);
}

START_TEST(exit_ends_at_once_and_silently)
{
    char text[4096];
    int status = child_run(begin_then_exit, &status, text, sizeof(text));

    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 7);
    ck_assert_str_eq(text, "before exit\n");
    status = child_run(exit_from_another, NULL, text, sizeof(text));
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 9);
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(return_from_main_without_shutdown_is_silent_too)
{
    char text[4096];
    int status = child_run(begin_then_exit, NULL, text, sizeof(text));

    ck_assert_int_eq(status, 0);
    ck_assert_str_eq(text, "before exit\n");
}
END_TEST

static jmp_buf back;

static void jump(int depth)
{
    char fill[512];

    memset(fill, depth, sizeof(fill));
    exec->ops->sleep(exec, 1);
    if (depth > 0)
        jump(depth - 1);
    else if (fill[17] == depth)
        longjmp(back, 5);
}

START_TEST(longjmp_in_main)
{
    volatile int rounds = 0;
    struct orr_context *c;
    int n = 0;

    if (setjmp(back) == 0) {
        jump(20);
        ck_abort_msg("the jump came back");
    }
    rounds++;
    c = spawn("after", count, &n);
    join(c);
    ck_assert_int_eq(n, 1);
    ck_assert_int_eq(rounds, 1);
    ck_assert_double_eq(now(), 22);
}
END_TEST

static void go_on_in_child(void *arg)
{
    struct orr_context *c = arg;

    exec->ops->sleep(exec, 5);
    exec->ops->wake(exec, c);
    join(c);
    teardown();
    printf("done");
}

START_TEST(fork_in_main_gives_two_simulations)
{
    struct orr_context *c = spawn("parked", park_and_note, NULL);
    char text[4096];
    int status;

    exec->ops->sleep(exec, 5);
    status = child_run(go_on_in_child, c, text, sizeof(text));
    ck_assert_msg(status == 0, "%d %s", status, text);
    ck_assert_str_eq(text, "done");
    exec->ops->sleep(exec, 7);
    exec->ops->wake(exec, c);
    join(c);
    ck_assert_str_eq(story, "parked@12 ");
}
END_TEST

static void wait_for_each_other(void *arg)
{
    static const struct orr_awaited never = {.noun = "what never comes"};

    setup();
    orr_self->awaited = &never;
    spawn("one", park_and_note, NULL);
    if (arg) {
        orr_sim_ops.on_deadlock(machine, arg, (struct orr_runtime *)machine);
    }
    exec->ops->park(exec, ORR_FOREVER);
}

static void print_context(struct orr_context *context, void *arg)
{
    (void)arg;
    printf("%s: %s\n", context->name,
           context->awaited ? context->awaited->noun : "-");
}

static bool report(struct orr_runtime *runtime, enum orr_deadlock_step step)
{
    (void)runtime;
    if (step == ORR_DEADLOCK_RELIEVES)
        return false;
    if (step == ORR_DEADLOCK_ENDS)
        _exit(3);
    exec->ops->each(exec, print_context, NULL);
    fflush(stdout);
    return false;
}

START_TEST(a_deadlock_calls_the_handler_and_ends_with_3)
{
    char text[4096];
    int status =
        child_run(wait_for_each_other, (void *)report, text, sizeof(text));

    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 3);
    ck_assert_str_eq(text, "main: what never comes\none: -\n");
    status = child_run(wait_for_each_other, NULL, text, sizeof(text));
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 3);
    ck_assert_ptr_nonnull(strstr(text, "deadlock"));
}
END_TEST

static void wait_while_frozen(void *arg)
{
    static const struct orr_awaited task = {.noun = "task 7"};

    (void)arg;
    setup();
    orr_self->frozen++;
    orr_self->awaited = &task;
    exec->ops->sleep(exec, 1);
}

static void wait_with_lock(void *arg)
{
    (void)arg;
    setup();
    orr_self->ranks = 1;
    exec->ops->park(exec, 1);
}

static void *park_in_thread(void *arg)
{
    exec->ops->park(exec, ORR_FOREVER);
    return arg;
}

static void wait_in_second_thread(void *arg)
{
    pthread_t thread;

    (void)arg;
    setup();
    pthread_create(&thread, NULL, park_in_thread, NULL);
    pthread_join(thread, NULL);
}

START_TEST(waiting_where_it_is_forbidden_aborts_with_a_message)
{
    struct rlimit no_core = {0, 0};
    char text[4096];
    int status;

    setrlimit(RLIMIT_CORE, &no_core);
    status = child_run(wait_while_frozen, NULL, text, sizeof(text));
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    ck_assert_ptr_nonnull(strstr(text, "main must not wait (for task 7)"));
    status = child_run(wait_with_lock, NULL, text, sizeof(text));
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    ck_assert_ptr_nonnull(strstr(text, "holds a lock"));
    status = child_run(wait_in_second_thread, NULL, text, sizeof(text));
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    ck_assert_ptr_nonnull(strstr(text, "starpu_pthread_create"));
}
END_TEST

/* Main blocks in the kernel, another context could go on. */
static void block_outside(void *arg)
{
    int ends[2];
    char byte;

    (void)arg;
    setenv("ORRERY_SIM_WATCHDOG", "0.2", 1);
    setup();
    spawn("other", sleeper_for_ever, NULL);
    exec->ops->sleep(exec, 3);
    if (pipe(ends) != 0)
        exit(1);
    signal(SIGALRM, SIG_DFL); /* not Check's */
    alarm(2);
    if (read(ends[0], &byte, 1) == 1)
        exit(1);
}

START_TEST(the_watchdog_names_main_that_waits_outside_virtual_time)
{
    char text[4096];

    child_run(block_outside, NULL, text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, "\"main\" has been waiting outside"));
    ck_assert_ptr_nonnull(strstr(text, "starpu_pthread_"));
}
END_TEST

static void compute(void *arg)
{
    volatile unsigned long x = 0;
    struct timespec begin, t;

    (void)arg;
    setenv("ORRERY_SIM_WATCHDOG", "0.1", 1);
    setup();
    spawn("other", sleeper_for_ever, NULL);
    exec->ops->sleep(exec, 3);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 100000; i++)
            x += (unsigned long)i;
        clock_gettime(CLOCK_MONOTONIC, &t);
    } while (t.tv_sec * 1000 + t.tv_nsec / 1000000 <
             begin.tv_sec * 1000 + begin.tv_nsec / 1000000 + 500);
    (void)x;
}

START_TEST(the_watchdog_leaves_a_long_computation_alone)
{
    char text[4096];

    ck_assert_int_eq(child_run(compute, NULL, text, sizeof(text)), 0);
    ck_assert_str_eq(text, "");
}
END_TEST

static TCase *running_case(void)
{
    TCase *tc = tcase_create("running");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_checked_fixture(tc, clear_story, NULL);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, time_begins_at_zero_and_moves_only_by_waiting);
    tcase_add_test(tc, sleepers_wake_by_date_and_ties_in_order_of_their_sleeps);
    tcase_add_test(tc, spawned_contexts_run_in_order_and_never_at_once);
    tcase_add_test(tc, what_one_context_gives_back_the_next_one_takes);
    tcase_add_test(tc, a_wake_queues_and_never_switches);
    tcase_add_test(tc, a_wake_cancels_the_date_of_a_park);
    tcase_add_test(tc, a_wake_takes_its_cost_but_no_longer_than_the_sleep_was);
    tcase_add_test(tc, a_wake_after_a_moment_takes_less);
    tcase_add_test(tc, a_wake_does_not_shorten_a_sleep_but_is_kept);
    tcase_add_test(tc, a_sleep_of_nothing_lets_ready_contexts_run);
    tcase_add_test(tc, ten_thousand_contexts_live_at_once);
    tcase_add_test(tc, a_lock_may_be_held_across_a_virtual_sleep);
    tcase_add_test(tc, work_takes_its_time_on_processors_of_its_own);
    tcase_add_test(tc, those_who_work_on_one_processor_have_equal_parts);
    tcase_add_test(tc, who_begins_later_slows_the_others_down_from_then_on);
    tcase_add_test(tc, two_processors_are_enough_for_two_and_shared_by_three);
    tcase_add_test(tc, who_sleeps_takes_nothing_of_a_processor);
    tcase_add_test(tc, registers_survive_switches);
    tcase_add_test(tc, contexts_are_listed_in_order_of_creation);
    tcase_add_test(tc, a_detached_context_is_freed_by_the_machine);
    tcase_add_test(tc, a_foreign_thread_is_no_context);
    tcase_add_test(tc, a_context_with_a_runtime_has_one_machine);
    tcase_add_test(tc, longjmp_in_main);
    tcase_add_test(tc, fork_in_main_gives_two_simulations);
    return tc;
}

static TCase *ending_case(void)
{
    TCase *tc = tcase_create("ending");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, five_rounds_with_five_machines);
    tcase_add_test(tc, the_application_keeps_its_signal_handlers_and_stack);
    tcase_add_test(tc, exit_ends_at_once_and_silently);
    tcase_add_test(tc, return_from_main_without_shutdown_is_silent_too);
    tcase_add_test(tc, a_deadlock_calls_the_handler_and_ends_with_3);
    tcase_add_test(tc, waiting_where_it_is_forbidden_aborts_with_a_message);
    tcase_add_test(tc, the_watchdog_names_main_that_waits_outside_virtual_time);
    tcase_add_test(tc, the_watchdog_leaves_a_long_computation_alone);
    return tc;
}

SUITE_MAIN(sim_exec)
{
    Suite *suite = suite_create("sim-exec");

    suite_add_tcase(suite, exec_suite(&simulated));
    suite_add_tcase(suite, running_case());
    suite_add_tcase(suite, ending_case());
    return suite_main(suite);
}
