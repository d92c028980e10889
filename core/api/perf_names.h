/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/perf_names.h - checks of what counters and knobs are asked for. A wrong
 * argument ends the program with a message that names `call`.
 */
#pragma once

#include "core/base/perf_names.h"

_Noreturn void orr_api_perf_refuse(const char *call, const char *why);

/* The scope, if it is one of the table's. */
int orr_api_perf_scope(const char *call, const struct orr_perf_table *table,
                       int scope);

/* The entry with that number. */
const struct orr_perf_entry *
orr_api_perf_entry(const char *call, const struct orr_perf_table *table,
                   int id);

/* Prints all scopes on stdout. */
void orr_api_perf_list_all(const struct orr_perf_table *table);
