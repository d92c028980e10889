/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/starpu/starpu_perfmodel_recdump.c - the program of that name: writes
 * models of kernels and the machine as records of fields, for other programs.
 * The machine comes from the runtime through the public interface. One thread.
 */
#include "core/base/grow.h"
#include "tools/perfmodel/perfmodel.h"
#include "tools/starpu/program.h"

#include <starpu.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "starpu_perfmodel_recdump"

static const char help[] =
    "usage: " NAME " [-m MACHINE] [-o FILE] [tasks.rec]\n"
    "Writes the performance models of kernels and the machine as records: %rec:\n"
    "timing, worker_count, memory_workers, memory_performance. With the tasks.rec of\n"
    "a run, only the timings that its tasks use, and the machine in front.\n"
    "  -o, --output FILE      there instead of on standard output\n"
    "  -m, --machine MACHINE  a simulated machine and its models, else this one\n"
    "  -h, --help             this text\n"
    "  -v, --version          the version\n"
    "Times are microseconds, bandwidths MB/s, sizes bytes.\n"
    "Exit codes: 0; 1 when something failed or a task's model has no timing; 2 for a\n"
    "wrong command line.\n"
    "example: " NAME " -o perfmodels.rec tasks.rec\n";

/* -- which timings a run uses -- */

struct use {
    char *model; /* owned */
    uint32_t footprint;
    bool found; /* some architecture has a timing */
};

struct uses {
    struct use *list; /* owned */
    size_t n;
};

static void uses_free(struct uses *uses)
{
    for (size_t i = 0; i < uses->n; i++)
        free(uses->list[i].model);
    free(uses->list);
}

/* A run has few different ones, however many tasks it has. */
static int uses_add(struct uses *uses, const char *model, uint32_t footprint)
{
    struct use *use;

    for (size_t i = 0; i < uses->n; i++)
        if (uses->list[i].footprint == footprint &&
            !strcmp(uses->list[i].model, model))
            return 0;
    use = orr_array_add(uses->list, uses->n);
    if (!use)
        return -ENOMEM;
    *use = (struct use){strdup(model), footprint, false};
    if (use->model)
        return 0;
    uses->n--;
    return -ENOMEM;
}

/* One record of tasks.rec, as far as it matters. */
struct record {
    char *model; /* owned; NULL: not given yet */
    bool has_footprint;
    uint32_t footprint;
};

static void record_clear(struct record *record)
{
    free(record->model);
    *record = (struct record){0};
}

static int record_line(struct record *record, const char *field,
                       const char *value, struct uses *uses)
{
    int rc = 0;

    if (!strcmp(field, "Model")) {
        free(record->model);
        record->model = strdup(value);
        rc = record->model ? 0 : -ENOMEM;
    } else if (!strcmp(field, "Footprint")) {
        record->footprint = (uint32_t)strtoul(value, NULL, 16);
        record->has_footprint = true;
        /* Records need not be separated by blank lines: a task without a model
         * must not get the footprint of the next. */
        if (!record->model)
            record_clear(record);
    }
    if (rc == 0 && record->model && record->has_footprint) {
        rc = uses_add(uses, record->model, record->footprint);
        record_clear(record);
    }
    return rc;
}

static int uses_read_lines(FILE *file, const char *path, struct uses *uses)
{
    struct record record = {0};
    char *line = NULL;
    size_t room = 0;
    unsigned number = 0;
    int rc = 0;

    while (rc == 0 && getline(&line, &room, file) >= 0) {
        char *colon = strchr(line, ':');

        number++;
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] == '\0' || line[0] == '#' || line[0] == '%') {
            record_clear(&record);
            continue;
        }
        if (!colon) {
            tool_error("%s:%u: a line of tasks.rec is `Field: value', this one "
                       "has no colon",
                       path, number);
            rc = -EINVAL;
            break;
        }
        *colon++ = '\0';
        rc = record_line(&record, line, colon + strspn(colon, " "), uses);
    }
    record_clear(&record);
    free(line);
    if (rc == -ENOMEM)
        tool_error("%s: out of memory", path);
    return rc;
}

static int uses_read_file(const char *path, struct uses *ret)
{
    FILE *file = fopen(path, "r");
    int rc;

    if (!file) {
        tool_error("%s: %s; the tasks of a run are written by its trace", path,
                   strerror(errno));
        return -errno;
    }
    rc = uses_read_lines(file, path, ret);
    fclose(file);
    return rc;
}

/* -- timings -- */

struct dump {
    FILE *out;
    const struct perfmodel_place *place;
    struct uses *uses; /* NULL: everything */
    bool broken;       /* a file could not be read, which was reported */
};

/* Types and numbers of the devices: "cpu0", "cpu0_cuda1". */
static void print_arch(FILE *out, const struct orr_device *devices,
                       unsigned ndevices)
{
    for (unsigned d = 0; d < ndevices; d++) {
        const char *type = orr_device_type_name(devices[d].type);

        fputs(d ? "_" : "", out);
        if (type)
            fprintf(out, "%s%d", type, devices[d].devid);
        else
            fprintf(out, "type%d-%d", devices[d].type, devices[d].devid);
    }
}

static void dump_row(FILE *out, const char *symbol,
                     const struct orr_model_comb *comb, unsigned impl,
                     const struct orr_model_row *row)
{
    fprintf(out, "Model: %s\nArchitecture: ", symbol);
    print_arch(out, comb->devices, comb->ndevices);
    fputc('\n', out);
    /* StarPU has no field for these two: they appear only where they differ
     * from its defaults. */
    if (comb->ndevices == 1 && comb->devices[0].ncores != 1)
        fprintf(out, "Cores: %d\n", comb->devices[0].ncores);
    if (impl > 0)
        fprintf(out, "Implementation: %u\n", impl);
    fprintf(out, "Footprint: %08" PRIx32 "\nSize: %" PRIu64 "\n", row->hash,
            row->size);
    if (row->flops > 0)
        fprintf(out, "Flops: %e\n", row->flops);
    fprintf(out, "Mean: %e\nStddev: %e\nSamples: %" PRIu32 "\n\n", row->mean,
            row->dev, row->n);
}

/* The rows of one footprint, or all when it is NULL. Returns how many. */
static unsigned dump_file(FILE *out, const char *symbol,
                          const struct orr_model_file *file,
                          const uint32_t *footprint)
{
    unsigned n = 0;

    for (unsigned c = 0; c < file->ncombs; c++)
        for (unsigned i = 0; i < file->combs[c].nimpls; i++) {
            const struct orr_model_impl *impl = &file->combs[c].impls[i];

            for (unsigned r = 0; r < impl->nrows; r++)
                if (impl->rows[r].n > 0 &&
                    (!footprint || impl->rows[r].hash == *footprint)) {
                    dump_row(out, symbol, &file->combs[c], i, &impl->rows[r]);
                    n++;
                }
        }
    return n;
}

static int dump_item(const struct perfmodel_item *item, void *arg)
{
    struct dump *dump = arg;
    struct orr_model_file *file = NULL;
    struct orr_error err = {""};
    int rc =
        item->shadowed ? -ENOENT : orr_model_file_read(item->path, &file, &err);

    if (rc == 0)
        dump_file(dump->out, item->symbol, file, NULL);
    orr_model_file_free(file);
    if (rc == -ENOENT || rc == -ENODATA || rc == 0)
        return 0;
    tool_report(&err, rc);
    dump->broken = true;
    return rc == -ENOMEM ? rc : 0;
}

/* The timings of one model that the tasks use. */
static int dump_model(struct dump *dump, const char *symbol, const char *path)
{
    struct orr_model_file *file = NULL;
    struct orr_error err = {""};
    int rc = orr_model_file_read(path, &file, &err);

    if (rc < 0 && rc != -ENODATA) {
        tool_report(&err, rc);
        return rc;
    }
    for (size_t i = 0; file && i < dump->uses->n; i++) {
        struct use *use = &dump->uses->list[i];

        if (!strcmp(use->model, symbol))
            use->found = dump_file(dump->out, symbol, file, &use->footprint);
    }
    orr_model_file_free(file);
    return 0;
}

static bool is_first_use_of_model(const struct uses *uses, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (!strcmp(uses->list[i].model, uses->list[index].model))
            return false;
    return true;
}

static void dump_used(struct dump *dump)
{
    for (size_t i = 0; i < dump->uses->n; i++) {
        const char *symbol = dump->uses->list[i].model;
        char *path = NULL;

        if (!is_first_use_of_model(dump->uses, i))
            continue;
        if (perfmodel_find(dump->place, symbol, &path) < 0 ||
            dump_model(dump, symbol, path) < 0)
            dump->broken = true;
        free(path);
    }
    for (size_t i = 0; i < dump->uses->n && !dump->broken; i++)
        if (!dump->uses->list[i].found)
            tool_error("the model %s has no timing for footprint %08" PRIx32
                       "; measure it with STARPU_CALIBRATE=1",
                       dump->uses->list[i].model,
                       dump->uses->list[i].footprint);
    for (size_t i = 0; i < dump->uses->n; i++)
        dump->broken |= !dump->uses->list[i].found;
}

static int dump_timings(struct dump *dump)
{
    int rc = 0;

    fputs("%rec: timing\n\n", dump->out);
    if (dump->uses)
        dump_used(dump);
    else
        rc = perfmodel_each(dump->place, dump->place->host, dump_item, dump);
    if (rc < 0)
        tool_error("%s", strerror(-rc));
    return rc;
}

/* -- the machine, while the runtime is open -- */

static bool same_arch(const struct starpu_perfmodel_arch *a,
                      const struct starpu_perfmodel_arch *b)
{
    if (a->ndevices != b->ndevices)
        return false;
    for (int d = 0; d < a->ndevices; d++)
        if (a->devices[d].type != b->devices[d].type ||
            a->devices[d].devid != b->devices[d].devid)
            return false;
    return true;
}

static void dump_workers(FILE *out)
{
    unsigned n = starpu_worker_get_count();

    fputs("%rec: worker_count\n\n", out);
    for (unsigned w = 0; w < n; w++) {
        struct starpu_perfmodel_arch *arch =
            starpu_worker_get_perf_archtype((int)w, 0);
        bool reported = false;
        unsigned same = 0;

        for (unsigned v = 0; v < n; v++)
            if (same_arch(arch, starpu_worker_get_perf_archtype((int)v, 0))) {
                reported |= v < w;
                same++;
            }
        if (reported)
            continue;
        fputs("Architecture: ", out);
        for (int d = 0; d < arch->ndevices; d++) {
            const char *type =
                starpu_perfmodel_get_archtype_name(arch->devices[d].type);

            fprintf(out, "%s%s%d", d ? "_" : "", type, arch->devices[d].devid);
        }
        fprintf(out, "\nNbWorkers: %u\n\n", same);
    }
}

static void dump_nodes(FILE *out)
{
    unsigned nnodes = starpu_memory_nodes_get_count();
    unsigned nworkers = starpu_worker_get_count();

    fputs("%rec: memory_workers\n\n", out);
    for (unsigned node = 0; node < nnodes; node++) {
        char name[64] = "";

        starpu_memory_node_get_name(node, name, sizeof(name));
        fprintf(out, "MemoryNode: %u\nName: %s\nSize: %lld\nWorkers:", node,
                name, (long long)starpu_memory_get_total(node));
        for (unsigned w = 0; w < nworkers; w++)
            if (starpu_worker_get_memory_node(w) == node)
                fprintf(out, " %u", w);
        fputs("\n\n", out);
    }
    fputs("%rec: memory_performance\n\n", out);
    for (unsigned a = 0; a < nnodes; a++)
        for (unsigned b = 0; b < nnodes; b++)
            if (a != b)
                fprintf(out,
                        "MemoryNodeSrc: %u\nMemoryNodeDst: %u\nBandwidth: "
                        "%f\nLatency: %f\n\n",
                        a, b, starpu_transfer_bandwidth(a, b),
                        starpu_transfer_latency(a, b));
}

static int dump_machine(FILE *out)
{
    struct starpu_conf conf;
    int rc;

    starpu_conf_init(&conf);
    conf.sched_policy_name = "eager"; /* no task will come */
    rc = starpu_init(&conf);
    if (rc != 0) {
        tool_error("the machine cannot be opened: %s. -m names a simulated one",
                   strerror(-rc));
        return rc;
    }
    dump_workers(out);
    dump_nodes(out);
    starpu_shutdown();
    return 0;
}

/* -- all of it -- */

static int dump_all(struct dump *dump)
{
    int rc;

    if (dump->uses) {
        rc = dump_machine(dump->out);
        return rc < 0 ? rc : dump_timings(dump);
    }
    rc = dump_timings(dump);
    return rc < 0 ? rc : dump_machine(dump->out);
}

static int dump_to(struct dump *dump, const char *output)
{
    char *text = NULL;
    size_t size = 0;
    int rc;

    dump->out = open_memstream(&text, &size);
    if (!dump->out) {
        tool_error("out of memory");
        return TOOL_FAILED;
    }
    rc = dump_all(dump);
    if (fclose(dump->out) != 0 && rc == 0) {
        tool_error("out of memory");
        rc = -ENOMEM;
    }
    if (rc == 0)
        rc = tool_write_file(output, text, size);
    free(text);
    return rc < 0 || dump->broken ? TOOL_FAILED : TOOL_OK;
}

static int dump_models(const char *machine, const char *input,
                       const char *output)
{
    struct perfmodel_choice choice = {.machine = machine};
    struct perfmodel_place place;
    struct uses uses = {0};
    struct dump dump = {.place = &place, .uses = input ? &uses : NULL};
    int rc = TOOL_FAILED;

    if (machine && setenv("ORRERY_MACHINE", machine, 1) != 0) {
        tool_error("out of memory");
        return TOOL_FAILED;
    }
    if (perfmodel_open(&choice, &place) < 0)
        return TOOL_FAILED;
    if (!input || uses_read_file(input, &uses) == 0)
        rc = dump_to(&dump, output);
    uses_free(&uses);
    perfmodel_close(&place);
    return rc;
}

static int recdump_main(int argc, char **argv)
{
    const char *machine = getenv("ORRERY_MACHINE"), *output = NULL;
    bool version = false;
    const struct tool_option options[] = {{'m', "machine", &machine, NULL},
                                          {'o', "output", &output, NULL},
                                          {'v', "version", NULL, &version},
                                          {0}};
    int noperands, rc;

    noperands =
        starpu_program_parse(NAME, argc, argv, options, &version, help, &rc);
    if (noperands < 0)
        return rc;
    if (noperands > 1)
        return tool_fail(TOOL_USAGE, "one tasks.rec at a time, not %s as well",
                         argv[2]);
    return dump_models(machine && *machine ? machine : NULL,
                       noperands ? argv[1] : NULL, output);
}

int main(int argc, char **argv)
{
    return tool_close(recdump_main(argc, argv));
}
