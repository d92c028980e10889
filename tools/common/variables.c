/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/variables.c - see variables.h. */
#include "tools/common/variables.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/config.h"
#include "core/base/words.h"
#include "tools/common/tool.h"

/* Beside those of the table: ORRERY_JAR is for the user's javac; orrery-env sets
 * it. */
static bool is_read_elsewhere(const char *name)
{
    return strcmp(name, "STARPU_MPI_HOSTNAMES") == 0 ||
           strcmp(name, "ORRERY_JAR") == 0 ||
           orr_config_is_device_limit(name);
}

static const char *variable_name_at(const void *unused, size_t i)
{
    struct orr_config_row row;

    (void)unused;
    return orr_config_row((unsigned)i, &row) ? row.name : NULL;
}

static const char *without_prefix(const char *name)
{
    static const char *const prefixes[] = {"STARPU_", "ORRERY_"};

    for (unsigned i = 0; i < 2; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return name + strlen(prefixes[i]);
    return name;
}

static const char *rest_at(const void *unused, size_t i)
{
    const char *name = variable_name_at(unused, i);

    return name ? without_prefix(name) : NULL;
}

/* Prefixes are not compared: they would make all names alike, and one may be in
 * the place of the other. */
static const char *nearest_to(const char *name)
{
    const char *rest = orr_words_nearest(without_prefix(name), NULL, rest_at);

    for (size_t i = 0; rest; i++)
        if (rest_at(NULL, i) == rest)
            return variable_name_at(NULL, i);
    return NULL;
}

static bool variable_is_known(const char *name)
{
    const char *known;

    for (size_t i = 0; (known = variable_name_at(NULL, i)); i++)
        if (strcmp(known, name) == 0)
            return true;
    return is_read_elsewhere(name);
}

int variables_each_unknown(void (*tell)(const char *name, const char *value,
                                     const char *near, void *arg),
                        void *arg)
{
    int n = 0;

    for (char **variable = environ; *variable; variable++) {
        size_t length = strcspn(*variable, "=");
        char *name;

        if (without_prefix(*variable) == *variable)
            continue;
        name = strndup(*variable, length);
        if (!name)
            return -1;
        if (!variable_is_known(name)) {
            n++;
            tell(name, *variable + length + ((*variable)[length] == '='),
                 nearest_to(name), arg);
        }
        free(name);
    }
    return n;
}

static void warn_of_unknown_variable(const char *name, const char *value,
                                     const char *near, void *unused)
{
    (void)unused;
    if (near)
        tool_error("warning: %s=%s: nothing reads %s; the nearest name is %s",
                   name, value, name, near);
}

void variables_warn(void)
{
    (void)variables_each_unknown(warn_of_unknown_variable, NULL);
}
