/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/program.h - running one program many times: its command line for
 * several sizes, an order that is random but repeats, amounts with units. One
 * thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Checks that there are sizes if and only if a word of argv holds "{size}".
 * `command` is for the message. Errors: -1. */
int program_check_sizes(const char *command, char *const *argv,
                        char *const *sizes);

/* argv with each `place`, such as "{p}", replaced in its words (`value` NULL: none is),
 * NULL-terminated and to be ended with program_free. NULL without memory. */
char **program_replace(char *const *argv, const char *place, const char *value);

/* argv with each {size} replaced (NULL: none to replace), NULL-terminated and
 * owned by the caller (program_free). NULL without memory. */
char **program_argv(char *const *argv, const char *size);
void program_free(char **argv);

/* argv as typed, without the program's folder; owned. NULL without memory. */
char *program_text(char *const *argv);

/* The same as a shell reads it: the path as it was given, words in quotation marks
 * where they need them. */
char *program_command(char *const *argv);

/* Puts 0 … n-1 into `order`, at random; *state is advanced. The same state
 * gives the same order everywhere. */
void program_shuffle(unsigned *order, unsigned n, uint64_t *state);

/* "90", "90s", "10m", "2h" in seconds; "2%" or "0.02"; a whole number from
 * `least` on. Each stores into *ret only if it could be read. Errors: -1. */
int program_seconds(const char *text, double *ret);
int program_share(const char *text, double *ret);
int program_number(const char *text, unsigned least, unsigned *ret);
int program_seed(const char *text, uint64_t *ret);
