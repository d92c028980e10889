/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/test-random.c - random graphs of tasks on random machines,
 * against a sequential oracle. See README.md for what the arguments mean.
 */
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "feature_set.h"
#include "generate.h"
#include "legal.h"
#include "machine.h"
#include "print.h"
#include "promises.h"
#include "replayed.h"
#include "run.h"
#include "shrink.h"
#include "trial.h"

enum { MAX_JOBS = 64, POINTS = 10, GRAPHS = 10000, FULL_GRAPHS = 100000 };

struct options {
    struct wishes wishes;
    uint64_t seed;
    unsigned ngraphs; /* in all */
    unsigned minutes; /* … or for that long; 0: no limit */
    long batch;        /* only this one; -1: all */
    const char *sched; /* this policy alone; NULL: any */
    unsigned njobs;
    unsigned limit_s;
    unsigned nrepeats; /* of a program that may fail or not */
    unsigned ntrials;  /* for shrinking */
    bool keep_going, print, digests, spoil;
};

static const char usage[] =
    "usage: test-random [OPTION]...\n"
    "  --seed N       where programs are drawn from (20260101)\n"
    "  --graphs N     how many (10000)\n"
    "  --per-machine N  graphs on one machine (50)\n"
    "  --minutes N    as many as begin within that time\n"
    "  --full         ten times as many, memories tiny\n"
    "  --real         on the real machine\n"
    "  --devices N    which has N OpenCL devices beside processors\n"
    "  --sched S      this policy alone, as STARPU_SCHED names it\n"
    "  --batch N      only the graphs of machine N\n"
    "  --with A,B     use these features as well (all: all)\n"
    "  --without A,B  do not use these\n"
    "  --list         the features\n"
    "  --jobs N       processes at once (2)\n"
    "  --limit S      seconds that a graph may take (120)\n"
    "  --trials N     runs for shrinking (600)\n"
    "  --keep-going   count failures, do not shrink\n"
    "  --print        print the programs of --batch, do not run them\n"
    "  --replay P     the traces are those of the record replayed by program P\n"
    "  --digests      print what tells two runs apart\n"
    "  --spoil        some tasks do not write: the test must fail\n";

/* -- one batch -- */

static unsigned nbatches(const struct options *o)
{
    return (o->ngraphs + o->wishes.ngraphs - 1) / o->wishes.ngraphs;
}

static void draw(const struct options *o, unsigned batch, struct program *ret)
{
    program_draw(ret, o->seed, batch, &o->wishes);
    ret->spoilt = o->spoil;
    program_legalise(ret, o->wishes.features);
}

static void comment(const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");

        printf("#   %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

static void tell(const struct options *o, unsigned batch,
                 const struct verdict *verdict)
{
    printf("# %s in graph %u of machine %u: %s\n",
           outcome_name(verdict->outcome), verdict->graph, batch,
           verdict->text);
    printf("# again: --seed %" PRIu64 " --batch %u --per-machine %u%s%s",
           o->seed, batch, o->wishes.ngraphs, o->wishes.real ? " --real" : "",
           o->wishes.full ? " --full" : "");
    if (o->wishes.ndevices)
        printf(" --devices %u", o->wishes.ndevices);
    if (o->sched)
        printf(" --sched %s", o->sched);
    putchar('\n');
    comment(verdict->log);
    fflush(stdout);
}

static void explain(const struct options *o, unsigned batch,
                    const struct verdict *verdict)
{
    static struct program program;
    struct shrink_options how = {
        .features = o->wishes.features,
        .limit_s = o->limit_s < 3 ? o->limit_s : 3,
        .nrepeats = o->nrepeats,
        .ntrials = o->ntrials,
    };
    struct verdict last = *verdict;

    draw(o, batch, &program);
    printf("# shrinking\n");
    fflush(stdout);
    if (!program_shrink(&program, &how, &last)) {
        printf("# it does not fail again by itself\n");
        return;
    }
    printf("# %s: %s\n", outcome_name(last.outcome), last.text);
    comment(last.log);
    fflush(stdout);
    program_print(stderr, &program, last.text);
}

/* -- all of them -- */

struct progress {
    const struct options *o;
    struct trial trials[MAX_JOBS];
    unsigned batches[MAX_JOBS];
    unsigned next, ended, failed;
    uint8_t scheds[MAX_JOBS];
    uint64_t nordered[UINT8_MAX + 1]; /* by policy */
    unsigned nmachines[UINT8_MAX + 1];
};

static void start_one(struct progress *p, unsigned slot)
{
    static struct program program;
    int err;

    draw(p->o, p->next, &program);
    p->batches[slot] = p->next++;
    p->scheds[slot] = program.machine.sched;
    err = trial_start(&program, p->o->limit_s, &p->trials[slot]);
    if (err) {
        printf("Bail out! no process can be started: %s\n", strerror(-err));
        exit(1);
    }
}

static void end_one(struct progress *p)
{
    struct verdict verdict;
    int slot = trials_wait(p->trials, p->o->njobs, &verdict);

    if (slot < 0)
        abort();
    p->ended++;
    p->nordered[p->scheds[slot]] += verdict.nordered;
    p->nmachines[p->scheds[slot]]++;
    if (p->o->digests)
        printf("# machine %u: %016" PRIx64 "\n", p->batches[slot],
               verdict.digest);
    if (verdict.outcome == PASSED)
        return;
    p->failed++;
    tell(p->o, p->batches[slot], &verdict);
    if (!p->o->keep_going && p->failed == 1)
        explain(p->o, p->batches[slot], &verdict);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Up to number `until`, or for so long; stops starting more once one has failed.
 */
static void run_until(struct progress *p, unsigned until, double deadline)
{
    for (;;) {
        unsigned slot = 0;

        while (slot < p->o->njobs && p->trials[slot].pid)
            slot++;
        if (slot < p->o->njobs && p->next < until &&
            (!p->o->minutes || seconds() < deadline) &&
            (!p->failed || p->o->keep_going))
            start_one(p, slot);
        else if (p->ended < p->next)
            end_one(p);
        else
            return;
    }
}

/* Tells how often the order of tasks was looked at. Returns how many policies make
 * a promise, have run, and never had a choice in which they could have broken it. */
static unsigned tell_orders(const struct progress *p)
{
    unsigned silent = 0;

    for (unsigned i = 1; i < nschedulers; i++) {
        const struct promise *promise = promise_of(schedulers[i]);
        /* The first one is there twice. */
        bool twice = !strcmp(schedulers[i], schedulers[0]);
        uint64_t n = p->nordered[i] + (twice ? p->nordered[0] : 0);

        if (!promise)
            printf("# %s has no line in promises.c\n", schedulers[i]);
        silent += !promise;
        if (!promise || promise->scope == NOBODY || p->nmachines[i] == 0)
            continue;
        printf("# %s: %" PRIu64 " choices as promised\n", schedulers[i], n);
        /* Choices of dmdar that break its promise need data in the right places:
         * 4000 graphs of --sched dmdar have some on two machines of three. */
        silent += n == 0 && !promise->least;
    }
    return silent;
}

/* The last point. Few graphs need not have such choices. */
static bool judge_orders(const struct progress *p)
{
    enum { ENOUGH = 1000 };
    const char *why = p->o->wishes.real ? "time is real"
                      : p->o->sched     ? "one policy"
                      : replay_wanted() ? "records have no callbacks"
                      : p->ended * p->o->wishes.ngraphs < ENOUGH ? "few graphs"
                                                                 : NULL;
    bool good = why || tell_orders(p) == 0;

    printf(
        "%s %d - policies had choices to make, and kept their promises%s%s\n",
        good ? "ok" : "not ok", POINTS + 1, why ? " # SKIP " : "",
        why ? why : "");
    return good;
}

static int run_all(const struct options *o)
{
    static struct progress p;
    unsigned n = nbatches(o), first = 0, failed = 0;
    double start = seconds();

    p.o = o;
    printf("1..%d\n# seed %" PRIu64 "\n", POINTS + 1, o->seed);
    for (unsigned i = 0; i < POINTS; i++) {
        unsigned until = o->minutes ? UINT_MAX : n * (i + 1) / POINTS;

        run_until(&p, until, start + 60.0 * o->minutes * (i + 1) / POINTS);
        until = p.ended;
        printf("%s %u - %u graphs on %u machines give what the oracle says\n",
               p.failed > failed ? "not ok" : "ok", i + 1,
               (until - first) * o->wishes.ngraphs, until - first);
        fflush(stdout);
        if (p.failed && !o->keep_going) {
            for (unsigned k = i + 2; k <= POINTS + 1; k++)
                printf("not ok %u - not run\n", k);
            return 1;
        }
        failed = p.failed;
        first = until;
    }
    return !judge_orders(&p) || failed != 0;
}

static int run_batch(const struct options *o)
{
    static struct program program;
    struct verdict verdict;

    draw(o, (unsigned)o->batch, &program);
    if (o->print) {
        program_print(stdout, &program, "as drawn");
        return 0;
    }
    verdict = trial_run(&program, o->limit_s);
    printf("1..1\n%s 1 - machine %ld\n# digest %016" PRIx64 "\n",
           verdict.outcome == PASSED ? "ok" : "not ok", o->batch,
           verdict.digest);
    if (verdict.outcome == PASSED)
        return 0;
    tell(o, (unsigned)o->batch, &verdict);
    explain(o, (unsigned)o->batch, &verdict);
    return 1;
}

/* -- arguments -- */

static uint64_t names(const char *text)
{
    uint64_t set = 0;
    const char *unknown = features_read(text, &set);

    if (!unknown)
        return set;
    fprintf(stderr, "test-random: there is no feature \"%s\", see --list\n",
            unknown);
    exit(2);
}

static void need(uint64_t features, enum feature feature, bool there,
                 const char *what)
{
    if (!(features & feature_bit(feature)) || there)
        return;
    fprintf(stderr, "test-random: this library has no %s\n", what);
    exit(2);
}

static void set_option(struct options *o, int option, const char *value)
{
    unsigned long number = value ? strtoul(value, NULL, 0) : 0;

    switch (option) {
    case 's':
        o->seed = strtoull(value, NULL, 0);
        break;
    case 'g':
        o->ngraphs = (unsigned)number;
        break;
    case 'u':
        o->minutes = (unsigned)number;
        break;
    case 'm':
        o->wishes.ngraphs = (unsigned)number;
        break;
    case 'f':
        o->wishes.full = true;
        break;
    case 'r':
        o->wishes.real = true;
        break;
    case 'D':
        o->wishes.ndevices = (unsigned)number;
        break;
    case 'S':
        o->sched = value;
        machine_only_sched(value);
        break;
    case 'b':
        o->batch = (long)number;
        break;
    case 'w':
        o->wishes.features |= names(value);
        break;
    case 'o':
        o->wishes.features &= ~names(value);
        break;
    case 'l':
        features_print(stdout);
        exit(0);
    case 'j':
        o->njobs = (unsigned)number;
        break;
    case 't':
        o->limit_s = (unsigned)number;
        break;
    case 'n':
        o->ntrials = (unsigned)number;
        break;
    case 'k':
        o->keep_going = true;
        break;
    case 'p':
        o->print = true;
        break;
    case 'd':
        o->digests = true;
        break;
    case 'x':
        o->spoil = true;
        break;
    case 'R':
        replay_by(value);
        break;
    default:
        fputs(usage, stderr);
        exit(2);
    }
}

static void read_options(struct options *o, int argc, char **argv)
{
    static const struct option all[] = {
        {"seed", 1, NULL, 's'},
        {"graphs", 1, NULL, 'g'},
        {"full", 0, NULL, 'f'},
        {"real", 0, NULL, 'r'},
        {"devices", 1, NULL, 'D'},
        {"sched", 1, NULL, 'S'},
        {"batch", 1, NULL, 'b'},
        {"with", 1, NULL, 'w'},
        {"list", 0, NULL, 'l'},
        {"without", 1, NULL, 'o'},
        {"jobs", 1, NULL, 'j'},
        {"limit", 1, NULL, 't'},
        {"trials", 1, NULL, 'n'},
        {"keep-going", 0, NULL, 'k'},
        {"print", 0, NULL, 'p'},
        {"per-machine", 1, NULL, 'm'},
        {"digests", 0, NULL, 'd'},
        {"spoil", 0, NULL, 'x'},
        {"replay", 1, NULL, 'R'},
        {"minutes", 1, NULL, 'u'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "", all, NULL)) != -1)
        set_option(o, option, optarg);
    if (!o->ngraphs)
        o->ngraphs = o->wishes.full ? FULL_GRAPHS : GRAPHS;
    if (optind < argc || o->njobs == 0 || o->njobs > MAX_JOBS ||
        o->wishes.ndevices > MAX_GPUS || o->wishes.ngraphs == 0 ||
        o->wishes.ngraphs > MAX_GRAPHS || (o->print && o->batch < 0)) {
        fputs(usage, stderr);
        exit(2);
    }
    o->nrepeats = o->wishes.real ? 20 : 1;
    need(o->wishes.features, FEATURE_ARBITER, run_has_arbiters(), "arbiters");
    need(o->wishes.features, FEATURE_REDUX, run_has_reductions(), "reductions");
}

int main(int argc, char **argv)
{
    struct options o = {
        .wishes = {.features = features_default(), .ngraphs = 50},
        .seed = 20260101,
        .batch = -1,
        .njobs = 2,
        .limit_s = 120,
        .ntrials = 600,
    };

    read_options(&o, argc, argv);
    return o.batch >= 0 ? run_batch(&o) : run_all(&o);
}
