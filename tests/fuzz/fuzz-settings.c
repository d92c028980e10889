/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-settings.c - libFuzzer target for values of environment variables
 * (core/base/config.h): lines NAME=VALUE, each for the variable of that name. A value that is
 * refused is named, with its variable, and nothing changes. One thread.
 */
#include "core/base/config.h"
#include "core/base/stack_size.h"
#include "tests/fuzz/fuzz.h"

/* Of one that was refused. */
static void check_error(const struct orr_error *err, const char *name)
{
    must(strstr(err->text, name) != NULL);
}

static void set(struct orr_config *config, const char *name, const char *value)
{
    for (int id = 0; id < ORR_CFG_COUNT; id++) {
        struct orr_error err = {""};
        bool was = orr_config_is_set(config, id);

        if (strcmp(orr_config_name(id), name) != 0)
            continue;
        if (orr_config_replace(config, id, value, &err) == 0) {
            must(orr_config_is_set(config, id) == (*value != '\0'));
        } else {
            check_error(&err, name);
            must(orr_config_is_set(config, id) == was);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *rest = text, *line;
    struct orr_config config = {0};
    struct orr_error err = {""};
    size_t bytes;

    must(orr_config_read(&config, &err) == 0);
    while ((line = strsep(&rest, "\n"))) {
        char *value = strchr(line, '=');

        if (!value)
            continue;
        *value++ = '\0';
        set(&config, line, value);
        if (!orr_stack_size_read(value, &bytes))
            must(bytes > 0);
    }
    orr_config_done(&config);
    free(text);
    return 0;
}
