/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_simgrid_wrap.h - programs that are built for simulation alone, with
 * STARPU_SIMGRID, have their `main' renamed: that of the library calls it. The flags of
 * pkg-config starpu-1.4-simgrid include it in each file: docs/SIMGRID_BUILDS.md.
 */
#pragma once

#if defined(STARPU_SIMGRID) && !defined(main)
#    define main starpu_main
#endif
