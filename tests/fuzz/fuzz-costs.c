/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-costs.c - libFuzzer target for files of prices and powers
 * (tools/common/costs.h), and for their figures alone: each is none, or finite and not
 * negative. One thread.
 */
#include <math.h>

#include "tests/fuzz/fuzz.h"
#include "tools/common/costs.h"

static void check(double figure)
{
    must(isnan(figure) || (isfinite(figure) && figure >= 0));
}

static void read_figures(const char *text)
{
    char currency[8] = "";
    double price, power;

    if (cost_parse_price(text, &price, currency) == 0) {
        must(!isnan(price) && memchr(currency, '\0', sizeof(currency)));
        check(price);
    }
    if (cost_parse_power(text, &power) == 0) {
        must(!isnan(power));
        check(power);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_silence before = fuzz_silence();
    char *text = fuzz_text(data, size), path[32];
    struct costs costs;
    int fd = fuzz_file(data, size, path);

    if (costs_read(path, &costs) == 0)
        for (size_t i = 0; i < costs.n; i++) {
            check(costs.lines[i].price);
            check(costs.lines[i].idle_w);
            check(costs.lines[i].busy_w);
            check(costs.lines[i].copy_w);
        }
    costs_done(&costs);
    read_figures(text);
    close(fd);
    fuzz_speak(before);
    free(text);
    return 0;
}
