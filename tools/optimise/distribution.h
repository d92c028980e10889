/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/optimise/distribution.h - `orrery optimise distribution`. */
#pragma once

/* argv[0] is "distribution". Returns the exit code. */
int optimise_distribution(int argc, char **argv);
