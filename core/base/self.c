/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/self.c - the running context of each OS thread, see exec.h.
 * Visible to modules, whose machines write it with every switch.
 */
#include "core/base/exec.h"

__attribute__((
    visibility("default"))) _Thread_local struct orr_context *orr_self = NULL;
