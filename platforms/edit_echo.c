/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/edit_echo.c - what an edit has changed, as text and JSON. No state.
 */
#include "core/base/grow.h"
#include "core/base/number.h"
#include "platforms/edit_private.h"

#include "platforms/units.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int add_item(struct orr_edit_item **items, unsigned *n, const char *name,
                    double before, double after)
{
    struct orr_edit_item *item = orr_array_add(*items, *n);

    if (!item)
        return -ENOMEM;
    *item = (struct orr_edit_item){strdup(name), before, after};
    if (item->name)
        return 0;
    (*n)--;
    return -ENOMEM;
}

int orr_edit_echo_device(struct orr_edit_echo *echo, const char *name,
                         double before, double after)
{
    return add_item(&echo->devices, &echo->ndevices, name, before, after);
}

int orr_edit_echo_link(struct orr_edit_echo *echo, const char *name,
                       double before, double after)
{
    return add_item(&echo->links, &echo->nlinks, name, before, after);
}

int orr_edit_echo_cost(struct orr_edit_echo *echo, const char *name,
                       double before, double after)
{
    return add_item(&echo->costs, &echo->ncosts, name, before, after);
}

int orr_edit_echo_route(struct orr_edit_echo *echo, const char *src,
                        const char *dst)
{
    struct orr_edit_route route, *added;

    if (echo->nroutes == ORR_EDIT_MAX_ROUTES) {
        echo->routes_left_out++;
        return 0;
    }
    route = (struct orr_edit_route){strdup(src), strdup(dst)};
    added = route.src && route.dst ? orr_array_add(echo->routes, echo->nroutes)
                                   : NULL;
    if (!added) {
        free(route.src);
        free(route.dst);
        return -ENOMEM;
    }
    *added = route;
    return 0;
}

int orr_edit_echo_say(struct orr_edit_echo *echo, const char *format, ...)
{
    size_t length = echo->text ? strlen(echo->text) : 0;
    char message[1024], *text;
    va_list args;
    int n;

    va_start(args, format);
    n = orr_vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (n < 0)
        return -ENOMEM;
    text = realloc(echo->text, length + strlen(message) + 1);
    if (!text)
        return -ENOMEM;
    strcpy(text + length, message);
    echo->text = text;
    return 0;
}

/* "6.52 GB/s", three digits and a prefix. */
static void print_value(const char *quantity, double value, char *text,
                        size_t size)
{
    static const char *const decimal[] = {"", "k", "M", "G", "T", "P", "E"};
    static const char *const binary[] = {"",   "Ki", "Mi", "Gi",
                                         "Ti", "Pi", "Ei"};
    bool memory = strcmp(quantity, "bytes") == 0;
    bool rate = strcmp(quantity, "bytes_per_second") == 0;
    double step = memory ? 1024 : 1000;
    unsigned i = 0;

    if (isnan(value)) {
        snprintf(text, size, "none");
        return;
    }
    if (strcmp(quantity, "seconds") == 0) {
        orr_snprintf(text, size, "%.4g us", value * 1e6);
        return;
    }
    for (; (memory || rate) && i < 6 && value >= 0.9995 * step; i++)
        value /= step;
    orr_snprintf(text, size, "%.4g%s%s%s", value, memory || rate ? " " : "",
                 memory ? binary[i] : decimal[i],
                 memory ? "B"
                 : rate ? "B/s"
                        : "");
}

#define SHOWN 3

int orr_edit_echo_items(struct orr_edit_echo *echo,
                        const struct orr_edit_item *items, unsigned n)
{
    int rc = 0;

    for (unsigned i = 0; i < n && i < SHOWN && rc == 0; i++) {
        char before[40], after[40];

        rc = orr_edit_echo_say(echo, "%s\"%.80s\"", i ? ", " : "",
                               items[i].name);
        if (rc || !strcmp(echo->quantity, "count"))
            continue;
        print_value(echo->quantity, items[i].before, before, sizeof(before));
        print_value(echo->quantity, items[i].after, after, sizeof(after));
        rc = orr_edit_echo_say(echo, " %s -> %s", before, after);
    }
    if (rc == 0 && n > SHOWN)
        rc = orr_edit_echo_say(echo, " and %u more", n - SHOWN);
    return rc;
}

/* ---- JSON ---- */

static void print_json_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, out);
    fputc('"', out);
}

static void print_number(FILE *out, double value)
{
    char text[ORR_NUMBER_MAX];

    if (!isfinite(value)) {
        fputs("null", out);
        return;
    }
    orr_number_print(value, text);
    fputs(text, out);
}

static void print_items(FILE *out, const char *name,
                        const struct orr_edit_item *items, unsigned n)
{
    fprintf(out, ", \"%s\": [", name);
    for (unsigned i = 0; i < n; i++) {
        fputs(i ? ", {\"name\": " : "{\"name\": ", out);
        print_json_text(out, items[i].name);
        fputs(", \"before\": ", out);
        print_number(out, items[i].before);
        fputs(", \"after\": ", out);
        print_number(out, items[i].after);
        fputc('}', out);
    }
    fputc(']', out);
}

static void print_members(FILE *out, const struct orr_edit_echo *echo)
{
    fputs("\"edit\": ", out);
    print_json_text(out, echo->edit);
    fputs(", \"echo\": ", out);
    print_json_text(out, echo->text ? echo->text : "");
    fprintf(out, ", \"quantity\": \"%s\"", echo->quantity);
    print_items(out, "devices", echo->devices, echo->ndevices);
    print_items(out, "links", echo->links, echo->nlinks);
    print_items(out, "costs", echo->costs, echo->ncosts);
    fputs(", \"ways\": [", out);
    for (unsigned i = 0; i < echo->nroutes; i++) {
        fputs(i ? ", [" : "[", out);
        print_json_text(out, echo->routes[i].src);
        fputs(", ", out);
        print_json_text(out, echo->routes[i].dst);
        fputc(']', out);
    }
    fprintf(out, "], \"ways_left_out\": %u", echo->routes_left_out);
}

char *orr_edit_echo_json(const struct orr_edit_echo *echo)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool failed;

    if (!out)
        return NULL;
    print_members(out, echo);
    failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}

static void edit_items_free(struct orr_edit_item *items, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        free(items[i].name);
    free(items);
}

void orr_edit_echoes_free(struct orr_edit_echo *echoes, unsigned n)
{
    for (unsigned e = 0; e < n; e++) {
        struct orr_edit_echo *echo = &echoes[e];

        free(echo->edit);
        free(echo->text);
        free(echo->kernel);
        edit_items_free(echo->devices, echo->ndevices);
        edit_items_free(echo->links, echo->nlinks);
        edit_items_free(echo->costs, echo->ncosts);
        for (unsigned i = 0; i < echo->nroutes; i++) {
            free(echo->routes[i].src);
            free(echo->routes[i].dst);
        }
        free(echo->routes);
    }
    free(echoes);
}
