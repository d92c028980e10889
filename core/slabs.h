/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/slabs.h - where the objects of a run come from: jobs, edges, tasks, requests,
 * handles; and the counters beside their caches. Main.
 */
#pragma once

struct orr_runtime;

/* Main submits most tasks: it has caches and counters of its own, as if it were
 * one more worker. Errors: -ENOMEM. */
int orr_slabs_new(struct orr_runtime *rt);

/* Frees them with all objects. */
void orr_slabs_free(struct orr_runtime *rt);
