/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/kind_settings.h - what concerns a kind of device in the table of
 * variables, in struct starpu_conf and in StarPU's bus files: kinds of this library
 * have some, those of modules none. Any thread.
 */
#pragma once

#include <stddef.h>

#include "core/base/config.h"
#include "core/device/kind.h"

/* ORR_CFG_COUNT: there is no such variable. */
struct orr_kind_settings {
    enum orr_config_id limit;       /* of memory, in MiB */
    enum orr_config_id pipeline;    /* tasks in flight */
    enum orr_config_id homogeneous; /* its devices share models */
    enum orr_config_id
        sync_copies;         /* a copy blocks the context that starts it … */
    size_t conf_sync_copies; /* … and the int of struct starpu_conf, 0: none */
    int bus; /* enum orr_bus_kind of its rows in bus files, -1: none */
};

/* Those of a kind, which may be NULL: one without any then, as without settings. */
const struct orr_kind_settings *
orr_kind_settings(const struct orr_device_kind *kind);
