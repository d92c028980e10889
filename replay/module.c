/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replay/module.c - the module orrery/replay.so: the player, for orrery_replay(). */
#include "core/base/module.h"
#include "replay/player.h"

const struct orr_module *orr_module_entry(void);

const struct orr_module *orr_module_entry(void)
{
    static const struct orr_module module = {ORR_MODULE_ABI, "replay",
                                             &player_ops, orr_module_stamp};

    return &module;
}
