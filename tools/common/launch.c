/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/launch.c - see launch.h. Reports go to a temporary folder that is
 * removed before launch_all returns.
 */
#include "tools/common/launch.h"

#include "core/policies/names.h"
#include "record/read.h"
#include "tools/common/energy.h"
#include "tools/common/foreign.h"
#include "tools/common/input.h"
#include "tools/common/machines.h"
#include "tools/common/modules.h"
#include "tools/common/needed.h"
#include "tools/common/rank_reports.h"
#include "tools/common/scratch.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Adds the settings of the caller. */
static int set_more(struct launch *launch)
{
    for (size_t n = 0; n < LAUNCH_MORE && launch->more && launch->more[n];
         n++) {
        launch->settings[n] = tool_format("%s", launch->more[n]);
        if (!launch->settings[n])
            return -ENOMEM;
    }
    return 0;
}

/* Adds NAME=value unless there is no value. */
static int launch_set_variable(struct launch *launch, const char *name,
                               const char *value)
{
    unsigned n = 0;

    if (!value)
        return 0;
    while (launch->settings[n])
        n++;
    launch->settings[n] = tool_format("%s=%s", name, value);
    return launch->settings[n] ? 0 : -ENOMEM;
}

/* An earlier one that runs the same file, which is a record by now. */
static const struct launch *find_imported(const struct launch *launches,
                                          const struct launch *launch)
{
    for (; launches < launch; launches++)
        if (launches->imported && foreign_is_same(launches->argv, launch->argv))
            return launches;
    return NULL;
}

/* Makes a record in the folder of a file that is none, once. */
static int launch_import_graph(const struct launch *launches,
                               struct launch *launch, const char *folder)
{
    const struct launch *before = find_imported(launches, launch);

    launch->played[1] =
        before ? tool_format("%s", before->played[1])
               : tool_format("%s/%zu.rec", folder, (size_t)(launch - launches));
    if (!launch->played[1]) {
        tool_error("out of memory");
        return -ENOMEM;
    }
    launch->imported = !before;
    return before ? 0 : foreign_import(launch->argv, NULL, launch->played[1]);
}

/* What is run for a record. Says what is wrong. */
static int launch_play_record(const struct launch *launches,
                              struct launch *launch, const char *folder)
{
    bool is_record = orr_record_is_one(launch->argv[0]);

    if (!is_record && !foreign_is_one(launch->argv[0])) {
        if (strcmp(launch->argv[0], INPUT_NAME) != 0)
            return 0;
        tool_error("standard input has nothing that can stand in the place of "
                   "a program");
        return -EINVAL;
    }
    if (is_record && launch->argv[1]) {
        tool_error("%s is a record, which takes no arguments: `%s' is one too "
                   "many",
                   launch->argv[0], launch->argv[1]);
        return -EINVAL;
    }
    launch->played[0] = tool_find_program("../replay", "play-record");
    if (!launch->played[0]) /* of a program in a folder below, not installed */
        launch->played[0] = tool_find_program("../../replay", "play-record");
    if (!launch->played[0]) {
        tool_error("the program play-record is neither beside this command nor "
                   "in " ORR_LIBEXEC "/orrery: install Orrery anew");
        return -ENOENT;
    }
    if (!is_record)
        return launch_import_graph(launches, launch, folder);
    launch->played[1] = tool_format("%s", launch->argv[0]);
    if (launch->played[1])
        return 0;
    tool_error("out of memory");
    return -ENOMEM;
}

/* Where the launch has set the variable; NULL: it has not. */
static char **setting_of(struct launch *launch, const char *name)
{
    size_t length = strlen(name);

    for (char **at = launch->settings; *at; at++)
        if (!strncmp(*at, name, length) && (*at)[length] == '=')
            return at;
    return NULL;
}

/* Joined to what is there, which comes first. */
static int launch_join_variable(struct launch *launch, const char *name,
                                const char *value)
{
    char **set = setting_of(launch, name);
    const char *before = set ? *set + strlen(name) + 1 : getenv(name);
    char *joined = before && *before ? tool_format("%s=%s:%s", name, before, value)
                                     : tool_format("%s=%s", name, value);
    int rc = joined ? 0 : -ENOMEM;

    if (set && joined) {
        free(*set);
        *set = joined;
        return 0;
    }
    if (joined)
        rc = launch_set_variable(launch, name, joined + strlen(name) + 1);
    free(joined);
    return rc;
}

/* Those of the launch, else of the environment; NULL: none. */
static const char *value_of(const char *own, const char *variable)
{
    const char *value = own ? own : getenv(variable);

    return value && *value ? value : NULL;
}

static const char *machine_of(const struct launch *launch)
{
    for (size_t i = 0; launch->more && launch->more[i]; i++)
        if (!strcmp(launch->more[i], "ORRERY_MACHINE")) /* it is unset */
            return launch->machine;
    return value_of(launch->machine, "ORRERY_MACHINE");
}

/* Has the object beside this command, or among the modules, preloaded. Returns -ENOENT
 * without a message if that cannot be. */
static int launch_preload(struct launch *launch, const char *name)
{
    char *path = tool_find_preload(name);
    int rc = 0;

    /* The dynamic linker separates names by these. */
    if (!path || strpbrk(path, " :"))
        rc = -ENOENT;
    /* A sanitizer of addresses does not like to come second. */
    else if (launch_join_variable(launch, "LD_PRELOAD", path) < 0 ||
             launch_join_variable(launch, "ASAN_OPTIONS", "verify_asan_link_order=0") < 0)
        rc = -ENOMEM;
    free(path);
    return rc;
}

static int launch_preload_clock(struct launch *launch)
{
    int rc = launch_preload(launch, "clock.so");

    if (rc == -ENOENT && strcmp(launch->clock, "virtual"))
        return 0;
    if (rc == -ENOENT)
        tool_error("clock.so is neither beside this command nor in " ORR_LIBDIR
                   "/orrery, or the folder's name has a blank or a colon: "
                   "--clock=virtual needs it");
    if (!rc)
        rc = launch_set_variable(launch, "ORRERY_CLOCK", launch->clock);
    if (rc == -ENOMEM)
        tool_error("out of memory");
    return rc;
}

/* A program of OpenMP, which knows nothing of the library, runs on it (openmp/). That is for
 * real: what it does on another machine, its record says. */
static int launch_host_openmp(struct launch *launch)
{
    const char *machine = machine_of(launch), *name = launch->argv[0];
    int rc;

    if (!program_is_openmp(name))
        return 0;
    if (machine) {
        tool_error("%s is a program of OpenMP, which runs on this machine only: record it, "
                   "orrery record -o FILE -- %s, then give FILE in its place",
                   name, name);
        return -EINVAL;
    }
    rc = launch_preload(launch, "openmp.so");
    if (rc == -ENOMEM)
        tool_error("out of memory");
    return rc == -ENOENT ? 0 : rc;
}

static int launch_preload_sizes(struct launch *launch)
{
    int rc = launch_preload(launch, "openmp_sizes.so");

    if (rc == -ENOENT)
        tool_error("openmp_sizes.so is neither beside this command nor in " ORR_LIBDIR
                   "/orrery, or the folder's name has a blank or a colon: --sizes needs it");
    return rc;
}

/* A program for the library needs none of that. */
static int launch_preload_openmp(struct launch *launch)
{
    int rc = launch_preload(launch, "openmp_record.so");

    if (rc == -ENOENT)
        return 0;
    if (!rc)
        rc = launch_set_variable(launch, "ORRERY_OPENMP_LOG", launch->openmp_log);
    if (!rc && launch->openmp_sizes)
        rc = launch_preload_sizes(launch);
    if (!rc && launch->openmp_cpu_time)
        rc = launch_set_variable(launch, "ORRERY_OPENMP_CLOCK", "cpu");
    /* The environment may have it off. */
    if (!rc)
        rc = launch_set_variable(launch, "OMP_TOOL", "enabled");
    if (rc == -ENOMEM)
        tool_error("out of memory");
    return rc;
}

/* Whether the user has chosen our implementation already, or there is none. */
static bool keeps_opencl(const char *vendors, const char *library)
{
    return !library || (vendors && strstr(vendors, "socl"));
}

/* Whether the program has the library already: devices are its own affair, and hwloc, which
 * looks for those of OpenCL, would start a second run. An MPI's launcher is no OpenCL program
 * either. */
static bool is_of_ours(const struct launch *launch)
{
    return launch->nranks || launch->ranks_argv ||
           program_needs(launch->argv[0], "liborrery.so") ||
           program_needs(launch->argv[0], "libstarpu");
}

/* An OpenCL program finds our implementation instead of those that are installed, which
 * are below it. Of the variables one is read by ocl-icd, one by Khronos' loader. Without
 * our library, or where the user has chosen it, nothing is set. */
static int launch_offer_opencl(struct launch *launch)
{
    const char *vendors = getenv("OCL_ICD_VENDORS");
    const char *below = getenv("ORRERY_OPENCL_VENDORS");
    char *library = tool_find_library("libsocl-1.4.so");
    int rc = 0;

    if (!keeps_opencl(vendors, library) && !is_of_ours(launch) &&
        (launch_set_variable(launch, "OCL_ICD_VENDORS", library) < 0 ||
         launch_set_variable(launch, "OCL_ICD_FILENAMES", library) < 0 ||
         launch_set_variable(launch, "ORRERY_OPENCL_VENDORS",
                             below && *below       ? below
                             : vendors && *vendors ? vendors
                                                   : "/etc/OpenCL/vendors") < 0)) {
        tool_error("out of memory");
        rc = -ENOMEM;
    }
    free(library);
    return rc;
}

static bool is_script(const char *name)
{
    size_t n = strlen(name);

    return n > 3 && !strcmp(name + n - 3, ".py");
}

/* What would be found again by the run after it: a policy's own variables, in the
 * interpreter or in a library, and what SimGrid has once in a process. */
static bool leaves_state(const struct launch *launch)
{
    static const char *const names[] = {"STARPU_SCHED_LIB", "ORRERY_SIM_NETWORK",
                                        "ORRERY_SIM_CONTEXTS"};
    const char *scheduler =
        launch->scheduler ? launch->scheduler : getenv("STARPU_SCHED");

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (getenv(names[i]) && *getenv(names[i]))
            return true;
    return scheduler && is_script(scheduler);
}

static bool is_cluster_of_several(const struct launch *launch)
{
    const char *machine = machine_of(launch);
    struct machine_size size;

    return machine &&
           machine_size(machine, value_of(launch->edits, "ORRERY_SET"), &size, NULL) == 0 &&
           size.ranks > 1;
}

static int launch_prepare(const struct launch *launches, struct launch *launch,
                          const char *folder)
{
    size_t index = (size_t)(launch - launches);
    char *powers = powers_words(launch->powers);
    int rc = set_more(launch);

    if (!rc)
        rc = launch_set_variable(launch, "ORRERY_POWERS", powers);
    free(powers);
    launch->report_path = tool_format("%s/%zu.json", folder, index);
    if (rc || !launch->report_path ||
        launch_set_variable(launch, "ORRERY_REPORT", launch->report_path) < 0 ||
        launch_set_variable(launch, "ORRERY_MACHINE", launch->machine) < 0 ||
        launch_set_variable(launch, "ORRERY_SET", launch->edits) < 0 ||
        launch_set_variable(launch, "STARPU_SCHED", launch->scheduler) < 0 ||
        launch_set_variable(launch, "ORRERY_TRACE", launch->trace) < 0 ||
        launch_set_variable(launch, "ORRERY_ASSUME", launch->assume) < 0 ||
        launch_set_variable(launch, "ORRERY_BREAK_AT", launch->break_at) < 0 ||
        launch_set_variable(launch, "ORRERY_PROGRESS", launch->progress) < 0) {
        tool_error("out of memory");
        return -ENOMEM;
    }
    if (!launch->nranks && is_cluster_of_several(launch)) {
        tool_error(
            "%s is a cluster, and this command runs one rank: give the machine of a node; "
            "orrery run, trace, explain, report, compare, bound, watch and debug (without "
            "--dap) take clusters",
            machine_of(launch));
        return -EINVAL;
    }
    if (!launch->ranks_argv && launch_play_record(launches, launch, folder) < 0)
        return -EINVAL;
    if (launch->clock && !launch->played[0] && launch_preload_clock(launch) < 0)
        return -EINVAL;
    if (launch->openmp_log && !launch->played[0] && launch_preload_openmp(launch) < 0)
        return -EINVAL;
    if (!launch->openmp_log && !launch->played[0] && !launch->ranks_argv &&
        launch_host_openmp(launch) < 0)
        return -EINVAL;
    if (!launch->played[0] && launch_offer_opencl(launch) < 0)
        return -ENOMEM;
    launch->process =
        (struct process){.argv = launch->ranks_argv  ? launch->ranks_argv
                                 : launch->played[0] ? launch->played
                                                     : launch->argv,
                         .set = (const char *const *)launch->settings,
                         .quiet = launch->quiet,
                         .meanwhile = launch->meanwhile,
                         .takes_jobs = launch->played[0] && !launch->nranks &&
                                       !leaves_state(launch),
                         .output = -1};
    return 0;
}

int launch_ready(struct launch *launch, const char *folder)
{
    return launch_prepare(launch, launch, folder);
}

/* Whether -- follows, before which options stand. */
static bool ends_options_later(char *const *argv)
{
    while (*++argv)
        if (!strcmp(*argv, "--"))
            return true;
    return false;
}

/* Why the program cannot be started, as far as more can be said than `error` does. */
static const char *why_not_started(char *const *argv, int error)
{
    const char *name = argv[0];
    struct stat st;

    if (error == ENOENT && ends_options_later(argv))
        return "there is no such program, and -- comes behind it: several values of an option "
               "are one word, such as -s eager,dmda";
    if (stat(name, &st) != 0 || (S_ISDIR(st.st_mode) && !strchr(name, '/')))
        return strerror(error);
    if (S_ISDIR(st.st_mode))
        return "it is a directory";
    if (access(name, X_OK) != 0)
        return "it is no program, which this user could execute (chmod +x makes a script one; "
               "of traces, CSV is read)";
    if (!strchr(name, '/'))
        return "it is in this folder, which is not in PATH: write ./ before it";
    return strerror(error);
}

/* Whether it is a script whose first line does not say who reads it: the shell does. */
static bool is_read_by_the_shell(const char *name)
{
    FILE *file = strchr(name, '/') ? fopen(name, "re") : NULL;
    char begin[4] = "";
    bool read = file && fread(begin, 1, sizeof(begin), file) > 0;

    if (file)
        fclose(file);
    return read && memcmp(begin, "#!", 2) != 0 && memcmp(begin, "\177ELF", 4) != 0;
}

/* The message for a program without a report. */
static void launch_explain_failure(struct launch *launch, const char *reason)
{
    struct process *process = &launch->process;
    const char *name = launch->argv[0];
    char line[sizeof(launch->problem)];
    char *to = launch->problem;
    size_t size = sizeof(launch->problem);
    bool from_library;

    from_library = process_error_line(process, line, sizeof(line));
    if (process->error)
        snprintf(to, size, "%s cannot be started: %s", name,
                 why_not_started(launch->argv, process->error));
    else if (*line && (process->status != 0 || from_library))
        snprintf(to, size, "%s", line);
    else if (WIFSIGNALED(process->status))
        snprintf(to, size, "%s was ended by signal %d (%s)", name,
                 WTERMSIG(process->status),
                 strsignal(WTERMSIG(process->status)));
    else if (process->status != 0)
        snprintf(
            to, size, "%s failed with exit status %d%s", name,
            process_exit_code(process),
            !launch->imported && is_read_by_the_shell(name)
                ? ": sh read it, since its first line names no interpreter, such as "
                  "#!/usr/bin/env python3"
                : "");
    else if (reason)
        snprintf(to, size, "%s", reason);
    else
        snprintf(to, size,
                 "%s never started liborrery: it is linked to another "
                 "library (see ldd %s), calls no starpu_init, or that failed",
                 name, name);
}

/* Whether a report fits into the folder; errno says why not. */
static bool folder_has_room(const char *folder)
{
    static const char zeros[1 << 14];
    char *path = tool_format("%s/room", folder);
    FILE *file = path ? fopen(path, "w") : NULL;
    bool fits = file && fwrite(zeros, 1, sizeof(zeros), file) == sizeof(zeros);
    int error;

    if (file && fclose(file) != 0)
        fits = false;
    error = errno;
    if (path)
        unlink(path);
    free(path);
    errno = error;
    return fits;
}

/* The reports of all ranks, and that of all together. */
static int launch_read_ranks(struct launch *launch, struct orr_error *err)
{
    int result = -ENOENT, joined;

    launch->ranks = calloc(launch->nranks, sizeof(*launch->ranks));
    for (unsigned r = 0; launch->ranks && r < launch->nranks; r++) {
        char ending[32], *path;
        int rc;

        snprintf(ending, sizeof(ending), ".rank%u.json", r);
        path = tool_beside(launch->report_path, ending);
        rc = path ? report_read(path, &launch->ranks[r], err) : -ENOMEM;
        if (rc == -EINVAL)
            result = rc;
        if (path)
            unlink(path);
        free(path);
    }
    if (result == -ENOENT && launch->ranks) {
        joined = rank_reports_join(launch->ranks, launch->nranks,
                                   launch->hosted ? machine_of(launch) : NULL,
                                   &launch->report);
        result = joined == -ENOMEM ? orr_fail(err, joined, "out of memory") : joined;
    }
    /* Processes that are no ranks write files of one name. */
    if (result == -ENOENT)
        result = report_read(launch->report_path, &launch->report, err);
    return result;
}

static void launch_read_report(struct launch *launch, const char *folder)
{
    struct orr_error err = {""};
    int result = launch->nranks
                     ? launch_read_ranks(launch, &err)
                     : report_read(launch->report_path, &launch->report, &err);
    bool ended_well = process_exit_code(&launch->process) == 0;

    if (result < 0 && ended_well && !folder_has_room(folder)) {
        snprintf(launch->problem, sizeof(launch->problem),
                 "%s left no report: %s: %s; TMPDIR names another folder",
                 launch->argv[0], folder, strerror(errno));
    } else if (result < 0) {
        launch_explain_failure(launch, result == -ENOENT ? NULL : err.text);
        launch->no_run = ended_well && result == -ENOENT;
    } else if (!ended_well) {
        launch_explain_failure(launch, NULL);
    } else if (strcmp(launch->report.exit, "shutdown") != 0 &&
               strcmp(launch->report.exit, "returned") != 0) {
        snprintf(launch->problem, sizeof(launch->problem),
                 "%s did not end with starpu_shutdown (%s)", launch->argv[0],
                 launch->report.exit);
    }
    energy_add(&launch->report, launch->powers);
    unlink(launch->report_path);
}

/* Those that run at a time. */
struct batch {
    const char *folder;
    struct process *processes; /* owned */
    struct launch **launches;  /* owned: whose they are */
    size_t n;
    void (*ended)(void *arg, struct launch *launch);
    void *arg;
};

/* Takes what the process has left. */
static void end_launch(struct batch *batch, size_t which)
{
    batch->launches[which]->process = batch->processes[which];
    launch_read_report(batch->launches[which], batch->folder);
}

static void on_launch_end(void *arg, size_t which)
{
    struct batch *batch = arg;

    end_launch(batch, which);
    if (batch->ended)
        batch->ended(batch->arg, batch->launches[which]);
}

static int run_batch(struct batch *batch, struct launch *launches, size_t n,
                     unsigned at_once)
{
    int stopped;

    for (size_t i = 0; i < n; i++) {
        if (launches[i].kept)
            continue;
        if (launch_prepare(launches, &launches[i], batch->folder) < 0)
            return -1;
        batch->processes[batch->n] = launches[i].process;
        batch->launches[batch->n++] = &launches[i];
    }
    stopped =
        process_run(batch->processes, batch->n, at_once, on_launch_end, batch);
    for (size_t i = 0; i < batch->n; i++)
        if (!batch->launches[i]->process.ended)
            end_launch(batch, i);
    return stopped;
}

int launch_all(struct launch *launches, size_t n, unsigned at_once,
               void (*ended)(void *arg, struct launch *launch), void *arg)
{
    char *folder = scratch_make();
    struct batch batch = {
        .folder = folder,
        .processes = calloc(n ? n : 1, sizeof(*batch.processes)),
        .launches = calloc(n ? n : 1, sizeof(*batch.launches)),
        .ended = ended,
        .arg = arg,
    };
    int result = -1;

    if (!folder)
        goto free_all;
    if (!batch.processes || !batch.launches) {
        tool_error("out of memory");
        goto free_all;
    }
    if (folder_has_room(folder))
        result = run_batch(&batch, launches, n, at_once);
    else
        tool_error("%s has no room for the program's report: %s; TMPDIR names "
                   "another folder",
                   folder, strerror(errno));
free_all:
    free(batch.processes);
    free(batch.launches);
    scratch_remove(folder);
    return result;
}

static char *existing(char *path)
{
    if (path && access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *launch_rank_record(const char *name)
{
    const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash : name, '.');
    int stem = (int)(dot && dot > name ? (size_t)(dot - name) : strlen(name));
    struct stat st;
    char *path;

    if (stat(name, &st) == 0 && !S_ISDIR(st.st_mode))
        return NULL;
    path = existing(tool_format("%s/rank0.recb", name));
    if (!path)
        path = existing(tool_format("%s/rank0.rec", name));
    return path ? path : existing(tool_format("%.*s.rank0%s", stem, name, name + stem));
}

/* The ranks that a record says it is one of; 0: none. */
static unsigned recorded_ranks(const struct launch *launch)
{
    struct orr_error err = {""};
    int n = orr_record_is_one(launch->argv[0]) ? orr_record_ranks(launch->argv[0], &err) : 0;

    return n > 0 ? (unsigned)n : 0;
}

int launch_place(struct launch *launch, const char *command, bool *ret_cluster)
{
    const char *machine = machine_of(launch);
    struct orr_error err = {""};
    struct machine_size size = {0};
    unsigned n;
    int rc = 1;

    *ret_cluster = false;
    if (!machine || machines_are_several(machine))
        return TOOL_OK;
    rc = machine_size(machine, value_of(launch->edits, "ORRERY_SET"), &size, &err);
    if (rc < 0)
        return tool_fail(TOOL_FAILED, "%s: %s", command, err.text);
    *ret_cluster = rc == 0;
    n = recorded_ranks(launch);
    if (n == 0)
        n = size.ranks;
    launch->nranks = n > 1 ? n : 0;
    launch->hosted = n > 1;
    return TOOL_OK;
}

const char *launch_node_machine(const struct launch *launch)
{
    for (unsigned r = 0; launch->ranks && r < launch->nranks; r++)
        if (launch->ranks[r].json)
            return launch->ranks[r].machine;
    return NULL;
}

void launch_show_progress(struct launch *launch, bool asked)
{
    const char *machine = getenv("ORRERY_MACHINE");
    bool simulated = launch->machine || (machine && *machine);

    if (asked)
        launch->progress = "1";
    else if (simulated && !launch->nranks && isatty(STDERR_FILENO) && !getenv("ORRERY_PROGRESS"))
        launch->progress = "0.5";
}

const char *launch_policy(const struct launch *launch)
{
    if (launch->report.json && *launch->report.scheduler)
        return launch->report.scheduler;
    return launch->scheduler;
}

static bool is_static_schedule(const char *name)
{
    return !strncmp(name, "static=", strlen("static="));
}

static bool is_policy(const char *name)
{
#define NAME(name_, ops) name_,
    static const char *const names[] = {ORR_SCHED_NAMES(NAME)};
#undef NAME

    if (is_static_schedule(name) || is_script(name))
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

bool launch_names(const char *option, const char *value)
{
    bool machines = !strcmp(option, "machine");
    char **names = machines ? machines_split(value) : tool_split(value);
    bool found = names && names[0] &&
                 (machines                       ? machine_is_known(names[0])
                  : !strcmp(option, "scheduler") ? is_policy(names[0])
                                                 : false);

    free(names);
    return found;
}

const struct tool_words launch_words = {launch_names, orr_record_is_one};

bool launch_chose_policy(const struct launch *launch)
{
    return launch->scheduler && launch->report.json &&
           !is_static_schedule(launch->scheduler) &&
           strcmp(launch_policy(launch), launch->scheduler) != 0;
}

void launch_warn_policy(const struct launch *launch, const char *command)
{
    if (launch_chose_policy(launch))
        tool_error("%s: warning: %s ran with the policy %s, not %s: it sets "
                   "its own (starpu_conf.sched_policy or sched_policy_name)",
                   command, launch->argv[0], launch_policy(launch),
                   launch->scheduler);
}

void launch_done(struct launch *launch)
{
    report_done(&launch->report);
    for (unsigned r = 0; launch->ranks && r < launch->nranks; r++)
        report_done(&launch->ranks[r]);
    free(launch->ranks);
    process_done(&launch->process);
    free(launch->report_path);
    for (size_t i = 0; i < LAUNCH_MORE + LAUNCH_OWN; i++)
        free(launch->settings[i]);
    for (size_t i = 0; i < sizeof(launch->played) / sizeof(*launch->played);
         i++)
        free(launch->played[i]);
}
