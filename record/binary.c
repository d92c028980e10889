/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/binary.c - see binary.h. A byte for the verb; then, for each field that is not
 * as in orr_call_none, a byte for its place among the verb's and its value. Numbers have
 * seven bits a byte, the least first, the eighth set in all but the last one.
 */
#include "record/binary.h"

#include <assert.h>
#include <string.h>

/* One element of each sort of list; those of uses are two. */
static_assert(sizeof(uint64_t) == sizeof(double) &&
                  2 * sizeof(uint64_t) == sizeof(struct orr_call_use),
              "elements of lists are of one size");

/* --- writing --- */

size_t orr_binary_put_number(unsigned char *to, uint64_t value)
{
    size_t n = 0;

    for (; value > 0x7f; value >>= 7)
        to[n++] = (unsigned char)(value | 0x80);
    to[n++] = (unsigned char)value;
    return n;
}

/* Small ones of either sign are short. */
static uint64_t zigzag_encode(int64_t value)
{
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static int64_t zigzag_decode(uint64_t value)
{
    return (int64_t)((value >> 1) ^ (value & 1 ? UINT64_MAX : 0));
}

/* A whole number is 2 times that, any other a 1 and its eight bytes. */
static size_t binary_put_real(unsigned char *to, double value)
{
    uint64_t bits;

    if (value >= 0 && value < 1e15 && value == (double)(uint64_t)value)
        return orr_binary_put_number(to, (uint64_t)value << 1);
    memcpy(&bits, &value, sizeof(bits));
    to[0] = 1;
    for (int i = 0; i < 8; i++)
        to[1 + i] = (unsigned char)(bits >> 8 * i);
    return 9;
}

static size_t put_element(unsigned char *to, enum orr_field_type type,
                          const void *list, size_t i)
{
    const struct orr_call_use *use;
    size_t n;

    switch (type) {
    case ORR_FIELD_NUMBERS:
        return orr_binary_put_number(to,
                                     ((const struct orr_numbers *)list)->at[i]);
    case ORR_FIELD_INTEGERS:
        return orr_binary_put_number(
            to, zigzag_encode(((const struct orr_integers *)list)->at[i]));
    case ORR_FIELD_REALS:
        return binary_put_real(to, ((const struct orr_reals *)list)->at[i]);
    default:
        use = &((const struct orr_call_uses *)list)->at[i];
        n = orr_binary_put_number(to, use->datum);
        return n + orr_binary_put_number(to + n, use->mode);
    }
}

static size_t put_list(unsigned char *to, enum orr_field_type type,
                       const void *list)
{
    size_t count = ((const struct orr_numbers *)list)->n;
    size_t n = orr_binary_put_number(to, count);

    for (size_t i = 0; i < count; i++)
        n += put_element(to + n, type, list, i);
    return n;
}

static size_t binary_put_value(unsigned char *to, const struct orr_field *field,
                               const void *at)
{
    const char *text;
    size_t length, n;

    switch (field->type) {
    case ORR_FIELD_NUMBER:
    case ORR_FIELD_HEX:
        return orr_binary_put_number(to, *(const uint64_t *)at);
    case ORR_FIELD_INTEGER:
        return orr_binary_put_number(to, zigzag_encode(*(const int64_t *)at));
    case ORR_FIELD_REAL:
        return binary_put_real(to, *(const double *)at);
    case ORR_FIELD_TEXT:
        text = *(const char *const *)at;
        length = strlen(text) + 1;
        n = orr_binary_put_number(to, length);
        memcpy(to + n, text, length);
        return n + length;
    case ORR_FIELD_HOW:
        *to = (unsigned char)*(const enum orr_how *)at;
        return 1;
    default:
        return put_list(to, field->type, at);
    }
}

static const void *call_field(const struct orr_field *field,
                              const struct orr_call *call)
{
    return (const char *)call + field->offset;
}

size_t orr_binary_most(const struct orr_call *call)
{
    const struct orr_field *const *field = orr_verbs[call->verb].fields;
    size_t n = 1;

    for (; *field; field++) {
        const void *at = call_field(*field, call);

        n += 1 + 2 * ORR_BINARY_NUMBER;
        if ((*field)->type == ORR_FIELD_TEXT && *(const char *const *)at)
            n += strlen(*(const char *const *)at) + 1;
        if ((*field)->type >= ORR_FIELD_NUMBERS)
            n += ((const struct orr_numbers *)at)->n * 2 * ORR_BINARY_NUMBER;
    }
    return n;
}

size_t orr_binary_put(unsigned char *to, const struct orr_call *call)
{
    const struct orr_field *const *fields = orr_verbs[call->verb].fields;
    size_t n = 0;

    to[n++] = (unsigned char)call->verb;
    for (size_t i = 0; fields[i]; i++) {
        if (orr_field_is_default(fields[i], call))
            continue;
        to[n++] = (unsigned char)i;
        n += binary_put_value(to + n, fields[i], call_field(fields[i], call));
    }
    return n;
}

/* --- reading --- */

struct bytes {
    const unsigned char *at, *end;
    uint64_t *elements;
};

static const char too_short[] = "a call ends within a field";

static const char *binary_read_number(struct bytes *b, uint64_t *ret)
{
    unsigned shift = 0;

    for (*ret = 0; b->at < b->end && shift < 64; shift += 7) {
        *ret |= (uint64_t)(*b->at & 0x7f) << shift;
        if (!(*b->at++ & 0x80))
            return NULL;
    }
    return shift >= 64 ? "a number of more than 64 bits" : too_short;
}

static const char *binary_read_integer(struct bytes *b, int64_t *ret)
{
    uint64_t value;
    const char *wrong = binary_read_number(b, &value);

    if (!wrong)
        *ret = zigzag_decode(value);
    return wrong;
}

static const char *binary_read_real(struct bytes *b, double *ret)
{
    uint64_t bits = 0;
    const char *wrong;

    if (b->at < b->end && *b->at == 1) {
        if (b->end - b->at < 9)
            return too_short;
        for (int i = 0; i < 8; i++)
            bits |= (uint64_t)b->at[1 + i] << 8 * i;
        memcpy(ret, &bits, sizeof(bits));
        b->at += 9;
        return NULL;
    }
    wrong = binary_read_number(b, &bits);
    if (!wrong)
        *ret = (double)(bits >> 1);
    return wrong;
}

static const char *binary_read_text(struct bytes *b, const char **ret)
{
    uint64_t length;
    const char *wrong = binary_read_number(b, &length);

    if (wrong)
        return wrong;
    if (length > (uint64_t)(b->end - b->at))
        return too_short;
    if (!length || memchr(b->at, '\0', length) != b->at + length - 1)
        return "a text without its end";
    *ret = (const char *)b->at;
    b->at += length;
    return NULL;
}

static const char *binary_read_use(struct bytes *b, struct orr_call_use *ret)
{
    uint64_t datum, mode = 0;
    const char *wrong = binary_read_number(b, &datum);

    if (!wrong)
        wrong = binary_read_number(b, &mode);
    if (!wrong && (!mode || mode > UINT16_MAX)) /* as in text */
        wrong = "an access mode that there is not";
    *ret = (struct orr_call_use){datum, (uint32_t)mode};
    return wrong;
}

static const char *binary_read_element(struct bytes *b,
                                       enum orr_field_type type, void *ret)
{
    switch (type) {
    case ORR_FIELD_NUMBERS:
        return binary_read_number(b, ret);
    case ORR_FIELD_INTEGERS:
        return binary_read_integer(b, ret);
    case ORR_FIELD_REALS:
        return binary_read_real(b, ret);
    default:
        return binary_read_use(b, ret);
    }
}

/* Every element has a byte at least, and one of uses two: there is room. */
static const char *binary_read_list(struct bytes *b, enum orr_field_type type,
                                    struct orr_numbers *ret)
{
    size_t words = type == ORR_FIELD_USES ? 2 : 1;
    uint64_t n;
    const char *wrong = binary_read_number(b, &n);

    if (!wrong && n > (uint64_t)(b->end - b->at) / words)
        wrong = too_short;
    if (wrong)
        return wrong;
    *ret = (struct orr_numbers){b->elements, n};
    for (uint64_t i = 0; !wrong && i < n; i++) {
        wrong = binary_read_element(b, type, b->elements);
        b->elements += words;
    }
    return wrong;
}

static const char *binary_read_value(struct bytes *b, enum orr_field_type type,
                                     void *to)
{
    switch (type) {
    case ORR_FIELD_NUMBER:
    case ORR_FIELD_HEX:
        return binary_read_number(b, to);
    case ORR_FIELD_INTEGER:
        return binary_read_integer(b, to);
    case ORR_FIELD_REAL:
        return binary_read_real(b, to);
    case ORR_FIELD_TEXT:
        return binary_read_text(b, to);
    case ORR_FIELD_HOW:
        if (b->at == b->end || *b->at >= ORR_NHOWS)
            return "a way of a call that there is not";
        *(enum orr_how *)to = (enum orr_how) * b->at++;
        return NULL;
    default:
        return binary_read_list(b, type, to);
    }
}

const char *orr_binary_read(const unsigned char *from, size_t n,
                            uint64_t *elements, struct orr_call *ret)
{
    struct bytes b = {from, from + n, elements};
    const struct orr_field *const *fields;
    const char *wrong = NULL;
    size_t nfields = 0;

    if (!n || *b.at >= ORR_NVERBS)
        return "a call that a record of this version has not";
    *ret = orr_call_none;
    ret->verb = (enum orr_verb) * b.at++;
    fields = orr_verbs[ret->verb].fields;
    while (fields[nfields])
        nfields++;
    while (!wrong && b.at < b.end) {
        const struct orr_field *field;

        if (*b.at >= nfields)
            return "a field that this call has not";
        field = fields[*b.at++];
        wrong = binary_read_value(&b, field->type, (char *)ret + field->offset);
    }
    return wrong;
}
