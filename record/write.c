/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* record/write.c - see write.h. Fields as in orr_call_none are left out. */
#include "record/write.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/number.h"
#include "record/binary.h"
#include "record/modes.h"
#include "record/version.h"

/* Room for n characters more; NULL without memory. */
static char *writer_room(struct orr_record_writer *w, size_t n)
{
    if (w->n + n > w->room && orr_grow(&w->line, &w->room, w->n + n, 1) < 0) {
        w->error = -ENOMEM;
        return NULL;
    }
    return w->line + w->n;
}

static void put_char(struct orr_record_writer *w, char c)
{
    char *to = writer_room(w, 1);

    if (to) {
        *to = c;
        w->n++;
    }
}

static void put_word(struct orr_record_writer *w, const char *text)
{
    size_t n = strlen(text);
    char *to = writer_room(w, n);

    if (to) {
        memcpy(to, text, n);
        w->n += n;
    }
}

static void put_based(struct orr_record_writer *w, uint64_t value,
                      unsigned base)
{
    char digits[20], *to;
    size_t n = 0;

    do
        digits[n++] = "0123456789abcdef"[value % base];
    while (value /= base);
    to = writer_room(w, n);
    if (!to)
        return;
    w->n += n;
    while (n)
        *to++ = digits[--n];
}

static void record_put_number(struct orr_record_writer *w, uint64_t value)
{
    put_based(w, value, 10);
}

static void put_integer(struct orr_record_writer *w, int64_t value)
{
    if (value < 0)
        put_char(w, '-');
    record_put_number(w, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* With a point whatever the locale says. */
static void put_digits(struct orr_record_writer *w, const char *text)
{
    for (; *text; text++)
        put_char(w, strchr("0123456789e+-", *text) ? *text : '.');
}

/* Whether it is a number of thousandths, as of a real clock's nanoseconds in µs, and was
 * written: as printf's 15 digits would, which cost twenty times as much. */
static bool put_thousandths(struct orr_record_writer *w, double value)
{
    uint64_t n = value >= 0.001 && value < 1e9 ? (uint64_t)(value * 1e3 + 0.5) : 0;
    unsigned part = (unsigned)(n % 1000);

    if (!n || (double)n / 1e3 != value)
        return false;
    record_put_number(w, n / 1000);
    put_char(w, '.');
    for (unsigned unit = 100; part; part %= unit, unit /= 10)
        put_char(w, (char)('0' + part / unit));
    return true;
}

/* As few digits as give the same number again. */
static void record_put_real(struct orr_record_writer *w, double value)
{
    char text[40];

    if (isnan(value) || isinf(value)) {
        put_word(w, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    if (value >= 0 && value < 1e15 && value == (double)(uint64_t)value) {
        record_put_number(w, (uint64_t)value);
        return;
    }
    if (put_thousandths(w, value))
        return;
    for (int digits = 15; digits <= 17; digits++) {
        orr_snprintf(text, sizeof(text), "%.*g", digits, value);
        if (orr_strtod(text, NULL) == value)
            break;
    }
    put_digits(w, text);
}

static void record_put_text(struct orr_record_writer *w, const char *text)
{
    char escape[8];

    put_char(w, '"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            put_char(w, '\\');
        if (c >= ' ' && c != 127) {
            put_char(w, (char)c);
            continue;
        }
        snprintf(escape, sizeof(escape), "\\x%02x", c);
        put_word(w, escape);
    }
    put_char(w, '"');
}

static void record_put_mode(struct orr_record_writer *w, uint32_t mode)
{
    for (size_t i = 0; i < ORR_NMODES; i++)
        if (mode & orr_record_modes[i].bit) {
            put_char(w, orr_record_modes[i].letter);
            mode &= ~orr_record_modes[i].bit;
        }
    if (mode) {
        put_char(w, '+');
        record_put_number(w, mode);
    }
}

static void record_put_uses(struct orr_record_writer *w,
                            const struct orr_call_uses *uses)
{
    for (size_t i = 0; i < uses->n; i++) {
        if (i)
            put_char(w, ',');
        record_put_number(w, uses->at[i].datum);
        put_char(w, ':');
        record_put_mode(w, uses->at[i].mode);
    }
}

#define PUT_LIST(list_type, put)                                               \
    do {                                                                       \
        const struct list_type *list = (const void *)at;                       \
        for (size_t i = 0; i < list->n; i++) {                                 \
            if (i)                                                             \
                put_char(w, ',');                                              \
            put(w, list->at[i]);                                               \
        }                                                                      \
    } while (0)

static void record_put_value(struct orr_record_writer *w,
                             const struct orr_field *field,
                             const struct orr_call *call)
{
    const char *at = (const char *)call + field->offset;

    switch (field->type) {
    case ORR_FIELD_NUMBER:
        record_put_number(w, *(const uint64_t *)at);
        break;
    case ORR_FIELD_HEX:
        put_based(w, *(const uint64_t *)at, 16);
        break;
    case ORR_FIELD_INTEGER:
        put_integer(w, *(const int64_t *)at);
        break;
    case ORR_FIELD_REAL:
        record_put_real(w, *(const double *)at);
        break;
    case ORR_FIELD_TEXT:
        record_put_text(w, *(const char *const *)at);
        break;
    case ORR_FIELD_HOW:
        put_word(w, orr_hows[*(const enum orr_how *)at]);
        break;
    case ORR_FIELD_NUMBERS:
        PUT_LIST(orr_numbers, record_put_number);
        break;
    case ORR_FIELD_INTEGERS:
        PUT_LIST(orr_integers, put_integer);
        break;
    case ORR_FIELD_REALS:
        PUT_LIST(orr_reals, record_put_real);
        break;
    case ORR_FIELD_USES:
        record_put_uses(w, (const void *)at);
        break;
    }
}

static void put_field(struct orr_record_writer *w,
                      const struct orr_field *field,
                      const struct orr_call *call)
{
    if (*field->word && orr_field_is_default(field, call))
        return;
    put_char(w, ' ');
    if (*field->word) {
        put_word(w, field->word);
        put_char(w, '=');
    }
    record_put_value(w, field, call);
}

bool orr_record_is_binary_name(const char *path)
{
    static const char extension[] = ORR_RECORD_BINARY_EXTENSION;
    size_t n = strlen(path), m = sizeof(extension) - 1;

    return n > m && !strcmp(path + n - m, extension);
}

void orr_record_begin(struct orr_record_writer *writer)
{
    fputs(writer->binary
              ? ORR_RECORD_MAGIC " " ORR_RECORD_VERSION " " ORR_RECORD_BINARY
                                 "\n"
              : ORR_RECORD_MAGIC " " ORR_RECORD_VERSION "\n",
          writer->file);
}

/* Its length, then its bytes. */
static void record_put_bytes(struct orr_record_writer *w,
                             const struct orr_call *call)
{
    unsigned char length[ORR_BINARY_NUMBER];
    unsigned char *to = (unsigned char *)writer_room(w, orr_binary_most(call));
    size_t n;

    if (!to)
        return;
    w->n = orr_binary_put(to, call);
    n = orr_binary_put_number(length, w->n);
    fwrite(length, 1, n, w->file);
}

static void put_line(struct orr_record_writer *w, const struct orr_call *call)
{
    const struct orr_verb_fields *verb = &orr_verbs[call->verb];

    put_word(w, verb->word);
    for (size_t i = 0; verb->fields[i]; i++)
        put_field(w, verb->fields[i], call);
    put_char(w, '\n');
}

void orr_record_write(struct orr_record_writer *w, const struct orr_call *call)
{
    w->n = 0;
    if (w->binary)
        record_put_bytes(w, call);
    else
        put_line(w, call);
    if (w->error)
        return;
    fwrite(w->line, 1, w->n, w->file);
    w->ncalls++;
}

int orr_record_end(struct orr_record_writer *writer, const char *how)
{
    struct orr_call end = orr_call_none;

    end.verb = ORR_CALL_END;
    end.value = writer->ncalls;
    end.text = how;
    orr_record_write(writer, &end);
    free(writer->line);
    writer->line = NULL;
    writer->n = writer->room = 0;
    return writer->error;
}
