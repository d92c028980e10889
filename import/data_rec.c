/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/data_rec.c - see sched_rec.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/rec_lines.h"
#include "import/sched_rec.h"

struct entry {
    char *handle, *name, *coordinates; /* owned, or NULL */
    uint64_t bytes;
    int64_t home;
    bool has_home;
};

static void data_entry_clear(struct entry *e)
{
    free(e->handle);
    free(e->name);
    free(e->coordinates);
    *e = (struct entry){0};
}

static int data_entry_set_field(struct flow *flow, struct entry *e,
                                const struct rec_field *field)
{
    if (!strcmp(field->name, "Handle"))
        return flow_text(&e->handle, field->value);
    if (!strcmp(field->name, "Name"))
        return flow_text(&e->name, field->value);
    if (!strcmp(field->name, "Coordinates"))
        return flow_text(&e->coordinates, field->value);
    if (!strcmp(field->name, "Size"))
        return rec_number(flow, field, 10, &e->bytes);
    if (strcmp(field->name, "HomeNode"))
        return 0;
    e->has_home = true;
    return rec_integer(flow, field, &e->home);
}

static int datum_set_coordinates(struct flow *flow, struct flow_datum *datum,
                                 char *text)
{
    struct rec_field field = {"Coordinates", NULL};
    size_t most = sizeof(datum->coordinates) / sizeof(*datum->coordinates);
    int rc = 0;

    while (!rc && text && datum->ncoordinates < most &&
           (field.value = rec_word(&text)))
        rc = rec_integer(flow, &field,
                         &datum->coordinates[datum->ncoordinates++]);
    return rc;
}

static int data_entry_end(struct flow *flow, struct entry *e)
{
    struct flow_datum *datum;
    size_t d;
    int rc;

    if (!e->handle)
        return 0;
    if (flow_find(&flow->datum_names, e->handle) != FLOW_NONE) {
        rc = flow_note(flow, "data with the same address, one after the other: "
                             "they are taken for one");
        data_entry_clear(e);
        return rc;
    }
    d = flow_add_datum(flow, e->name, e->bytes);
    if (d == FLOW_NONE)
        return -ENOMEM;
    datum = &flow->data[d];
    datum->home = e->home < -1 ? -1 : e->home;
    datum->has_home = e->has_home;
    rc = flow_set(&flow->datum_names, e->handle, d);
    if (!rc)
        rc = datum_set_coordinates(flow, datum, e->coordinates);
    data_entry_clear(e);
    return rc;
}

/* "dir/x.tasks.rec" becomes "dir/x.data.rec"; owned, NULL: the file is not called
 * so, or there is none, or no memory. */
static char *data_rec_path(const char *tasks_path)
{
    static const char suffix[] = "tasks.rec", other[] = "data.rec";
    size_t n = strlen(tasks_path), stem;
    char *path;

    if (n < sizeof(suffix) - 1 ||
        strcmp(tasks_path + n - (sizeof(suffix) - 1), suffix))
        return NULL;
    stem = n - (sizeof(suffix) - 1);
    path = malloc(stem + sizeof(other));
    if (!path)
        return NULL;
    memcpy(path, tasks_path, stem);
    memcpy(path + stem, other, sizeof(other));
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

int import_data_rec(struct flow *flow, const char *tasks_path)
{
    const char *before = flow->path;
    char *path = data_rec_path(tasks_path);
    struct entry entry = {0};
    struct rec_file file;
    struct rec_field field;
    int rc;

    if (!path)
        return 0;
    rc = rec_open(flow, path, &file);
    while (!rc && (rc = rec_next(&file, &field)) > 0)
        rc = field.name ? data_entry_set_field(flow, &entry, &field)
                        : data_entry_end(flow, &entry);
    if (!rc)
        rc = data_entry_end(flow, &entry);
    if (rc == -ENOMEM)
        flow_no_memory(flow);
    data_entry_clear(&entry);
    rec_close(&file);
    free(path);
    flow->path = before;
    return rc;
}
