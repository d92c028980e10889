/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/prune.c - `orrery perfmodel prune`: removes entries and files
 * by rule. The rules are applied by the same code for the preview and for the
 * removal, the latter under the file's lock. One thread.
 */
#include "core/base/plural.h"
#include "tools/common/interrupt.h"
#include "tools/common/json.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/perfmodel.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "usage: orrery perfmodel prune RULES [-m MACHINE] [--host HOST] [--yes]\n"
    "                            [--json]\n"
    "Removes what the rules select from the models of a host; without --yes it only\n"
    "prints what it would remove.\n"
    "Entries, all of these at once:\n"
    "      --symbol PATTERN   of the models whose symbol matches, 'chol_*'\n"
    "      --arch ARCH        of cuda0, cpu0:4 (4 cores), or cuda for all of a type\n"
    "      --fewer-than N     with fewer than N samples\n"
    "      --older-than DAYS  last measured more than DAYS ago; entries without a\n"
    "                         valid side file have no date and stay\n"
    "A model that is left without entries loses its file.\n"
    "Files, of the symbols that match:\n"
    "      --empty            model files that hold nothing\n"
    "      --other-versions   files of other versions than 45, which are not\n"
    "                         read here\n"
    "Whose, and whether:\n"
    "  -m, --machine MACHINE  the models of a machine, else this one's\n"
    "      --host HOST        the models of this host\n"
    "      --yes              do it\n"
    "      --json             what is removed, or would be, as JSON\n"
    "Exit codes: 0; 1 when something could not be removed or read; 2 for a wrong\n"
    "command line.\n"
    "example: orrery perfmodel prune --symbol 'old_*' --fewer-than 10\n";

struct rules {
    bool entries;             /* one of the rules about entries is given */
    const char *symbol;       /* pattern, NULL: any */
    const char *arch;         /* NULL: any */
    unsigned long fewer_than; /* samples, 0: any */
    int64_t older_than; /* last measured before this, seconds since 1970; 0:
                         * any */
    bool empty, other_versions;
};

/* Whole models are removed: no rule is about rows. */
static bool takes_all(const struct rules *rules)
{
    return rules->entries && !rules->arch && !rules->fewer_than &&
           !rules->older_than;
}

/* Whether a row is removed. `side` is its valid side entry or NULL. */
static bool row_goes(const struct rules *rules,
                     const struct orr_model_comb *comb,
                     const struct orr_model_row *row,
                     const struct orr_side_entry *side)
{
    if (!rules->entries ||
        !perfmodel_arch_wanted(rules->arch, comb->devices, comb->ndevices))
        return false;
    if (rules->fewer_than && row->n >= rules->fewer_than)
        return false;
    if (rules->older_than && (!side || side->last_time >= rules->older_than))
        return false;
    return true;
}

/* -- one file -- */

struct pruning {
    const struct rules *rules;
    const char *path;
    FILE *out;    /* removals are printed there; NULL: silently */
    json_t *rows; /* they are added to this array; NULL: they are not */
    bool named;   /* the path was printed */
    unsigned nrows, nleft;
};

static void name_row(struct pruning *pruning, const struct orr_model_comb *comb,
                     unsigned impl, const struct orr_model_row *row)
{
    char arch[PERFMODEL_TEXT], mean[PERFMODEL_TEXT], footprint[16];

    if (pruning->rows) {
        snprintf(footprint, sizeof(footprint), "%08" PRIx32, row->hash);
        json_array_append_new(
            pruning->rows,
            json_pack("{s:o, s:s, s:i, s:s, s:I, s:o, s:i}", "file",
                      tool_json_text(pruning->path), "architecture",
                      perfmodel_arch_text(comb->devices, comb->ndevices, arch),
                      "implementation", (int)impl, "footprint", footprint,
                      "size", (json_int_t)row->size, "mean_us",
                      tool_json_number(row->mean), "samples", (int)row->n));
    }
    if (!pruning->out)
        return;
    if (!pruning->named)
        fprintf(pruning->out, "%s\n", pruning->path);
    pruning->named = true;
    fprintf(pruning->out,
            "  %-8s implementation %u  %08" PRIx32 "  size %" PRIu64
            "  %s  %" PRIu32 " samples\n",
            perfmodel_arch_text(comb->devices, comb->ndevices, arch), impl,
            row->hash, row->size, perfmodel_time_text(row->mean, mean), row->n);
}

/* Applies the rules to the rows of one implementation; with `remove`, takes
 * them out, and the regression with the last of them. */
static void prune_impl(struct pruning *pruning,
                       const struct perfmodel_data *data,
                       struct orr_model_comb *comb, unsigned i, bool remove)
{
    struct orr_model_impl *impl = &comb->impls[i];
    unsigned kept = 0, n = impl->nrows;

    for (unsigned r = 0; r < n; r++) {
        const struct orr_model_row *row = &impl->rows[r];
        bool goes = row_goes(pruning->rules, comb, row,
                             perfmodel_side_of(data, comb, i, row, NULL));

        if (goes)
            name_row(pruning, comb, i, row);
        if (!goes && remove)
            impl->rows[kept] = *row;
        kept += !goes;
    }
    pruning->nrows += n - kept;
    pruning->nleft += kept;
    if (n == 0 && !orr_model_fit_is_empty(
                      &impl->fit)) /* multiple regression has no rows */
        pruning->nleft++;
    if (!remove)
        return;
    impl->nrows = kept;
    if (n > 0 && kept == 0)
        orr_model_fit_clear(&impl->fit);
}

static void prune_data(struct pruning *pruning, struct perfmodel_data *data,
                       bool remove)
{
    for (unsigned c = 0; c < data->file->ncombs; c++)
        for (unsigned i = 0; i < data->file->combs[c].nimpls; i++)
            prune_impl(pruning, data, &data->file->combs[c], i, remove);
}

/* Whether the file is removed: the rules match all of it, or leave nothing. */
static bool file_goes(const struct pruning *pruning)
{
    if (pruning->nrows > 0 && !pruning->nleft)
        return true;
    if (!pruning->nrows && !pruning->nleft)
        return pruning->rules->empty || takes_all(pruning->rules);
    return takes_all(pruning->rules);
}

/* -- removal, under the lock -- */

/* Side entries whose rows have gone. */
static void prune_side(struct perfmodel_data *data)
{
    for (unsigned i = data->side->nentries; i-- > 0;) {
        const struct orr_side_entry *entry = &data->side->entries[i];
        const struct orr_model_comb *comb = orr_model_file_find_comb(
            data->file, entry->devices, entry->ndevices, 0);

        if (!comb || entry->impl >= comb->nimpls ||
            !orr_model_impl_find_row(&comb->impls[entry->impl], entry->hash))
            orr_side_remove(data->side, i);
    }
}

struct doing {
    struct pruning pruning;
    const char *side_path;
    bool removed; /* the file */
};

static int remove_model_file(const char *path, struct orr_error *err)
{
    if (unlink(path) < 0 && errno != ENOENT)
        return orr_fail(err, -errno, "%s: cannot be removed: %s", path,
                        strerror(errno));
    return 0;
}

/* -ECANCELED: there is nothing to write, either because nothing is removed or
 * because the file is. */
static int prune_edit_model(struct orr_model_file *file, void *arg,
                            struct orr_error *err)
{
    struct doing *doing = arg;
    struct perfmodel_data data = {.file = file};
    int rc = orr_side_read(doing->side_path, ORR_SIDE_SAMPLES, &data.side, err);

    if (rc < 0 && rc != -ENOENT && rc != -EINVAL)
        return rc;
    doing->pruning.nrows = doing->pruning.nleft = 0;
    prune_data(&doing->pruning, &data, true);
    rc = -ECANCELED;
    if (file_goes(&doing->pruning)) {
        rc = remove_model_file(doing->pruning.path, err);
        if (rc == 0)
            rc = remove_model_file(doing->side_path, err);
        doing->removed = rc == 0;
        rc = rc == 0 ? -ECANCELED : rc;
    } else if (doing->pruning.nrows > 0) {
        rc = 0;
        if (data.side) {
            prune_side(&data);
            rc = orr_side_write(doing->side_path, data.side, err);
        }
    }
    orr_side_free(data.side);
    return rc;
}

static int do_file(const char *path, const struct rules *rules,
                   struct doing *ret)
{
    struct orr_error err = {""};
    char *side = NULL;
    int rc = orr_side_path(path, &side);

    interrupt_says(PERFMODEL_INTERRUPTED);
    *ret = (struct doing){.pruning = {.rules = rules, .path = path},
                          .side_path = side};
    if (rc == 0)
        rc = orr_model_file_update(path, prune_edit_model, ret, NULL, &err);
    free(side);
    ret->side_path = NULL;
    if (rc == -ECANCELED)
        return 0;
    if (rc < 0)
        tool_report(&err, rc);
    return rc;
}

/* -- all files -- */

struct prune {
    const struct rules *rules;
    const char *host;
    bool yes;
    json_t *rows, *files; /* owned: arrays; NULL: it is printed as text */
    unsigned nrows, nfiles, nfailed;
};

static void count_done(struct prune *prune, const char *path, unsigned nrows,
                       bool file)
{
    prune->nrows += nrows;
    prune->nfiles += file;
    if (file && prune->files)
        json_array_append_new(prune->files, tool_json_text(path));
    else if (file)
        printf("%s: %s whole\n", path,
               prune->yes ? "removed" : "would be removed");
}

/* Prints what is removed, and then removes it; an empty file has no data. */
static int prune_file(struct prune *prune, const char *path)
{
    struct perfmodel_data data = {0};
    struct pruning pruning = {.rules = prune->rules,
                              .path = path,
                              .rows = prune->rows,
                              .out = prune->rows ? NULL : stdout};
    struct orr_error err = {""};
    struct doing doing;
    int rc = perfmodel_load(path, &data, &err);

    if (rc == -ENOENT)
        return 0;
    if (rc < 0 && rc != -ENODATA) {
        tool_report(&err, rc);
        prune->nfailed++;
        return rc == -ENOMEM ? rc : 0;
    }
    if (rc == 0)
        prune_data(&pruning, &data, false);
    perfmodel_unload(&data);
    if (!file_goes(&pruning) && !pruning.nrows)
        return 0;
    if (!prune->yes) {
        count_done(prune, path, pruning.nrows, file_goes(&pruning));
    } else if (do_file(path, prune->rules, &doing) == 0) {
        count_done(prune, path, doing.pruning.nrows, doing.removed);
    } else {
        prune->nfailed++;
    }
    return 0;
}

static int prune_visit_model(const struct perfmodel_item *item, void *arg)
{
    struct prune *prune = arg;

    if (prune->rules->symbol &&
        fnmatch(prune->rules->symbol, item->symbol, 0) != 0)
        return 0;
    return prune_file(prune, item->path);
}

/* -- other versions -- */

static void prune_other(struct prune *prune, const char *folder,
                        const char *name)
{
    char *symbol = strndup(name, strcspn(name, "."));
    char *path = tool_format("%s/%s", folder, name);
    bool ours = symbol && path && name[strlen(symbol)] == '.' &&
                !strcmp(name + strlen(symbol) + 1, prune->host) &&
                (!prune->rules->symbol ||
                 fnmatch(prune->rules->symbol, symbol, 0) == 0);

    if (ours && prune->yes && unlink(path) < 0) {
        tool_error("%s: cannot be removed: %s", path, strerror(errno));
        prune->nfailed++;
    } else if (ours) {
        count_done(prune, path, 0, true);
    }
    free(symbol);
    free(path);
}

/* Calls one of the two above for each name in a folder; a missing folder has
 * none. */
static void each_name(struct prune *prune, const char *folder,
                      void (*call)(struct prune *prune, const char *folder,
                                   const char *name))
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, NULL, alphasort);

    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.')
            call(prune, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

/* A folder named by a number is a version. */
static void prune_version(struct prune *prune, const char *folder,
                          const char *name)
{
    char *path;

    if (name[strspn(name, "0123456789")] || atoi(name) == ORR_MODEL_VERSION)
        return;
    path = tool_format("%s/%s", folder, name);
    if (path)
        each_name(prune, path, prune_other);
    else
        prune->nfailed++;
    free(path);
}

static void prune_versions(struct prune *prune,
                           const struct perfmodel_place *place)
{
    for (const char *const *dir = orr_sampling_dirs(place->sampling); *dir;
         dir++) {
        char *folder = tool_format("%s/codelets", *dir);

        if (folder)
            each_name(prune, folder, prune_version);
        else
            prune->nfailed++;
        free(folder);
    }
}

/* -- the command -- */

static int print_prune_json(struct prune *prune)
{
    json_t *json = json_pack("{s:b, s:o, s:o}", "removed", (int)prune->yes,
                             "entries", prune->rows, "files", prune->files);

    if (json && json_array_size(prune->rows) >= prune->nrows &&
        json_array_size(prune->files) == prune->nfiles)
        return tool_json_print(json);
    json_decref(json);
    return -ENOMEM;
}

static void print_prune_text(const struct prune *prune)
{
    const char *entries = prune->nrows == 1 ? "y" : "ies";

    if (prune->yes)
        printf("%u entr%s and %u file%s removed\n", prune->nrows, entries,
               prune->nfiles, orr_plural(prune->nfiles));
    else
        printf("%u entr%s and %u file%s would be removed%s\n", prune->nrows,
               entries, prune->nfiles, orr_plural(prune->nfiles),
               prune->nrows || prune->nfiles ? "; --yes does it" : "");
}

static int prune_all(const struct perfmodel_place *place,
                     const struct rules *rules, bool yes, bool json)
{
    struct prune prune = {.rules = rules,
                          .host = place->host,
                          .yes = yes,
                          .rows = json ? json_array() : NULL,
                          .files = json ? json_array() : NULL};
    int rc = json && (!prune.rows || !prune.files) ? -ENOMEM : 0;

    if (rc == 0 && (rules->entries || rules->empty))
        rc = perfmodel_each(place, place->host, prune_visit_model, &prune);
    if (rc == 0 && rules->other_versions)
        prune_versions(&prune, place);
    if (rc < 0) {
        json_decref(prune.rows);
        json_decref(prune.files);
        tool_error("perfmodel prune: %s", strerror(-rc));
        return TOOL_FAILED;
    }
    if (!json)
        print_prune_text(&prune);
    else if (print_prune_json(&prune) < 0)
        return tool_fail(TOOL_FAILED, "out of memory");
    return prune.nfailed || fflush(stdout) != 0 ? TOOL_FAILED : TOOL_OK;
}

/* -1, with a message, for what is not a positive number. */
static int read_prune_number(const char *option, const char *text, double *ret)
{
    char *end;

    if (!text)
        return 0;
    *ret = strtod(text, &end);
    if (*end || end == text || !(*ret > 0) || *ret > 1e9) {
        tool_error("perfmodel prune: --%s %s: a positive number is required",
                   option, text);
        return -1;
    }
    return 0;
}

int perfmodel_prune(int argc, char **argv)
{
    struct perfmodel_choice choice = {NULL, NULL};
    const char *older = NULL, *fewer = NULL;
    double days = 0, samples = 0;
    struct rules rules = {0};
    bool yes = false, json = false;
    const struct tool_option options[] = {
        {'m', "machine", &choice.machine, NULL},
        {0, "host", &choice.host, NULL},
        {0, "symbol", &rules.symbol, NULL},
        {0, "arch", &rules.arch, NULL},
        {0, "fewer-than", &fewer, NULL},
        {0, "older-than", &older, NULL},
        {0, "empty", NULL, &rules.empty},
        {0, "other-versions", NULL, &rules.other_versions},
        {0, "yes", NULL, &yes},
        {0, "json", NULL, &json},
        {0}};
    struct perfmodel_place place;
    int noperands = 0,
        rc = tool_parse_operands(argc, argv, options, help, &noperands);

    if (rc <= 0)
        return rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (read_prune_number("fewer-than", fewer, &samples) < 0 ||
        read_prune_number("older-than", older, &days) < 0)
        return TOOL_USAGE;
    rules.fewer_than = (unsigned long)ceil(samples);
    if (older)
        rules.older_than = (int64_t)fmax(1, (double)time(NULL) - days * 86400);
    rules.entries = rules.arch || fewer || older ||
                    (rules.symbol && !rules.empty && !rules.other_versions);
    if (noperands > 0 ||
        !(rules.entries || rules.empty || rules.other_versions)) {
        tool_error(noperands > 0 ? "perfmodel prune: %s is not understood; the "
                                   "models are chosen by --symbol"
                                 : "perfmodel prune: give what to remove; see "
                                   "orrery perfmodel prune --help%s",
                   noperands > 0 ? argv[1] : "");
        return TOOL_USAGE;
    }
    if (perfmodel_open(&choice, &place) < 0)
        return TOOL_FAILED;
    rc = prune_all(&place, &rules, yes, json);
    perfmodel_close(&place);
    return rc;
}
