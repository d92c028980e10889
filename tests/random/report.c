/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/report.c - see report.h. */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>

void report_failure(struct report *report, enum outcome outcome,
                    const char *format, ...)
{
    unsigned none = PASSED;
    va_list args;

    if (!atomic_compare_exchange_strong(&report->outcome, &none, outcome))
        return;
    report->failed = atomic_load(&report->graph);
    va_start(args, format);
    vsnprintf(report->text, sizeof(report->text), format, args);
    va_end(args);
    atomic_store(&report->ready, 1);
}
