/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/command.c - `orrery perfmodel`: finds the verb and calls it. One
 * thread.
 */
#include "tools/common/modules.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/perfmodel.h"

static const struct tool_command list[] = {
    {"list", perfmodel_list, "which models there are, of which host"},
    {"show", perfmodel_show, "times, statistics and formulas of a model"},
    {"check", perfmodel_check, "whether a simulation can trust them"},
    {"plot", perfmodel_plot, "a picture of a kernel's times over sizes"},
    {"export", perfmodel_export, "write models as JSON or CSV"},
    {"import", perfmodel_import, "read models from JSON"},
    {"project", perfmodel_project, "models for a machine one does not have"},
    {"merge", perfmodel_merge, "join models of several directories"},
    {"prune", perfmodel_prune, "remove entries and files by rule"},
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

int cmd_perfmodel(int argc, char **argv)
{
    tool_find_modules("packed"); /* -m may name a packed machine */
    return tool_dispatch(&verbs, argc, argv);
}
