/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replay/ranks/pages.c - see pages.h. */
#include "replay/ranks/pages.h"

#include <stdlib.h>
#include <unistd.h>

enum { FEWEST = 8 };

void ranks_widen_pages(unsigned nranks, char **argv)
{
    static const char variable[] = "GLIBC_TUNABLES";
    /* Blocks of all sizes but the largest lie together; what messages free the next ones
     * take. */
    static const char value[] = "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=4194304:"
                                "glibc.malloc.tcache_count=127";

    if (nranks < FEWEST || getenv(variable) || setenv(variable, value, 1))
        return;
    (void)execvp(argv[0], argv);
    (void)unsetenv(variable);
}
