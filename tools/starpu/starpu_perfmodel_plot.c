/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/starpu/starpu_perfmodel_plot.c - the program of that name: writes
 * gnuplot's commands and data for a kernel's model, and has gnuplot draw them.
 * One thread.
 */
#include "tools/common/near.h"
#include "tools/common/plot.h"
#include "tools/perfmodel/model_plot.h"
#include "tools/perfmodel/perfmodel.h"
#include "tools/starpu/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "starpu_perfmodel_plot"

static const char help[] =
    "usage: " NAME " -l | -d | -s SYMBOL [OPTIONS]\n"
    "Draws the model of a kernel: starpu_SYMBOL.gp and starpu_SYMBOL.data for\n"
    "gnuplot, and starpu_SYMBOL.svg, which gnuplot makes of them.\n"
    "  -l, --list            list the models\n"
    "  -d, --directory       print the directories where they are looked for\n"
    "  -s, --symbol SYMBOL   draw this model; SYMBOL.HOST for another host's\n"
    "  -a, --arch ARCH       only cuda0, cpu0:4 (4 cores), or cuda for all of a type\n"
    "  -f, --gflops          GFlop/s instead of times\n"
    "  -e, --energy          the values are joules\n"
    "  -o, --output-dir DIR  where the files go (.)\n"
    "  -h, --help            this text\n"
    "  -v, --version         the version\n"
    "FxT traces are not read: -i, --with-fxt-file, and -lc, -c, which select\n"
    "combinations for it, do not exist here; orrery trace draws what workers did.\n"
    "Nor does -se, times and joules of two models in one picture: draw each.\n"
    "Exit codes: 0; 1 when something could not be done; 2 for a wrong command line.\n"
    "example: " NAME " -s chol_model_gemm -f -o pictures\n";

/* The options; all borrowed. */
struct request {
    bool list, directories;
    const char *fxt, *combs; /* StarPU's, refused */
    bool list_combs;
    const char *symbol, *directory;
    struct model_plot_choice choice;
};

/* -- files -- */

/* The text of a file being built. */
struct draft {
    FILE *file;
    char *text;
    size_t size;
};

static int draft_begin(struct draft *draft)
{
    draft->file = open_memstream(&draft->text, &draft->size);
    return draft->file ? 0 : tool_fail(-1, "out of memory");
}

static int draft_end(struct draft *draft, const char *path)
{
    bool failed = ferror(draft->file) != 0;
    int rc;

    if (fclose(draft->file) != 0 || failed)
        rc = tool_fail(-1, "out of memory");
    else
        rc = tool_write_file(path, draft->text, draft->size);
    free(draft->text);
    return rc < 0 ? -1 : 0;
}

/* "starpu_gemm.data" in the directory; owned by the caller. */
static char *file_name(const struct request *request, const char *symbol,
                       const char *suffix)
{
    return tool_format("%s/starpu_%s.%s", request->directory, symbol, suffix);
}

static int write_plot_data(const struct model_plot *plot, const char *path)
{
    struct draft draft = {0};

    if (draft_begin(&draft) < 0)
        return -1;
    model_plot_write_data(plot, draft.file);
    return draft_end(&draft, path);
}

/* The commands name the other files without their directory, so that the three
 * can be moved. */
static int write_commands(const struct model_plot *plot, const char *symbol,
                          const char *path)
{
    char *source = tool_format("starpu_%s.data", symbol);
    char *picture = tool_format("starpu_%s.svg", symbol);
    struct draft draft = {0};
    int rc = -1;

    if (!source || !picture)
        tool_error("out of memory");
    else
        rc = draft_begin(&draft);
    if (rc == 0) {
        fputs("#!/usr/bin/gnuplot\nset terminal svg noenhanced size 820,500 "
              "dynamic font 'sans-serif,12' background 'white'\nset output ",
              draft.file);
        plot_text(draft.file, picture);
        fputc('\n', draft.file);
        model_plot_write_script(plot, draft.file, source);
        rc = draft_end(&draft, path);
    }
    free(picture);
    free(source);
    return rc;
}

/* Has gnuplot draw what the commands say, but to a file that takes the picture's name
 * when it is whole. */
static int draw_picture(const struct model_plot *model, const char *data,
                        const char *picture)
{
    struct plot plot;

    if (plot_begin_paper(&plot, picture, 820, 500) < 0)
        return -1;
    model_plot_write_script(model, plot.pipe, data);
    return plot_end(&plot);
}

static int write_plot_files(const struct model_plot *plot,
                            const struct request *request, const char *symbol)
{
    char *data = file_name(request, symbol, "data");
    char *commands = file_name(request, symbol, "gp");
    char *picture = file_name(request, symbol, "svg");
    int rc = -1;

    if (!data || !commands || !picture)
        tool_error("out of memory");
    else if (write_plot_data(plot, data) == 0 &&
             write_commands(plot, symbol, commands) == 0)
        rc = draw_picture(plot, data, picture);
    if (rc == 0)
        printf("%s\n%s\n%s\n", data, commands, picture);
    free(data);
    free(commands);
    free(picture);
    return rc;
}

/* -- models -- */

static int print_model_file(const struct perfmodel_item *item, void *arg)
{
    (void)arg;
    if (!item->shadowed)
        printf("file: <%s>\n", item->name);
    return 0;
}

static int draw_symbol(const struct check_model *model,
                       const struct request *request)
{
    struct model_plot plot;
    int rc;

    if (model_plot_build(model, &request->choice, &plot) < 0)
        return tool_fail(TOOL_FAILED, "out of memory");
    if (plot.nseries == 0)
        rc = tool_fail(-1, "%s has no measures%s%s%s", model->symbol,
                       request->choice.arch ? " for " : "",
                       request->choice.arch ? request->choice.arch : "",
                       plot.nmissing
                           ? " of flops: set the field flops of its "
                             "tasks, or leave -f out"
                           : "; run a program with STARPU_CALIBRATE=1");
    else
        rc = write_plot_files(&plot, request, model->symbol);
    if (rc == 0 && request->choice.energy)
        perfmodel_note_energy(model->symbol);
    model_plot_done(&plot);
    return rc < 0 ? TOOL_FAILED : TOOL_OK;
}

static int draw_file(const struct perfmodel_place *place, const char *path,
                     struct request *request)
{
    struct perfmodel_data data;
    struct orr_error err = {""};
    struct check_model model = {0};
    char *symbol;
    int result, rc = perfmodel_load(path, &data, &err);

    if (rc < 0) {
        tool_report(&err, rc);
        return TOOL_FAILED;
    }
    symbol = strndup(request->symbol, strcspn(request->symbol, "."));
    model.symbol = symbol;
    model.file = data.file;
    model.side = data.side;
    model.origin = perfmodel_origin(place, path, data.file);
    result = symbol ? draw_symbol(&model, request)
                    : tool_fail(TOOL_FAILED, "out of memory");
    free(symbol);
    perfmodel_unload(&data);
    return result;
}

static void print_directories(const struct perfmodel_place *place)
{
    for (const char *const *dir = orr_sampling_dirs(place->sampling); *dir;
         dir++)
        printf("directory: <%s/%s>\n", *dir, ORR_SAMPLING_CODELETS);
}

static int plot_request(struct request *request)
{
    struct perfmodel_choice here = {0};
    struct perfmodel_place place;
    char *path = NULL;
    int result = TOOL_FAILED;

    if (perfmodel_open(&here, &place) < 0)
        return TOOL_FAILED;
    request->choice.host = place.host;
    if (request->directories)
        print_directories(&place);
    if (request->list)
        result = perfmodel_each(&place, NULL, print_model_file, NULL) < 0
                     ? TOOL_FAILED
                     : TOOL_OK;
    else if (!request->symbol)
        result = TOOL_OK;
    else if (perfmodel_find(&place, request->symbol, &path) == 0)
        result = draw_file(&place, path, request);
    else
        near_suggest(&place, request->symbol);
    free(path);
    perfmodel_close(&place);
    return result;
}

/* -- the command line -- */

/* Checks the request; TOOL_OK when nothing is wrong. */
static int check_plot_request(const struct request *request)
{
    if (request->fxt || request->combs || request->list_combs)
        return tool_fail(TOOL_USAGE,
                         "FxT traces are not read, so -i/--with-fxt-file, "
                         "-lc/--list-combs and -c/--combs do not exist; "
                         "orrery trace draws what workers did");
    if (!request->list && !request->directories && !request->symbol)
        return tool_fail(TOOL_USAGE,
                         "which model? -s SYMBOL, or -l to list them; see " NAME
                         " --help");
    if (request->choice.gflops && request->choice.energy)
        return tool_fail(TOOL_USAGE, "-f needs times, not energies (-e)");
    if (access(request->directory, W_OK | X_OK) < 0)
        return tool_fail(TOOL_USAGE, "-o %s: %s; name a directory that exists",
                         request->directory, strerror(errno));
    return TOOL_OK;
}

static int perfmodel_plot_main(int argc, char **argv)
{
    struct request request = {.directory = "."};
    bool version = false;
    const struct tool_option options[] = {
        {'l', "list", NULL, &request.list},
        {'d', "directory", NULL, &request.directories},
        {'s', "symbol", &request.symbol, NULL},
        {'a', "arch", &request.choice.arch, NULL},
        {'f', "gflops", NULL, &request.choice.gflops},
        {'e', "energy", NULL, &request.choice.energy},
        {'o', "output-dir", &request.directory, NULL},
        {0, "output-directory", &request.directory, NULL},
        {'i', "with-fxt-file", &request.fxt, NULL},
        {'c', "list-combs", NULL, &request.list_combs},
        {0, "combs", &request.combs, NULL},
        {'v', "version", NULL, &version},
        {0}};
    int noperands, rc;

    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "-se")) /* not -s with the model "e" */
            return tool_fail(TOOL_USAGE,
                             "-se does not exist here: draw the model of "
                             "times with -s, that of joules with -s and -e");
    noperands =
        starpu_program_parse(NAME, argc, argv, options, &version, help, &rc);
    if (noperands < 0)
        return rc;
    rc = check_plot_request(&request);
    if (rc == TOOL_OK && noperands > 0)
        rc = tool_fail(TOOL_USAGE,
                       "%s is not understood; a model is named with -s",
                       argv[1]);
    return rc == TOOL_OK ? plot_request(&request) : rc;
}

int main(int argc, char **argv)
{
    return tool_close(perfmodel_plot_main(argc, argv));
}
