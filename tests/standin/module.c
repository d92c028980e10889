/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/standin/module.c - modules in PTX. Their functions are the program's
 * (standin.h), of the same names; what is read of the text are the types of
 * parameters, as a launch copies their values.
 */
#include "private.h"
#include "standin.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FUNCTIONS = 16, MAX_PARAMETERS = 32, MAX_THREADS = 1024 };

static struct {
    const char *name;
    standin_body_t body;
} bodies[MAX_FUNCTIONS];
static unsigned nbodies;

int gpu_standin_function(const char *name, standin_body_t body);
int gpu_standin_function(const char *name, standin_body_t body)
{
    if (nbodies == MAX_FUNCTIONS)
        return OUT_OF_MEMORY;
    bodies[nbodies].name = name;
    bodies[nbodies++].body = body;
    return OK;
}

struct function {
    struct module *module;
    standin_body_t body;
    unsigned nparameters;
    size_t sizes[MAX_PARAMETERS]; /* bytes */
    struct function *next;
};

struct module {
    struct device *device;
    char *text;
    struct function *functions; /* that were found */
};

int module_load(const char *text, struct module **ret)
{
    struct device *device;
    int code = current_get(&device);

    if (code)
        return code;
    if (!strstr(text, ".version") || !strstr(text, ".target"))
        return INVALID_PTX;
    *ret = calloc(1, sizeof(**ret));
    (*ret)->device = device;
    (*ret)->text = strdup(text);
    return OK;
}

int module_unload(struct module *module)
{
    struct device *device;
    int code = current_get(&device);

    if (code)
        return code;
    if (device != module->device)
        return INVALID_CONTEXT;
    while (module->functions) {
        struct function *next = module->functions->next;

        free(module->functions);
        module->functions = next;
    }
    free(module->text);
    free(module);
    return OK;
}

/* Behind `.entry NAME (' of the text; NULL: there is none. */
static const char *parameters_of(const char *text, const char *name)
{
    size_t length = strlen(name);

    while ((text = strstr(text, ".entry"))) {
        text += strlen(".entry");
        text += strspn(text, " \t\n");
        if (!strncmp(text, name, length)) {
            const char *at = text + length + strspn(text + length, " \t\n");

            if (*at == '(')
                return at + 1;
        }
    }
    return NULL;
}

/* `.param .f32 NAME' and `.param .align 8 .b8 NAME[24]', with commas, up to `)'. */
static bool read_parameters(struct function *function, const char *at)
{
    const char *end = strchr(at, ')');

    while (end && (at = strstr(at, ".param")) && at < end) {
        unsigned bits, alignment, elements = 1;
        char type, name[64];

        if (function->nparameters == MAX_PARAMETERS ||
            (sscanf(at, ".param .%c%u %63[^],[) \t\n][%u]", &type, &bits, name,
                    &elements) < 3 &&
             sscanf(at, ".param .align %u .%c%u %63[^],[) \t\n][%u]",
                    &alignment, &type, &bits, name, &elements) < 4))
            return false;
        function->sizes[function->nparameters++] = (size_t)bits / 8 * elements;
        at += strlen(".param");
    }
    return end != NULL;
}

int module_find(struct module *module, const char *name, struct function **ret)
{
    const char *parameters = parameters_of(module->text, name);
    struct function *function;
    unsigned i = 0;

    while (i < nbodies && strcmp(bodies[i].name, name))
        i++;
    if (!parameters || i == nbodies)
        return NOT_FOUND;
    function = calloc(1, sizeof(*function));
    function->module = module;
    function->body = bodies[i].body;
    function->next = module->functions;
    module->functions = function;
    *ret = function;
    return read_parameters(function, parameters) ? OK : INVALID_PTX;
}

/* A launch, with the values that it had then. */
struct launch {
    standin_body_t body;
    unsigned grid[3], block[3];
    void *parameters[MAX_PARAMETERS];
    char values[];
};

static void perform(void *arg)
{
    struct launch *launch = arg;

    launch->body(launch->parameters, launch->grid, launch->block);
    free(launch);
}

int function_launch(struct function *function, const unsigned grid[3],
                    const unsigned block[3], void *handle, void **parameters)
{
    struct device *device;
    struct stream *stream;
    struct launch *launch;
    size_t bytes = 0;
    int code = current_get(&device);

    if (!code)
        code = stream_of(handle, &stream);
    if (code)
        return code;
    if (function->module->device != device)
        return INVALID_CONTEXT;
    for (int i = 0; i < 3; i++)
        if (!grid[i] || !block[i])
            return INVALID_VALUE;
    if ((unsigned long)block[0] * block[1] * block[2] > MAX_THREADS)
        return INVALID_VALUE;
    for (unsigned i = 0; i < function->nparameters; i++)
        bytes += function->sizes[i] + 16;
    launch = calloc(1, sizeof(*launch) + bytes);
    launch->body = function->body;
    memcpy(launch->grid, grid, sizeof(launch->grid));
    memcpy(launch->block, block, sizeof(launch->block));
    bytes = 0;
    for (unsigned i = 0; i < function->nparameters; i++) {
        launch->parameters[i] = launch->values + bytes;
        memcpy(launch->parameters[i], parameters[i], function->sizes[i]);
        bytes += (function->sizes[i] + 15) & ~(size_t)15;
    }
    code = put_kernel(stream, perform, launch);
    if (code)
        free(launch);
    return code;
}
