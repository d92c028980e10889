/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/one_machine.h - work that one resource does, each piece not before a date and with a
 * time that passes after it at least. No state; any thread.
 */
#pragma once

struct orr_bound_piece {
    double head; /* it begins no earlier */
    double work; /* of the whole resource, for so long; it may be interrupted */
    double tail; /* from its end to that of all, at least */
};

/*
 * The least end of all pieces. It is the largest of min head + sum of work + min tail over all
 * sets of pieces, each of which is a lower bound: the work of the set lies between the two.
 * Jackson's preemptive schedule reaches it: at any time the piece with the longest tail (Carlier,
 * "The one-machine sequencing problem", European Journal of Operational Research 11, 1982). A
 * resource that works on several pieces at once, at rates that sum up to its own, does no
 * better, by the same sum. Sorts the pieces; 0 of none. Errors: -ENOMEM.
 */
int orr_bound_one_machine(struct orr_bound_piece *pieces, unsigned n, double *ret);
