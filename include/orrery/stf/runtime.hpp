// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/runtime.hpp - the runtime's interface, without what starpu.h brings of other
// libraries where they are: hwloc.h, OpenCL's cl.h, math.h, CUDA's cuda.h and nvml.h, and
// cusparse.h, thousands of lines each with what they include. Programs that need them
// include them themselves, and starpu.h before this header if they call its functions that
// have hwloc's types.
#pragma once

#ifndef _ORR_LEAN
#    define _ORR_LEAN    1
#    define ORR_STF_LEAN 1
#endif
#include <starpu_config.h>

#ifdef STARPU_HAVE_LIBCUSPARSE
#    undef STARPU_HAVE_LIBCUSPARSE
#    include <starpu_cusparse.h>
#    define STARPU_HAVE_LIBCUSPARSE 1
#endif

#include <orrery.h>
#include <starpu.h>

#ifdef ORR_STF_LEAN
#    undef _ORR_LEAN
#    undef ORR_STF_LEAN
#endif
