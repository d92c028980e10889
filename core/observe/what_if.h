/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/what_if.h - whether the what-if edits of a simulated machine
 * mattered to a run: for its report and for the person at the terminal.
 */
#pragma once

#include <stdio.h>

struct orr_runtime;

/* Writes "edits": [...] for the report: what was edited, what that changed, and
 * the tasks and bytes of the run that it concerned. Does not block. */
void orr_what_if_write(FILE *out, struct orr_runtime *rt);

/* Says which edits changed the machine, but nothing that the run used. */
void orr_what_if_report(struct orr_runtime *rt);
