/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/perf_names.c - see perf_names.h. */
#include "core/api/perf_names.h"

#include <stdlib.h>

#include "core/base/log.h"

_Noreturn void orr_api_perf_refuse(const char *call, const char *why)
{
    orr_log_error("%s: %s", call, why);
    abort();
}

int orr_api_perf_scope(const char *call, const struct orr_perf_table *table,
                       int scope)
{
    if (orr_perf_scope_name(table, scope))
        return scope;
    orr_log_error("%s: there is no scope %d: take one of enum %s_scope", call,
                  scope, table->prefix);
    abort();
}

const struct orr_perf_entry *
orr_api_perf_entry(const char *call, const struct orr_perf_table *table, int id)
{
    const struct orr_perf_entry *entry = orr_perf_at(table, id);

    if (entry)
        return entry;
    orr_log_error("%s: there is no %s %#x: %s_list_all_avail() prints those "
                  "that there are",
                  call, table->what, (unsigned)id, table->prefix);
    abort();
}

void orr_api_perf_list_all(const struct orr_perf_table *table)
{
    for (unsigned i = 0; i < 3; i++) {
        printf("scope: %s\n", table->scopes[i].name);
        orr_perf_list(table, table->scopes[i].id, stdout);
    }
}
