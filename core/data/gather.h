/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/gather.h - all data of a job on one node, step by step, when only copies
 * fill most of all memory (core/data/gather.c). For core/data/relieve.c, when nothing
 * else goes on. What is looked at can be changed only by threads that the library does
 * not know, and is used for guesses only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct orr_job;
struct orr_node;
struct orr_runtime;

/* How many bytes of the node a job could have: those that are free, and those of blocks
 * that can leave as they are, since their values are elsewhere or old. SIZE_MAX without
 * limit. */
size_t orr_gather_room(struct orr_node *node);

/* How many bytes the job would need on the node for data that have no value there.
 * Blocks of old values count among what can leave. */
size_t orr_gather_lacks(const struct orr_job *job, unsigned node);

/* Whether it could have them with so much room, and what it has there stay. */
bool orr_gather_fits(const struct orr_job *job, unsigned node, size_t room);

/* Whether what it lacks there can be copied there, or pass through main memory. */
bool orr_gather_may_come(const struct orr_job *job, unsigned node,
                         const size_t *room);

/* An only copy that the job (NULL: none) does not use begins to leave the node for one
 * that has room for it, but not for `but` (a node, or ORR_NO_NODE). Returns whether
 * there was one. */
bool orr_gather_send_away(struct orr_runtime *rt, unsigned from,
                          const struct orr_job *job, const size_t *room,
                          unsigned but);

/* Begins one more step towards all data of the job on the node, where it does not fit.
 * Returns whether there was one. */
bool orr_gather_step(struct orr_runtime *rt, const struct orr_job *job,
                     unsigned node, const size_t *room);
