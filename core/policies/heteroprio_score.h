/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/heteroprio_score.h - the scores by which heteroprio's automatic mode
 * orders buckets for an architecture, the highest first. 28 heuristics, numbered and
 * called as in StarPU (STARPU_AUTOHETEROPRIO_PRIORITY_ORDERING_POLICY); Flint,
 * Paillat, Bramas, "Automated prioritizing heuristics for parallel task graph
 * scheduling in heterogeneous computing", 2022, has what most of them are for.
 *
 *     T    time of the bucket's tasks on the architecture    D    other − T
 *     other  the same on the slowest other one               Q    other / T
 *     U    URT: time that they release, by need              N    NOD: tasks that they
 *     S    best time that they release                            release
 *     n    need of this architecture − need of the other one
 *     s, s'  share of the bucket's tasks that run here, and there
 *
 *      0  D + a N exp(−e (max(Q, 1/Q) − 1)²)
 *      1  (2m − 1) N, m = 1 where D > 0, else exp(−e D²)
 *      2  the same with e = 1/2
 *      3  U                      4  a U + D          5  a U + D + b max(0, s s' n)
 *      6  U D                    7  (1 + U) D        8  U Q        9  (1 + U) Q
 *     10  (1 + U) D + b T n     11  (1 + U) D + b T max(0, n)
 *     12  (1 + U) D − b T max(0, −n)
 *     13  (c + U) (d + D)       14  (1 + U) ln(1 + exp D)
 *     15  g (1 + U) (1 + D) − (1 − g) ln(1 + exp −D),
 *         g = 1 where U > 1, else √(U (2 − U))
 *     16  (σ(U) − 1/2) (1 + U) (1 + D) − (σ(1/U) − 1/2) exp −D, σ the logistic function
 *     17  ln(c + U) atan(D + d U)
 *     18  (c + U) atan D + d U  19  (c + U) (D + d U)
 *     20  U / T   21  (U + D) / T   22  U / T + D   23  U (S + D) / T
 *     24  as 0, with U for N
 *     25  N / T   26  N S / T   27  N (S + D) / T
 *
 * The constants a to e are those of the group in core/base/config.h.
 */
#pragma once

#include <stdbool.h>

#include "core/base/config.h"

enum { ORR_HP_NSCORES = 28, ORR_HP_USUAL_SCORE = 12 };

/* Times are normalised. */
struct orr_hp_inputs {
    double own, other;       /* T, and of the other architecture */
    double urt, nod;         /* U, N */
    double best_released;    /* S */
    double need, other_need; /* n is their difference */
    double share, other_share;
};

/* The score of that number. Never NaN. */
double orr_hp_score(const struct orr_config *config, unsigned number,
                    const struct orr_hp_inputs *in);

/* The number of what the variable says, a number or a name; false if it is none. */
bool orr_hp_score_find(const char *text, unsigned *ret_number);
