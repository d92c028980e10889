/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/debug/line.h - lines that a person types: edited, and kept, where libedit or
 * readline is installed, which are opened when they are needed.
 */
#pragma once

/* The next line without its end, owned by the caller; NULL: there are no more. */
char *line_read(const char *prompt);
