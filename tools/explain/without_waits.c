/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/explain/without_waits.c - the run of a program, recorded (docs/RECORD.md), without the
 * application's waits or without what it does of its own: a replay of what is left is
 * the run that it would have been. One thread.
 *
 * Where the application waits for tasks, the next call comes at once. Where it waits for
 * data it acquires them in their order without waiting, and releases them when it has
 * them; where it unregisters them it does so behind the tasks that use them. Waits
 * that do more than wait stay: of partitions, of what is released by halves, and all of
 * them in programs that submit a task again once it has ended.
 */
#include "core/base/grow.h"
#include "tools/common/scratch.h"
#include "tools/explain/explain.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/result.h"
#include "record/read.h"
#include "record/version.h"
#include "record/write.h"
#include "tools/common/tool.h"

#define SAME 1e-6 /* of the makespan: a replay is the same run */

struct cut {
    bool waits;               /* else what it does of its own */
    unsigned char *submitted; /* owned: of each task */
    size_t ntasks;
    double after; /* µs of calls that were left out */
    bool impossible, lost;
};

/* Whether it is submitted for the first time. */
static bool is_first_submission(struct cut *cut, uint64_t task)
{
    if (orr_grow(&cut->submitted, &cut->ntasks, task + 1, 1) < 0) {
        cut->lost = true;
        return true;
    }
    return !cut->submitted[task]++;
}

/* No call waits for the task, and none destroys it while others may name it. */
static void cut_submission(struct cut *cut, struct orr_call *call)
{
    cut->impossible |= !is_first_submission(cut, call->id);
    call->kept |= call->awaited;
    call->awaited = 0;
    call->synchronous = 0;
}

/* Makes the call one without a wait. False: it is left out. */
static bool keep_unwaited(struct cut *cut, struct orr_call *call)
{
    switch (call->verb) {
    case ORR_CALL_WAIT_ALL:
    case ORR_CALL_WAIT_TASK:
    case ORR_CALL_WAIT_READY:
    case ORR_CALL_TAG_WAIT:
    case ORR_CALL_FORGET:
        return false;
    case ORR_CALL_SUBMIT:
        cut_submission(cut, call);
        return true;
    case ORR_CALL_ACQUIRE:
        if (call->how == ORR_HOW_REFUSED)
            return false;
        call->how = ORR_HOW_CALLBACK;
        return true;
    case ORR_CALL_RELEASE:
        cut->impossible |= call->value != 0;
        return false;
    case ORR_CALL_UNREGISTER:
        if (call->how == ORR_HOW_PLAIN)
            call->how = ORR_HOW_SUBMITTED;
        return true;
    default:
        return true;
    }
}

static bool keep_call(struct cut *cut, struct orr_call *call)
{
    if (!cut->waits) {
        call->after = 0;
        return call->verb != ORR_CALL_SLEEP;
    }
    if (!keep_unwaited(cut, call)) {
        cut->after += call->after;
        return false;
    }
    call->after += cut->after;
    cut->after = 0;
    return true;
}

/* Copies the calls that stay. */
static int copy_kept_calls(struct cut *cut, const char *from, FILE *to)
{
    struct orr_record_writer writer = {.file = to, .binary = true};
    struct orr_record_reader *reader;
    const struct orr_call *call;
    struct orr_error err = {""};
    int rc = orr_record_open(from, &reader, &err), ended;

    if (rc)
        return rc;
    orr_record_begin(&writer);
    while ((rc = orr_record_next(reader, &call, &err)) > 0) {
        struct orr_call changed = *call;

        if (call->verb == ORR_CALL_END) {
            cut->impossible |= call->text != NULL;
            continue;
        }
        if (call->verb == ORR_CALL_RUN || keep_call(cut, &changed))
            orr_record_write(&writer, &changed);
    }
    ended = orr_record_end(&writer, NULL);
    orr_record_close(reader);
    return rc ? rc : ended;
}

/* Whether there is such a record now. */
static bool make_cut_record(const char *from, const char *to, bool waits)
{
    struct cut cut = {.waits = waits};
    struct orr_result out;
    int rc = orr_result_open(to, &out);

    if (rc)
        return false;
    rc = copy_kept_calls(&cut, from, out.file);
    free(cut.submitted);
    if (!rc && (cut.impossible || cut.lost))
        rc = -ECANCELED;
    return orr_result_close(&out, rc) == 0;
}

static bool make_folder(struct explain_without *without)
{
    without->folder = scratch_make();
    if (!without->folder)
        return false;
    without->whole =
        tool_format("%s/whole" ORR_RECORD_BINARY_EXTENSION, without->folder);
    without->unwaited = tool_format("%s/unwaited.orr", without->folder);
    without->prompt = tool_format("%s/prompt.orr", without->folder);
    return without->whole && without->unwaited && without->prompt;
}

/* Runs that launch; whether it was the run of `base`. */
static bool launch_repeats_run(struct launch *launch, const struct launch *base,
                               int *ret_stopped)
{
    int rc = launch_all(launch, 1, 1, NULL, NULL);
    double us = base->report.makespan_us;
    bool same = rc == 0 && !*launch->problem &&
                fabs(launch->report.makespan_us - us) <= SAME * us;

    if (rc > 0)
        *ret_stopped = rc;
    launch_done(launch);
    return same;
}

/* Records the program, and replays that. */
static bool record_and_replay(const struct launch *base, const char *path,
                              int *ret_stopped)
{
    char *setting = tool_format("ORRERY_RECORD=%s", path);
    const char *more[] = {setting, NULL};
    char *argv[] = {(char *)(uintptr_t)path, NULL};
    struct launch recorded = {.machine = base->machine,
                              .edits = base->edits,
                              .scheduler = base->scheduler,
                              .assume = base->assume,
                              .more = more,
                              .argv = base->argv,
                              .quiet = true};
    struct launch replayed = recorded;
    bool good;

    replayed.argv = argv;
    replayed.more = NULL;
    good = setting && launch_repeats_run(&recorded, base, ret_stopped) &&
           launch_repeats_run(&replayed, base, ret_stopped);
    free(setting);
    return good;
}

bool explain_without_make(const struct launch *base,
                          struct explain_without *ret, int *ret_stopped)
{
    *ret = (struct explain_without){0};
    if (!make_folder(ret) || !record_and_replay(base, ret->whole, ret_stopped))
        return false;
    ret->can_wait_less = make_cut_record(ret->whole, ret->unwaited, true);
    return make_cut_record(ret->whole, ret->prompt, false);
}

void explain_without_done(struct explain_without *without)
{
    free(without->whole);
    free(without->unwaited);
    free(without->prompt);
    scratch_remove(without->folder);
    *without = (struct explain_without){0};
}
