/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-model-file.c - libFuzzer target for the reader of model
 * files: no text crashes it, what it accepts it writes so that it reads it
 * again, and errors name the line. One thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/store.h"
#include "tests/fuzz/fuzz.h"

/* Numbers keep 7 digits when written, so that only what was written once comes
 * back the same. */
static void round_trip(const struct orr_model_file *file)
{
    struct orr_model_file *again = NULL;
    char *text, *text2;
    size_t size, size2;

    must(orr_model_file_format(file, &text, &size) == 0);
    must(orr_model_file_parse("again", text, size, &again, NULL) == 0);
    must(orr_model_file_format(again, &text2, &size2) == 0);
    must(size == size2 && memcmp(text, text2, size) == 0);
    orr_model_file_free(again);
    free(text);
    free(text2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct orr_model_file *file = NULL;
    struct orr_error err = {""};
    int rc =
        orr_model_file_parse("fuzz", (const char *)data, size, &file, &err);

    must((rc == 0) == (file != NULL));
    must(rc == 0 || strncmp(err.text, "fuzz:", 5) == 0);
    if (file)
        round_trip(file);
    orr_model_file_free(file);
    return 0;
}
