/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/study/launchers.c - see launchers.h. */
#include "tools/study/launchers.h"

#include "tools/common/process.h"
#include "tools/common/program.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* This command's own program; owned. */
static char *own_program(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

    path[n > 0 ? n : 0] = '\0';
    return tool_format("%s", n > 0 ? path : "orrery");
}

/* The text as a word of a shell. */
static void put_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    fputc('\'', out);
}

/* "'/usr/bin/orrery' study '/…/a.yaml' --store '/…' --part PART", a line of a shell. */
static void put_part_command(FILE *out, const struct launcher_options *options, const char *part)
{
    char *program = own_program();

    put_quoted(out, program ? program : "orrery");
    fputs(" study --store ", out);
    put_quoted(out, options->store);
    fprintf(out, " --part %s", part);
    if (options->jobs)
        fprintf(out, " -j %s", options->jobs);
    fputc(' ', out);
    put_quoted(out, options->study);
    free(program);
}

/* Runs a line of the shell, with the terminal of this command. */
static int run_line(const struct launcher_options *options, const char *name, char *line)
{
    static char shell[] = "/bin/sh", dash[] = "-c";
    char *argv[] = {shell, dash, line, NULL};
    struct process process = {.argv = argv, .output = -1};
    int stopped, code;

    if (!line)
        return tool_fail(TOOL_FAILED, "out of memory");
    stopped = process_run(&process, 1, 1, NULL, NULL);
    code = process_exit_code(&process);
    process_done(&process);
    free(line);
    if (stopped > 0)
        return tool_fail(128 + stopped, "interrupted: %s keeps what the parts have done",
                         options->store);
    if (code == 127)
        return tool_fail(TOOL_FAILED, "study: --on %s: `%s' is not installed here", options->on,
                         name);
    return code == 0 ? TOOL_OK
                     : tool_fail(TOOL_FAILED, "study: --on %s: `%s' ended with %d; %s keeps what "
                                              "the parts have done",
                                 options->on, name, code, options->store);
}

/* ---- SLURM ---- */

/* A job array, a task of it for each part, in a file of the store. */
static char *job_text(const struct launcher_options *options, size_t *ret_size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, ret_size);
    char part[48];

    if (!out)
        return NULL;
    snprintf(part, sizeof(part), "\"$SLURM_ARRAY_TASK_ID\"/%u", options->parts);
    fprintf(out, "#!/bin/sh\n#SBATCH --job-name=orrery-study\n#SBATCH --array=1-%u\n"
                 "#SBATCH --output=slurm-%%A-%%a.out\n#SBATCH --chdir=",
            options->parts);
    put_quoted(out, options->store);
    fputs("\nexec ", out);
    put_part_command(out, options, part);
    fputc('\n', out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static int start_slurm(const struct launcher_options *options)
{
    size_t size = 0;
    char *text = job_text(options, &size), *path = tool_format("%s/job.sh", options->store);
    char *line = NULL;
    FILE *out;
    int code = text && path ? TOOL_OK : tool_fail(TOOL_FAILED, "out of memory");

    if (code == TOOL_OK && tool_write_file(path, text, size) < 0)
        code = TOOL_FAILED;
    if (code == TOOL_OK) {
        out = open_memstream(&line, &size);
        if (out) {
            fprintf(out, "sbatch %s ", options->with ? options->with : "");
            put_quoted(out, path);
            fclose(out);
        }
        code = run_line(options, "sbatch", line);
    }
    free(text);
    free(path);
    return code;
}

/* ---- GNU parallel, MPI ---- */

static int start_parallel(const struct launcher_options *options)
{
    /* It starts as many at a time as there are processors. */
    struct launcher_options each = *options;
    char *line = NULL, *command = NULL, part[32];
    size_t size;
    FILE *out = open_memstream(&command, &size);

    each.jobs = options->jobs ? options->jobs : "1";
    snprintf(part, sizeof(part), "{}/%u", options->parts);
    if (out) {
        put_part_command(out, &each, part);
        fclose(out);
    }
    out = command ? open_memstream(&line, &size) : NULL;
    if (out) {
        fprintf(out, "parallel %s ", options->with ? options->with : "");
        put_quoted(out, command);
        fputs(" :::", out);
        for (unsigned p = 1; p <= options->parts; p++)
            fprintf(out, " %u", p);
        fclose(out);
    }
    free(command);
    return run_line(options, "parallel", line);
}

static int start_mpi(const struct launcher_options *options)
{
    char *line = NULL;
    size_t size;
    FILE *out = open_memstream(&line, &size);

    if (out) {
        fprintf(out, "mpirun -n %u %s ", options->parts, options->with ? options->with : "");
        put_part_command(out, options, "mpi");
        fclose(out);
    }
    return run_line(options, "mpirun", line);
}

int launcher_start(const struct launcher_options *options, bool *ret_waits)
{
    *ret_waits = true;
    fflush(NULL);
    if (!strcmp(options->on, "parallel"))
        return start_parallel(options);
    if (!strcmp(options->on, "mpi"))
        return start_mpi(options);
    if (strcmp(options->on, "slurm"))
        return tool_fail(TOOL_USAGE, "study: --on %s: it is slurm, parallel or mpi", options->on);
    *ret_waits = false;
    return start_slurm(options);
}

/* ---- which part ---- */

/* What launchers of MPIs leave in the environment: Open MPI, MPICH and others by PMI, SLURM. */
static const struct {
    const char *rank, *size;
} variables[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                 {"PMI_RANK", "PMI_SIZE"},
                 {"SLURM_PROCID", "SLURM_NTASKS"}};

static int part_of_rank(unsigned *ret_part, unsigned *ret_parts)
{
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
        const char *rank = getenv(variables[i].rank), *size = getenv(variables[i].size);
        unsigned number;

        if (!rank || !size || program_number(rank, 0, &number) < 0 ||
            program_number(size, 1, ret_parts) < 0 || number >= *ret_parts)
            continue;
        *ret_part = number + 1;
        return TOOL_OK;
    }
    return tool_fail(TOOL_USAGE, "study: --part mpi: no launcher of MPI has started this process: "
                                 "the environment has no OMPI_COMM_WORLD_RANK, PMI_RANK or "
                                 "SLURM_PROCID with its size");
}

int launcher_read_part(const char *text, unsigned *ret_part, unsigned *ret_parts)
{
    const char *slash = strchr(text, '/');
    char *first;
    bool good;

    if (!strcmp(text, "mpi"))
        return part_of_rank(ret_part, ret_parts);
    first = tool_format("%.*s", (int)(slash ? slash - text : 0), text);
    good = first && slash && program_number(first, 1, ret_part) == 0 &&
           program_number(slash + 1, 1, ret_parts) == 0 && *ret_part <= *ret_parts;
    free(first);
    return good ? TOOL_OK
                : tool_fail(TOOL_USAGE, "study: --part %s: write 3/8 for the third of eight parts, "
                                        "or mpi where a launcher of MPI starts them",
                            text);
}
