/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/symbol.h - the names of functions by their addresses, for messages. No
 * state; any thread.
 */
#pragma once

/* The name of the function at that very address, for the caller to free(): from the
 * symbol table of the file that it was loaded from, or, where that was stripped, as
 * the dynamic linker knows it. Without what compilers add to copies
 * ("f.constprop.0"). NULL: not known, or no memory. Reads the file. */
char *orr_symbol_at(const void *address);
