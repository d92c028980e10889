/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/wfcommons.c - instances of workflows in WfCommons' JSON, "WfFormat": since
 * version 1.5 tasks and files in `specification`, what was measured in `execution`;
 * before, all in the tasks.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <starpu.h>

#include "import/formats.h"
#include "import/workflow.h"

static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* The first of two names that there is, NaN without. */
static double workflow_number(const json_t *object, const char *name,
                              const char *older)
{
    const json_t *value = json_object_get(object, name);

    if (!value)
        value = json_object_get(object, older);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static uint64_t workflow_file_bytes(const json_t *file)
{
    double bytes = workflow_number(file, "sizeInBytes", "size");

    return bytes > 0 && bytes < 1e18 ? (uint64_t)bytes : 0;
}

static const char *id_of(const json_t *task)
{
    const char *id = text_of(task, "id");

    return id ? id : text_of(task, "name");
}

/* --- tasks --- */

static int set_measures(struct flow *flow, struct flow_task *task,
                        const json_t *of)
{
    double seconds = workflow_number(of, "runtimeInSeconds", "runtime");
    double cores = workflow_number(of, "coreCount", "cores");

    if (seconds >= 0)
        task->us = seconds * 1e6;
    if (!(cores > 1))
        return 0;
    return flow_note(flow, "tasks ran on several cores: each runs on one "
                           "worker here, for as long");
}

static int workflow_add_task(struct flow *flow, const json_t *from)
{
    const char *id = id_of(from), *kind = text_of(from, "category");
    const char *name = text_of(from, "name");
    struct flow_task *task;
    int rc;

    if (!id)
        return flow_wrong(flow, "a task has neither id nor name");
    task = workflow_add_job(flow, id, kind ? kind : name ? name : id);
    if (!task)
        return -EINVAL; /* with a message */
    rc = set_measures(flow, task, from);
    /* Older versions name parents so. */
    if (!rc && name && strcmp(name, id) &&
        flow_find(&flow->task_names, name) == FLOW_NONE)
        rc = flow_set(&flow->task_names, name, flow->ntasks - 1);
    return rc ? flow_no_memory(flow) : 0;
}

static int add_tasks(struct flow *flow, const json_t *tasks)
{
    size_t i;
    json_t *task;
    int rc = 0;

    json_array_foreach(tasks, i, task)
    {
        rc = workflow_add_task(flow, task);
        if (rc)
            return rc;
    }
    return 0;
}

/* --- files --- */

static int add_files(struct flow *flow, const json_t *files)
{
    size_t i;
    json_t *file;

    json_array_foreach(files, i, file)
    {
        const char *id = id_of(file);
        size_t d;

        if (!id)
            return flow_wrong(flow, "a file has neither id nor name");
        if (flow_find(&flow->datum_names, id) != FLOW_NONE)
            return flow_wrong(flow, "a second file \"%.60s\"", id);
        d = flow_add_datum(flow, id, workflow_file_bytes(file));
        if (d == FLOW_NONE || flow_set(&flow->datum_names, id, d))
            return flow_no_memory(flow);
    }
    return 0;
}

/* `names`: of files that are described elsewhere. */
static int workflow_add_uses(struct flow *flow, size_t task,
                             const json_t *names, uint32_t mode)
{
    size_t i;
    json_t *name;
    int rc;

    json_array_foreach(names, i, name)
    {
        if (!json_is_string(name))
            return flow_wrong(flow, "the name of a file is no text");
        rc = workflow_use(flow, task, json_string_value(name), 0, mode);
        if (rc)
            return rc;
    }
    return 0;
}

/* Of versions before 1.5. */
static int add_own_files(struct flow *flow, size_t task, const json_t *files)
{
    size_t i;
    json_t *file;
    int rc;

    json_array_foreach(files, i, file)
    {
        const char *name = text_of(file, "name"), *link = text_of(file, "link");

        if (!name)
            name = text_of(file, "id");
        if (!name || !link)
            return flow_wrong(flow, "a file of a task lacks name or link");
        rc = workflow_use(flow, task, name, workflow_file_bytes(file),
                          !strcmp(link, "output") ? STARPU_W : STARPU_R);
        if (!rc && !json_object_get(file, "sizeInBytes") &&
            json_object_get(file, "size"))
            rc = flow_note(flow, "sizes of files are taken for bytes; "
                                 "versions before 1.0 had kilobytes");
        if (rc)
            return rc;
    }
    return 0;
}

static int add_waits(struct flow *flow, size_t task, const json_t *names,
                     bool parents)
{
    const char *own = flow->tasks[task].name;
    size_t i;
    json_t *name;
    int rc;

    json_array_foreach(names, i, name)
    {
        const char *other = json_string_value(name);

        if (!other)
            return flow_wrong(flow, "a parent or child of %s is no text", own);
        rc = parents ? workflow_wait(flow, own, other)
                     : workflow_wait(flow, other, own);
        if (rc)
            return rc;
    }
    return 0;
}

static int workflow_connect_files(struct flow *flow, const json_t *tasks)
{
    size_t i;
    json_t *task;
    int rc = 0;

    json_array_foreach(tasks, i, task)
    {
        rc = add_own_files(flow, i, json_object_get(task, "files"));
        if (!rc)
            rc = workflow_add_uses(flow, i, json_object_get(task, "inputFiles"),
                                   STARPU_R);
        if (!rc)
            rc = workflow_add_uses(
                flow, i, json_object_get(task, "outputFiles"), STARPU_W);
        if (!rc)
            rc = add_waits(flow, i, json_object_get(task, "parents"), true);
        if (!rc)
            rc = add_waits(flow, i, json_object_get(task, "children"), false);
        if (rc)
            return rc;
    }
    return 0;
}

/* --- all of it --- */

static int add_execution(struct flow *flow, const json_t *tasks)
{
    size_t i;
    json_t *measured;

    json_array_foreach(tasks, i, measured)
    {
        const char *id = id_of(measured);
        size_t t = id ? flow_find(&flow->task_names, id) : FLOW_NONE;

        if (t == FLOW_NONE)
            return flow_wrong(flow,
                              "what was executed as \"%.60s\" is not "
                              "specified",
                              id ? id : "");
        if (set_measures(flow, &flow->tasks[t], measured))
            return flow_no_memory(flow);
    }
    return 0;
}

static int read_workflow(struct flow *flow, const json_t *workflow)
{
    const json_t *specification = json_object_get(workflow, "specification");
    const json_t *from = specification ? specification : workflow;
    const json_t *tasks = json_object_get(from, "tasks");
    int rc;

    if (!tasks)
        tasks = json_object_get(from, "jobs");
    if (!json_is_array(tasks))
        return flow_wrong(flow, "the workflow has no list of tasks");
    rc = add_files(flow, json_object_get(specification, "files"));
    if (!rc)
        rc = add_tasks(flow, tasks);
    if (!rc)
        rc = workflow_connect_files(flow, tasks);
    if (!rc)
        rc = add_execution(
            flow,
            json_object_get(json_object_get(workflow, "execution"), "tasks"));
    return rc ? rc : workflow_end(flow);
}

int import_wfcommons(struct flow *flow, const char *path,
                     const struct orr_import_options *options)
{
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
    rc = json_is_object(workflow)
             ? read_workflow(flow, workflow)
             : flow_wrong(flow, "there is no \"workflow\" in it");
    json_decref(root);
    return rc;
}
