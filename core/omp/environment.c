/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/omp/environment.c - see environment.h. Words match in any case; blanks
 * around items do not matter. */
#include "core/omp/environment.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/log.h"
#include "core/base/stack_size.h"

/* -- pieces of values -- */

static const char *environment_skip_blanks(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* The variable's value is no `what`: ends the program. */
static _Noreturn void environment_refuse(enum orr_config_id id,
                                         const char *text, const char *what)
{
    orr_log_error("%s=\"%s\": %s; correct it, or unset it", orr_config_name(id),
                  text, what);
    abort();
}

/* A decimal number of at least `least`, at *text, which moves behind it. */
static bool environment_take_number(const char **text, long long least,
                                    long long *ret)
{
    char *end;
    long long value;

    errno = 0;
    value = strtoll(*text, &end, 10);
    if (end == *text || errno || value < least)
        return false;
    *text = environment_skip_blanks(end);
    *ret = value;
    return true;
}

/* The number of the word at *text, which moves behind it; -1: none of them. */
static int environment_take_word(const char **text, const char *const *words)
{
    for (int i = 0; words[i]; i++) {
        size_t length = strlen(words[i]);

        if (strncasecmp(*text, words[i], length) == 0 &&
            !isalnum((unsigned char)(*text)[length])) {
            *text = environment_skip_blanks(*text + length);
            return i;
        }
    }
    return -1;
}

/* A variable whose value is one of some words. `unset` without a value. */
static int environment_read_word(const struct orr_config *config,
                                 enum orr_config_id id,
                                 const char *const *words, const char *valid,
                                 int unset)
{
    const char *text = orr_config_string(config, id), *rest;
    int word;

    if (!text)
        return unset;
    rest = environment_skip_blanks(text);
    word = environment_take_word(&rest, words);
    if (word < 0 || *rest)
        environment_refuse(id, text, valid);
    return word;
}

static bool read_bool(const struct orr_config *config, enum orr_config_id id)
{
    static const char *const words[] = {"false", "true", NULL};

    return environment_read_word(config, id, words, "give true or false", 0) ==
           1;
}

static long long environment_read_number(const struct orr_config *config,
                                         enum orr_config_id id, long long least,
                                         long long most, long long unset)
{
    const char *text = orr_config_string(config, id), *rest;
    long long value;

    if (!text)
        return unset;
    rest = environment_skip_blanks(text);
    if (!environment_take_number(&rest, least, &value) || *rest || value > most)
        environment_refuse(id, text, "it is no number, or out of range");
    return value;
}

/* -- lists -- */

/* Reads items with `take` up to the first wrong one, of which a message is printed. */
static unsigned read_list(const struct orr_config *config,
                          enum orr_config_id id,
                          bool (*take)(const char **text, int *ret), int *ret)
{
    const char *text = orr_config_string(config, id), *rest = text;
    unsigned n = 0;

    while (rest && n < ORR_OMP_LEVELS) {
        rest = environment_skip_blanks(rest);
        if (!take(&rest, &ret[n])) {
            orr_log_warning("%s=\"%s\": \"%s\" is not understood, it and what "
                            "follows is ignored",
                            orr_config_name(id), text, rest);
            break;
        }
        n++;
        if (*rest != ',')
            break;
        rest++;
    }
    return n;
}

static bool take_threads(const char **text, int *ret)
{
    long long value;

    if (!environment_take_number(text, 0, &value) || value > INT32_MAX ||
        (**text && **text != ','))
        return false;
    *ret = (int)value;
    return true;
}

static const char *const bind_words[] = {"false", "true",   "master",
                                         "close", "spread", NULL};

static bool take_bind(const char **text, int *ret)
{
    *ret = environment_take_word(text, bind_words);
    return *ret >= 0 && (!**text || **text == ',');
}

/* An entry of 0 is as if it were not there. */
static void read_threads(struct orr_omp_environment *env,
                         const struct orr_config *config, unsigned nprocs)
{
    env->nthreads_count =
        read_list(config, ORR_CFG_OMP_NUM_THREADS, take_threads, env->nthreads);
    if (env->nthreads_count == 0)
        env->nthreads_count = 1;
    for (unsigned i = 0; i < env->nthreads_count; i++)
        if (env->nthreads[i] == 0)
            env->nthreads[i] = (int)nprocs;
}

static void read_binds(struct orr_omp_environment *env,
                       const struct orr_config *config)
{
    int words[ORR_OMP_LEVELS];

    env->nbinds = read_list(config, ORR_CFG_OMP_PROC_BIND, take_bind, words);
    for (unsigned i = 0; i < env->nbinds; i++)
        env->binds[i] = (enum starpu_omp_proc_bind_value)words[i];
}

/* -- single values -- */

/* [modifier:]kind[,chunk]; without a chunk, that is 1, or 0 of a static schedule: a block
 * for each thread. What each thread is given comes in the
 * order of the iterations by any schedule here, as monotonic has it; nonmonotonic only allows
 * more. */
static void read_schedule(struct orr_omp_environment *env,
                          const struct orr_config *config)
{
    static const char *const words[] = {"undefined", "static", "dynamic",
                                        "guided",    "auto",   NULL};
    static const char *const modifiers[] = {"monotonic", "nonmonotonic", NULL};
    const char *text = orr_config_string(config, ORR_CFG_OMP_SCHEDULE), *rest;
    long long chunk = 1;
    int kind;

    env->schedule = starpu_omp_sched_static;
    if (!text)
        return;
    rest = environment_skip_blanks(text);
    if (environment_take_word(&rest, modifiers) >= 0)
        rest = *rest == ':' ? environment_skip_blanks(rest + 1) : "";
    kind = environment_take_word(&rest, words);
    if (kind < 1)
        environment_refuse(
            ORR_CFG_OMP_SCHEDULE, text,
            "give static, dynamic, guided or auto, and perhaps a comma and "
            "a chunk");
    if (kind == (int)starpu_omp_sched_static)
        chunk = 0;
    if (*rest == ',') {
        rest = environment_skip_blanks(rest + 1);
        if (!environment_take_number(&rest, 0, &chunk))
            environment_refuse(ORR_CFG_OMP_SCHEDULE, text,
                               "the chunk is no number");
    }
    if (*rest)
        environment_refuse(ORR_CFG_OMP_SCHEDULE, text, "nothing may follow");
    env->schedule = (enum starpu_omp_sched_value)kind;
    env->chunk = (unsigned long long)chunk;
}

static size_t read_stack(const struct orr_config *config)
{
    const char *text = orr_config_string(config, ORR_CFG_OMP_STACKSIZE);
    size_t bytes = 0;
    const char *wrong = text ? orr_stack_size_read(text, &bytes) : NULL;

    if (wrong)
        environment_refuse(ORR_CFG_OMP_STACKSIZE, text, wrong);
    return bytes;
}

/* {numbers} or !{numbers}, separated by commas. */
static bool environment_take_place(const char **text)
{
    const char *rest = environment_skip_blanks(*text);
    long long number;

    if (*rest == '!')
        rest++;
    if (*rest++ != '{')
        return false;
    do {
        rest = environment_skip_blanks(rest);
        if (*rest == '!')
            rest++;
        if (!environment_take_number(&rest, 0, &number))
            return false;
    } while (*rest++ == ',');
    if (rest[-1] != '}')
        return false;
    *text = environment_skip_blanks(rest);
    return true;
}

/* [!]threads, cores or sockets, perhaps with a number in parentheses. */
static bool take_kind_of_place(const char **text)
{
    static const char *const words[] = {"threads", "cores", "sockets", NULL};
    const char *rest = *text;
    long long number;

    if (*rest == '!')
        rest++;
    if (environment_take_word(&rest, words) < 0)
        return false;
    if (*rest == '(') {
        rest = environment_skip_blanks(rest + 1);
        if (!environment_take_number(&rest, 1, &number) || *rest++ != ')')
            return false;
    }
    *text = environment_skip_blanks(rest);
    return true;
}

static void read_places(struct orr_omp_environment *env,
                        const struct orr_config *config)
{
    const char *text = orr_config_string(config, ORR_CFG_OMP_PLACES), *rest;

    env->places = text;
    if (!text)
        return;
    rest = environment_skip_blanks(text);
    if (!take_kind_of_place(&rest))
        while (environment_take_place(&rest)) {
            env->nplaces++;
            if (*rest != ',')
                break;
            rest = environment_skip_blanks(rest + 1);
        }
    if (*rest)
        environment_refuse(
            ORR_CFG_OMP_PLACES, text,
            "give threads, cores or sockets, or places such as {0,1},{2,3}; "
            "intervals are not understood");
}

void orr_omp_environment_read(struct orr_omp_environment *env,
                              const struct orr_config *config, unsigned nprocs)
{
    static const char *const waits[] = {"passive", "active", NULL};
    static const char *const displays[] = {"false", "true", "verbose", NULL};

    *env = (struct orr_omp_environment){.nthreads_count = 0};
    read_threads(env, config, nprocs);
    read_schedule(env, config);
    env->stack_bytes = read_stack(config);
    read_binds(env, config);
    read_places(env, config);
    env->max_active_levels = (int)environment_read_number(
        config, ORR_CFG_OMP_MAX_ACTIVE_LEVELS, 1, 999999, 1);
    env->thread_limit = (int)environment_read_number(
        config, ORR_CFG_OMP_THREAD_LIMIT, 0, INT32_MAX, 0);
    env->default_device = (int)environment_read_number(
        config, ORR_CFG_OMP_DEFAULT_DEVICE, 0, INT32_MAX, 0);
    env->max_task_priority = (int)environment_read_number(
        config, ORR_CFG_OMP_MAX_TASK_PRIORITY, 0, INT32_MAX, 0);
    env->dynamic = read_bool(config, ORR_CFG_OMP_DYNAMIC);
    env->nested = read_bool(config, ORR_CFG_OMP_NESTED);
    env->cancellation = read_bool(config, ORR_CFG_OMP_CANCELLATION);
    env->active = environment_read_word(config, ORR_CFG_OMP_WAIT_POLICY, waits,
                                        "give passive or active", 0) == 1;
    env->looks =
        env->active || !orr_config_is_set(config, ORR_CFG_OMP_WAIT_POLICY);
    env->display =
        environment_read_word(config, ORR_CFG_OMP_DISPLAY_ENV, displays,
                              "give true, false or verbose", ORR_OMP_QUIET);
}

/* -- display -- */

static void environment_print_list(FILE *out, const char *name,
                                   const int *values, unsigned n)
{
    fprintf(out, "  [host] %s = '", name);
    for (unsigned i = 0; i < n; i++)
        fprintf(out, i ? ", %d" : "%d", values[i]);
    fprintf(out, "'\n");
}

static void print_binds(FILE *out, const struct orr_omp_environment *env)
{
    fprintf(out, "  [host] OMP_PROC_BIND = '");
    for (unsigned i = 0; i < env->nbinds; i++)
        for (const char *c = bind_words[env->binds[i]]; *c; c++)
            fprintf(out, c == bind_words[env->binds[i]] && i ? ", %c" : "%c",
                    toupper((unsigned char)*c));
    fprintf(out, "%s'\n", env->nbinds ? "" : "FALSE");
}

static const char *shown(bool value)
{
    return value ? "TRUE" : "FALSE";
}

void orr_omp_environment_print(const struct orr_omp_environment *env, FILE *out)
{
    static const char *const kinds[] = {"UNDEFINED", "STATIC", "DYNAMIC",
                                        "GUIDED", "AUTO"};

    fprintf(out, "OPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '201107'\n");
    fprintf(out, "  [host] OMP_DYNAMIC = '%s'\n", shown(env->dynamic));
    fprintf(out, "  [host] OMP_NESTED = '%s'\n",
            shown(env->max_active_levels > 1 || env->nested));
    fprintf(out, "  [host] OMP_SCHEDULE = '%s, %llu'\n", kinds[env->schedule],
            env->chunk);
    fprintf(out, "  [host] OMP_STACKSIZE = '%zu'\n", env->stack_bytes);
    fprintf(out, "  [host] OMP_WAIT_POLICY = '%s'\n",
            env->active ? "ACTIVE" : "PASSIVE");
    fprintf(out, "  [host] OMP_MAX_ACTIVE_LEVELS = '%d'\n",
            env->max_active_levels);
    fprintf(out, "  [host] OMP_CANCELLATION = '%s'\n",
            shown(env->cancellation));
    fprintf(out, "  [host] OMP_DEFAULT_DEVICE = '%d'\n", env->default_device);
    fprintf(out, "  [host] OMP_MAX_TASK_PRIORITY = '%d'\n",
            env->max_task_priority);
    print_binds(out, env);
    environment_print_list(out, "OMP_NUM_THREADS", env->nthreads,
                           env->nthreads_count);
    fprintf(out, "  [host] OMP_PLACES = '%s'\n",
            env->places ? env->places : "");
    fprintf(out, "  [host] OMP_THREAD_LIMIT = '%d'\n", env->thread_limit);
    fprintf(out, "OPENMP DISPLAY ENVIRONMENT END\n");
}
