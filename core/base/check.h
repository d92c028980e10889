/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/check.h - what must hold of an object, for orr_<object>_check():
 * called by tests, and by debug builds when all tasks have ended. Unlike
 * assert(), it is there in every build.
 */
#pragma once

/* Stops the program with the place and the condition that does not hold. */
_Noreturn void orr_check_failed(const char *file, int line,
                                const char *condition);

#define ORR_CHECK(condition)                                                   \
    ((condition) ? (void)0 : orr_check_failed(__FILE__, __LINE__, #condition))
