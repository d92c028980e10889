/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/read.c - see read.h. A line is cut in place: texts stay in it, the
 * elements of lists go to one array that is as long as the line may need.
 */
#include "record/read.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/grow.h"
#include "core/base/number.h"
#include "record/binary.h"
#include "record/modes.h"
#include "record/version.h"

struct orr_record_reader {
    FILE *file;
    char *name;  /* owned */
    char *where; /* owned, or NULL: not asked for yet */
    char *line;  /* owned */
    size_t room;
    char *at;               /* what is left of the line */
    uint64_t *elements;     /* owned: of the lists of the line … */
    size_t nelements, most; /* … how many, and for how many there is room */
    unsigned long number;   /* of the line */
    uint64_t ncalls;
    struct orr_call call;
    struct orr_error *err;
    bool ended;
    unsigned char likely[32]; /* by a line's first letter: the verb of the last one */
    bool binary; /* calls as bytes: binary.h; `number` counts them */
};

/* One element of each sort of list. */
static_assert(sizeof(uint64_t) == sizeof(int64_t) &&
                  sizeof(uint64_t) == sizeof(double) &&
                  2 * sizeof(uint64_t) == sizeof(struct orr_call_use),
              "elements of lists are of one size");

__attribute__((format(printf, 2, 3))) static int
wrong(struct orr_record_reader *r, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    orr_vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return orr_fail(r->err, -EINVAL, "%s:%lu: %s", r->name, r->number, text);
}

/* --- values --- */

static int read_based(struct orr_record_reader *r, unsigned base, uint64_t *ret)
{
    uint64_t value = 0;
    const char *first = r->at;

    for (;; r->at++) {
        unsigned digit = (unsigned char)*r->at - (unsigned)'0';

        if (digit > 9)
            digit = base == 16 && *r->at >= 'a' && *r->at <= 'f'
                        ? (unsigned)(*r->at - 'a') + 10
                        : base;
        if (digit >= base)
            break;
        if (value > (UINT64_MAX - digit) / base)
            return wrong(r, "a number of more than 64 bits");
        value = value * base + digit;
    }
    if (r->at == first)
        return wrong(r, "\"%.20s\" where a number is to be", first);
    *ret = value;
    return 0;
}

/* So many digits are never too large. */
static int record_read_number(struct orr_record_reader *r, uint64_t *ret)
{
    enum { MOST_DIGITS = 19 };
    const char *at = r->at;
    uint64_t value = 0;
    unsigned digit;

    while ((digit = (unsigned char)*at - (unsigned)'0') <= 9 && at - r->at < MOST_DIGITS) {
        value = value * 10 + digit;
        at++;
    }
    if (at == r->at || digit <= 9)
        return read_based(r, 10, ret);
    r->at += at - r->at;
    *ret = value;
    return 0;
}

static int record_read_integer(struct orr_record_reader *r, int64_t *ret)
{
    bool negative = *r->at == '-';
    uint64_t value = 0;
    int rc;

    r->at += negative;
    rc = record_read_number(r, &value);
    if (!rc && value > INT64_MAX)
        return wrong(r, "a number of more than 63 bits");
    if (!rc)
        *ret = negative ? -(int64_t)value : (int64_t)value;
    return rc;
}

static int record_read_real(struct orr_record_reader *r, double *ret)
{
    char *end;

    *ret = orr_strtod(r->at, &end);
    if (end == r->at)
        return wrong(r, "\"%.20s\" where a number is to be", r->at);
    r->at = end;
    return 0;
}

static int read_escape(struct orr_record_reader *r, char *ret)
{
    char digits[3] = {0}, *end;

    if (*r->at == '"' || *r->at == '\\') {
        *ret = *r->at++;
        return 0;
    }
    if (r->at[0] == 'x' && r->at[1] && r->at[2]) {
        memcpy(digits, r->at + 1, 2);
        *ret = (char)strtoul(digits, &end, 16);
        if (end == digits + 2 && *ret) {
            r->at += 3;
            return 0;
        }
    }
    return wrong(r, "\"\\%.3s\" in a text is none of \\\\, \\\" and \\xHH",
                 r->at);
}

static int record_read_text(struct orr_record_reader *r, const char **ret)
{
    char *to;
    int rc = 0;

    if (*r->at != '"')
        return wrong(r, "\"%.20s\" where a text in quotes is to be", r->at);
    *ret = to = ++r->at;
    while (!rc && *r->at && *r->at != '"') {
        if (*r->at != '\\') {
            *to++ = *r->at++;
            continue;
        }
        r->at++;
        rc = read_escape(r, to++);
    }
    if (!rc && !*r->at)
        rc = wrong(r, "a text without its last quote");
    if (rc)
        return rc;
    r->at++;
    *to = '\0';
    return 0;
}

static size_t length_of_word(const char *text)
{
    return strcspn(text, " =,");
}

/* How many characters of the text are the word, if that character is behind it; 0 stands for
 * any that ends a word. 0: it begins otherwise. */
static size_t begins_with(const char *text, const char *word, char behind)
{
    size_t n = 0;

    while (word[n] && text[n] == word[n])
        n++;
    if (word[n])
        return 0;
    text += n;
    if (behind ? *text == behind : !*text || *text == ' ' || *text == '=' || *text == ',')
        return n;
    return 0;
}

static int read_how(struct orr_record_reader *r, enum orr_how *ret)
{
    size_t n = length_of_word(r->at);

    for (int how = 0; how < ORR_NHOWS; how++)
        if (strlen(orr_hows[how]) == n && !strncmp(orr_hows[how], r->at, n)) {
            *ret = (enum orr_how)how;
            r->at += n;
            return 0;
        }
    return wrong(r, "how=%.*s means nothing", (int)(n < 40 ? n : 40), r->at);
}

static int read_mode(struct orr_record_reader *r, uint32_t *ret)
{
    uint64_t rest = 0;
    uint32_t mode = 0;
    bool found = true;

    while (found) {
        found = false;
        for (size_t i = 0; i < ORR_NMODES && !found; i++)
            if (*r->at == orr_record_modes[i].letter) {
                mode |= orr_record_modes[i].bit;
                r->at++;
                found = true;
            }
    }
    if (*r->at == '+') {
        r->at++;
        if (record_read_number(r, &rest) || rest > UINT16_MAX)
            return wrong(r, "an access mode that there is not");
    }
    *ret = mode | (uint32_t)rest;
    return *ret ? 0 : wrong(r, "a use of data without an access mode");
}

static int record_read_use(struct orr_record_reader *r,
                           struct orr_call_use *ret)
{
    int rc = record_read_number(r, &ret->datum);

    if (rc)
        return rc;
    if (*r->at != ':')
        return wrong(r, "a use of data without `:' and an access mode");
    r->at++;
    return read_mode(r, &ret->mode);
}

/* --- lists --- */

static int record_read_element(struct orr_record_reader *r,
                               enum orr_field_type type, void *ret)
{
    switch (type) {
    case ORR_FIELD_NUMBERS:
        return record_read_number(r, ret);
    case ORR_FIELD_INTEGERS:
        return record_read_integer(r, ret);
    case ORR_FIELD_REALS:
        return record_read_real(r, ret);
    default:
        return record_read_use(r, ret);
    }
}

/* All lists begin as orr_numbers does. */
static int record_read_list(struct orr_record_reader *r,
                            enum orr_field_type type, struct orr_numbers *ret)
{
    size_t words = type == ORR_FIELD_USES ? 2 : 1;
    uint64_t *first = r->elements + r->nelements;
    int rc = 0;

    ret->at = first;
    ret->n = 0;
    do {
        if (ret->n)
            r->at++;
        rc = record_read_element(r, type, first + ret->n++ * words);
    } while (!rc && *r->at == ',');
    r->nelements += ret->n * words;
    return rc;
}

static int record_read_value(struct orr_record_reader *r,
                             const struct orr_field *field)
{
    void *to = (char *)&r->call + field->offset;

    switch (field->type) {
    case ORR_FIELD_NUMBER:
        return record_read_number(r, to);
    case ORR_FIELD_HEX:
        return read_based(r, 16, to);
    case ORR_FIELD_INTEGER:
        return record_read_integer(r, to);
    case ORR_FIELD_REAL:
        return record_read_real(r, to);
    case ORR_FIELD_TEXT:
        return record_read_text(r, to);
    case ORR_FIELD_HOW:
        return read_how(r, to);
    default:
        return record_read_list(r, field->type, to);
    }
}

/* --- lines --- */

/* The field whose name, of *length characters, the text begins with, looked for from where the
 * last one was: they mostly come in order. */
static const struct orr_field *find_field(const struct orr_verb_fields *verb,
                                          const char *text, size_t *place, size_t *length)
{
    size_t first = *place, i = first;

    do {
        const struct orr_field *field = verb->fields[i];

        if (!field) {
            i = 0;
            continue;
        }
        i++;
        if (*text == *field->word && (*length = begins_with(text, field->word, '='))) {
            *place = i;
            return field;
        }
    } while (i != first);
    return NULL;
}

static int read_named(struct orr_record_reader *r,
                      const struct orr_verb_fields *verb, size_t *place)
{
    size_t n;
    const struct orr_field *field = find_field(verb, r->at, place, &n);

    if (!field) {
        n = length_of_word(r->at);
        return wrong(r, "\"%.*s\" is no field of `%s'", (int)(n < 40 ? n : 40),
                     r->at, verb->word);
    }
    r->at += n + 1;
    return record_read_value(r, field);
}

static int read_fields(struct orr_record_reader *r,
                       const struct orr_verb_fields *verb)
{
    size_t place = 0;
    int rc = 0;

    if (!*verb->fields[0]->word) {
        if (*r->at != ' ')
            return wrong(r, "`%s' lacks its number", verb->word);
        r->at++;
        rc = record_read_value(r, verb->fields[0]);
        place = 1;
    }
    while (!rc && *r->at) {
        if (*r->at != ' ')
            return wrong(r, "\"%.20s\" behind a field", r->at);
        r->at++;
        rc = read_named(r, verb, &place);
    }
    return rc;
}

/* Which one it is, of *length characters: that of the last line that began alike, mostly.
 * ORR_NVERBS: none. */
static int find_verb(struct orr_record_reader *r, size_t *length)
{
    unsigned char *likely = &r->likely[(unsigned char)r->at[0] % sizeof(r->likely)];
    int verb = *likely;

    if ((*length = begins_with(r->at, orr_verbs[verb].word, 0)))
        return verb;
    for (verb = 0; verb < ORR_NVERBS; verb++)
        if ((*length = begins_with(r->at, orr_verbs[verb].word, 0)))
            break;
    if (verb < ORR_NVERBS)
        *likely = (unsigned char)verb;
    return verb;
}

static int read_verb(struct orr_record_reader *r)
{
    size_t n;
    int verb = find_verb(r, &n);

    if (verb < ORR_NVERBS) {
        r->call = orr_call_none;
        r->call.verb = (enum orr_verb)verb;
        r->at += n;
        return read_fields(r, &orr_verbs[verb]);
    }
    n = length_of_word(r->at);
    return wrong(r,
                 "\"%.*s\" is no call that a record of version " //
                 ORR_RECORD_VERSION " has",
                 (int)(n < 40 ? n : 40), r->at);
}

/* Room for so many elements of lists; returns 1 or an error. */
static int reader_make_room(struct orr_record_reader *r, size_t words)
{
    r->nelements = 0;
    if (orr_grow(&r->elements, &r->most, words, sizeof(*r->elements)) < 0)
        return orr_fail(r->err, -ENOMEM, "%s:%lu: out of memory", r->name,
                        r->number);
    return 1;
}

#define MAGIC ORR_RECORD_MAGIC " " /* of the first line, before the version */

/* The next line without its end: 1, 0 at the end of the file, or an error. */
static int record_read_line(struct orr_record_reader *r)
{
    ssize_t n;

    errno = 0;
    n = getline(&r->line, &r->room, r->file);
    r->number++;
    if (n < 0 && ferror(r->file))
        return orr_fail(r->err, errno ? -errno : -EIO, "%s: %s", r->name,
                        strerror(errno ? errno : EIO));
    if (n < 0 && errno == ENOMEM)
        return orr_fail(r->err, -ENOMEM, "%s:%lu: out of memory", r->name,
                        r->number);
    if (n <= 0)
        return 0;
    if (r->number == 1 && strncmp(r->line, MAGIC, sizeof(MAGIC) - 1) != 0)
        return wrong(r, "this is no record, whose first line is \"" ORR_RECORD_MAGIC
                     " " ORR_RECORD_VERSION "\": orrery record -o FILE -- PROGRAM makes "
                     "one of a program");
    if (r->line[n - 1] != '\n')
        return wrong(r, "the line is cut off");
    r->line[n - 1] = '\0';
    if (strlen(r->line) != (size_t)n - 1)
        return wrong(r, "a byte 0: this is no text");
    r->at = r->line;
    /* Every element has a digit and a separator; uses, of two words, three
     * characters at least. */
    return reader_make_room(r, (size_t)n + 4);
}

/* --- bytes --- */

static int cut_off(struct orr_record_reader *r)
{
    return wrong(r, "the record is cut off: its last call, `end', is missing. "
                    "The run may not have ended");
}

/* A length: 1, 0 at the end of the file, or an error. */
static int read_length(struct orr_record_reader *r, size_t *ret)
{
    int c = getc_unlocked(r->file);

    r->number++;
    *ret = 0;
    for (unsigned shift = 0; c != EOF && shift < 32; shift += 7) {
        *ret |= (size_t)(c & 0x7f) << shift;
        if (!(c & 0x80))
            return 1;
        c = getc_unlocked(r->file);
    }
    if (c == EOF)
        return r->ended && !*ret ? 0 : cut_off(r);
    return wrong(r, "a call of more bytes than there can be");
}

/* The next call's bytes, for which room is made as they come. */
static int record_read_bytes(struct orr_record_reader *r, size_t n)
{
    enum { STEP = 1 << 20 };

    for (size_t got = 0; got < n;) {
        size_t more = n - got < STEP ? n - got : STEP;

        if (orr_grow(&r->line, &r->room, got + more, 1) < 0)
            return orr_fail(r->err, -ENOMEM, "%s:%lu: out of memory", r->name,
                            r->number);
        if (fread(r->line + got, 1, more, r->file) < more)
            return cut_off(r);
        got += more;
    }
    return reader_make_room(r, n);
}

/* 1, 0 behind the last call, or an error. */
static int read_binary(struct orr_record_reader *r)
{
    const char *problem;
    size_t n;
    int rc = read_length(r, &n);

    if (rc > 0 && r->ended)
        return wrong(r, "a call behind the last one, `end'");
    if (rc > 0)
        rc = record_read_bytes(r, n);
    if (rc <= 0)
        return rc;
    problem = orr_binary_read((const unsigned char *)r->line, n, r->elements,
                              &r->call);
    return problem ? wrong(r, "%s", problem) : 1;
}

static int record_check_end(struct orr_record_reader *r)
{
    if (r->call.value != r->ncalls)
        return wrong(r,
                     "the record has %llu calls, not the %llu that its last "
                     "line says: lines are missing",
                     (unsigned long long)r->ncalls,
                     (unsigned long long)r->call.value);
    r->ended = true;
    return 0;
}

/* The next line as a call: 1, 0 behind the last one, or an error. */
static int read_text_call(struct orr_record_reader *r)
{
    int rc;

    do {
        rc = record_read_line(r);
        if (rc < 0)
            return rc;
        if (rc == 0 && r->ended)
            return 0;
        if (rc == 0)
            return wrong(r, "the record is cut off: its last line, `end', is "
                            "missing. The run may not have ended");
    } while (*r->at == '#' || !*r->at);
    if (r->ended)
        return wrong(r, "a line behind the last one, `end'");
    rc = read_verb(r);
    return rc ? rc : 1;
}

static int read_call(struct orr_record_reader *r)
{
    int rc = r->binary ? read_binary(r) : read_text_call(r);

    if (rc > 0 && r->call.verb == ORR_CALL_END && record_check_end(r))
        return -EINVAL;
    r->ncalls++;
    return rc;
}

int orr_record_next(struct orr_record_reader *reader,
                    const struct orr_call **ret, struct orr_error *err)
{
    reader->err = err;
    *ret = &reader->call;
    return read_call(reader);
}

/* --- the file --- */

static int read_first_line(struct orr_record_reader *r)
{
    int rc = record_read_line(r);

    if (rc <= 0)
        return rc < 0 ? rc : wrong(r, "this is no record: it is empty");
    r->binary = !strcmp(r->at + sizeof(MAGIC) - 1,
                        ORR_RECORD_VERSION " " ORR_RECORD_BINARY);
    if (!r->binary && strcmp(r->at + sizeof(MAGIC) - 1, ORR_RECORD_VERSION))
        return wrong(r,
                     "a record of version %.20s; this Orrery reads "
                     "version " ORR_RECORD_VERSION,
                     r->at + sizeof(MAGIC) - 1);
    return 0;
}

int orr_record_open(const char *path, struct orr_record_reader **ret,
                    struct orr_error *err)
{
    struct orr_record_reader *r = calloc(1, sizeof(*r));
    struct stat st;
    int rc = 0;

    if (!r)
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    r->err = err;
    r->name = strdup(path);
    r->file = fopen(path, "re");
    if (!r->file)
        rc = orr_fail(err, -errno, "%s: %s", path, strerror(errno));
    else if (!r->name)
        rc = orr_fail(err, -ENOMEM, "%s: out of memory", path);
    else if (fstat(fileno(r->file), &st) == 0 && S_ISDIR(st.st_mode))
        rc = orr_fail(err, -EISDIR, "%s is a folder", path);
    else
        rc = read_first_line(r);
    if (rc) {
        orr_record_close(r);
        return rc;
    }
    *ret = r;
    return 0;
}

const char *orr_record_where(struct orr_record_reader *reader)
{
    size_t size = strlen(reader->name) + 24;

    if (!reader->where)
        reader->where = malloc(size);
    if (!reader->where)
        return reader->name;
    snprintf(reader->where, size, "%s:%lu", reader->name, reader->number);
    return reader->where;
}

void orr_record_close(struct orr_record_reader *reader)
{
    if (!reader)
        return;
    if (reader->file)
        fclose(reader->file);
    free(reader->name);
    free(reader->where);
    free(reader->line);
    free(reader->elements);
    free(reader);
}

int orr_record_ranks(const char *path, struct orr_error *err)
{
    struct orr_record_reader *reader;
    const struct orr_call *call;
    int rc = orr_record_open(path, &reader, err), n = 0;

    if (rc)
        return rc;
    /* It says so before its first task; what is wrong with it is said when it is played. */
    while (n == 0 && orr_record_next(reader, &call, err) > 0 &&
           call->verb != ORR_CALL_SUBMIT)
        if (call->verb == ORR_CALL_RANK)
            n = call->size < INT32_MAX ? (int)call->size : INT32_MAX;
    orr_record_close(reader);
    return n;
}

bool orr_record_is_one(const char *path)
{
    static const char magic[] = ORR_RECORD_MAGIC " ";
    char begin[sizeof(magic)] = {0};
    struct stat st;
    FILE *file =
        stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;

    if (!file)
        return false;
    if (fread(begin, 1, sizeof(magic) - 1, file) < sizeof(magic) - 1)
        begin[0] = '\0';
    fclose(file);
    return !strcmp(begin, magic);
}
