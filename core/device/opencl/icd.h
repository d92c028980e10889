/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/opencl/icd.h - the OpenCL platforms that vendors' files name, past the loader:
 * where the loader of a process has been given something else, such as an
 * implementation that needs another one below. Objects of the platforms may be handed
 * to any loader's functions, which look into them. Any thread.
 */
#pragma once

/* Opens the libraries that the files *.icd of a folder name, in the order of the files'
 * names, and stores their platforms (cl_platform_id), at most `room`. `vendors` may also be
 * one such file, or a library; NULL: /etc/OpenCL/vendors. What cannot be opened is left
 * out. The libraries stay open: they have threads and handlers. Returns how many. */
unsigned orr_icd_platforms(const char *vendors, void **ret, unsigned room);
