/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/json_words.h - types of JSON's values, in words for messages. One thread. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

enum wanted { TEXT, NUMBER, LIST, OBJECT };

/* "a number", "true or false". */
const char *json_type_word(const json_t *value);
const char *json_wanted_word(enum wanted wanted);

bool json_is_wanted(const json_t *value, enum wanted wanted);
