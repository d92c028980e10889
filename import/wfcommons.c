/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/wfcommons.c - instances of workflows in WfCommons' JSON, "WfFormat": since
 * version 1.5 tasks and files in `specification`, what was measured in `execution`;
 * before, all in the tasks. A value of another type than the format has there is
 * refused with its path; null counts as nothing.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <starpu.h>

#include "import/formats.h"
#include "import/json_words.h"
#include "import/kinds.h"
#include "import/workflow.h"

/* Where a value stands: "workflow.tasks[3]". */
struct place {
    char path[160];
};

static struct place place_of(const struct place *parent, const char *name)
{
    struct place place;

    snprintf(place.path, sizeof(place.path), "%.100s.%.50s", parent->path, name);
    return place;
}

static struct place place_at(const struct place *list, size_t i)
{
    struct place place;

    snprintf(place.path, sizeof(place.path), "%.120s[%zu]", list->path, i);
    return place;
}

static int check_type(struct flow *flow, const json_t *value, enum wanted wanted,
                      const char *path)
{
    return json_is_wanted(value, wanted)
               ? 0
               : flow_wrong(flow, "%s is %s, not %s", path, json_type_word(value),
                            json_wanted_word(wanted));
}

/* The member of that name, NULL without; `older` is another name, or NULL. */
static int get(struct flow *flow, const json_t *object, const struct place *place,
               const char *name, const char *older, enum wanted wanted,
               const json_t **ret)
{
    const json_t *value = json_object_get(object, name);
    struct place here = place_of(place, name);

    if (!value && older) {
        value = json_object_get(object, older);
        here = place_of(place, older);
    }
    *ret = value && !json_is_null(value) ? value : NULL;
    return *ret ? check_type(flow, *ret, wanted, here.path) : 0;
}

static int get_text(struct flow *flow, const json_t *object,
                    const struct place *place, const char *name, const char **ret)
{
    const json_t *value;
    int rc = get(flow, object, place, name, NULL, TEXT, &value);

    *ret = rc ? NULL : json_string_value(value);
    return rc;
}

/* *ret is left alone where there is none. */
static int get_number(struct flow *flow, const json_t *object,
                      const struct place *place, const char *name,
                      const char *older, double *ret)
{
    const json_t *value;
    int rc = get(flow, object, place, name, older, NUMBER, &value);

    if (!rc && value)
        *ret = json_number_value(value);
    return rc;
}

static int get_file_bytes(struct flow *flow, const json_t *file,
                          const struct place *place, uint64_t *ret)
{
    double bytes = 0;
    int rc = get_number(flow, file, place, "sizeInBytes", "size", &bytes);

    if (!rc && (bytes < 0 || bytes >= 1e18))
        rc = flow_wrong(flow, "%s: a file of %g bytes", place->path, bytes);
    *ret = rc ? 0 : (uint64_t)bytes;
    return rc;
}

static int get_id(struct flow *flow, const json_t *of, const struct place *place,
                  const char **ret)
{
    int rc = get_text(flow, of, place, "id", ret);

    if (!rc && !*ret)
        rc = get_text(flow, of, place, "name", ret);
    return rc;
}

typedef int member_fn(struct flow *flow, const json_t *member,
                      const struct place *place, size_t i, void *arg);

/* Calls it for each member of the list of that name, each of which is `wanted`. */
static int each_member(struct flow *flow, const json_t *object,
                       const struct place *place, const char *name,
                       const char *older, enum wanted wanted, member_fn *visit,
                       void *arg)
{
    const json_t *list, *member;
    const char *called = json_object_get(object, name) || !older ? name : older;
    struct place here = place_of(place, called);
    int rc = get(flow, object, place, name, older, LIST, &list);
    size_t i;

    for (i = 0; !rc && i < json_array_size(list); i++) {
        struct place at = place_at(&here, i);

        member = json_array_get(list, i);
        rc = check_type(flow, member, wanted, at.path);
        if (!rc)
            rc = visit(flow, member, &at, i, arg);
    }
    return rc;
}

/* --- tasks --- */

static int set_measures(struct flow *flow, size_t task, const json_t *of,
                        const struct place *place)
{
    double seconds = (double)NAN, cores = 1, bytes = 0, priority = 0;
    int rc = get_number(flow, of, place, "runtimeInSeconds", "runtime", &seconds);

    if (!rc)
        rc = get_number(flow, of, place, "coreCount", "cores", &cores);
    if (!rc)
        rc = get_number(flow, of, place, "memoryInBytes", NULL, &bytes);
    if (!rc)
        rc = get_number(flow, of, place, "priority", NULL, &priority);
    if (!rc)
        rc = workflow_set_cores(flow, task, cores, place->path);
    if (!rc)
        rc = workflow_set_memory(flow, task, bytes, place->path);
    if (!rc && !(fabs(priority) <= INT_MAX))
        rc = flow_wrong(flow, "%s: priority %g", place->path, priority);
    if (rc)
        return rc;
    if (seconds >= 0)
        flow->tasks[task].us = seconds * 1e6;
    if (json_object_get(of, "priority"))
        flow->tasks[task].priority = (int64_t)priority;
    return json_object_get(of, "memory") &&
                   flow_note(flow,
                             "\"memory\" of tasks has no unit, and does not "
                             "count: memoryInBytes does")
               ? flow_no_memory(flow)
               : 0;
}

/* What the field of kinds.h, "command.program", has in the task; NULL without. */
static int get_field(struct flow *flow, const json_t *task,
                     const struct place *place, const char **ret)
{
    const char *field = flow_kinds_field(flow), *dot;
    struct place here = *place;

    *ret = NULL;
    while (field && (dot = strchr(field, '.'))) {
        char name[64];

        snprintf(name, sizeof(name), "%.*s", (int)(dot - field), field);
        task = json_object_get(task, name);
        here = place_of(&here, name);
        field = dot + 1;
    }
    return field ? get_text(flow, task, &here, field, ret) : 0;
}

/* `arg`: what was executed, by id. */
static int workflow_add_task(struct flow *flow, const json_t *from,
                             const struct place *place, size_t i, void *arg)
{
    const char *id, *kind = NULL, *name = NULL, *field = NULL;
    int rc = get_id(flow, from, place, &id);

    (void)i;
    if (!rc && !id)
        return flow_wrong(flow, "%s: a task has neither id nor name", place->path);
    if (!rc)
        rc = get_text(flow, from, place, "category", &kind);
    if (!rc)
        rc = get_text(flow, from, place, "name", &name);
    if (!rc)
        rc = get_field(flow, from, place, &field);
    if (!rc && !field)
        rc = get_field(flow, json_object_get(arg, id), place, &field);
    if (!rc && !workflow_add_job(flow, id, name ? name : id, field,
                                 kind   ? kind
                                 : name ? name
                                        : id))
        rc = -EINVAL; /* with a message */
    if (!rc)
        rc = set_measures(flow, flow->ntasks - 1, from, place);
    if (rc)
        return rc;
    /* Older versions name parents so. */
    if (name && strcmp(name, id) &&
        flow_find(&flow->task_names, name) == FLOW_NONE)
        rc = flow_set(&flow->task_names, name, flow->ntasks - 1);
    return rc ? flow_no_memory(flow) : 0;
}

/* --- files --- */

static int workflow_add_file(struct flow *flow, const json_t *file,
                             const struct place *place, size_t i, void *arg)
{
    const char *id;
    uint64_t bytes;
    size_t d;
    int rc = get_id(flow, file, place, &id);

    (void)i;
    (void)arg;
    if (!rc)
        rc = get_file_bytes(flow, file, place, &bytes);
    if (rc)
        return rc;
    if (!id)
        return flow_wrong(flow, "%s: a file has neither id nor name", place->path);
    if (flow_find(&flow->datum_names, id) != FLOW_NONE)
        return flow_wrong(flow, "%s: a second file \"%.60s\"", place->path, id);
    d = flow_add_datum(flow, id, bytes);
    return d == FLOW_NONE || flow_set(&flow->datum_names, id, d)
               ? flow_no_memory(flow)
               : 0;
}

/* What a member of a task's list is about. */
struct about {
    size_t task;
    uint32_t mode; /* of files */
    bool parents;  /* of other tasks */
};

/* Of a file that is described elsewhere. */
static int add_named_use(struct flow *flow, const json_t *name,
                         const struct place *place, size_t i, void *arg)
{
    const struct about *about = arg;

    (void)place;
    (void)i;
    return workflow_use(flow, about->task, json_string_value(name), 0, about->mode);
}

/* Of versions before 1.5. */
static int add_own_file(struct flow *flow, const json_t *file,
                        const struct place *place, size_t i, void *arg)
{
    const struct about *about = arg;
    const char *name, *link = NULL;
    uint64_t bytes = 0;
    int rc = get_text(flow, file, place, "name", &name);

    (void)i;
    if (!rc && !name)
        rc = get_text(flow, file, place, "id", &name);
    if (!rc)
        rc = get_text(flow, file, place, "link", &link);
    if (!rc && (!name || !link))
        rc = flow_wrong(flow, "%s: a file of a task lacks name or link",
                        place->path);
    if (!rc)
        rc = get_file_bytes(flow, file, place, &bytes);
    if (!rc)
        rc = workflow_use(flow, about->task, name, bytes,
                          !strcmp(link, "output") ? STARPU_W : STARPU_R);
    if (!rc && !json_object_get(file, "sizeInBytes") &&
        json_object_get(file, "size") &&
        flow_note(flow, "sizes of files are taken for bytes; versions before 1.0 "
                        "had kilobytes"))
        rc = flow_no_memory(flow);
    return rc;
}

static int add_wait(struct flow *flow, const json_t *name,
                    const struct place *place, size_t i, void *arg)
{
    const struct about *about = arg;
    const char *own = flow->tasks[about->task].name;
    const char *other = json_string_value(name);

    (void)place;
    (void)i;
    return about->parents ? workflow_wait(flow, own, other)
                          : workflow_wait(flow, other, own);
}

static int connect_task(struct flow *flow, const json_t *task,
                        const struct place *place, size_t i, void *arg)
{
    struct about reads = {i, STARPU_R, false}, writes = {i, STARPU_W, false};
    struct about parents = {i, 0, true}, children = {i, 0, false};
    int rc = each_member(flow, task, place, "files", NULL, OBJECT, add_own_file,
                         &reads);

    (void)arg;
    if (!rc)
        rc = each_member(flow, task, place, "inputFiles", NULL, TEXT,
                         add_named_use, &reads);
    if (!rc)
        rc = each_member(flow, task, place, "outputFiles", NULL, TEXT,
                         add_named_use, &writes);
    if (!rc)
        rc = each_member(flow, task, place, "parents", NULL, TEXT, add_wait,
                         &parents);
    if (!rc)
        rc = each_member(flow, task, place, "children", NULL, TEXT, add_wait,
                         &children);
    return rc;
}

/* --- all of it --- */

static int index_execution(struct flow *flow, const json_t *measured,
                           const struct place *place, size_t i, void *arg)
{
    const char *id;
    int rc = get_id(flow, measured, place, &id);

    (void)i;
    if (!rc && id &&
        json_object_set(arg, id, (json_t *)(uintptr_t)measured) < 0)
        rc = flow_no_memory(flow);
    return rc;
}

static int add_execution(struct flow *flow, const json_t *measured,
                         const struct place *place, size_t i, void *arg)
{
    const char *id;
    int rc = get_id(flow, measured, place, &id);
    size_t t = id ? flow_find(&flow->task_names, id) : FLOW_NONE;

    (void)i;
    (void)arg;
    if (!rc && t == FLOW_NONE)
        return flow_wrong(flow, "%s: what was executed as \"%.60s\" is not "
                                "specified",
                          place->path, id ? id : "");
    return rc ? rc : set_measures(flow, t, measured, place);
}

/* Hosts on which tasks ran. */
struct speeds {
    double least, most; /* MHz */
};

static int read_speed(struct flow *flow, const json_t *machine,
                      const struct place *place, size_t i, void *arg)
{
    struct speeds *speeds = arg;
    const struct place of = place_of(place, "cpu");
    const json_t *cpu;
    double mhz = 0;
    int rc = get(flow, machine, place, "cpu", NULL, OBJECT, &cpu);

    (void)i;
    if (!rc && cpu)
        rc = get_number(flow, cpu, &of, "speedInMHz", "speed", &mhz);
    if (!rc && mhz > 0) {
        speeds->least = fmin(speeds->least, mhz);
        speeds->most = fmax(speeds->most, mhz);
    }
    return rc;
}

/* Times were measured on hosts that differ. */
static int note_speeds(struct flow *flow, const json_t *execution,
                       const struct place *place)
{
    struct speeds speeds = {INFINITY, 0};
    int rc = each_member(flow, execution, place, "machines", NULL, OBJECT,
                         read_speed, &speeds);

    if (!rc && speeds.most > speeds.least &&
        flow_note(flow,
                  "tasks ran on hosts of %g to %g MHz: times are as they were "
                  "there",
                  speeds.least, speeds.most))
        rc = flow_no_memory(flow);
    return rc;
}

static int read_workflow(struct flow *flow, const json_t *workflow,
                         const struct place *place)
{
    const json_t *specification, *execution, *from, *tasks;
    struct place at = *place, executed = place_of(place, "execution");
    json_t *by_id = json_object();
    int rc = by_id ? 0 : flow_no_memory(flow);

    if (!rc)
        rc = get(flow, workflow, place, "specification", NULL, OBJECT,
                 &specification);
    if (!rc)
        rc = get(flow, workflow, place, "execution", NULL, OBJECT, &execution);
    if (!rc) {
        from = specification ? specification : workflow;
        if (specification)
            at = place_of(place, "specification");
        rc = get(flow, from, &at, "tasks", "jobs", LIST, &tasks);
    }
    if (!rc && !tasks)
        rc = flow_wrong(flow, "the workflow has no list of tasks");
    if (!rc && specification)
        rc = each_member(flow, specification, &at, "files", NULL, OBJECT,
                         workflow_add_file, NULL);
    if (!rc)
        rc = each_member(flow, execution, &executed, "tasks", NULL, OBJECT,
                         index_execution, by_id);
    if (!rc)
        rc = each_member(flow, from, &at, "tasks", "jobs", OBJECT,
                         workflow_add_task, by_id);
    if (!rc)
        rc = note_speeds(flow, execution ? execution : workflow,
                         execution ? &executed : place);
    if (!rc)
        rc = each_member(flow, from, &at, "tasks", "jobs", OBJECT, connect_task,
                         NULL);
    if (!rc)
        rc = each_member(flow, execution, &executed, "tasks", NULL, OBJECT,
                         add_execution, NULL);
    json_decref(by_id);
    return rc ? rc : workflow_end(flow);
}

int import_wfcommons(struct flow *flow, const char *path,
                     const struct orr_import_options *options)
{
    const struct place place = {"workflow"};
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    const json_t *workflow;
    int rc;

    (void)options;
    if (!root) {
        flow->line = error.line > 0 ? (unsigned long)error.line : 0;
        return flow_wrong(flow, "%s", error.text);
    }
    workflow = json_object_get(root, "workflow");
    if (!workflow)
        rc = flow_wrong(flow, "there is no \"workflow\" in it");
    else
        rc = check_type(flow, workflow, OBJECT, place.path);
    if (!rc)
        rc = read_workflow(flow, workflow, &place);
    json_decref(root);
    return rc;
}
