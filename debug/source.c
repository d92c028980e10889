/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* debug/source.c - see source.h. */
#include "debug/source.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/module.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/observe/json_text.h"

enum { FRAMES = 24, OURS = 3, SITES = 512 };

/* Where an object lies. */
struct range {
    uintptr_t from, to, of; /* `of`: an address in it */
};

/* Of the process: the calls by the numbers of their tasks, 0: not known; where our objects
 * lie, 0: not looked up yet. */
static struct {
    uintptr_t *calls;
    size_t room;
    struct range ours[OURS];
    unsigned nsites; /* different calls … */
    uintptr_t sites[SITES];
    uint64_t first; /* … and the number of the task by which the last one was found */
} noted;

static const struct link_map *object_of(uintptr_t address)
{
    struct link_map *object = NULL;
    Dl_info info;

    /* The call, which may be the last instruction of its function, not what is behind. */
    if (!dladdr1((void *)(address - 1), &info, (void **)&object, RTLD_DL_LINKMAP))
        return NULL;
    return object;
}

/* Of the object that has the address `of`, if this is it. */
static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct range *range = arg;
    uintptr_t from = UINTPTR_MAX, to = 0;

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        from = at < from ? at : from;
        to = at + info->dlpi_phdr[i].p_memsz > to ? at + info->dlpi_phdr[i].p_memsz : to;
    }
    if (range->of < from || range->of >= to)
        return 0;
    range->from = from;
    range->to = to;
    return 1;
}

/* The library, this module, and the simulated machine, on whose stacks workers are. */
static void find_ours(const struct orr_runtime *rt)
{
    const uintptr_t in[OURS] = {(uintptr_t)&orr_job_name, (uintptr_t)&orr_module_own_directory,
                                (uintptr_t)rt->sim};

    for (unsigned i = 0; i < OURS; i++) {
        noted.ours[i].of = in[i];
        dl_iterate_phdr(look_at_object, &noted.ours[i]);
    }
}

static bool is_ours(uintptr_t address)
{
    for (unsigned i = 0; i < OURS; i++)
        if (address >= noted.ours[i].from && address < noted.ours[i].to)
            return true;
    return false;
}

/* The first call on the stack that is not one of the library's own. */
static uintptr_t find_call(void)
{
    void *frames[FRAMES];
    int n = backtrace(frames, FRAMES);

    for (int i = 0; i < n; i++)
        if (!is_ours((uintptr_t)frames[i]))
            return (uintptr_t)frames[i];
    return 0;
}

/* More than there is room for are never new. */
static void note_site(uintptr_t call, uint64_t id)
{
    for (unsigned i = 0; i < noted.nsites; i++)
        if (noted.sites[i] == call)
            return;
    if (noted.nsites == SITES)
        return;
    noted.sites[noted.nsites++] = call;
    noted.first = id;
}

uintptr_t debug_source_call(const struct orr_job *job)
{
    return job->id < noted.room ? noted.calls[job->id] : 0;
}

int debug_source_is_new(const struct orr_job *job)
{
    return job->id == noted.first && debug_source_call(job) != 0;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

int debug_source_is_line(const struct orr_job *job, const char *line)
{
    char text[PATH_MAX + 20];

    if (!job->task || !job->task->file)
        return 0;
    snprintf(text, sizeof(text), "%.4000s:%d", base_of(job->task->file), job->task->line);
    return !strcmp(text, base_of(line));
}

void debug_source_note(const struct orr_runtime *rt, const struct orr_job *job)
{
    uint64_t id = job->id;

    if (job->task && job->task->file)
        return;
    if (id >= noted.room) {
        size_t room = noted.room ? 2 * noted.room : 1024;
        uintptr_t *calls;

        while (room <= id)
            room *= 2;
        calls = realloc(noted.calls, room * sizeof(*calls));
        if (!calls)
            return;
        memset(calls + noted.room, 0, (room - noted.room) * sizeof(*calls));
        noted.calls = calls;
        noted.room = room;
    }
    if (!noted.ours[0].of)
        find_ours(rt);
    noted.calls[id] = find_call();
    if (noted.calls[id])
        note_site(noted.calls[id], id);
}

void debug_source_write(const struct orr_job *job, FILE *to)
{
    const struct link_map *object;
    char text[PATH_MAX + 20], path[PATH_MAX];
    uintptr_t call;

    if (job->task && job->task->file) {
        snprintf(text, sizeof(text), "%.4000s:%d", job->task->file, job->task->line);
        fputs(",\"source\":", to);
        orr_json_text(to, text);
        return;
    }
    call = debug_source_call(job);
    object = call ? object_of(call) : NULL;
    if (!object || !realpath(*object->l_name ? object->l_name : "/proc/self/exe", path))
        return;
    fputs(",\"object\":", to);
    orr_json_text(to, path);
    fprintf(to, ",\"offset\":%llu,\"call\":%llu", (unsigned long long)(call - 1 - object->l_addr),
            (unsigned long long)call);
}
