/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/remote_ops.h - what core tells a layer above, such as one whose tasks and data are
 * those of several processes. Core knows no more of it.
 */
#pragma once

struct orr_handle;
struct orr_runtime;

/* A constant of the layer's; no entry is NULL. They are called in any context, with no
 * lock held but that of plans, and must not block. */
struct orr_remote_ops {
    const char *noun; /* of what orr_outside_begin counts, such as "messages" */
    /* The application has unregistered a handle with a `remote`, which tasks and messages
     * still use: it names it no more. By the caller of that; handle_ends follows. */
    void (*handle_left)(struct orr_handle *handle);
    /* A handle with a `remote` is about to be freed: nobody uses it any more. At the end
     * of a run this comes for all that were not unregistered. */
    void (*handle_ends)(struct orr_handle *handle);
    /* A job that changes the value of a handle with a `remote` has its place in the
     * handle's order, behind all that were submitted before: a task, an acquisition, a
     * message, or the library's own, such as one that invalidates the value. */
    void (*writer_submitted)(struct orr_handle *handle);
    /* The process ends for a mistake that was already printed. Once or more often, any
     * thread. */
    void (*process_fails)(struct orr_runtime *rt);
};
