/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/dax.c - workflows of Pegasus, "DAX" files of version 2 and 3: jobs, the
 * files that they use, parents of children.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "core/base/number.h"
#include "import/formats.h"
#include "import/kinds.h"
#include "import/workflow.h"
#include "import/xml.h"

struct dax {
    struct flow *flow;
    struct xml_file file;
    size_t job;  /* in which the reader is, FLOW_NONE: in none */
    char *child; /* likewise; owned */
};

/* "12.5" seconds; NaN where there is none. */
static int read_seconds(struct flow *flow, const char *text, double *ret_us)
{
    char *end;
    double seconds = text ? orr_strtod(text, &end) : 0;

    if (!text)
        return 0;
    if (end == text || *end || !(seconds >= 0))
        return flow_wrong(flow, "\"%.40s\" is no run time in seconds", text);
    *ret_us = seconds * 1e6;
    return 0;
}

static int begin_job(struct dax *dax, bool is_task)
{
    const char *id = xml_attribute(&dax->file, "id");
    const char *name = xml_attribute(&dax->file, "name");
    const char *runtime = xml_attribute(&dax->file, "runtime");
    const char *field = flow_kinds_field(dax->flow);
    const char *kind = field ? xml_attribute(&dax->file, field) : NULL;
    struct flow_task *task = NULL;
    int rc = 0;

    if (!id)
        rc = flow_wrong(dax->flow, "a job without id");
    else
        task = workflow_add_job(dax->flow, id, name ? name : "workflow", kind,
                                name ? name : "workflow");
    if (!rc && !task)
        rc = -EINVAL; /* with a message */
    if (!rc)
        rc = read_seconds(dax->flow, runtime, &task->us);
    if (!rc && !is_task)
        rc = flow_note(dax->flow, "workflows inside of the workflow are taken "
                                  "for one task each");
    dax->job = dax->flow->ntasks - 1;
    return rc;
}

static uint32_t dax_link_mode(const char *link)
{
    if (link && !strcmp(link, "input"))
        return STARPU_R;
    if (link && !strcmp(link, "output"))
        return STARPU_W;
    return link && !strcmp(link, "inout") ? STARPU_RW : 0;
}

static int dax_read_use(struct dax *dax)
{
    const char *file = xml_attribute(&dax->file, "file");
    const char *name = xml_attribute(&dax->file, "name");
    const char *link = xml_attribute(&dax->file, "link");
    const char *size = xml_attribute(&dax->file, "size");
    char *end = NULL;
    double bytes = size ? orr_strtod(size, &end) : 0;
    uint32_t mode = dax_link_mode(link);
    int rc = 0;

    if (size && (end == size || *end || !(bytes >= 0) || bytes > 1e18))
        rc = flow_wrong(dax->flow, "\"%.40s\" is no size in bytes", size);
    else if (!file && !name)
        rc = flow_wrong(dax->flow, "a job uses a file without name");
    else if (mode) /* programs and libraries are no data */
        rc = workflow_use(dax->flow, dax->job, file ? file : name,
                          (uint64_t)bytes, mode);
    return rc;
}

/* What a profile says of a job. */
enum profile { OTHER, RUNTIME, CORES, MEGABYTES };

static enum profile profile_of(const char *key)
{
    if (!key)
        return OTHER;
    if (!strcmp(key, "runtime"))
        return RUNTIME;
    if (!strcmp(key, "cores") || !strcmp(key, "request_cpus"))
        return CORES;
    return !strcmp(key, "memory") || !strcmp(key, "request_memory") ? MEGABYTES
                                                                    : OTHER;
}

static int read_amount(struct dax *dax, enum profile what, const char *text)
{
    char *end;
    double amount = text ? orr_strtod(text, &end) : 0;

    if (!text || end == text || *end)
        return flow_wrong(dax->flow, "\"%.40s\" is no number of %s",
                          text ? text : "",
                          what == CORES ? "cores" : "megabytes");
    return what == CORES ? workflow_set_cores(dax->flow, dax->job, amount, NULL)
                         : workflow_set_memory(dax->flow, dax->job,
                                               amount * 1048576, NULL);
}

/* <profile namespace="pegasus" key="runtime">60</profile> */
static int read_profile(struct dax *dax)
{
    enum profile what = profile_of(xml_attribute(&dax->file, "key"));
    char *text = NULL;
    int rc = 0;

    if (what != OTHER)
        text = xml_text(&dax->file);
    if (what == RUNTIME)
        rc = read_seconds(dax->flow, text, &dax->flow->tasks[dax->job].us);
    else if (what != OTHER)
        rc = read_amount(dax, what, text);
    free(text);
    return rc;
}

static int read_reference(struct dax *dax, bool is_child)
{
    const char *reference = xml_attribute(&dax->file, "ref");
    int rc = 0;

    if (!reference)
        rc = flow_wrong(dax->flow, "a child or parent without ref");
    else if (is_child)
        rc = flow_text(&dax->child, reference);
    else if (dax->child)
        rc = workflow_wait(dax->flow, dax->child, reference);
    return rc;
}

static int dax_begin_element(struct dax *dax, const char *name)
{
    if (!strcmp(name, "job"))
        return begin_job(dax, true);
    if (!strcmp(name, "dax") || !strcmp(name, "dag"))
        return begin_job(dax, false);
    if (!strcmp(name, "child") || !strcmp(name, "parent"))
        return read_reference(dax, *name == 'c');
    if (dax->job == FLOW_NONE)
        return 0;
    if (!strcmp(name, "uses"))
        return dax_read_use(dax);
    return !strcmp(name, "profile") ? read_profile(dax) : 0;
}

static void dax_end_element(struct dax *dax, const char *name)
{
    if (!strcmp(name, "job") || !strcmp(name, "dax") || !strcmp(name, "dag"))
        dax->job = FLOW_NONE;
    if (!strcmp(name, "child"))
        flow_text(&dax->child, NULL);
}

int import_dax(struct flow *flow, const char *path,
               const struct orr_import_options *options)
{
    struct dax dax = {.flow = flow, .job = FLOW_NONE};
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
    const char *name;
    bool ends;

    (void)options;
    if (fd < 0)
        return orr_fail(flow->err, -errno, "%s: %s", path, strerror(errno));
    rc = xml_open(flow, fd, &dax.file);
    while (!rc && (rc = xml_next(&dax.file, &name, &ends)) > 0) {
        rc = ends ? 0 : dax_begin_element(&dax, name);
        if (ends)
            dax_end_element(&dax, name);
    }
    xml_close(&dax.file);
    free(dax.child);
    return rc ? rc : workflow_end(flow);
}
