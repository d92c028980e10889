/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-assume.c - libFuzzer target for assumed times (ORRERY_ASSUME): what is
 * accepted gives no negative time and reads as the same law from its own text; else there is a
 * message. One thread.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cost/assume.h"
#include "tests/fuzz/fuzz.h"

/* The text of one, alone. */
static void check(const struct orr_assumption *a)
{
    struct orr_assumptions again;
    struct orr_error err = {""};
    double us = orr_assumption_us(a, 1000, 7);

    must(isnan(us) || us >= 0);
    must(orr_assumptions_read(a->text, &again, &err) == 0 && again.n == 1);
    /* Not the name: of blanks in it, one is left in the text. */
    must(again.all[0].law == a->law && again.all[0].nterms == a->nterms &&
         again.all[0].arch.type == a->arch.type &&
         again.all[0].arch.devid == a->arch.devid);
    orr_assumptions_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct orr_assumptions assumptions;
    struct orr_error err = {""};

    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    /* @FILE would read whatever lies about. */
    for (char *at = text; (at = strchr(at, '@'));)
        *at = 'a';
    if (orr_assumptions_read(text, &assumptions, &err) == 0) {
        for (unsigned i = 0; i < assumptions.n; i++)
            check(&assumptions.all[i]);
        orr_assumptions_done(&assumptions);
    } else {
        must(*err.text != '\0');
    }
    free(text);
    return 0;
}
