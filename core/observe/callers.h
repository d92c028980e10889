/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/callers.h - the first call on the stack that is not one of the library's own.
 * To walk up the stack costs more than all else in a task's submission, so that each way up is
 * walked once, and then recognised: its return addresses lie where they lay then. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct orr_callers;

/* What tells whose call it is, by the address behind it. */
struct orr_callers_ops {
    /* Whether who calls there submits for others. Asked only where the stack is walked. */
    bool (*is_ours)(void *arg, uintptr_t call);
    void *arg;
};

/* None is known. Owned by the caller and freed by orr_callers_free. Errors: -ENOMEM. */
int orr_callers_new(const struct orr_callers_ops *ops,
                    struct orr_callers **ret);

/* Accepts NULL. */
void orr_callers_free(struct orr_callers *callers);

/* The address behind the first call above the caller's that is not ours; 0: it is not known. */
uintptr_t orr_callers_find(struct orr_callers *callers);
