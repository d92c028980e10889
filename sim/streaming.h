/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/streaming.h - kernels of processors that are bound by memory share the bandwidth
 * of their node, as transfers share links. One OS thread.
 *
 * A kernel counts as bound by memory by its roofline: the bytes of its data over its
 * length are at least half of what one core can stream. Kernels that do less live in
 * their caches for the most part, of which a description says nothing; one that would
 * stream more than twice of that does not touch all of its data. Copies from and to
 * the node come first: main memory's own link leaves kernels a part of it in any case.
 */
#pragma once

#include "core/device/machine.h"
#include "platforms/machine_desc.h"
#include "sim/exec.h"

struct orr_streaming;

/* *ret is NULL for a description that has no bandwidth of main memory (property
 * orrery-memory-bandwidth of RAM, RAM<n>, or measured copies) or of a core (of MAIN).
 * `endpoints`: hosts
 * of the machine's nodes, of which the first `nmain` are main memory. Machine and
 * engine are borrowed. Errors: -ENOMEM. */
int orr_streaming_new(const struct orr_machine_desc *desc,
                      const unsigned *endpoints, unsigned nmain,
                      const struct orr_machine *machine,
                      struct orr_sim_exec *exec, struct orr_streaming **ret);
/* Accepts NULL. */
void orr_streaming_free(struct orr_streaming *streaming);

/* The running context is to execute a kernel that takes `us` if it is alone and moves
 * `bytes`: its work (work.h) is slowed down as others begin and end. Ended by
 * orr_streaming_end, behind the work. */
void orr_streaming_begin(struct orr_streaming *streaming, unsigned worker,
                         double bytes, double us);
void orr_streaming_end(struct orr_streaming *streaming, unsigned worker);

/* A copy begins, or has ended, which moves `rate` bytes per µs if it is alone. */
void orr_streaming_copy(struct orr_streaming *streaming, unsigned node, double rate,
                        bool begins);
