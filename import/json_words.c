/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/json_words.c - see json_words.h. */
#include "import/json_words.h"

const char *json_wanted_word(enum wanted wanted)
{
    static const char *const words[] = {"text", "a number", "a list", "an object"};

    return words[wanted];
}

const char *json_type_word(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return json_wanted_word(OBJECT);
    case JSON_ARRAY:
        return json_wanted_word(LIST);
    case JSON_STRING:
        return json_wanted_word(TEXT);
    case JSON_INTEGER:
    case JSON_REAL:
        return json_wanted_word(NUMBER);
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    default:
        return "null";
    }
}

bool json_is_wanted(const json_t *value, enum wanted wanted)
{
    switch (wanted) {
    case TEXT:
        return json_is_string(value);
    case NUMBER:
        return json_is_number(value);
    case LIST:
        return json_is_array(value);
    default:
        return json_is_object(value);
    }
}
