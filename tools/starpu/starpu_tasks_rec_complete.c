/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/starpu/starpu_tasks_rec_complete.c - the program of that name: adds to each
 * task of a tasks.rec how long its model expects it to take on each worker. It uses
 * the public interface only. One thread.
 */
#include "tools/starpu/program.h"

#include <starpu.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "starpu_tasks_rec_complete"

static const char help[] =
    "usage: " NAME " [INPUT [OUTPUT]]\n"
    "Copies the tasks.rec of a run (starpu_fxt_tool writes one) and adds to each\n"
    "record with a model the field EstimatedTime: one mean per worker of this\n"
    "machine, or of that of ORRERY_MACHINE, in microseconds. Records that have it\n"
    "stay as they are. Without names: from standard input, to standard output.\n"
    "  -h, --help     this text\n"
    "  -v, --version  the version\n"
    "Exit codes: 0; 1 when something failed, such as a model that is not there, and\n"
    "then OUTPUT is as it was; 2 for a wrong command line.\n"
    "example: ORRERY_MACHINE=h100-pcie-4 " NAME " tasks.rec complete.rec\n";

enum { MAX_MODELS = 256, MAX_LINE = 1022 };

struct model {
    char *symbol; /* owned */
    struct starpu_perfmodel perfmodel;
};

struct completer {
    FILE *in, *out;
    const char *name; /* of the input, for messages */
    unsigned long line;
    struct model models[MAX_MODELS];
    size_t nmodels;
    /* The record that is read. */
    struct model *model; /* NULL: it has none */
    uint32_t footprint;
    bool is_complete, has_fields;
};

static int completer_line_wrong(const struct completer *c, const char *what)
{
    return tool_fail(-1, "%s:%lu: %s", c->name, c->line, what);
}

/* The model of that symbol, which is loaded once. */
static struct model *completer_get_model(struct completer *c,
                                         const char *symbol)
{
    struct model *model;

    for (size_t m = 0; m < c->nmodels; m++)
        if (!strcmp(c->models[m].symbol, symbol))
            return &c->models[m];
    if (c->nmodels == MAX_MODELS) {
        completer_line_wrong(c, "more than 256 models");
        return NULL;
    }
    model = &c->models[c->nmodels];
    model->symbol = tool_format("%s", symbol);
    if (!model->symbol ||
        starpu_perfmodel_load_symbol(symbol, &model->perfmodel) != 0) {
        tool_error("%s:%lu: the model %s cannot be loaded: measure it with "
                   "STARPU_CALIBRATE=1, or name its machine with "
                   "ORRERY_MACHINE",
                   c->name, c->line, symbol);
        free(model->symbol);
        return NULL;
    }
    c->nmodels++;
    return model;
}

static int completer_take_field(struct completer *c, char *line)
{
    char *colon = strchr(line, ':'), *value;

    if (!colon)
        return completer_line_wrong(
            c, "a field, a colon and a value are expected");
    value = colon + 1 + strspn(colon + 1, " ");
    c->has_fields = true;
    if (!strncmp(line, "Model:", 6)) {
        c->model = completer_get_model(c, value);
        return c->model ? 0 : -1;
    }
    if (!strncmp(line, "Footprint:", 10))
        c->footprint = (uint32_t)strtoul(value, NULL, 16);
    c->is_complete |= !strncmp(line, "EstimatedTime:", 14);
    return 0;
}

static void end_record(struct completer *c)
{
    if (c->model && !c->is_complete) {
        fputs("EstimatedTime: ", c->out);
        starpu_perfmodel_print_estimations(&c->model->perfmodel, c->footprint,
                                           c->out);
        fputc('\n', c->out);
    }
    c->model = NULL;
    c->footprint = 0;
    c->is_complete = c->has_fields = false;
}

static int completer_copy_records(struct completer *c)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    int rc = 0;

    while (rc == 0 && (n = getline(&line, &room, c->in)) > 0) {
        c->line++;
        line[strcspn(line, "\r\n")] = '\0';
        if (n > MAX_LINE)
            rc = completer_line_wrong(c, "a line of more than 1022 bytes");
        else if (!*line)
            end_record(c);
        else if (*line != '#' && *line != '%')
            rc = completer_take_field(c, line);
        if (rc == 0)
            fprintf(c->out, "%s\n", line);
    }
    if (rc == 0 && ferror(c->in))
        rc = completer_line_wrong(c, strerror(errno));
    if (rc == 0 && c->has_fields) {
        end_record(c);
        fputc('\n', c->out);
    }
    free(line);
    return rc;
}

/* All that is read is written at once, so that a failure leaves nothing. */
static int completer_run(struct completer *c, const char *output)
{
    char *text = NULL;
    size_t size = 0;
    struct starpu_conf conf;
    int rc;

    c->out = open_memstream(&text, &size);
    if (!c->out || starpu_conf_init(&conf) != 0)
        return tool_fail(TOOL_FAILED, "out of memory");
    if (starpu_init(&conf) != 0) {
        fclose(c->out);
        free(text);
        return tool_fail(TOOL_FAILED, "the runtime does not start");
    }
    rc = completer_copy_records(c);
    for (size_t m = 0; m < c->nmodels; m++) {
        starpu_perfmodel_unload_model(&c->models[m].perfmodel);
        free(c->models[m].symbol);
    }
    starpu_shutdown();
    if (fclose(c->out) != 0)
        rc = tool_fail(-1, "out of memory");
    if (rc == 0)
        rc = tool_write_file(output, text, size);
    free(text);
    return rc == 0 ? TOOL_OK : TOOL_FAILED;
}

static int tasks_rec_complete_main(int argc, char **argv)
{
    static struct completer c;
    bool version = false;
    const struct tool_option options[] = {{'v', "version", NULL, &version},
                                          {0}};
    int noperands, result;

    noperands = starpu_program_parse(NAME, argc, argv, options, &version, help,
                                     &result);
    if (noperands < 0)
        return result;
    if (noperands > 2)
        return tool_fail(TOOL_USAGE,
                         "an input and an output; see " NAME " --help");
    c.name = noperands ? argv[1] : "<stdin>";
    c.in = noperands ? fopen(argv[1], "re") : stdin;
    if (!c.in)
        return tool_fail(TOOL_FAILED, "%s: %s", argv[1], strerror(errno));
    result = completer_run(&c, noperands > 1 ? argv[2] : NULL);
    if (c.in != stdin)
        fclose(c.in);
    return result;
}

int main(int argc, char **argv)
{
    return tool_close(tasks_rec_complete_main(argc, argv));
}
