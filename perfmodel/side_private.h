/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/side_private.h - the grammar of side files (see side.h).
 *
 *   orrery-side 3            1 had no levels, 2 no preempted measures
 *   entry <devices> <impl> <hash> <n> <sum> <estimate> <nseen> <noutliers>
 *         <nfirst> <first sum> <last time> [preempted <n>] [<low> <high>]
 *                                                   all on one line
 *   …
 *   samples
 *   recent <entry> <n> {<duration>[!]}               ! set aside
 *   blocks <entry> <size> <n> <tail n> <tail sum> {<mean>}
 *
 * <devices>: type/devid/ncores, several joined by +. <entry>: which one, from 0
 * in their order. # begins a comment. Estimates come first, so that a reader
 * that needs nothing else stops at "samples".
 */
#pragma once

#define ORR_SIDE_SAMPLES_MARK "\nsamples\n"
