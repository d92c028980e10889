/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/leaks.h - what a process has lost that ends by _exit, for which nobody
 * looks then. Without the address sanitizer nothing of this is there.
 */
#pragma once

#if defined(__SANITIZE_ADDRESS__)
void __lsan_do_leak_check(void); /* the sanitizer's own */
#endif

/* Ends the process with a report if it has lost memory. Its runs are over. */
static inline void leaks_end(void)
{
#if defined(__SANITIZE_ADDRESS__)
    __lsan_do_leak_check();
#endif
}
