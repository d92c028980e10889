/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/steps/test-steps.c - every way in which the contexts of small programs
 * can take turns. See README.md for the arguments. Each program is explored in
 * a process of its own.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/steps/cases.h"

static const char usage[] =
    "usage: test-steps [OPTION]... [CASE]...\n"
    "  --list          the cases\n"
    "  --full          more pre-emptions, more random schedules\n"
    "  --bounds N      explore 0 … N - 1 pre-emptions\n"
    "  --schedules N   at most so many with each number of pre-emptions\n"
    "  --random N      so many random schedules\n"
    "  --seed N        the first of their seeds (1)\n"
    "  --trace T       one schedule of one case, its steps are printed\n"
    "  --stop          at the first case that fails\n";

enum { MAX_CASES = 64 };

struct options {
    struct step_limits limits;
    bool full, stop;
    struct step_turn turns[STEP_TRACE];
};

static const struct step_case *all[MAX_CASES];
static unsigned nall;

static void add_cases(const struct step_case *cases)
{
    for (; cases->name; cases++)
        all[nall++] = cases;
}

/* --- the child --- */

static const struct step_case *present;

static void end(void)
{
    if (present->end)
        present->end();
    world_end();
}

static _Noreturn void be_child(const struct step_case *c,
                               const struct step_limits *limits)
{
    struct step_program program = {c->begin, end, world_look};

    present = c;
    world_open(&c->spec);
    step_explore(&program, limits);
    fflush(NULL);
    _exit(0);
}

/* --- the parent --- */

static int run_child(const struct step_case *c,
                     const struct step_limits *limits)
{
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0)
        be_child(c, limits);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        perror("fork");
        exit(1);
    }
    return status;
}

static void print_trace(const struct step_report *r)
{
    for (unsigned i = 0; i < r->nturns; i++)
        printf("%s%" PRIu32 ":%" PRIu32, i ? "," : "", r->turns[i].at,
               r->turns[i].chosen);
    if (!r->nturns)
        printf("none");
}

/* The steps of the schedule that failed. */
static void tell(const struct step_case *c, int status)
{
    static struct step_report failed;
    struct step_limits limits = {.replays = true,
                                 .replay = failed.turns,
                                 .nreplay = step_report->nturns};

    failed = *step_report;
    if (WIFSIGNALED(status))
        printf("# signal %d (%s)\n", WTERMSIG(status),
               strsignal(WTERMSIG(status)));
    else
        printf("# exit status %d\n", WEXITSTATUS(status));
    printf("# %s\n", failed.failure);
    if (failed.seed)
        printf("# seed %" PRIu64 "\n", failed.seed);
    printf("# again: test-steps %s --trace ", c->name);
    print_trace(&failed);
    printf("\n# its steps, with who makes them:\n");
    (void)run_child(c, &limits);
}

static void print_counts(const struct step_report *r)
{
    printf(" #");
    for (unsigned i = 0; i < r->nbounds; i++)
        printf(" %" PRIu64, r->nschedules[i]);
    printf("%s schedules of up to %" PRIu64 " steps, %" PRIu64
           " random ones, %.1f s\n",
           r->stopped ? " (not all)" : "", r->longest, r->nrandom, r->seconds);
}

static bool run_case(unsigned number, const struct step_case *c,
                     const struct options *o)
{
    struct step_limits limits = o->limits;
    int status;

    if (!limits.nbounds)
        limits.nbounds = o->full ? c->nbounds_full : c->nbounds;
    memset(step_report, 0, sizeof(*step_report));
    status = run_child(c, &limits);
    if (limits.replays) {
        printf("%s %u - %s\n", status ? "not ok" : "ok", number, c->name);
        return !status;
    }
    printf("%s %u - %s: %s", status ? "not ok" : "ok", number, c->name,
           c->claim);
    print_counts(step_report);
    if (status)
        tell(c, status);
    fflush(stdout);
    return !status;
}

/* --- arguments --- */

static void read_trace(struct options *o, const char *text)
{
    struct step_turn *turn = o->turns;
    int n;

    o->limits.replays = true;
    o->limits.replay = o->turns;
    while (sscanf(text, "%" SCNu32 ":%" SCNu32 "%n", &turn->at, &turn->chosen,
                  &n) == 2) {
        turn++;
        text += n + (text[n] == ',');
    }
    o->limits.nreplay = (unsigned)(turn - o->turns);
}

static void read_options(struct options *o, int argc, char **argv)
{
    static const struct option known[] = {
        {"list", 0, NULL, 'l'},      {"full", 0, NULL, 'f'},
        {"bounds", 1, NULL, 'b'},    {"random", 1, NULL, 'r'},
        {"schedules", 1, NULL, 'n'}, {"seed", 1, NULL, 's'},
        {"trace", 1, NULL, 't'},     {"stop", 0, NULL, 'x'},
        {NULL, 0, NULL, 0},
    };
    bool has_random = false;
    int option;

    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        uint64_t value = optarg ? strtoull(optarg, NULL, 0) : 0;

        switch (option) {
        case 'l':
            for (unsigned i = 0; i < nall; i++)
                printf("%-20s %s\n", all[i]->name, all[i]->claim);
            exit(0);
        case 'f':
            o->full = true;
            break;
        case 'b':
            o->limits.nbounds = (unsigned)value;
            break;
        case 'r':
            o->limits.nrandom = value;
            has_random = true;
            break;
        case 'n':
            o->limits.nschedules = value;
            break;
        case 's':
            o->limits.first_seed = value;
            break;
        case 't':
            read_trace(o, optarg);
            break;
        case 'x':
            o->stop = true;
            break;
        default:
            fputs(usage, stderr);
            exit(2);
        }
    }
    if (!o->limits.nschedules)
        o->limits.nschedules = o->full ? 1000000 : 10000;
    if (!has_random)
        o->limits.nrandom = o->full ? 100000 : 3000;
    if (o->limits.nbounds > 8) {
        fputs(usage, stderr);
        exit(2);
    }
}

static bool is_wanted(const struct step_case *c, int n, char **names)
{
    for (int i = 0; i < n; i++)
        if (strcmp(c->name, names[i]) == 0)
            return true;
    return n == 0;
}

int main(int argc, char **argv)
{
    static struct options o = {.limits = {.first_seed = 1}};
    unsigned n = 0, failed = 0;

    add_cases(order_cases);
    add_cases(claim_cases);
    add_cases(transfer_cases);
    add_cases(admission_cases);
    add_cases(end_cases);
    add_cases(partition_cases);
    add_cases(worker_cases);
    read_options(&o, argc, argv);
    step_report = mmap(NULL, sizeof(*step_report), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (step_report == MAP_FAILED)
        return 1;
    for (unsigned i = 0; i < nall; i++) {
        if (!is_wanted(all[i], argc - optind, argv + optind))
            continue;
        failed += !run_case(++n, all[i], &o);
        if (failed && o.stop)
            break;
    }
    printf("1..%u\n", n);
    return failed != 0 || n == 0;
}
