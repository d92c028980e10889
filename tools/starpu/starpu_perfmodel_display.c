/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/starpu/starpu_perfmodel_display.c - the program of that name: lists
 * model files, prints one as text or XML, or single values of it. Models are
 * read through the public interface. One thread.
 */
#include "tools/starpu/program.h"

#include <starpu.h>

#include <errno.h>
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
    "  -p, --parameter NAME  only one value: a, b, c, alpha, beta, mean, stddev, or\n"
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

/* The options; all borrowed. */
struct request {
    bool list, directory, xml;
    const char *symbol, *parameter, *arch;
    bool has_footprint;
    uint32_t footprint;
};

static int read_footprint(const char *text, struct request *request)
{
    unsigned long value;
    char *end;

    errno = 0;
    value = strtoul(text, &end, 16);
    if (end == text || *end || errno || value > UINT32_MAX)
        return tool_fail(
            TOOL_USAGE, "-f %s: a footprint has up to eight hexadecimal digits",
            text);
    request->footprint = (uint32_t)value;
    request->has_footprint = true;
    return TOOL_OK;
}

/* Checks the request; TOOL_OK when nothing is wrong. */
static int check_display_request(const struct request *request)
{
    if (!request->list && !request->directory && !request->symbol)
        return tool_fail(TOOL_USAGE,
                         "give what to show: -l, -d or -s SYMBOL; see " NAME
                         " --help");
    if (request->xml &&
        (request->parameter || request->arch || request->has_footprint))
        return tool_fail(TOOL_USAGE,
                         "-x writes a whole model, without -p, -a or -f");
    return TOOL_OK;
}

/* Whether anything was printed, not only the names of architectures. */
static bool says_something(const char *text, const struct request *request)
{
    char row[16];

    if (!request->has_footprint || request->parameter)
        return text[0] || (!request->arch && !request->has_footprint);
    snprintf(row, sizeof(row), "\n%08x\t", request->footprint);
    return strstr(text, row);
}

/* Prints into memory first, to check whether there is anything. */
static int print_symbol_text(struct starpu_perfmodel *model,
                             const struct request *request)
{
    uint32_t footprint = request->footprint;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int rc;

    if (!out)
        return tool_fail(TOOL_FAILED, "out of memory");
    /* The function takes non-const texts, but does not change them. */
    rc = starpu_perfmodel_print_all(model, (char *)(uintptr_t)request->arch,
                                    (char *)(uintptr_t)request->parameter,
                                    request->has_footprint ? &footprint : NULL,
                                    out);
    if (fclose(out) != 0)
        rc = tool_fail(TOOL_FAILED, "out of memory");
    else if (rc != 0) /* the library printed the reason */
        rc = TOOL_FAILED;
    else if (!says_something(text, request))
        rc = tool_fail(
            TOOL_FAILED,
            "the model %s has nothing for%s%s%s; without -a and -f all "
            "is shown",
            request->symbol, request->arch ? " architecture " : "",
            request->arch ? request->arch : "",
            request->has_footprint ? " that footprint" : "");
    else
        fputs(text, stdout);
    free(text);
    return rc;
}

static int display_symbol(const struct request *request)
{
    struct starpu_perfmodel model = {.type = STARPU_PERFMODEL_INVALID};
    int rc = TOOL_OK;

    if (starpu_perfmodel_load_symbol(request->symbol, &model) != 0)
        return tool_fail(
            TOOL_FAILED,
            "the performance model for the symbol <%s> could not be "
            "loaded; " NAME " -l lists those there are",
            request->symbol);
    if (request->xml)
        starpu_perfmodel_dump_xml(stdout, &model);
    else
        rc = print_symbol_text(&model, request);
    starpu_perfmodel_unload_model(&model);
    return rc;
}

static int display_request(const struct request *request)
{
    int rc = TOOL_OK;

    starpu_perfmodel_initialize();
    if (request->list && starpu_perfmodel_list(stdout) != 0)
        rc = tool_fail(TOOL_FAILED, "the models could not be listed");
    if (request->directory)
        starpu_perfmodel_directory(stdout);
    if (request->symbol && rc == TOOL_OK)
        rc = display_symbol(request);
    starpu_perfmodel_free_sampling();
    if (fflush(stdout) != 0 || ferror(stdout))
        rc = tool_fail(TOOL_FAILED, "the output could not be written");
    return rc;
}

static int perfmodel_display_main(int argc, char **argv)
{
    struct request request = {0};
    const char *footprint = NULL;
    bool version = false;
    const struct tool_option options[] = {
        {'l', "list", NULL, &request.list},
        {'d', "directory", NULL, &request.directory},
        {'s', "symbol", &request.symbol, NULL},
        {'p', "parameter", &request.parameter, NULL},
        {'a', "arch", &request.arch, NULL},
        {'f', "footprint", &footprint, NULL},
        {'x', "xml", NULL, &request.xml},
        {'v', "version", NULL, &version},
        {0}};
    int noperands, rc;

    noperands =
        starpu_program_parse(NAME, argc, argv, options, &version, help, &rc);
    if (noperands < 0)
        return rc;
    if (noperands > 0)
        return tool_fail(TOOL_USAGE,
                         "%s is not understood; a model is named with -s",
                         argv[1]);
    rc = footprint ? read_footprint(footprint, &request) : TOOL_OK;
    if (rc == TOOL_OK)
        rc = check_display_request(&request);
    return rc == TOOL_OK ? display_request(&request) : rc;
}

int main(int argc, char **argv)
{
    return tool_close(perfmodel_display_main(argc, argv));
}
