/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/config.c - see config.h. Only orr_config_read looks at the
 * environment; nothing here is kept between calls. */
#include "core/base/config.h"
#include "core/base/capped.h"

#include "core/base/number.h"
#include "core/base/perf_names.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum config_type {
    TYPE_INT,
    TYPE_SIGNED, /* negative as well */
    TYPE_BOOL,
    TYPE_MIB,
    TYPE_FLIGHT,
    TYPE_PERCENT,
    TYPE_STREAMS,
    TYPE_DEVICE_MIB,
    TYPE_DOUBLE, /* those before are integers */
    TYPE_SPAN,   /* a number that is not negative, such as a time to wait */
    TYPE_STRING
};

struct variable {
    const char *name;
    enum config_type type;
    const char *initial;
    const char *sentence;
};

static const struct variable table[ORR_CFG_COUNT] = {
#define ORR_CONFIG_ROW(id, name, type, initial, sentence)                      \
    [ORR_CFG_##id] = {name, TYPE_##type, initial, sentence},
    ORR_CONFIG_TABLE(ORR_CONFIG_ROW)
#undef ORR_CONFIG_ROW
};

/* Decimal digits with an optional + sign, blanks around. */
static int read_int(const char *name, const char *text, int least, int *ret,
                    struct orr_error *err)
{
    char *end;
    long long value;

    errno = 0;
    value = strtoll(text, &end, 10);
    if (end == text || end[strspn(end, " \t\n")] != '\0')
        return orr_fail(err, -EINVAL,
                        "%s=\"%s\" is not a number; give decimal digits only, "
                        "or unset it",
                        name, text);
    if (value < least || value > INT_MAX || errno)
        return orr_fail(err, -EINVAL,
                        "%s=\"%s\" is %s; give a number from %d to %d, or "
                        "unset it for the default",
                        name, text,
                        value > 0    ? "too large"
                        : least == 0 ? "negative"
                                     : "too small",
                        least, INT_MAX);
    *ret = (int)value;
    return 0;
}

/* A larger number is as good as this one. */
static int most_of(enum orr_config_id id)
{
    switch (table[id].type) {
    case TYPE_FLIGHT:
        return ORR_CONFIG_MOST_IN_FLIGHT;
    case TYPE_PERCENT:
        return 100;
    default:
        return INT_MAX;
    }
}

/* A finite number. */
static int read_double(const char *name, const char *text, double *ret,
                       struct orr_error *err)
{
    char *end;
    double value = orr_strtod(text, &end);

    if (end == text || end[strspn(end, " \t\n")] != '\0' || !isfinite(value))
        return orr_fail(err, -EINVAL,
                        "%s=\"%s\" is not a number; give one such as 1.5, or "
                        "unset it",
                        name, text);
    *ret = value;
    return 0;
}

static int read_span(const char *name, const char *text, double *ret,
                     struct orr_error *err)
{
    double value = 0;
    int rc = read_double(name, text, &value, err);

    if (rc == 0 && value < 0)
        rc = orr_fail(err, -EINVAL,
                      "%s=\"%s\" is negative; give 0 or more, or unset it",
                      name, text);
    if (rc == 0)
        *ret = value;
    return rc;
}

static int read_string(const char *text, char **ret)
{
    char *copy = strdup(text);

    if (!copy)
        return -ENOMEM;
    *ret = copy;
    return 0;
}

/* Reads `text`, which is not empty, as the variable's type. */
static int variable_read_value(const struct variable *variable,
                               const char *text, struct orr_config_value *value,
                               struct orr_error *err)
{
    switch (variable->type) {
    case TYPE_DOUBLE:
        return read_double(variable->name, text, &value->real, err);
    case TYPE_SPAN:
        return read_span(variable->name, text, &value->real, err);
    case TYPE_STRING:
        return read_string(text, &value->text);
    default:
        return read_int(variable->name, text,
                        variable->type == TYPE_SIGNED ? INT_MIN : 0, &value->number,
                        err);
    }
}

static bool is_capped(enum orr_config_id id)
{
    return most_of(id) < INT_MAX;
}

static void variable_set_default(const struct variable *variable,
                                 struct orr_config_value *value)
{
    const char *text = variable->initial;

    value->set = false;
    switch (variable->type) {
    case TYPE_DOUBLE:
    case TYPE_SPAN:
        value->real = (double)NAN;
        if (*text)
            (void)read_double(variable->name, text, &value->real, NULL);
        break;
    case TYPE_STRING:
        /* Never written nor freed: `set` is false. */
        value->text = *text ? (char *)(uintptr_t)text : NULL;
        break;
    default:
        value->number = *text ? atoi(text) : -1;
    }
}

/* `text` may be NULL. */
static int read_variable(enum orr_config_id id, const char *text,
                         struct orr_config_value *value, struct orr_error *err)
{
    int rc;

    variable_set_default(&table[id], value);
    if (!text || !*text)
        return 0;
    rc = variable_read_value(&table[id], text, value, err);
    if (rc == 0 && is_capped(id) && value->number > most_of(id))
        value->number = most_of(id);
    if (rc == 0)
        value->set = true;
    return rc;
}

/* Most variables are not in the environment, which getenv would look through for each: those
 * whose names have a bit here may be in it. */
struct names_seen {
    uint64_t bits[32];
    bool
        limits; /* of devices, maybe: a hundred more that nobody looks for then */
};

static unsigned name_bit(const char *name, size_t length)
{
    size_t hash = length * 5 + (unsigned char)name[length / 2] * 67 +
                  (unsigned char)name[length - 1] * 131;

    return (unsigned)(hash % (64 * 32));
}

static void see_names(struct names_seen *seen)
{
    static const char limit[] = "STARPU_LIMIT_";

    *seen = (struct names_seen){{0}, false};
    for (char **variable = environ; variable && *variable; variable++) {
        const char *name = *variable, *end = strchr(name, '=');

        if (end && end > name) {
            unsigned bit = name_bit(name, (size_t)(end - name));

            seen->bits[bit / 64] |= UINT64_C(1) << bit % 64;
            seen->limits |= strncmp(name, limit, sizeof(limit) - 1) == 0;
        }
    }
}

static const char *value_of(const char *name, const struct names_seen *seen)
{
    unsigned bit = name_bit(name, strlen(name));

    return seen->bits[bit / 64] >> bit % 64 & 1 ? getenv(name) : NULL;
}

#define DEVICE_LIMIT_SIZE 48

/* "STARPU_LIMIT_CUDA_3_MEM" of "STARPU_LIMIT_CUDA_MEM". */
static void name_limit(enum orr_config_id id, int device,
                       char ret[DEVICE_LIMIT_SIZE])
{
    static const char end[] = "_MEM";
    size_t n = strlen(table[id].name) - (sizeof(end) - 1);

    snprintf(ret, DEVICE_LIMIT_SIZE, "%.*s_%d%s", (int)n, table[id].name,
             device, end);
}

/* Those of single devices. */
static int read_device_limits(enum orr_config_id id, int **ret,
                              struct orr_error *err)
{
    int *mib = malloc(ORR_CONFIG_DEVICES * sizeof(*mib));
    int rc = mib ? 0 : -ENOMEM;

    for (int i = 0; rc == 0 && i < ORR_CONFIG_DEVICES; i++) {
        char name[DEVICE_LIMIT_SIZE];
        const char *text;

        name_limit(id, i, name);
        text = getenv(name);
        mib[i] = -1;
        if (text && *text)
            rc = read_int(name, text, 0, &mib[i], err);
    }
    if (rc == 0)
        *ret = mib;
    else
        free(mib);
    return rc;
}

bool orr_config_is_device_limit(const char *name)
{
    for (int id = 0; id < ORR_CFG_COUNT; id++)
        for (int i = 0;
             table[id].type == TYPE_DEVICE_MIB && i < ORR_CONFIG_DEVICES; i++) {
            char limit[DEVICE_LIMIT_SIZE];

            name_limit(id, i, limit);
            if (strcmp(name, limit) == 0)
                return true;
        }
    return false;
}

/* Constraints between variables. */
static int check_values(struct orr_config *config, struct orr_error *err)
{
    struct orr_config_value *values = config->values;
    const char *kernels = values[ORR_CFG_SIM_KERNELS].text;
    const char *network = values[ORR_CFG_SIM_NETWORK].text;
    const char *contexts = values[ORR_CFG_SIM_CONTEXTS].text;

    if (!values[ORR_CFG_NCPU].set && values[ORR_CFG_NCPUS].set)
        values[ORR_CFG_NCPU] = values[ORR_CFG_NCPUS];
    if (strcmp(kernels, "skip") != 0 && strcmp(kernels, "run") != 0)
        return orr_fail(err, -EINVAL,
                        "ORRERY_SIM_KERNELS=\"%s\" is unknown; give skip or "
                        "run",
                        kernels);
    if (network && *network && strcmp(network, "fluid") &&
        strcmp(network, "simgrid"))
        return orr_fail(err, -EINVAL,
                        "ORRERY_SIM_NETWORK=\"%s\" is unknown; give fluid or "
                        "simgrid",
                        network);
    if (strcmp(contexts, "fibers") != 0 && strcmp(contexts, "actors") != 0)
        return orr_fail(err, -EINVAL,
                        "ORRERY_SIM_CONTEXTS=\"%s\" is unknown; give fibers "
                        "or actors",
                        contexts);
    for (int id = 0; id < ORR_CFG_COUNT; id++)
        if (table[id].type == TYPE_STREAMS &&
            (values[id].number < 1 || values[id].number > 16))
            return orr_fail(err, -EINVAL,
                            "%s=\"%d\": a device has 1 to 16 workers",
                            table[id].name, values[id].number);
    if (values[ORR_CFG_HISTORY_MAX_ERROR].number == 0)
        return orr_fail(err, -EINVAL,
                        "STARPU_HISTORY_MAX_ERROR=\"0\" would take every "
                        "measure for an outlier; give at least 1 (per cent), "
                        "or unset it for the default");
    if (values[ORR_CFG_CALIBRATE].number > 2)
        return orr_fail(err, -EINVAL,
                        "STARPU_CALIBRATE=\"%d\" is unknown; give 0, 1 (measure "
                        "on) or 2 (drop what is known, and measure anew)",
                        values[ORR_CFG_CALIBRATE].number);
    if (values[ORR_CFG_CALIBRATE_MINIMUM].number == 0)
        values[ORR_CFG_CALIBRATE_MINIMUM].number = 1;
    return 0;
}

int orr_config_read(struct orr_config *config, struct orr_error *err)
{
    struct orr_config fresh = {0};
    struct names_seen seen;
    int rc = 0;

    see_names(&seen);
    for (int id = 0; id < ORR_CFG_COUNT && rc == 0; id++)
        rc = read_variable(id, value_of(table[id].name, &seen),
                           &fresh.values[id], err);
    for (int id = 0; id < ORR_CFG_COUNT && rc == 0; id++)
        if (seen.limits && table[id].type == TYPE_DEVICE_MIB)
            rc = read_device_limits(id, &fresh.values[id].devices, err);
    if (rc == 0)
        rc = check_values(&fresh, err);
    if (rc < 0) {
        orr_config_done(&fresh);
        return rc == -ENOMEM
                   ? orr_fail(err, rc, "no memory to read the environment")
                   : rc;
    }
    *config = fresh;
    return 0;
}

static void free_value(struct orr_config *config, enum orr_config_id id)
{
    if (table[id].type == TYPE_STRING && config->values[id].set)
        free(config->values[id].text);
}

int orr_config_replace(struct orr_config *config, enum orr_config_id id,
                       const char *text, struct orr_error *err)
{
    struct orr_config_value fresh;
    int rc = read_variable(id, text, &fresh, err);

    if (rc < 0)
        return rc;
    free_value(config, id);
    fresh.devices = config->values[id].devices;
    config->values[id] = fresh;
    return 0;
}

int orr_config_read_with(struct orr_config *config, const struct orr_setting *settings,
                         struct orr_error *err)
{
    struct orr_config read;
    int rc = orr_config_read(&read, err);

    if (rc)
        return rc;
    for (; rc == 0 && settings && settings->text; settings++)
        rc = orr_config_replace(&read, settings->id, settings->text, err);
    if (rc)
        orr_config_done(&read);
    else
        *config = read;
    return rc;
}

void orr_config_done(struct orr_config *config)
{
    for (int id = 0; id < ORR_CFG_COUNT; id++) {
        free_value(config, id);
        free(config->values[id].devices);
    }
    memset(config, 0, sizeof(*config));
}

bool orr_config_is_set(const struct orr_config *config, enum orr_config_id id)
{
    return config->values[id].set;
}

int orr_config_int(const struct orr_config *config, enum orr_config_id id)
{
    assert(table[id].type < TYPE_DOUBLE);
    return config->values[id].number;
}

bool orr_config_bool(const struct orr_config *config, enum orr_config_id id)
{
    assert(table[id].type == TYPE_BOOL);
    return config->values[id].number > 0;
}

double orr_config_double(const struct orr_config *config, enum orr_config_id id)
{
    assert(table[id].type == TYPE_DOUBLE || table[id].type == TYPE_SPAN);
    return config->values[id].real;
}

const char *orr_config_string(const struct orr_config *config,
                              enum orr_config_id id)
{
    assert(table[id].type == TYPE_STRING);
    return config->values[id].text;
}

int orr_config_device_mib(const struct orr_config *config,
                          enum orr_config_id id, int devid)
{
    const int *own = config->values[id].devices;

    if (own && devid >= 0 && devid < ORR_CONFIG_DEVICES && own[devid] >= 0)
        return own[devid];
    return orr_config_int(config, id);
}

const char *orr_config_name(enum orr_config_id id)
{
    return table[id].name;
}

static const char *const types[] = {
    [TYPE_INT] = "integer",     [TYPE_SIGNED] = "integer",
    [TYPE_BOOL] = "0 or 1",
    [TYPE_MIB] = "MiB",         [TYPE_FLIGHT] = "integer",
    [TYPE_PERCENT] = "integer", [TYPE_STREAMS] = "integer",
    [TYPE_DEVICE_MIB] = "MiB",  [TYPE_DOUBLE] = "number",
    [TYPE_SPAN] = "number",     [TYPE_STRING] = "text",
};

static void print_group(FILE *out, const char *title, const int *ids, size_t n)
{
    fprintf(out, "\n## %s\n\n", title);
    fprintf(out,
            "| variable | type | default | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < n; i++) {
        const struct variable *row = &table[ids[i]];

        fprintf(out, "| `%s` | %s | %s | %s |\n", row->name, types[row->type],
                *row->initial ? row->initial : "unset", row->sentence);
    }
}

#define PRINT_ID(id, name, type, initial, sentence) ORR_CFG_##id,
#define PRINT_GROUP(out, title, GROUP)                                         \
    do {                                                                       \
        static const int ids[] = {GROUP(PRINT_ID)};                            \
        print_group(out, title, ids, sizeof(ids) / sizeof(ids[0]));            \
    } while (0)

static const struct {
    const char *name, *reason;
} without_effect[] = {
#define VAIN(name, reason) {name, reason},
    ORR_CONFIG_VAIN(VAIN)
#undef VAIN
};

enum { NWITHOUT_EFFECT = sizeof(without_effect) / sizeof(*without_effect) };

void orr_config_each_vain(void (*tell)(const char *name, const char *reason))
{
    struct names_seen seen;

    see_names(&seen);
    for (unsigned i = 0; i < NWITHOUT_EFFECT; i++) {
        const char *value = value_of(without_effect[i].name, &seen);

        if (value && *value && strcmp(value, "0") != 0)
            tell(without_effect[i].name, without_effect[i].reason);
    }
}

void orr_config_each_capped(void (*tell)(const char *name, int asked, int used))
{
    for (int id = 0; id < ORR_CFG_COUNT; id++) {
        const char *text = is_capped(id) ? getenv(table[id].name) : NULL;
        int asked;

        if (text && read_int(table[id].name, text, 0, &asked, NULL) == 0 &&
            asked > most_of(id))
            tell(table[id].name, asked, most_of(id));
    }
}

bool orr_config_row(unsigned i, struct orr_config_row *ret)
{
    if (i < ORR_CFG_COUNT)
        *ret = (struct orr_config_row){table[i].name, types[table[i].type],
                                       table[i].initial, table[i].sentence,
                                       false};
    else if (i < ORR_CFG_COUNT + NWITHOUT_EFFECT)
        *ret = (struct orr_config_row){
            without_effect[i - ORR_CFG_COUNT].name, "text", "",
            without_effect[i - ORR_CFG_COUNT].reason, true};
    return i < ORR_CFG_COUNT + NWITHOUT_EFFECT;
}

static void print_vain(FILE *out)
{
    fprintf(out, "\n## Without effect\n\nVariables of StarPU that change "
                 "nothing here; `starpu_init` says so\nof those that are set to "
                 "more than 0.\n\n| variable | why |\n|---|---|\n");
    for (unsigned i = 0; i < NWITHOUT_EFFECT; i++)
        fprintf(out, "| `%s` | %s |\n", without_effect[i].name,
                without_effect[i].reason);
}

void orr_config_print(FILE *out)
{
    fprintf(out,
            "# Environment variables\n\n"
            "Written from the table in `core/base/config.h`; edit that, then\n"
            "run `ninja environment-doc`. Integers are decimal and not\n"
            "negative; a value that cannot be read is an error. A variable\n"
            "set to nothing counts as unset. Where nothing else is said, a\n"
            "variable is of real machines and of simulated ones.\n");
    PRINT_GROUP(out, "Workers", ORR_CONFIG_WORKERS);
    PRINT_GROUP(out, "Scheduling", ORR_CONFIG_SCHEDULING);
    PRINT_GROUP(out, "heteroprio", ORR_CONFIG_HETEROPRIO);
    PRINT_GROUP(out, "Performance models", ORR_CONFIG_MODELS);
    PRINT_GROUP(out, "Memory", ORR_CONFIG_MEMORY);
    PRINT_GROUP(out, "Simulation", ORR_CONFIG_SIMULATION);
    PRINT_GROUP(out, "Output", ORR_CONFIG_OUTPUT);
    PRINT_GROUP(out, "Debugging tasks", ORR_CONFIG_DEBUGGING);
    PRINT_GROUP(out, "OpenMP", ORR_CONFIG_OPENMP);
    PRINT_GROUP(out, "MPI", ORR_CONFIG_MPI);
    print_vain(out);
    orr_perf_print(out);
}
