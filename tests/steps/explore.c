/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/steps/explore.c - see explore.h. Depth first: a schedule is a list of
 * choices; the next one is the same up to the last choice that can be made
 * otherwise within the number of pre-emptions.
 */
#include "tests/steps/explore.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/wait.h"
#include "core/device/switch.h"
#include "tests/rng.h"

enum {
    MAX_CHOICES = 1 << 16,
    MAX_STEPS = 200000,
    MAX_SPINS = 1000,
    STACK = 256 << 10,
    HANG_S = 60, /* for a schedule: it loops without a step */
    CHANGES = 6, /* of priorities in a random schedule */
};

enum state { READY, LOCKED_OUT, PARKED, ENDED };

struct context {
    struct orr_context head; /* first */
    struct orr_fiber fiber;
    bool has_stack;
    void (*body)(void *);
    void *arg;
    enum state state;
    bool token, daemon;
    bool joined;                 /* nobody may know it any more */
    bool busy;                   /* a daemon in the middle of something */
    bool gave_way;               /* spins until another has made a step */
    const struct orr_lock *lock; /* LOCKED_OUT by it */
    struct context *joins;
    unsigned priority; /* in random schedules: the highest goes on */
    const char *what, *object, *file;
    int line;
};

struct choice {
    uint32_t options, tried; /* bits */
    uint8_t chosen, standard;
    uint8_t before; /* pre-emptions */
    bool free;      /* another than the standard is none */
};

struct step_report *step_report;

static struct context contexts[STEP_CONTEXTS];
static unsigned ncontexts;
static struct orr_fiber home; /* the explorer's stack */
static struct orr_context *home_self;
static bool running, ending, verbose;
static const struct step_program *program;

/* The schedule. */
static struct choice choices[MAX_CHOICES];
static unsigned nchoices, nfixed; /* made, and given */
static unsigned npreemptions;
static uint64_t nsteps;
static unsigned nspins;

static enum { SEARCH, RANDOM, REPLAY } mode;
static const struct step_turn *replay;
static unsigned nreplay, next_turn;
static uint64_t numbers; /* the state of random ones */
static uint64_t changes[CHANGES];
static bool walks; /* random: equal chances, no priorities */

bool step_is_running(void)
{
    return running;
}

void step_be_busy(bool busy)
{
    ((struct context *)orr_self)->busy = busy;
}

bool step_is_ending(void)
{
    return ending;
}

/* --- failures --- */

static const char *name_of(const struct context *c)
{
    return c->head.name ? c->head.name : "?";
}

_Noreturn void step_fail(const char *format, ...)
{
    va_list args;

    running = false;
    va_start(args, format);
    vsnprintf(step_report->failure, sizeof(step_report->failure), format, args);
    va_end(args);
    if (verbose)
        printf("# fails: %s\n", step_report->failure);
    fflush(NULL);
    _exit(3);
}

static bool is_done(const struct context *c)
{
    return c->state == ENDED || (c->daemon && !c->busy && c->state == PARKED);
}

static _Noreturn void fail_stuck(void)
{
    char text[300] = "";

    for (unsigned i = 0; i < ncontexts; i++) {
        const struct context *c = &contexts[i];
        size_t n = strlen(text);

        if (is_done(c))
            continue;
        snprintf(text + n, sizeof(text) - n, "%s%s %s at %s:%d", n ? ", " : "",
                 name_of(c),
                 c->state == LOCKED_OUT ? "waits for a lock"
                 : c->head.awaited      ? c->head.awaited->noun
                                        : "is parked",
                 c->file ? c->file : "?", c->line);
    }
    step_fail("deadlock: %s", text);
}

/* --- choices --- */

static unsigned below(unsigned n)
{
    return (unsigned)(rng_next(&numbers) % n);
}

static void note_turn(unsigned chosen)
{
    struct step_report *r = step_report;

    if (r->nturns == STEP_TRACE)
        step_fail("too many turns for a trace");
    r->turns[r->nturns].at = nchoices;
    r->turns[r->nturns++].chosen = chosen;
}

static unsigned lowest(uint32_t bits)
{
    return (unsigned)__builtin_ctz(bits);
}

static unsigned next_option(uint32_t options, unsigned standard)
{
    if (mode == REPLAY) {
        if (next_turn < nreplay && replay[next_turn].at == nchoices)
            return replay[next_turn++].chosen;
        return standard;
    }
    if (nchoices < nfixed) {
        if (choices[nchoices].options != options)
            step_fail("the test is not deterministic: other choices");
        return choices[nchoices].chosen;
    }
    return standard;
}

/* Chooses among the bits of `options`. */
static unsigned choose(uint32_t options, unsigned standard, bool is_free,
                       unsigned suggested)
{
    unsigned chosen =
        mode == RANDOM ? suggested : next_option(options, standard);
    struct choice *c = &choices[nchoices];

    if (nchoices == MAX_CHOICES - 1)
        step_fail("too many choices");
    if (!(options >> chosen & 1))
        step_fail("the trace does not fit: %u cannot be chosen at %u", chosen,
                  nchoices);
    if (mode == SEARCH && nchoices >= nfixed)
        *c = (struct choice){.options = options,
                             .tried = 1u << chosen,
                             .chosen = (uint8_t)chosen,
                             .standard = (uint8_t)standard,
                             .before = (uint8_t)npreemptions,
                             .free = is_free};
    if (chosen != standard) {
        note_turn(chosen);
        npreemptions += !is_free;
    }
    nchoices++;
    return chosen;
}

unsigned step_choose(unsigned n)
{
    unsigned chosen;

    if (n < 2)
        return 0;
    chosen = choose((1u << n) - 1, 0, true, below(n));
    if (verbose)
        printf("#   chooses %u of %u\n", chosen, n);
    return chosen;
}

/* Prepares the next schedule; false: there is none. */
static bool go_back(unsigned bound)
{
    for (nfixed = nchoices; nfixed-- > 0;) {
        struct choice *c = &choices[nfixed];
        uint32_t left = c->options & ~c->tried;

        if (!left || (!c->free && c->before + 1u > bound))
            continue;
        c->chosen = (uint8_t)lowest(left);
        c->tried |= 1u << c->chosen;
        nfixed++;
        return true;
    }
    return false;
}

/* --- who goes on --- */

static bool is_locked(const struct orr_lock *lock)
{
    return lock->taken; /* no step */
}

static bool can_run(const struct context *c)
{
    return c->state == READY || (c->state == LOCKED_OUT && !is_locked(c->lock));
}

/* Bits of those that can run; who spins only if nobody else can. */
static uint32_t runnable(void)
{
    uint32_t all = 0, spinning = 0;

    for (unsigned i = 0; i < ncontexts; i++)
        if (can_run(&contexts[i]))
            *(contexts[i].gave_way ? &spinning : &all) |= 1u << i;
    return all ? all : spinning;
}

static struct context *self(void)
{
    return (struct context *)orr_self;
}

/* Priorities, with a few changes at random steps; or equal chances. */
static unsigned suggest(uint32_t options)
{
    unsigned best = lowest(options);

    if (walks) {
        unsigned n = below((unsigned)__builtin_popcount(options));

        while (n--)
            options &= options - 1;
        return lowest(options);
    }
    for (uint32_t left = options; left; left &= left - 1)
        if (contexts[lowest(left)].priority > contexts[best].priority)
            best = lowest(left);
    return best;
}

static void switch_to(struct context *next)
{
    struct context *c = self();

    if (next == c)
        return;
    if (program->look) {
        running = false;
        program->look();
        running = true;
    }
    if (verbose)
        printf("# -> %s\n", name_of(next));
    orr_self = &next->head;
    orr_fiber_switch(&c->fiber, &next->fiber);
}

/* Lets go; `stays` if the caller could go on at once. */
static void reschedule(bool stays)
{
    struct context *c = self();
    uint32_t options = runnable();
    unsigned standard, me = (unsigned)(c - contexts);

    if (!options) { /* the end, or a deadlock: home knows */
        orr_self = home_self;
        orr_fiber_switch(&c->fiber, &home);
        return;
    }
    stays = stays && options >> me & 1;
    standard = stays ? me : lowest(options);
    if (options & (options - 1))
        standard = choose(options, standard, !stays,
                          mode == RANDOM ? suggest(options) : 0);
    switch_to(&contexts[standard]);
}

/* The caller makes a step, at which others may go first. */
static void step(const char *what, const char *object, const char *file,
                 int line)
{
    struct context *c = self();

    c->what = what;
    c->object = object;
    c->file = file;
    c->line = line;
    if (++nsteps > MAX_STEPS)
        step_fail("no end after %d steps", MAX_STEPS);
    for (unsigned i = 0; mode == RANDOM && i < CHANGES; i++)
        if (changes[i] == nsteps)
            c->priority = CHANGES - i;
    reschedule(true);
    for (unsigned i = 0; i < ncontexts; i++)
        if (&contexts[i] != c)
            contexts[i].gave_way = false;
    if (!c->gave_way)
        nspins = 0;
    c->gave_way = false;
    if (verbose)
        printf("# %5llu %-12s %-9s %-32s %s:%d\n", (unsigned long long)nsteps,
               name_of(c), what, object, file, line);
}

void step_point(const char *what, const char *object, const char *file,
                int line)
{
    if (running)
        step(what, object, file, line);
}

void step_lock(struct orr_lock *lock, const char *object, const char *file,
               int line)
{
    struct context *c = self();

    if (!running)
        return;
    step("lock", object, file, line);
    while (is_locked(lock)) {
        c->lock = lock;
        c->state = LOCKED_OUT;
        reschedule(false);
        c->state = READY;
    }
}

/* --- time and contexts --- */

static void run_body(void *arg)
{
    struct context *c = arg;

    for (;;) {
        c->body(c->arg);
        if (c->head.ranks)
            step_fail("%s ends with a lock", name_of(c));
        c->state = ENDED;
        if (ending) {
            orr_self = home_self;
            orr_fiber_switch(&c->fiber, &home);
            continue;
        }
        for (unsigned i = 0; i < ncontexts; i++)
            if (contexts[i].joins == c)
                contexts[i].state = READY;
        reschedule(false);
    }
}

struct orr_context *step_spawn(const struct orr_context *init, bool daemon,
                               void (*body)(void *), void *arg)
{
    struct context *c = &contexts[ncontexts++];

    if (ncontexts > STEP_CONTEXTS)
        step_fail("too many contexts");
    if (!c->has_stack) {
        if (orr_fiber_init(&c->fiber, STACK, run_body, c) != 0)
            step_fail("no stack");
        c->has_stack = true;
    }
    c->head = *init;
    c->body = body;
    c->arg = arg;
    c->state = READY;
    c->token = c->gave_way = false;
    c->daemon = daemon;
    c->busy = false;
    c->joins = NULL;
    c->joined = false;
    c->file = NULL;
    return &c->head;
}

static double exec_now(struct orr_exec *exec)
{
    (void)exec;
    return (double)nsteps;
}

static int exec_spawn(struct orr_exec *exec, const struct orr_context *init,
                      int cpu, void (*body)(void *), void *arg,
                      struct orr_context **ret)
{
    struct orr_context head = *init;

    (void)cpu;
    head.exec = exec;
    *ret = step_spawn(&head, false, body, arg);
    return 0;
}

static void exec_join(struct orr_exec *exec, struct orr_context *context)
{
    struct context *c = (struct context *)context;

    (void)exec;
    STEP_POINT("join", "");
    if (c->state != ENDED) {
        self()->joins = c;
        self()->state = PARKED;
        reschedule(false);
    }
    c->joined = true;
}

static void exec_park(struct orr_exec *exec, double until)
{
    struct context *c = self();

    (void)exec;
    (void)until;
    if (ending)
        return;
    if (!running)
        step_fail("waits at the end");
    STEP_ASSERT(c->head.ranks == 0);
    STEP_ASSERT(c->head.frozen == 0);
    STEP_POINT("park", "");
    while (!c->token && !ending) {
        c->state = PARKED;
        reschedule(false);
        c->state = READY;
    }
    c->token = false;
}

static void exec_wake(struct orr_exec *exec, struct orr_context *context)
{
    struct context *c = (struct context *)context;

    (void)exec;
    if (!running)
        return;
    STEP_ASSERT(!(orr_self->ranks >> ORR_RANK_HANDLE & 1));
    STEP_POINT("wake", name_of(c));
    STEP_ASSERT(!c->joined);
    c->token = true;
    if (c->state == PARKED && !c->joins)
        c->state = READY;
}

static void exec_sleep(struct orr_exec *exec, double us)
{
    (void)exec;
    (void)us;
    STEP_POINT("sleep", "");
}

/* Whoever spins waits for a step of another. */
static void exec_relax(struct orr_exec *exec)
{
    (void)exec;
    if (++nspins > MAX_SPINS)
        step_fail("livelock: %s spins for ever at %s:%d", name_of(self()),
                  self()->file, self()->line);
    self()->gave_way = true;
    STEP_POINT("relax", "");
}

static struct orr_context *exec_adopt(struct orr_exec *exec)
{
    (void)exec;
    return NULL;
}

/* Looking more often finds nothing that fewer looks do not. */
static bool exec_linger(struct orr_exec *exec, unsigned n)
{
    (void)exec, (void)n;
    return false;
}

const struct orr_exec_ops step_exec_ops = {
    .now = exec_now,
    .recently = exec_now,
    .spawn = exec_spawn,
    .join = exec_join,
    .park = exec_park,
    .wake = exec_wake,
    .sleep = exec_sleep,
    .work = exec_sleep,
    .relax = exec_relax,
    .linger = exec_linger,
    .adopt = exec_adopt,
};

/* --- one schedule --- */

static bool is_over(void)
{
    for (unsigned i = 0; i < ncontexts; i++)
        if (!is_done(&contexts[i]))
            return false;
    return true;
}

/* Daemons are parked: their bodies return. */
static void end_daemons(void)
{
    ending = true;
    for (unsigned i = 0; i < ncontexts; i++)
        if (contexts[i].state != ENDED) {
            orr_self = &contexts[i].head;
            orr_fiber_switch(&home, &contexts[i].fiber);
        }
    ending = false;
}

static void run_once(void)
{
    static unsigned nruns;
    struct context *first;

    if (nruns++ % 1024 == 0)
        alarm(HANG_S);
    nchoices = npreemptions = next_turn = nspins = 0;
    nsteps = 0;
    step_report->nturns = 0;
    orr_self = home_self;
    ncontexts = 0;
    program->begin();
    running = true;
    for (unsigned i = 0; i < ncontexts; i++)
        contexts[i].priority = CHANGES + 1 + below(1000);
    first =
        &contexts[choose((1u << ncontexts) - 1, 0, true,
                         mode == RANDOM ? suggest((1u << ncontexts) - 1) : 0)];
    orr_self = &first->head;
    if (verbose)
        printf("# -> %s\n", name_of(first));
    orr_fiber_switch(&home, &first->fiber);
    if (!is_over())
        fail_stuck();
    running = false;
    if (nsteps > step_report->longest)
        step_report->longest = nsteps;
    end_daemons();
    program->end();
}

/* --- all of them --- */

static void search(const struct step_limits *limits)
{
    mode = SEARCH;
    for (unsigned bound = 0; bound < limits->nbounds; bound++) {
        uint64_t *n = &step_report->nschedules[bound];

        nfixed = 0;
        do {
            run_once();
            ++*n;
        } while (go_back(bound) && *n < limits->nschedules);
        step_report->nbounds = bound + 1;
        if (*n == limits->nschedules) {
            step_report->stopped = true;
            return;
        }
    }
}

static void wander(const struct step_limits *limits)
{
    mode = RANDOM;
    for (uint64_t i = 0; i < limits->nrandom; i++) {
        step_report->seed = limits->first_seed + i;
        numbers = rng_of(step_report->seed);
        walks = step_report->seed & 1;
        for (unsigned k = 0; k < CHANGES; k++)
            changes[k] = 1 + below((unsigned)step_report->longest + 1);
        run_once();
        step_report->nrandom++;
    }
    step_report->seed = 0;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void step_explore(const struct step_program *what,
                  const struct step_limits *limits)
{
    double start = seconds();

    program = what;
    home_self = orr_self;
    orr_fiber_init_running(&home);
    /* What the library makes once is no part of a schedule. */
    mode = REPLAY;
    run_once();
    if (limits->replays) {
        verbose = true;
        setvbuf(stdout, NULL, _IOLBF, 0);
        replay = limits->replay;
        nreplay = limits->nreplay;
        run_once();
        return;
    }
    search(limits);
    wander(limits);
    step_report->seconds = seconds() - start;
}
