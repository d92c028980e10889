/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/input.h - standard input in the place of a file. One thread.
 */
#pragma once

/* What that file is called. */
#define INPUT_NAME "/dev/stdin"

/* A word that is "-" becomes the name of a file with all that comes on standard input:
 * it replaces that, so that this process and those that it starts can read it more than
 * once, and is gone with them. TOOL_OK, or an exit code after a message with the
 * command's name: another word was "-", too, or nothing can be kept. */
int input_take(const char *command, const char **word);

/* The same of each of these. */
int input_take_words(const char *command, int n, char **words);
