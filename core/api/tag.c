/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/tag.c - the tags of starpu_task_dep.h. Any thread. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "core/api/api.h"
#include "core/api/early.h"
#include "core/task/tag.h"

void starpu_tag_declare_deps_array(starpu_tag_t id, unsigned ndeps,
                                   starpu_tag_t *array)
{
    ORR_API_IF(rt, __func__);

    orr_api_array(__func__, array, ndeps, "tags");
    for (unsigned i = 0; i < ndeps; i++) {
        if (array[i] != id)
            continue;
        orr_log_error("starpu_tag_declare_deps: tag %#llx cannot wait for "
                      "itself",
                      (unsigned long long)id);
        abort();
    }
    if (!rt) {
        orr_early_keep(__func__, starpu_tag_declare_deps_array, id, ndeps,
                       array);
        return;
    }
    ORR_RECORD(rt, TAG_DEPEND, .id = id, .before = {array, ndeps});
    if (orr_tag_declare_deps(rt, id, ndeps, array) == 0)
        return;
    orr_log_error("%s: out of memory", __func__);
    abort();
}

void starpu_tag_declare_deps(starpu_tag_t id, unsigned ndeps, ...)
{
    va_list args;

    /* One by one: the order makes no difference, and no array is needed. */
    va_start(args, ndeps);
    for (unsigned i = 0; i < ndeps; i++) {
        starpu_tag_t dep = va_arg(args, starpu_tag_t);

        starpu_tag_declare_deps_array(id, 1, &dep);
    }
    va_end(args);
}

int starpu_tag_wait(starpu_tag_t id)
{
    return starpu_tag_wait_array(1, &id);
}

int starpu_tag_wait_array(unsigned ntags, starpu_tag_t *id)
{
    ORR_API(rt, __func__);

    orr_api_array(__func__, id, ntags, "tags");
    ORR_RECORD(rt, TAG_WAIT, .before = {id, ntags});
    return orr_tag_wait(rt, ntags, id);
}

static void early_restart(uint64_t id, unsigned n, uint64_t *none)
{
    (void)n;
    (void)none;
    starpu_tag_restart(id);
}

void starpu_tag_restart(starpu_tag_t id)
{
    ORR_API_IF(rt, __func__);

    if (!rt) {
        orr_early_keep(__func__, early_restart, id, 0, NULL);
        return;
    }
    ORR_RECORD(rt, TAG_RESTART, .id = id);
    orr_tag_restart(rt, id);
}

static void early_remove(uint64_t id, unsigned n, uint64_t *none)
{
    (void)n;
    (void)none;
    starpu_tag_remove(id);
}

void starpu_tag_remove(starpu_tag_t id)
{
    ORR_API_IF(rt, __func__);

    if (!rt) {
        orr_early_keep(__func__, early_remove, id, 0, NULL);
        return;
    }
    ORR_RECORD(rt, TAG_REMOVE, .id = id);
    orr_tag_remove(rt, id);
}

static void early_notify_from_apps(uint64_t id, unsigned n, uint64_t *none)
{
    (void)n;
    (void)none;
    starpu_tag_notify_from_apps(id);
}

void starpu_tag_notify_from_apps(starpu_tag_t id)
{
    ORR_API_IF(rt, __func__);

    if (!rt) {
        orr_early_keep(__func__, early_notify_from_apps, id, 0, NULL);
        return;
    }
    ORR_RECORD(rt, TAG_NOTIFY, .id = id);
    orr_tag_mark_vague(rt, id);
    orr_tag_notify(rt, id);
}

static void early_notify_restart_from_apps(uint64_t id, unsigned n, uint64_t *none)
{
    (void)n;
    (void)none;
    starpu_tag_notify_restart_from_apps(id);
}

void starpu_tag_notify_restart_from_apps(starpu_tag_t id)
{
    ORR_API_IF(rt, __func__);

    if (!rt) {
        orr_early_keep(__func__, early_notify_restart_from_apps, id, 0, NULL);
        return;
    }
    ORR_RECORD(rt, TAG_NOTIFY_RESTART, .id = id);
    orr_tag_notify_restart(rt, id);
}

struct starpu_task *starpu_tag_get_task(starpu_tag_t id)
{
    ORR_QUESTION();
    struct orr_runtime *rt = orr_runtime_if_open(__func__);

    return rt ? orr_tag_task(rt, id) : NULL;
}

static void early_clear(uint64_t none, unsigned n, uint64_t *nothing)
{
    (void)none;
    (void)n;
    (void)nothing;
    starpu_tag_clear();
}

void starpu_tag_clear(void)
{
    ORR_API_IF(rt, __func__);

    if (!rt) {
        orr_early_keep(__func__, early_clear, 0, 0, NULL);
        return;
    }
    ORR_RECORD(rt, TAG_CLEAR);
    orr_tags_clear(rt);
}
