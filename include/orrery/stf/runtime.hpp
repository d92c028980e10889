// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/runtime.hpp - the runtime's interface, without cusparse.h, which starpu.h brings
// where there is a toolkit: ten thousand lines with what it includes. Programs that need it
// include it themselves.
#pragma once

#include <starpu_config.h>

#ifdef STARPU_HAVE_LIBCUSPARSE
#    undef STARPU_HAVE_LIBCUSPARSE
#    include <starpu_cusparse.h>
#    define STARPU_HAVE_LIBCUSPARSE 1
#endif

#include <orrery.h>
#include <starpu.h>
