/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/capped.h - numbers of the environment (config.h) above the most that there
 * can be: that is used then. Any thread.
 */
#pragma once

/* Tasks in flight on a device at most, whatever is asked for. */
enum { ORR_CONFIG_MOST_IN_FLIGHT = 4 };

/* Those that the environment has now. */
void orr_config_each_capped(void (*tell)(const char *name, int asked,
                                         int used));
