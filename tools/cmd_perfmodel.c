/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/cmd_perfmodel.c - `orrery perfmodel`: finds the verb and calls it. One
 * thread.
 */
#include "tools/perfmodel.h"
#include "tools/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} verbs[] = {
    {"list", perfmodel_list, "which models there are, of which host"},
    {"show", perfmodel_show, "times, statistics and formulas of a model"},
    {"check", perfmodel_check, "whether a simulation can trust them"},
    {"plot", perfmodel_plot, "a picture of a kernel's times over sizes"},
    {"export", perfmodel_export, "write models as JSON or CSV"},
    {"import", perfmodel_import, "read models from JSON"},
    {"merge", perfmodel_merge, "join models of several directories"},
    {"prune", perfmodel_prune, "remove entries and files by rule"},
};

#define NVERBS (sizeof(verbs) / sizeof(*verbs))

static void print_help(FILE *file)
{
    fputs("usage: orrery perfmodel VERB [OPTIONS] [WORDS]\n"
          "Looks at the measured times of kernels and moves them about.\n\n",
          file);
    for (size_t i = 0; i < NVERBS; i++)
        fprintf(file, "  %-7s %s\n", verbs[i].name, verbs[i].what);
    fputs("\nModels are looked for where programs look for them: "
          "STARPU_PERF_MODEL_DIR,\n"
          "~/.starpu/sampling, STARPU_PERF_MODEL_PATH. "
          "-m MACHINE or --host HOST says\n"
          "whose are meant, else this machine's.\n"
          "orrery perfmodel VERB --help says more.\n"
          "example: orrery perfmodel show chol_model_gemm --host mirage\n",
          file);
}

int cmd_perfmodel(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return TOOL_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        print_help(stdout);
        return TOOL_OK;
    }
    for (size_t i = 0; i < NVERBS; i++)
        if (!strcmp(argv[1], verbs[i].name)) {
            char name[32];

            /* Messages then name the command whole. */
            snprintf(name, sizeof(name), "perfmodel %s", verbs[i].name);
            argv[1] = name;
            return verbs[i].run(argc - 1, argv + 1);
        }
    tool_error("perfmodel: there is no verb %s; see orrery perfmodel --help",
               argv[1]);
    return TOOL_USAGE;
}
