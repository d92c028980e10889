/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/exec-suite.h - what every struct orr_exec_ops must do, as one
 * test case that runs on each of them.
 */
#pragma once

#include <check.h>

#include "core/base/exec.h"

/* How to get the machine under test. */
struct exec_maker {
    const char *name;
    struct orr_exec *(*open)(void); /* the caller becomes main */
    void (*close)(struct orr_exec *exec);
};

/* The test case; `maker` is borrowed and is that of all cases afterwards. */
TCase *exec_suite(const struct exec_maker *maker);
