/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/command.c - `orrery perfmodel`: finds the verb and calls it. One
 * thread.
 */
#include "tools/common/modules.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/perfmodel.h"

static const struct tool_command list[] = {
    {.name = "list",
     .run = perfmodel_list,
     .what = "which models there are, of which host"},
    {.name = "show",
     .run = perfmodel_show,
     .what = "times, statistics and formulas of a model"},
    {.name = "check",
     .run = perfmodel_check,
     .what = "whether a simulation can trust them"},
    {.name = "plot",
     .run = perfmodel_plot,
     .what = "a picture of a kernel's times over sizes"},
    {.name = "export",
     .run = perfmodel_export,
     .what = "write models as JSON or CSV"},
    {.name = "import",
     .run = perfmodel_import,
     .what = "read models from JSON"},
    {.name = "project",
     .run = perfmodel_project,
     .what = "models for a machine one does not have"},
    {.name = "merge",
     .run = perfmodel_merge,
     .what = "join models of several directories"},
    {.name = "prune",
     .run = perfmodel_prune,
     .what = "remove entries and files by rule"},
    {0}};

static const struct tool_commands verbs = {
    .name = "perfmodel",
    .list = list,
    .head = "usage: orrery perfmodel VERB [OPTIONS] [OPERANDS]\n"
            "Shows, checks and moves the measured times of kernels.\n\n",
    .tail = "\nModels are looked for where programs look for them: "
            "STARPU_PERF_MODEL_DIR,\n"
            "~/.starpu/sampling, STARPU_PERF_MODEL_PATH. "
            "-m MACHINE or --host HOST\n"
            "selects whose; default: this machine's.\n"
            "orrery perfmodel VERB --help has the options of a verb.\n"
            "example: orrery perfmodel show chol_model_gemm --host mirage\n",
};

const char *perfmodel_verb(size_t i)
{
    return list[i].name;
}

int cmd_perfmodel(int argc, char **argv)
{
    tool_find_modules("packed"); /* -m may name a packed machine */
    return tool_dispatch(&verbs, argc, argv);
}
