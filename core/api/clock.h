/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/clock.h - the application's clock in a simulation, docs/CLOCK.md. */
#pragma once

struct orr_runtime;

/* From here on clocks of the preloaded object answer with the time of the run, which is
 * simulated, or count who asks; and no longer. Warns if that is wanted and there is no
 * such object. In the run's main context, as the last thing in starpu_init and the first
 * in starpu_shutdown. */
void orr_clock_begin(struct orr_runtime *rt);
void orr_clock_end(struct orr_runtime *rt);
