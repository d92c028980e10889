/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/driver_module.h - what a shared object exports that brings a kind of
 * device and its driver (ORRERY_DRIVERS, docs/NEW_DRIVER.md). With what it includes
 * it is all that a driver of that sort sees; it is installed for that. To be included
 * by one source of the module.
 */
#pragma once

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/module.h"
#include "core/base/wait.h"
#include "core/device/driver.h"
#include "core/device/kind.h"
#include "core/device/mailbox.h"
#include "driver_stamp.h"

#define ORR_DRIVER_MODULE_NAME "driver"

/* The table of a module called so. */
struct orr_driver_module {
    /* Its type and its memory are one number, from ORR_KIND_MODULES on, that no other
     * module's kind has. Its functions are those that a codelet has for processors,
     * CUDA, OpenCL or HIP. It has no settings. */
    const struct orr_device_kind *kind;
    /* Adds the devices to the machine, which has its main memory and its engine, and
     * says so in *ret, first: then it is closed whatever fails. `settings` is what
     * the variable has behind the file, or "". Without devices *ret stays NULL. Main's.
     * Errors: -ENOMEM, or others with a message. */
    int (*open)(const char *settings, struct orr_machine *machine,
                struct orr_driver **ret, struct orr_error *err);
};

/* Defines what the module exports. Its stamp is a hash of these headers: a library
 * whose headers differ refuses it. */
#define ORR_DRIVER_MODULE(kind_, open_)                                        \
    __attribute__((visibility("default"))) const struct orr_module *           \
    orr_module_entry(void);                                                    \
    const struct orr_module *orr_module_entry(void)                            \
    {                                                                          \
        static const struct orr_driver_module table = {&(kind_), open_};       \
        static const struct orr_module module = {                              \
            ORR_MODULE_ABI, ORR_DRIVER_MODULE_NAME, &table, ORR_DRIVER_STAMP}; \
                                                                               \
        return &module;                                                        \
    }
