/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/study/command.c - `orrery study`: a declared experiment, what of it is missing, and what
 * its results allow to conclude. One thread, several children.
 */
#include "tools/common/plot.h"
#include "tools/common/program.h"
#include "tools/common/tool.h"
#include "tools/study/findings.h"
#include "tools/study/launchers.h"
#include "tools/study/session.h"
#include "tools/study/table.h"

#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: orrery study FILE.yaml [--store DIR] [-j N] [--csv FILE] [--json FILE]\n"
    "                    [--parquet FILE] [--plot FILE.png] [--workloads]\n"
    "                    [--no-run | --part K/N | --on HOW --parts N [--with WORDS]]\n"
    "Simulates the experiment that the file declares (docs/STUDY.md): programs or\n"
    "records with sizes, on machines, with edits, noise, policies, repetitions.\n"
    "Results are kept as they come: the same command goes on where it was\n"
    "interrupted, and what was simulated with the same inputs before is not\n"
    "simulated again. Prints what the results say of the policies, and what not.\n"
    "      --store DIR          where results are kept (FILE.results); more of them,\n"
    "                             from other machines, may be put there\n"
    "  -j, --jobs N             simulations at a time (as many as processors)\n"
    "      --csv, --json, --parquet FILE  the table, a row for each run; -, of CSV\n"
    "                             and JSON, is standard output, without other text\n"
    "      --plot FILE.png      draw performance profiles\n"
    "      --workloads          print the tests of each workload as well\n"
    "      --no-run             simulate nothing: what is missing stays so\n"
    "      --part K/N           the K-th of N parts alone, which may run\n"
    "                             elsewhere; mpi: that of the process's rank\n"
    "      --on HOW --parts N   all parts, through slurm (a job array), parallel (GNU\n"
    "                             parallel) or mpi (mpirun)\n"
    "      --with WORDS         options for sbatch, parallel or mpirun\n"
    "Exit codes: 0; 1 when a simulation failed, or is missing with --no-run; 2 for a\n"
    "wrong command line or file; 128 plus the signal when interrupted.\n"
    "example: orrery study policies.yaml --csv runs.csv --plot profiles.png\n";

/* Those that this process may use: a launcher may have given it one. */
static unsigned count_processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* A path that holds in another folder; owned. "-" stays. */
static char *absolute(const char *path)
{
    char folder[PATH_MAX];

    if (*path == '/' || !strcmp(path, "-") || !getcwd(folder, sizeof(folder)))
        return tool_format("%s", path);
    return tool_format("%s/%s", folder, path);
}

/* Programs are named as seen from the folder of the file. */
static int enter_folder(const char *file)
{
    char *copy = tool_format("%s", file);
    int code = TOOL_OK;

    if (!copy)
        return tool_fail(TOOL_FAILED, "out of memory");
    if (chdir(dirname(copy)) < 0)
        code = tool_fail(TOOL_FAILED, "study: %s: there is no such folder", copy);
    free(copy);
    return code;
}

/* ---- what came of it ---- */

static void print_counts(const struct study_session *session, size_t nmissing, size_t nfailed)
{
    const struct study *study = session->study;

    printf("%zu runs: %zu workload%s, %zu polic%s, %u repetition%s; %zu were kept, %zu are new",
           study->nruns, study->nworkloads, study->nworkloads == 1 ? "" : "s", study->npolicies,
           study->npolicies == 1 ? "y" : "ies",
           study->repetitions, study->repetitions == 1 ? "" : "s", session->nkept, session->nrun);
    if (nfailed)
        printf(", %zu failed", nfailed);
    if (nmissing)
        printf(", %zu are missing", nmissing);
    puts("");
}

/* The first of each kind of failure. */
static void print_failures(const struct study_session *session)
{
    const char *before = NULL;

    for (size_t i = 0; i < session->study->nruns; i++) {
        const char *problem = session->results[i].problem;
        struct study_run run;
        char *name;

        if (!problem || (before && !strcmp(before, problem)))
            continue;
        run = study_run(session->study, i);
        name = study_workload_name(session->study, run.workload);
        tool_error("study: %s, %s: %s", name ? name : "", run.policy, problem);
        free(name);
        if (before)
            break; /* two are enough: the table has all */
        before = problem;
    }
}

static int end_whole(const struct study_session *session, size_t nmissing, size_t nfailed)
{
    const struct study_options *options = session->options;
    bool text = (!options->csv || strcmp(options->csv, "-")) &&
                (!options->json || strcmp(options->json, "-"));
    struct study_findings findings;
    int code = findings_make(&findings, session);

    if (code == TOOL_OK && text) {
        print_counts(session, nmissing, nfailed);
        putchar('\n');
        code = findings_print(&findings);
    }
    if (code == TOOL_OK)
        code = study_write_tables(session, &findings);
    if (code == TOOL_OK && options->plot)
        code = findings_draw(&findings, options->plot);
    findings_done(&findings);
    print_failures(session);
    return code != TOOL_OK ? code : nmissing || nfailed ? TOOL_FAILED : TOOL_OK;
}

static int end_session(const struct study_session *session, int stopped)
{
    const struct study_options *options = session->options;
    size_t nmissing = session_nmissing(session), nfailed = session_nfailed(session);

    if (stopped > 0)
        return tool_fail(128 + stopped,
                         "interrupted: %s keeps %zu results, %zu are missing; the same command "
                         "goes on from there",
                         options->store, session->nkept + session->nrun, nmissing);
    if (stopped < 0)
        return TOOL_FAILED;
    if (!options->parts)
        return end_whole(session, nmissing, nfailed);
    printf("part %u of %u: %zu runs are new, %zu failed; kept in %s\n", options->part,
           options->parts, session->nrun, nfailed, options->store);
    print_failures(session);
    return nfailed ? TOOL_FAILED : TOOL_OK;
}

static int run_study(const struct study *study, const struct study_options *options)
{
    struct study_session session;
    int code = session_init(&session, study, options);

    if (code == TOOL_OK)
        code = end_session(&session, options->no_run ? 0 : session_run(&session));
    session_done(&session);
    return code;
}

/* ---- the command line ---- */

struct study_words {
    const char *jobs, *part, *parts, *on, *with;
    char *owned[8]; /* absolute paths */
    size_t nowned;
};

static int make_absolute(struct study_words *words, const char **path)
{
    if (!*path)
        return TOOL_OK;
    *path = words->owned[words->nowned++] = absolute(*path);
    return *path ? TOOL_OK : tool_fail(TOOL_FAILED, "out of memory");
}

static int check_study_options(const struct study_options *options, const struct study_words *words)
{
    bool out = options->csv || options->json || options->parquet || options->plot;
    int code;

    if (words->part && (words->on || words->parts || options->no_run || out))
        return tool_fail(TOOL_USAGE, "study: --part runs a part, and prints no table: give %s "
                                     "without it once all parts have run",
                         options->no_run ? "--no-run" : "the others");
    if (!words->on != !words->parts)
        return tool_fail(TOOL_USAGE, "study: --on and --parts go together: how, and how many");
    if (words->with && !words->on)
        return tool_fail(TOOL_USAGE, "study: --with is for what --on starts");
    if (words->on && options->no_run)
        return tool_fail(TOOL_USAGE, "study: --on runs all parts, --no-run nothing: choose one");
    if (options->csv && options->json && !strcmp(options->csv, "-") &&
        !strcmp(options->json, "-"))
        return tool_fail(TOOL_USAGE, "study: --csv - and --json -: choose one");
    code = plot_check_name("study: --plot", options->plot);
    if (code == TOOL_OK)
        code = tool_check_output("study: --csv", options->csv);
    if (code == TOOL_OK)
        code = tool_check_output("study: --json", options->json);
    if (code == TOOL_OK)
        code = tool_check_output("study: --parquet", options->parquet);
    return code == TOOL_OK ? study_check_parquet(options->parquet) : code;
}

static int read_numbers(struct study_options *options, const struct study_words *words,
                        unsigned *ret_parts)
{
    if (words->jobs && program_number(words->jobs, 1, &options->jobs) < 0)
        return tool_fail(TOOL_USAGE, "study: -j takes a number from 1 on");
    if (words->parts && program_number(words->parts, 1, ret_parts) < 0)
        return tool_fail(TOOL_USAGE, "study: --parts takes a number from 1 on");
    return words->part ? launcher_read_part(words->part, &options->part, &options->parts)
                       : TOOL_OK;
}

static int start_parts(const struct study_options *options, const struct study_words *words,
                       const char *file, unsigned parts, bool *ret_waits)
{
    const struct launcher_options launcher = {.on = words->on,
                                              .with = words->with,
                                              .study = file,
                                              .store = options->store,
                                              .jobs = words->jobs,
                                              .parts = parts};
    struct study_store *store = NULL;
    int code = study_store_open(options->store, NULL, &store);

    study_store_close(store);
    if (code == TOOL_OK)
        code = launcher_start(&launcher, ret_waits);
    if (code == TOOL_OK && !*ret_waits)
        printf("submitted in %u parts, which keep their results in %s; once they have ended, give "
               "the same command without --on\n",
               parts, options->store);
    return code;
}

/* With paths that hold in the folder of the file, which is entered. */
static int study_in_folder(struct study_options *options, const struct study_words *words,
                           const char *file)
{
    struct study study;
    unsigned parts = 0;
    bool waits = true;
    int code = read_numbers(options, words, &parts);

    if (code == TOOL_OK)
        code = enter_folder(file);
    if (code != TOOL_OK)
        return code;
    code = study_read(strrchr(file, '/') + 1, &study);
    if (code == TOOL_OK)
        code = check_study_options(options, words);
    if (code == TOOL_OK && words->on)
        code = start_parts(options, words, file, parts, &waits);
    /* What parts on other machines have not done is not done here. */
    options->no_run |= words->on != NULL;
    if (code == TOOL_OK && waits)
        code = run_study(&study, options);
    study_done(&study);
    return code;
}

int cmd_study(int argc, char **argv)
{
    struct study_options options = {.jobs = count_processors()};
    struct study_words words = {0};
    const struct tool_option list[] = {{0, "store", &options.store, NULL},
                                       {'j', "jobs", &words.jobs, NULL},
                                       {0, "csv", &options.csv, NULL},
                                       {0, "json", &options.json, NULL},
                                       {0, "parquet", &options.parquet, NULL},
                                       {0, "plot", &options.plot, NULL},
                                       {0, "workloads", NULL, &options.by_workload},
                                       {0, "no-run", NULL, &options.no_run},
                                       {0, "part", &words.part, NULL},
                                       {0, "on", &words.on, NULL},
                                       {0, "parts", &words.parts, NULL},
                                       {0, "with", &words.with, NULL},
                                       {0}};
    const char *file;
    char *store = NULL;
    int n, code = TOOL_OK, rc = tool_parse_operands(argc, argv, list, help, &n);

    if (rc <= 0)
        return rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (n != 1)
        return tool_fail(TOOL_USAGE, "study: %s; see orrery study --help",
                         n ? "one file at a time" : "which file?");
    file = argv[1];
    if (!options.store) {
        store = tool_beside(file, ".results");
        options.store = store;
    }
    if (!options.store || make_absolute(&words, &file) || make_absolute(&words, &options.store) ||
        make_absolute(&words, &options.csv) || make_absolute(&words, &options.json) ||
        make_absolute(&words, &options.parquet) || make_absolute(&words, &options.plot))
        code = TOOL_FAILED;
    if (code == TOOL_OK)
        code = study_in_folder(&options, &words, file);
    for (size_t i = 0; i < words.nowned; i++)
        free(words.owned[i]);
    free(store);
    return code;
}
