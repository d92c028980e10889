/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/record/command.c - `orrery record`: a program is run, its calls are kept
 * in a file, and what that lacks is said. One thread.
 */
#include "tools/common/assume.h"
#include "tools/common/devices.h"
#include "tools/common/edits.h"
#include "tools/common/json.h"
#include "tools/common/launch.h"
#include "tools/common/notes.h"
#include "tools/common/program.h"
#include "tools/common/tool.h"
#include "tools/record/record.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "usage: orrery record -o FILE [-m MACHINE] [--set EDIT] [-s SCHEDULER]\n"
    "                     [--assume TIMES] [--no-times] [--lines] [--grain US]\n"
    "                     [--cpu-time] [--sizes] [--json] -- PROGRAM [ARGUMENTS]\n"
    "       orrery record --ranks N [--rank K] [-j JOBS] -o FOLDER/ … -- PROGRAM …\n"
    "       orrery record import -o FILE FILE-OF-ANOTHER-PROGRAM\n"
    "Runs the program and keeps what it asked the library for: data, tasks, waits and\n"
    "the time in between (docs/RECORD.md). orrery replay simulates that elsewhere.\n"
    "  -o, --output FILE          where the record goes; .recb: in the compact form\n"
    "  -m, --machine MACHINE      simulate that machine (orrery machine list); else\n"
    "                             that of ORRERY_MACHINE, else run for real\n"
    "  -s, --scheduler SCHEDULER  such as eager, lws, dmda, dmdas\n" EDITS_HELP
        ASSUME_HELP DEVICES_HELP
    "      --no-times             of a real run, without the times of its kernels,\n"
    "                             which a replay on this machine takes again\n"
    "      --lines                with the lines of the program that submit tasks,\n"
    "                             which a replay then shows (docs/DEBUG.md)\n"
    "      --ranks N              a program of N ranks (docs/MPI.md): each is\n"
    "                             recorded without the others, on a simulated\n"
    "                             machine, else this one; messages end at once,\n"
    "                             without values. The records are\n"
    "                             FOLDER/rank0.recb …, or of -o FILE.rec\n"
    "                             FILE.rank0.rec …; orrery replay plays them together\n"
    "      --rank K               that one alone\n"
    "  -j, --jobs JOBS            ranks at a time (as many as processors)\n"
    "      --grain US             of an OpenMP program: from how many microseconds on\n"
    "                             work is worth a task of the record (20; 0: any)\n"
    "      --cpu-time             of an OpenMP program: tasks take the processor's\n"
    "                             time, for machines on which others compute, too\n"
    "      --sizes                of an OpenMP program: data of depend clauses have\n"
    "                             the size of the memory that they are in, so that a\n"
    "                             replay transfers them\n"
    "      --json                 print what is in the record as JSON\n"
    "Programs that use OpenMP (of clang or gcc), and not the library, run for real\n"
    "and are recorded as they are: docs/OPENMP_PROGRAMS.md.\n"
    "What the record cannot have is said at the end, and in the file.\n"
    "Exit codes: the program's own; 1 when there is no record; 2 for a wrong command\n"
    "line.\n"
    "example: orrery record -o cholesky.rec -- ./cholesky -size 9600\n";

static void tell_json(const struct notes *notes, const char *path)
{
    json_t *lacks = json_array();

    for (const char *line = notes->lacks; line && *line;) {
        size_t length = strcspn(line, "\n");
        char *text = tool_format("%.*s", (int)length, line);

        if (length)
            json_array_append_new(lacks, tool_json_text(text));
        free(text);
        line += length + (line[length] == '\n');
    }
    if (tool_json_print(json_pack(
            "{s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "record",
            tool_json_text(path), "times_of", tool_json_text(notes->host),
            "tasks", (json_int_t)notes->tasks, "data",
            (json_int_t)notes->data, "calls", (json_int_t)notes->calls,
            "scheduler", tool_json_text(notes->scheduler), "ended",
            tool_json_text(notes->ended), "lacks", lacks)) < 0)
        tool_error("out of memory");
}

bool record_tell(const char *path, bool json)
{
    struct orr_error err = {""};
    struct notes notes;

    if (notes_read(path, &notes, &err) < 0) {
        tool_error("record: %s", err.text);
        return false;
    }
    if (json)
        tell_json(&notes, path);
    else
        printf("record      %s: %lu tasks, %lu data, %lu calls%s%s\n", path,
               notes.tasks, notes.data, notes.calls,
               notes.host ? ", times of kernels on " : "",
               notes.host ? notes.host : "");
    notes_print(&notes, stderr);
    notes_done(&notes);
    return true;
}

static bool same_file_state(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* What a program is recorded as. */
struct recording {
    const char *path;
    double grain_us; /* import/options.h */
    bool times, lines;
    struct stat before; /* of the file */
};

static bool was_written(const struct recording *recording)
{
    struct stat now = {0};

    return stat(recording->path, &now) == 0 && !same_file_state(&now, &recording->before);
}

/* The record of a program that did not write one, but used OpenMP. False with a message. */
static bool take_openmp(const struct launch *launch, const struct recording *recording)
{
    bool written = was_written(recording);
    int rc = record_openmp(launch->openmp_log, written ? NULL : recording->path,
                           recording->grain_us, recording->times);

    if (rc > 0 && (launch->machine || launch->scheduler || launch->edits || launch->assume))
        tool_error("record: %s uses OpenMP, and was recorded as it ran here: machine, scheduler, "
                   "edits and times are for orrery replay",
                   launch->argv[0]);
    if (rc > 0 && recording->lines)
        tool_error(
            "record: --lines: %s uses OpenMP, and where it made its tasks is not known",
            launch->argv[0]);
    return rc >= 0;
}

/* Whether the run wrote a record that can be read; says what is in it. */
static bool report_record(const struct launch *launch, const struct recording *recording)
{
    const char *path = recording->path;

    if (!take_openmp(launch, recording))
        return false;
    if (!was_written(recording)) {
        tool_error("%s was not written%s%s", path, *launch->problem ? ": " : "",
                   *launch->problem ? launch->problem
                                    : ": an error above says why, or the "
                                      "program did not come to "
                                      "starpu_shutdown");
        return false;
    }
    return record_tell(path, launch->quiet);
}

/* By that signal; the calls until then may be there. */
static int report_interrupted_record(const struct launch *launch, int number,
                                     const struct recording *recording)
{
    const char *path = recording->path;
    bool any = take_openmp(launch, recording) && was_written(recording);

    fflush(stdout);
    if (any)
        (void)record_tell(path, launch->quiet);
    return tool_fail(128 + number, "interrupted: %s was ended; %s %s",
                     launch->argv[0], path,
                     any ? "has its calls until then" : "is as it was");
}

static int run_recorded(struct launch *launch, struct recording *recording)
{
    int result;

    (void)stat(recording->path, &recording->before);
    launch_show_progress(launch, false);
    result = launch_all(launch, 1, 1, NULL, NULL);
    if (result > 0)
        return report_interrupted_record(launch, result, recording);
    if (result < 0)
        return TOOL_FAILED;
    result = process_exit_code(&launch->process);
    if (launch->process.text && result != 0)
        fwrite(launch->process.text, 1, launch->process.length, stderr);
    fflush(stdout);
    launch_warn_policy(launch, "record");
    if (!report_record(launch, recording))
        return result ? result : TOOL_FAILED;
    if (result && *launch->problem)
        tool_error("%s", launch->problem);
    return result;
}

static int record_program(struct launch *launch, struct recording *recording)
{
    char *setting = tool_format("ORRERY_RECORD=%s", recording->path);
    char *log = record_openmp_log(recording->path);
    const char *more[4] = {setting};
    size_t n = 1;
    int result = TOOL_FAILED;

    if (!setting)
        tool_error("out of memory");
    if (!recording->times)
        more[n++] = "ORRERY_RECORD_TIMES=0";
    if (recording->lines)
        more[n++] = "ORRERY_SOURCE_LINES=1";
    launch->more = more;
    launch->openmp_log = log;
    if (setting && log)
        result = run_recorded(launch, recording);
    free(setting);
    free(log);
    return result;
}

/* The number of µs of --grain. */
static int read_grain(const char *text, double *ret)
{
    char *end;
    double us = strtod(text, &end);

    if (end == text || *end || !(us >= 0 && us < 1e12))
        return tool_fail(TOOL_USAGE, "record: --grain %s: give microseconds, from 0 on", text);
    *ret = us > 0 ? us : -1;
    return TOOL_OK;
}

static int record_ranks_by_words(struct launch *launch, const char *path,
                                 const char *ranks, const char *rank,
                                 const char *jobs, bool lines, bool json)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct ranks_asked asked = {.path = path,
                                .one = -1,
                                .jobs =
                                    processors > 0 ? (unsigned)processors : 1,
                                .lines = lines,
                                .json = json};
    unsigned one;

    if (program_number(ranks, 1, &asked.n) < 0)
        return tool_fail(TOOL_USAGE, "record: --ranks %s: give a number from 1 on", ranks);
    if (rank && program_number(rank, 0, &one) < 0)
        return tool_fail(TOOL_USAGE, "record: --rank %s: give a number from 0 on", rank);
    if (jobs && program_number(jobs, 1, &asked.jobs) < 0)
        return tool_fail(TOOL_USAGE, "record: --jobs %s: give a number from 1 on", jobs);
    if (rank)
        asked.one = (int)one;
    return record_ranks(launch, &asked);
}

const char *record_verb(size_t i)
{
    return i == 0 ? "import" : NULL;
}

int cmd_record(int argc, char **argv)
{
    struct launch launch = {0};
    const char *path = NULL;
    const char *ranks = NULL, *rank = NULL, *jobs = NULL;
    bool json = false, no_times = false;
    const char *devices = NULL, *grain = NULL;
    struct recording recording = {0};
    const struct tool_option options[] = {
        {'o', "output", &path, NULL},
        {'m', "machine", &launch.machine, NULL},
        {'s', "scheduler", &launch.scheduler, NULL},
        {TOOL_JOINED, "set", &launch.edits, NULL},
        {TOOL_JOINED, "assume", &launch.assume, NULL},
        {0, "no-times", NULL, &no_times},
        {0, "lines", NULL, &recording.lines},
        {0, "ranks", &ranks, NULL},
        {0, "rank", &rank, NULL},
        {'j', "jobs", &jobs, NULL},
        {TOOL_DEVICES, "devices", &devices, NULL},
        {0, "grain", &grain, NULL},
        {0, "cpu-time", NULL, &launch.openmp_cpu_time},
        {0, "sizes", NULL, &launch.openmp_sizes},
        {0, "json", NULL, &json},
        {0}};
    int first, result;

    if (argc > 1 && !strcmp(argv[1], "import"))
        return record_import(argc - 1, argv + 1);
    first = tool_parse_program(argc, argv, options, &launch_words, help);
    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    launch.argv = argv + first;
    launch.quiet = json;
    if (first == argc)
        result = tool_fail(TOOL_USAGE,
                           "record: which program? See orrery record --help");
    else if (!path)
        result = tool_fail(TOOL_USAGE, "record: where to? -o FILE names the "
                                       "record");
    else if (ranks)
        result = record_ranks_by_words(&launch, path, ranks, rank, jobs,
                                       recording.lines, json);
    else if (rank || jobs)
        result = tool_fail(TOOL_USAGE, "record: --%s: of how many? --ranks N says that",
                           rank ? "rank" : "jobs");
    else
        result = tool_check_output("record: -o", path);
    recording.path = path;
    recording.times = !no_times;
    if (result == TOOL_OK && grain)
        result = read_grain(grain, &recording.grain_us);
    if (result == TOOL_OK && !ranks)
        result = record_program(&launch, &recording);
    launch_done(&launch);
    free((char *)(uintptr_t)launch.edits);
    free((char *)(uintptr_t)launch.assume);
    return result;
}
