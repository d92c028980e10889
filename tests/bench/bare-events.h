/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bare-events.h - SimGrid alone, with actors written in the usual
 * way: what a benchmark of the simulator is compared with.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* `n` actors that sleep `times` times each. Seconds of real time. */
double bare_sleeps(unsigned n, unsigned times);

/* `n` actors, each sending `times` messages over a link of its own and a bus
 * of all. Seconds of real time. */
double bare_copies(unsigned n, unsigned times);

#ifdef __cplusplus
}
#endif
