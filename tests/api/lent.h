/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/lent.h - compiled before a program of tests that has functions for
 * processors alone: each codelet gets one for OpenCL devices, too, which maps
 * the buffers and calls the first of the codelet's cpu_funcs. So these programs
 * move all their data to real devices and back.
 */
#pragma once

#include "lent_views.h"

void lent_to_opencl(void *buffers[], void *arg);

#define LENT_TO_OPENCL 1

#define cpu_funcs opencl_funcs = {lent_to_opencl}, .cpu_funcs
