/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/unit/platform_texts.h - pieces of platform files for tests. What
 * follows ZONE is on line 4. */
#pragma once

#define HEAD  "<?xml version='1.0'?>\n<platform version='4.1'>\n"
#define ZONE  HEAD "<zone id='A' routing='Full'>\n"
#define HOSTS "<host id='MAIN' speed='1f'/><host id='RAM' speed='1f'/>"
#define END   "</zone></platform>\n"

/* One device on one split link, RAM on a shared one; everything on line 4. */
#define GPU                                                                    \
    HOSTS "<host id='CPU0' speed='1f'/><host id='CUDA0' speed='1f'/>"          \
          "<link id='Host' bandwidth='10GBps' latency='0s'/>"                  \
          "<link id='pci' bandwidth='4GBps' latency='2us' "                    \
          "sharing_policy='SPLITDUPLEX'/>"
#define GPU_ROUTE                                                              \
    "<route src='RAM' dst='CUDA0'><link_ctn id='Host'/>"                       \
    "<link_ctn id='pci' direction='DOWN'/></route>"
