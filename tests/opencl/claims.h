/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/opencl/claims.h - claims of programs of OpenCL, in TAP; behind <CL/cl.h>. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned count, failed;

static void claim(bool holds, const char *what)
{
    printf("%s %u - %s\n", holds ? "ok" : "not ok", ++count, what);
    failed += !holds;
    fflush(stdout);
}

static void must(cl_int error, const char *what)
{
    if (error == CL_SUCCESS)
        return;
    printf("Bail out! %s: error %d\n", what, error);
    exit(1);
}
#define MUST(call) must(call, #call)
