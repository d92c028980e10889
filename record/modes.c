/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* record/modes.c - see modes.h. A constant. */
#include "record/modes.h"

#include <starpu.h>

const struct orr_record_mode orr_record_modes[ORR_NMODES] = {
    {STARPU_R, 'r'},     {STARPU_W, 'w'},       {STARPU_SCRATCH, 's'},
    {STARPU_REDUX, 'x'}, {STARPU_COMMUTE, 'c'}, {STARPU_LOCALITY, 'l'},
};
