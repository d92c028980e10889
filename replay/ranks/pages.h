/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/ranks/pages.h - where the memory of many ranks lies. They touch more pages than a
 * processor keeps the addresses of, so that looking these up takes longer than the work.
 */
#pragma once

/* Begins the process anew, with these arguments, in such a way that the C library's memory lies
 * on huge pages: it decides that when a process begins. Returns where there are few ranks, where
 * that has happened, or the user has GLIBC_TUNABLES, and where the system refuses: all is as
 * fast as before then. Nothing that the process has done so far stays. */
void ranks_widen_pages(unsigned nranks, char **argv);
