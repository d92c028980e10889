/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/costs.c - see costs.h. */
#include "tools/common/costs.h"

#include "platforms/units.h"
#include "tools/common/tool.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {"machine", "device", "core"};
enum { NKINDS = 3 };

/* -- values -- */

/* A number of 0 or more; what follows it, without blanks, in *rest. */
static int parse_amount(const char *text, double *ret, const char **rest)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || !isfinite(value) || value < 0)
        return -1;
    *ret = value;
    *rest = end + strspn(end, " ");
    return 0;
}

int cost_parse_price(const char *text, double *ret, char currency[8])
{
    const char *unit;

    if (parse_amount(text, ret, &unit) < 0 || strlen(unit) > 7 || strpbrk(unit, " \t\"="))
        return -1;
    strcpy(currency, unit);
    return 0;
}

bool cost_is_hourly(const char *currency)
{
    size_t n = strlen(currency);

    return n > 2 && !strcmp(currency + n - 2, "/h");
}

int cost_parse_power(const char *text, double *ret_w)
{
    double value;

    if (orr_quantity_parse(ORR_QUANTITY_POWER, text, &value) || value < 0)
        return -1;
    *ret_w = value;
    return 0;
}

/* -- the file -- */

/* The next word of a line, which it ends: up to a blank, or in quotation marks. NULL: there
 * is none. */
static char *next_word(char **at)
{
    char *word = *at + strspn(*at, " \t\r\n"), *end;

    if (*word == '\0' || *word == '#')
        return NULL;
    if (*word == '"') {
        end = strchr(++word, '"');
        if (!end)
            return NULL;
    } else {
        end = word + strcspn(word, " \t\r\n");
    }
    *at = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

/* One currency in the whole file. */
static int set_price(struct costs *costs, struct cost_line *line, const char *value)
{
    char currency[8];

    if (cost_parse_price(value, &line->price, currency) < 0)
        return -1;
    if (*costs->currency && strcmp(currency, costs->currency) != 0)
        return -1;
    strcpy(costs->currency, *currency ? currency : "?");
    return 0;
}

static int set_value(struct costs *costs, struct cost_line *line, char *word)
{
    char *value = strchr(word, '=');

    if (!value)
        return -1;
    *value++ = '\0';
    if (!strcmp(word, "price") && line->kind != COST_CORE)
        return set_price(costs, line, value);
    if (!strcmp(word, "idle") && line->kind != COST_CORE)
        return cost_parse_power(value, &line->idle_w);
    if (!strcmp(word, "busy") && line->kind != COST_MACHINE)
        return cost_parse_power(value, &line->busy_w);
    if (!strcmp(word, "copy") && line->kind == COST_DEVICE)
        return cost_parse_power(value, &line->copy_w);
    return -1;
}

static int kind_of(const char *word)
{
    for (int i = 0; i < NKINDS; i++)
        if (!strcmp(word, kind_names[i]))
            return i;
    return -1;
}

static const struct cost_line *find_line(const struct costs *costs, enum cost_kind kind,
                                         const char *name)
{
    for (size_t i = 0; i < costs->n; i++)
        if (costs->lines[i].kind == kind && !strcmp(costs->lines[i].name, name))
            return &costs->lines[i];
    return NULL;
}

static int add_line(struct costs *costs, enum cost_kind kind, const char *name)
{
    struct cost_line *more = realloc(costs->lines, (costs->n + 1) * sizeof(*more));

    if (!more)
        return tool_fail(-1, "out of memory");
    costs->lines = more;
    more[costs->n] = (struct cost_line){.kind = kind,
                                        .name = strdup(name),
                                        .price = (double)NAN,
                                        .idle_w = (double)NAN,
                                        .busy_w = (double)NAN,
                                        .copy_w = (double)NAN};
    if (!more[costs->n].name)
        return tool_fail(-1, "out of memory");
    costs->n++;
    return 0;
}

static int read_line(const char *path, unsigned number, char *text, struct costs *costs)
{
    char *kind = next_word(&text), *name = kind ? next_word(&text) : NULL, *word, saved[64];
    int which = kind ? kind_of(kind) : 0;

    if (!kind)
        return 0;
    if (which < 0 || !name)
        return tool_fail(-1,
                         "%s:%u: a line is `machine', `device' or `core', a name, and price=, "
                         "idle=, busy= or copy=",
                         path, number);
    if (find_line(costs, which, name))
        return tool_fail(-1, "%s:%u: %s \"%s\" has a line already", path, number, kind, name);
    if (add_line(costs, which, name) < 0)
        return -1;
    while ((word = next_word(&text))) {
        snprintf(saved, sizeof(saved), "%s", word);
        if (set_value(costs, &costs->lines[costs->n - 1], word) < 0)
            return tool_fail(-1,
                             "%s:%u: \"%s\": a machine has price=14000EUR and idle=350W, a "
                             "device these, busy=350W and copy=15W, a core busy=9W; prices are in one "
                             "currency",
                             path, number, saved);
    }
    return 0;
}

int costs_read(const char *path, struct costs *ret)
{
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    unsigned number = 0;
    int rc = 0;

    *ret = (struct costs){0};
    if (!in)
        return tool_fail(-1, "--costs: %s: %m", path);
    while (rc == 0 && getline(&line, &size, in) >= 0)
        rc = read_line(path, ++number, line, ret);
    if (rc == 0 && ferror(in))
        rc = tool_fail(-1, "--costs: %s: %m", path);
    free(line);
    fclose(in);
    return rc;
}

void costs_done(struct costs *costs)
{
    for (size_t i = 0; i < costs->n; i++)
        free(costs->lines[i].name);
    free(costs->lines);
    *costs = (struct costs){0};
}

/* -- machines -- */

const char *cost_model(const struct orr_machine_desc *desc, const char *host)
{
    int at = orr_machine_desc_host(desc, host);
    const char *model = at < 0 ? NULL : orr_host_desc_prop(&desc->hosts[at], "model");

    return model ? model : "";
}

bool cost_is_device(const struct orr_host_desc *host)
{
    return (!strncmp(host->id, "CUDA", 4) && isdigit((unsigned char)host->id[4])) ||
           (!strncmp(host->id, "OpenCL", 6) && isdigit((unsigned char)host->id[6]));
}

/* Adds a part's figure to a sum, which is NaN where a part has none: the first is told. */
static void cost_add(double *sum, double figure, struct cost *cost, const char *kind,
                     const char *name)
{
    bool price = sum == &cost->price;
    char *missing = price ? cost->missing : cost->missing_w;

    if (isnan(figure) && !*missing)
        snprintf(missing, sizeof(cost->missing), "%s of %s \"%.60s\"", price ? "price" : "power",
                 kind, name);
    *sum += figure;
}

static const struct cost_line none = {
    .price = (double)NAN, .idle_w = (double)NAN, .busy_w = (double)NAN, .copy_w = (double)NAN};

static const struct cost_line *line_of(const struct costs *costs, enum cost_kind kind,
                                       const char *name)
{
    const struct cost_line *line = find_line(costs, kind, name);

    if (!line)
        line = find_line(costs, kind, "*");
    return line ? line : &none;
}

/* The user's figure, else the description's. */
static double known(double figure, const struct orr_host_desc *host, enum orr_power power)
{
    return isnan(figure) && host ? orr_host_desc_power(host, power) : figure;
}

static const struct orr_host_desc *main_of(const struct orr_machine_desc *desc)
{
    int at = orr_machine_desc_host(desc, "MAIN");

    return at < 0 ? NULL : &desc->hosts[at];
}

/* The model of a device, else its name. */
static const char *model_of(const struct orr_host_desc *host)
{
    const char *model = orr_host_desc_prop(host, "model");

    return model ? model : host->id;
}

struct cost cost_of(const struct costs *costs, const struct orr_machine_desc *desc)
{
    const struct cost_line *own = line_of(costs, COST_MACHINE, desc->name);
    struct cost cost = {0};
    double core_w = cost_core_w(costs, desc);

    cost_add(&cost.price, own->price, &cost, "machine", desc->name);
    cost_add(&cost.idle_w, cost_server_w(costs, desc), &cost, "machine",
             desc->name);
    cost.most_w = cost.idle_w;
    for (unsigned i = 0; i < desc->nhosts; i++) {
        const struct orr_host_desc *host = &desc->hosts[i];
        const char *model = model_of(host);

        if (!cost_is_device(host))
            continue;
        cost_add(&cost.price, line_of(costs, COST_DEVICE, model)->price, &cost, "device",
                 model);
        cost_add(&cost.idle_w, cost_device_w(costs, host, ORR_POWER_IDLE), &cost, "device",
                 model);
        cost_add(&cost.most_w, cost_device_w(costs, host, ORR_POWER_BUSY), &cost, "device",
                 model);
    }
    if (desc->ncpu > 0)
        cost_add(&cost.most_w, desc->ncpu * core_w, &cost, "core",
                 cost_model(desc, "MAIN"));
    return cost;
}

double cost_server_w(const struct costs *costs,
                     const struct orr_machine_desc *desc)
{
    return known(line_of(costs, COST_MACHINE, desc->name)->idle_w,
                 main_of(desc), ORR_POWER_IDLE);
}

double cost_core_w(const struct costs *costs, const struct orr_machine_desc *desc)
{
    return known(line_of(costs, COST_CORE, cost_model(desc, "MAIN"))->busy_w, main_of(desc),
                 ORR_POWER_BUSY);
}

double cost_device_w(const struct costs *costs, const struct orr_host_desc *host,
                     enum orr_power power)
{
    const struct cost_line *line = line_of(costs, COST_DEVICE, model_of(host));

    return known(power == ORR_POWER_IDLE   ? line->idle_w
                 : power == ORR_POWER_BUSY ? line->busy_w
                                           : line->copy_w,
                 host, power);
}

/* -- a form to be filled in -- */

struct printed {
    struct costs seen;
    FILE *out;
};

static void print_part(struct printed *printed, enum cost_kind kind, const char *name,
                       const char *values)
{
    if (!*name || find_line(&printed->seen, kind, name) ||
        add_line(&printed->seen, kind, name) < 0)
        return;
    fprintf(printed->out, "# %s \"%s\"  %s\n", kind_names[kind], name, values);
}

void costs_print_form(struct orr_machine_desc *const *machines, size_t n, FILE *out)
{
    struct printed printed = {.out = out};

    fprintf(out, "# Prices and powers for `orrery advise --costs'. Fill in what you know, with\n"
                 "# where and when you found it, and remove the # in front.\n"
                 "# A machine: without its devices, when nothing runs. A device: when it is\n"
                 "# idle, when it works, and what it draws more while data come or go. A core:\n"
                 "# what it draws more when it works.\n");
    for (size_t m = 0; m < n; m++)
        print_part(&printed, COST_MACHINE, machines[m]->name, "price=EUR idle=W");
    for (size_t m = 0; m < n; m++)
        for (unsigned i = 0; i < machines[m]->nhosts; i++)
            if (cost_is_device(&machines[m]->hosts[i]))
                print_part(&printed, COST_DEVICE,
                           cost_model(machines[m], machines[m]->hosts[i].id),
                           "price=EUR idle=W busy=W copy=W");
    for (size_t m = 0; m < n; m++)
        print_part(&printed, COST_CORE, cost_model(machines[m], "MAIN"), "busy=W");
    costs_done(&printed.seen);
}
