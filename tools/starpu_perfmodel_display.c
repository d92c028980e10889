/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/starpu_perfmodel_display.c - the program of that name: lists model
 * files, prints one as text or XML, or single figures of it. Models are read
 * through the public interface. One thread.
 */
#include "tools/tool.h"

#include <starpu.h>

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "starpu_perfmodel_display"

static const char help[] =
    "usage: " NAME " -l | -d | -s SYMBOL [OPTIONS]\n"
    "Shows the performance models of kernels, as their files have them.\n"
    "  -l, --list            list the models\n"
    "  -d, --directory       print the directories where they are looked for\n"
    "  -s, --symbol SYMBOL   show this model; SYMBOL.HOST for another host's\n"
    "  -p, --parameter NAME  only one figure: a, b, c, alpha, beta, mean, stddev, or\n"
    "                        path-file-debug, the file that keeps raw measures\n"
    "  -a, --arch ARCH       only one architecture: cpu, cpu:k (k cores), cuda,\n"
    "                        cuda2 or cuda_2, opencl, hip ...\n"
    "  -f, --footprint HEX   only the entry with this footprint\n"
    "  -x, --xml             as XML\n"
    "  -h, --help            this text\n"
    "  -v, --version         the version\n"
    "Times are microseconds, energies joules.\n"
    "Exit codes: 0; 1 when there is no such model or architecture; 2 for a wrong\n"
    "command line.\n"
    "example: " NAME " -s chol_model_gemm -a cuda0\n";

static const struct option options[] = {
    {"list", no_argument, NULL, 'l'},
    {"directory", no_argument, NULL, 'd'},
    {"symbol", required_argument, NULL, 's'},
    {"parameter", required_argument, NULL, 'p'},
    {"arch", required_argument, NULL, 'a'},
    {"footprint", required_argument, NULL, 'f'},
    {"xml", no_argument, NULL, 'x'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'v'},
    {0},
};

/* What the command line says; all borrowed. */
struct wishes {
    bool list, directory, xml;
    bool over; /* --help or --version was all */
    char *symbol, *parameter, *arch;
    bool has_footprint;
    uint32_t footprint;
};

static int read_footprint(const char *text, struct wishes *wishes)
{
    unsigned long value;
    char *end;

    errno = 0;
    value = strtoul(text, &end, 16);
    if (end == text || *end || errno || value > UINT32_MAX)
        return tool_fail(
            TOOL_USAGE, "-f %s: a footprint has up to eight hexadecimal digits",
            text);
    wishes->footprint = (uint32_t)value;
    wishes->has_footprint = true;
    return TOOL_OK;
}

static int read_option(int letter, struct wishes *wishes)
{
    switch (letter) {
    case 'l':
        wishes->list = true;
        return TOOL_OK;
    case 'd':
        wishes->directory = true;
        return TOOL_OK;
    case 'x':
        wishes->xml = true;
        return TOOL_OK;
    case 's':
        wishes->symbol = optarg;
        return TOOL_OK;
    case 'p':
        wishes->parameter = optarg;
        return TOOL_OK;
    case 'a':
        wishes->arch = optarg;
        return TOOL_OK;
    case 'f':
        return read_footprint(optarg, wishes);
    case 'h':
        fputs(help, stdout);
        wishes->over = true;
        return TOOL_OK;
    case 'v':
        puts(NAME " (Orrery) " ORR_VERSION);
        wishes->over = true;
        return TOOL_OK;
    default: /* getopt has said why */
        return tool_fail(TOOL_USAGE, "see " NAME " --help");
    }
}

static int read_line(int argc, char **argv, struct wishes *wishes)
{
    int letter, rc = TOOL_OK;

    while (rc == TOOL_OK && !wishes->over &&
           (letter = getopt_long(argc, argv, "lds:p:a:f:xhv", options, NULL)) !=
               -1)
        rc = read_option(letter, wishes);
    if (rc != TOOL_OK || wishes->over)
        return rc;
    if (optind < argc)
        return tool_fail(TOOL_USAGE,
                         "%s is not understood; a model is named with -s",
                         argv[optind]);
    if (!wishes->list && !wishes->directory && !wishes->symbol)
        return tool_fail(TOOL_USAGE,
                         "say what to show: -l, -d or -s SYMBOL; see " NAME
                         " --help");
    if (wishes->xml &&
        (wishes->parameter || wishes->arch || wishes->has_footprint))
        return tool_fail(TOOL_USAGE,
                         "-x writes a whole model, without -p, -a or -f");
    return TOOL_OK;
}

/* Whether anything was printed, not only the names of architectures. */
static bool says_something(const char *text, const struct wishes *wishes)
{
    char row[16];

    if (!wishes->has_footprint || wishes->parameter)
        return text[0] || (!wishes->arch && !wishes->has_footprint);
    snprintf(row, sizeof(row), "\n%08x\t", wishes->footprint);
    return strstr(text, row);
}

/* Prints into memory first, to see whether there is anything. */
static int print_text(struct starpu_perfmodel *model,
                      const struct wishes *wishes)
{
    uint32_t footprint = wishes->footprint;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int rc;

    if (!out)
        return tool_fail(TOOL_FAILED, "out of memory");
    rc = starpu_perfmodel_print_all(model, wishes->arch, wishes->parameter,
                                    wishes->has_footprint ? &footprint : NULL,
                                    out);
    if (fclose(out) != 0)
        rc = tool_fail(TOOL_FAILED, "out of memory");
    else if (rc != 0) /* the library has said why */
        rc = TOOL_FAILED;
    else if (!says_something(text, wishes))
        rc = tool_fail(
            TOOL_FAILED,
            "the model %s has nothing for%s%s%s; without -a and -f all "
            "is shown",
            wishes->symbol, wishes->arch ? " architecture " : "",
            wishes->arch ? wishes->arch : "",
            wishes->has_footprint ? " that footprint" : "");
    else
        fputs(text, stdout);
    free(text);
    return rc;
}

static int show(const struct wishes *wishes)
{
    struct starpu_perfmodel model = {.type = STARPU_PERFMODEL_INVALID};
    int rc = TOOL_OK;

    if (starpu_perfmodel_load_symbol(wishes->symbol, &model) != 0)
        return tool_fail(
            TOOL_FAILED,
            "the performance model for the symbol <%s> could not be "
            "loaded; " NAME " -l lists those there are",
            wishes->symbol);
    if (wishes->xml)
        starpu_perfmodel_dump_xml(stdout, &model);
    else
        rc = print_text(&model, wishes);
    starpu_perfmodel_unload_model(&model);
    return rc;
}

int main(int argc, char **argv)
{
    struct wishes wishes = {0};
    int rc = read_line(argc, argv, &wishes);

    if (rc != TOOL_OK || wishes.over)
        return rc;
    starpu_perfmodel_initialize();
    if (wishes.list && starpu_perfmodel_list(stdout) != 0)
        rc = tool_fail(TOOL_FAILED, "the models could not be listed");
    if (wishes.directory)
        starpu_perfmodel_directory(stdout);
    if (wishes.symbol && rc == TOOL_OK)
        rc = show(&wishes);
    starpu_perfmodel_free_sampling();
    if (fflush(stdout) != 0 || ferror(stdout))
        rc = tool_fail(TOOL_FAILED, "the output could not be written");
    return rc;
}
