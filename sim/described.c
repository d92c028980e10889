/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/described.c - see described.h. */
#include "sim/described.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "platforms/draw.h"
#include "platforms/edit.h"
#include "platforms/power.h"
#include "sim/exec.h"

/* What an engine has. */
struct kept {
    char *key; /* owned: of what the description was made */
    struct orr_machine_desc *desc; /* owned */
};

/* --- making one --- */

/* What-if edits, which the variable has; reports what each has changed. */
static int edit(struct orr_machine_desc *desc, const char *variable,
                const char *edits, struct orr_error *err)
{
    unsigned n = desc->nedits;
    struct orr_error why = {""};
    int error = orr_machine_desc_edit(desc, edits, &why);

    if (error < 0)
        return orr_fail(err, error, "%s: %s", variable, why.text);
    for (unsigned i = n; i < desc->nedits; i++)
        orr_log_notice("what if %s: %s", desc->edits[i].edit,
                       desc->edits[i].text);
    return 0;
}

/* All that differs from the machine as it is described. */
static int apply_options(const struct orr_machine_options *options,
                         struct orr_machine_desc *desc, struct orr_error *err)
{
    char limit[64];
    int error = 0;

    snprintf(limit, sizeof(limit), "bus.bandwidth = %dMBps", options->mbps);
    if (options->mbps > 0)
        error = edit(desc, "STARPU_LIMIT_BANDWIDTH", limit, err);
    if (!error && options->edits)
        error = edit(desc, "ORRERY_SET", options->edits, err);
    if (!error && options->powers)
        error = orr_machine_desc_set_powers(desc, options->powers, err);
    if (!error)
        error = orr_machine_desc_draw(desc, options->draw, err);
    return error;
}

static int make(const struct orr_machine_options *options, struct orr_machine_desc **ret,
                struct orr_error *err)
{
    int error = orr_machine_desc_load(options->name, options->sampling_dirs, ret, err);

    if (error < 0)
        return error;
    error = apply_options(options, *ret, err);
    if (error < 0)
        orr_machine_desc_free(*ret);
    return error;
}

/* --- keeping it --- */

/* All that a description depends on; owned, NULL without memory. Files do not change while an
 * engine runs. */
static char *make_key(const struct orr_machine_options *options)
{
    char *key = NULL;
    size_t size;
    FILE *file = open_memstream(&key, &size);

    if (!file)
        return NULL;
    fprintf(file, "%s\n%s\n%s\n%llu %d", options->name,
            options->edits ? options->edits : "",
            options->powers ? options->powers : "",
            (unsigned long long)options->draw, options->mbps);
    for (const char *const *dir = options->sampling_dirs; dir && *dir; dir++)
        fprintf(file, "\n%s", *dir);
    if (fclose(file) == 0)
        return key;
    free(key);
    return NULL;
}

static void drop(void *arg)
{
    struct kept *kept = arg;

    free(kept->key);
    orr_machine_desc_free(kept->desc);
    free(kept);
}

/* The engine has it in the place of the last one. Without memory it is nobody's. */
static void keep(struct orr_sim_exec *engine, char *key, struct orr_machine_desc *desc)
{
    struct kept *kept = malloc(sizeof(*kept));

    if (!kept) {
        free(key);
        return;
    }
    *kept = (struct kept){key, desc};
    if (engine->kept)
        engine->drop(engine->kept);
    engine->kept = kept;
    engine->drop = drop;
}

int orr_described_find(const struct orr_machine_options *options,
                       struct orr_machine_desc **ret, struct orr_error *err)
{
    struct orr_sim_exec *engine = orr_sim_exec_current();
    const struct kept *kept = engine ? engine->kept : NULL;
    char *key = engine ? make_key(options) : NULL;
    int error = 0;

    if (kept && key && strcmp(kept->key, key) == 0) {
        *ret = kept->desc;
        free(key);
        return 0;
    }
    error = make(options, ret, err);
    if (error == 0 && key)
        keep(engine, key, *ret);
    else
        free(key);
    return error;
}

void orr_described_leave(struct orr_machine_desc *desc)
{
    const struct orr_sim_exec *engine = orr_sim_exec_current();
    const struct kept *kept = engine ? engine->kept : NULL;

    if (!kept || kept->desc != desc)
        orr_machine_desc_free(desc);
}
