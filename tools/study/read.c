/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/study/read.c - see study.h: the file as a study. */
#include "tools/study/study.h"

#include "core/cost/assume.h"
#include "core/policies/names.h"
#include "platforms/edit.h"
#include "tools/common/comparison.h"
#include "tools/common/launch.h"
#include "tools/common/machines.h"
#include "tools/common/program.h"
#include "tools/common/sweep.h"
#include "tools/common/tool.h"
#include "tools/study/yaml.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(void)
{
    return tool_fail(TOOL_FAILED, "out of memory");
}

#define WRONG(study, value, ...) wrong_at((study)->path, (value)->line, tool_format(__VA_ARGS__))

/* Takes the text. */
static int wrong_at(const char *path, unsigned line, char *text)
{
    int code = tool_fail(TOOL_USAGE, "study: %s:%u: %s", path, line, text ? text : "out of memory");

    free(text);
    return code;
}

/* ---- lists ---- */

static size_t count_list(char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

/* Takes the text; NULL is that there was no memory for it. */
static int list_add(char ***list, char *text)
{
    size_t n = count_list(*list);
    char **grown = text ? realloc(*list, (n + 2) * sizeof(*grown)) : NULL;

    if (!grown) {
        free(text);
        return no_memory();
    }
    grown[n] = text;
    grown[n + 1] = NULL;
    *list = grown;
    return TOOL_OK;
}

static void list_free(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

static bool list_has(char *const *list, const char *text)
{
    for (size_t i = 0; list && list[i]; i++)
        if (!strcmp(list[i], text))
            return true;
    return false;
}

/* The texts of a list, or one text. NULL items are as nothing. */
static int take_texts(const struct study *study, const struct yaml_value *value, const char *what,
                      char ***ret)
{
    int code = TOOL_OK;

    if (value->kind == YAML_MAP)
        return WRONG(study, value, "`%s' is a text, or a list of texts", what);
    if (value->kind == YAML_TEXT)
        return list_add(ret, strdup(value->text));
    for (size_t i = 0; i < value->n && code == TOOL_OK; i++)
        code = value->items[i]->kind == YAML_TEXT
                   ? list_add(ret, strdup(value->items[i]->text))
                   : WRONG(study, value->items[i], "`%s' has texts in its list", what);
    return code;
}

/* ---- words, as a shell splits them ---- */

/* The word that begins there, without its quotation marks; owned. *at is behind it. */
static char *take_word(const char **at)
{
    char *word = malloc(strlen(*at) + 1), *to = word, quote = '\0';

    for (; word && **at && (quote || !isspace((unsigned char)**at)); (*at)++) {
        if (**at == quote)
            quote = '\0';
        else if (!quote && (**at == '"' || **at == '\''))
            quote = **at;
        else
            *to++ = **at;
    }
    if (word)
        *to = '\0';
    return word;
}

static int add_words(char ***list, const char *text)
{
    int code = TOOL_OK;

    for (text += strspn(text, " \t\n"); *text && code == TOOL_OK; text += strspn(text, " \t\n"))
        code = list_add(list, take_word(&text));
    return code;
}

/* The words with blanks between them; owned. */
static char *joined(char *const *words)
{
    char *text = strdup("");

    for (size_t i = 0; text && words[i]; i++) {
        char *longer = tool_format("%s%s%s", text, i ? " " : "", words[i]);

        free(text);
        text = longer;
    }
    return text;
}

/* A text is split, the texts of a list are words. */
static int take_words(const struct study *study, const struct yaml_value *value, const char *what,
                      char ***ret)
{
    return value->kind == YAML_TEXT ? add_words(ret, value->text)
                                    : take_texts(study, value, what, ret);
}

/* ---- programs ---- */

static int add_size(const struct study *study, struct study_program *program,
                    const struct yaml_value *value)
{
    struct study_size *sizes =
        realloc(program->sizes, (program->nsizes + 1) * sizeof(*sizes)), *size;
    int code = TOOL_OK;

    if (!sizes)
        return no_memory();
    program->sizes = sizes;
    size = &sizes[program->nsizes++];
    *size = (struct study_size){0};
    for (size_t i = 0; program->words[i] && code == TOOL_OK; i++)
        code = list_add(&size->words, strdup(program->words[i]));
    if (code == TOOL_OK && value)
        code = take_words(study, value, "sizes", &size->words);
    if (code != TOOL_OK)
        return code;
    size->text = joined(size->words + count_list(program->words));
    return size->text ? TOOL_OK : no_memory();
}

static int add_sizes(const struct study *study, struct study_program *program,
                     const struct yaml_value *value)
{
    int code = TOOL_OK;

    if (!value)
        return add_size(study, program, NULL);
    if (value->kind != YAML_LIST || value->n == 0)
        return WRONG(study, value, "`sizes' is a list of arguments, [\"-size 960\", …]");
    for (size_t i = 0; i < value->n && code == TOOL_OK; i++)
        code = add_size(study, program, value->items[i]);
    for (size_t i = 0; i < program->nsizes && code == TOOL_OK; i++)
        for (size_t j = 0; j < i; j++)
            if (!strcmp(program->sizes[i].text, program->sizes[j].text))
                return WRONG(study, value->items[i], "the size `%s' is there twice",
                             program->sizes[i].text);
    return code;
}

/* "run, sizes, inputs, name", cut where there is no room. */
static const char *list_keys(const char *const *known, char *text, size_t size)
{
    size_t used = 0;

    *text = '\0';
    for (const char *const *key = known; *key && used < size; key++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 used ? ", " : "", *key);
    return text;
}

static int check_keys(const struct study *study, const struct yaml_value *map,
                      const char *const *known, const char *where)
{
    for (size_t i = 0; i < map->n; i++) {
        bool found = false;

        for (const char *const *key = known; *key && !found; key++)
            found = !strcmp(*key, map->keys[i]);
        if (!found) {
            char all[256];

            return WRONG(study, map->items[i],
                         "`%s' is no key of %s, which has %s (docs/STUDY.md)",
                         map->keys[i], where,
                         list_keys(known, all, sizeof(all)));
        }
    }
    return TOOL_OK;
}

static int fill_program(const struct study *study, struct study_program *program,
                        const struct yaml_value *value)
{
    static const char *const known[] = {"run", "name", "sizes", "inputs", NULL};
    const struct yaml_value *run = value, *name = NULL, *sizes = NULL, *inputs = NULL;
    int code = TOOL_OK;

    if (value->kind == YAML_MAP) {
        code = check_keys(study, value, known, "a program");
        run = yaml_value_find(value, "run");
        name = yaml_value_find(value, "name");
        sizes = yaml_value_find(value, "sizes");
        inputs = yaml_value_find(value, "inputs");
        if (code == TOOL_OK && !run)
            code = WRONG(study, value, "which program? `run' has a command, or a record");
    }
    if (code == TOOL_OK)
        code = take_words(study, run, "run", &program->words);
    if (code == TOOL_OK && !program->words)
        code = WRONG(study, run, "which program? `run' has a command, or a record");
    if (code == TOOL_OK && name && name->kind != YAML_TEXT)
        code = WRONG(study, name, "`name' is a text");
    if (code == TOOL_OK && inputs)
        code = take_texts(study, inputs, "inputs", &program->inputs);
    if (code != TOOL_OK)
        return code;
    program->name = name ? strdup(name->text) : program_text(program->words);
    return program->name ? add_sizes(study, program, sizes) : no_memory();
}

static int read_programs(struct study *study, const struct yaml_value *value)
{
    size_t n = value->kind == YAML_LIST ? value->n : 1;

    study->programs = calloc(n + 1, sizeof(*study->programs));
    if (!study->programs)
        return no_memory();
    for (size_t i = 0; i < n; i++) {
        struct study_program *program = &study->programs[study->nprograms++];
        const struct yaml_value *item = value->kind == YAML_LIST ? value->items[i] : value;
        int code = fill_program(study, program, item);

        if (code != TOOL_OK)
            return code;
        for (size_t j = 0; j < i; j++)
            if (!strcmp(program->name, study->programs[j].name))
                return WRONG(study, item, "two programs are called `%s'; `name' has another one",
                             program->name);
    }
    return TOOL_OK;
}

/* ---- what they are run on ---- */

static int read_machines(struct study *study, const struct yaml_value *value)
{
    char **texts = NULL;
    int code = take_texts(study, value, "machines", &texts);

    for (size_t i = 0; texts && texts[i] && code == TOOL_OK; i++) {
        char **names = machines_split(texts[i]);

        code = names ? TOOL_OK : no_memory();
        for (size_t m = 0; names && names[m] && code == TOOL_OK; m++) {
            if (!strcmp(names[m], COMPARE_REAL))
                code = WRONG(study, value,
                             "a study is of simulated machines, which give the same again; "
                             "orrery compare and orrery validate take `real'");
            else if (!machine_is_known(names[m]))
                code = WRONG(study, value, "there is no machine `%s'; see orrery machine list",
                             names[m]);
            else if (!list_has(study->machines, names[m]))
                code = list_add(&study->machines, strdup(names[m]));
        }
        free(names);
    }
    list_free(texts);
    return code;
}

/* One edit, or several values of one, each of which is tried. */
static int add_edits(struct study *study, const struct yaml_value *value, const char *text)
{
    struct sweep sweep = {0};
    struct orr_error err = {""};
    int code = TOOL_OK;

    if (sweep_read(&sweep, "study", text) < 0)
        return WRONG(study, value, "`edits' has what --set takes, docs/WHAT_IF.md");
    for (size_t p = 0; p < sweep.npoints && code == TOOL_OK; p++) {
        char *edits = sweep_edits(&sweep, p);

        if (edits && orr_edits_check(edits, &err) < 0)
            code = WRONG(study, value, "`edits' has what --set takes: %s", err.text);
        if (code != TOOL_OK || (edits && list_has(study->edits, edits)))
            free(edits);
        else
            code = list_add(&study->edits, edits);
    }
    sweep_done(&sweep);
    return code;
}

static int read_edits(struct study *study, const struct yaml_value *value)
{
    char **texts = NULL;
    int code = take_texts(study, value, "edits", &texts);

    for (size_t i = 0; texts && texts[i] && code == TOOL_OK; i++)
        code = add_edits(study, value, texts[i]);
    list_free(texts);
    return code;
}

static int read_policies(struct study *study, const struct yaml_value *value)
{
#define NAME(name_, ops) name_,
    static const char *const every[] = {ORR_SCHED_NAMES(NAME)};
#undef NAME
    char **texts = NULL;
    int code = take_texts(study, value, "policies", &texts);

    for (size_t i = 0; texts && texts[i] && code == TOOL_OK; i++) {
        bool all = !strcmp(texts[i], "all");

        for (size_t p = 0; all && p < sizeof(every) / sizeof(*every) && code == TOOL_OK; p++)
            if (!list_has(study->policies, every[p]))
                code = list_add(&study->policies, strdup(every[p]));
        if (!all && !launch_names("scheduler", texts[i]))
            code = WRONG(study, value, "there is no policy `%s'; see orrery sched list", texts[i]);
        else if (!all && code == TOOL_OK && !list_has(study->policies, texts[i]))
            code = list_add(&study->policies, strdup(texts[i]));
    }
    list_free(texts);
    return code;
}

static int read_noises(struct study *study, const struct yaml_value *value)
{
    int code = take_texts(study, value, "noise", &study->noises);

    for (size_t i = 0; code == TOOL_OK && study->noises && study->noises[i]; i++) {
        double share;

        if (strcmp(study->noises[i], "none") && strcmp(study->noises[i], "measured") &&
            program_share(study->noises[i], &share) < 0)
            code = WRONG(study, value, "the noise is `none', `measured' or a share such as 2%%, "
                                       "not `%s'", study->noises[i]);
        for (size_t j = 0; j < i && code == TOOL_OK; j++)
            if (!strcmp(study->noises[i], study->noises[j]))
                code = WRONG(study, value, "the noise `%s' is there twice", study->noises[i]);
    }
    return code;
}

/* ---- the rest ---- */

static int read_variables(struct study *study, const struct yaml_value *value)
{
    int code = TOOL_OK;

    if (value->kind != YAML_MAP)
        return WRONG(study, value, "`variables' has a line NAME: value each");
    for (size_t i = 0; i < value->n && code == TOOL_OK; i++) {
        if (value->items[i]->kind != YAML_TEXT || !*value->keys[i] ||
            strchr(value->keys[i], '='))
            code = WRONG(study, value->items[i], "`variables' has a line NAME: value each");
        else if (i == LAUNCH_MORE - 5)
            code = WRONG(study, value->items[i], "there are more than %d variables",
                         LAUNCH_MORE - 5);
        else
            code = list_add(&study->variables,
                            tool_format("%s=%s", value->keys[i], value->items[i]->text));
    }
    return code;
}

static int read_repetitions(struct study *study, const struct yaml_value *value)
{
    return value->kind == YAML_TEXT && program_number(value->text, 1, &study->repetitions) == 0
               ? TOOL_OK
               : WRONG(study, value, "`repetitions' is a number from 1 on");
}

static int read_draws(struct study *study, const struct yaml_value *value)
{
    bool yes = value->kind == YAML_TEXT &&
               (!strcmp(value->text, "true") || !strcmp(value->text, "yes"));

    study->draws = yes;
    return yes || (value->kind == YAML_TEXT &&
                   (!strcmp(value->text, "false") || !strcmp(value->text, "no")))
               ? TOOL_OK
               : WRONG(study, value, "`draws' is true or false");
}

static int read_assume(struct study *study, const struct yaml_value *value)
{
    char **texts = NULL;
    struct orr_assumptions all = {0};
    struct orr_error err = {""};
    int code = take_texts(study, value, "assume", &texts);
    size_t size;
    FILE *out = code == TOOL_OK ? open_memstream(&study->assume, &size) : NULL;

    for (size_t i = 0; out && texts && texts[i]; i++)
        fprintf(out, "%s%s", i ? "\n" : "", texts[i]);
    if (code == TOOL_OK && (!out || fclose(out) != 0))
        code = no_memory();
    list_free(texts);
    if (code == TOOL_OK && orr_assumptions_read(study->assume, &all, &err) < 0)
        code = WRONG(study, value, "%s", err.text);
    orr_assumptions_done(&all);
    return code;
}

static int read_costs(struct study *study, const struct yaml_value *value)
{
    if (value->kind != YAML_TEXT)
        return WRONG(study, value, "`costs' is the name of a file (docs/ENERGY.md)");
    study->costs = strdup(value->text);
    return study->costs ? TOOL_OK : no_memory();
}

static int read_baseline(struct study *study, const struct yaml_value *value)
{
    if (value->kind != YAML_TEXT)
        return WRONG(study, value, "`baseline' is one of the policies");
    study->baseline = strdup(value->text);
    return study->baseline ? TOOL_OK : no_memory();
}

static const struct study_key {
    const char *name;
    int (*read)(struct study *study, const struct yaml_value *value);
    bool needed;
} keys[] = {
    {"programs", read_programs, true}, {"machines", read_machines, true},
    {"edits", read_edits, false},      {"noise", read_noises, false},
    {"policies", read_policies, true}, {"repetitions", read_repetitions, false},
    {"draws", read_draws, false},      {"variables", read_variables, false},
    {"assume", read_assume, false},    {"baseline", read_baseline, false},
    {"costs", read_costs, false},
};
enum { NKEYS = sizeof(keys) / sizeof(*keys) };

static int read_keys(struct study *study, const struct yaml_value *root)
{
    const char *known[NKEYS + 1] = {NULL};
    int code;

    for (size_t k = 0; k < NKEYS; k++)
        known[k] = keys[k].name;
    if (root->kind != YAML_MAP)
        return WRONG(study, root, "a study has a line KEY: value each; docs/STUDY.md has all");
    code = check_keys(study, root, known, "a study");
    for (size_t k = 0; k < NKEYS && code == TOOL_OK; k++) {
        const struct yaml_value *value = yaml_value_find(root, keys[k].name);

        if (!value && keys[k].needed)
            code = WRONG(study, root, "`%s' is missing; docs/STUDY.md has an example",
                         keys[k].name);
        else if (value)
            code = keys[k].read(study, value);
    }
    return code;
}

/* What follows from the whole of it. */
static int finish_study(struct study *study)
{
    size_t sizes = 0;

    if (!study->edits && list_add(&study->edits, strdup("")) != TOOL_OK)
        return TOOL_FAILED;
    if (!study->noises &&
        list_add(&study->noises, strdup(study->repetitions > 1 ? "measured" : "none")) != TOOL_OK)
        return TOOL_FAILED;
    for (size_t p = 0; p < study->nprograms; p++)
        sizes += study->programs[p].nsizes;
    study->nmachines = count_list(study->machines);
    study->nedits = count_list(study->edits);
    study->nnoises = count_list(study->noises);
    study->npolicies = count_list(study->policies);
    if (__builtin_mul_overflow(sizes * study->nmachines, study->nedits * study->nnoises,
                               &study->nworkloads) ||
        __builtin_mul_overflow(study->nworkloads * study->npolicies, study->repetitions,
                               &study->nruns) ||
        study->nruns > STUDY_MAX_RUNS)
        return tool_fail(TOOL_USAGE, "study: %s: these are more than %d runs", study->path,
                         STUDY_MAX_RUNS);
    if (study->nruns == 0)
        return tool_fail(TOOL_USAGE, "study: %s: a list is empty, so that there is nothing to run",
                         study->path);
    if (study->baseline && !list_has(study->policies, study->baseline))
        return tool_fail(TOOL_USAGE, "study: %s: the baseline `%s' is none of the policies",
                         study->path, study->baseline);
    return TOOL_OK;
}

int study_read(const char *path, struct study *ret)
{
    struct yaml_value *root = NULL;
    struct orr_error err = {""};
    int code;

    *ret = (struct study){.path = strdup(path), .repetitions = 1};
    if (!ret->path)
        return no_memory();
    if (yaml_value_read(path, &root, &err) < 0)
        return tool_fail(TOOL_USAGE, "study: %s", err.text);
    code = read_keys(ret, root);
    yaml_value_free(root);
    return code == TOOL_OK ? finish_study(ret) : code;
}

void study_done(struct study *study)
{
    for (size_t p = 0; p < study->nprograms; p++) {
        struct study_program *program = &study->programs[p];

        for (size_t s = 0; s < program->nsizes; s++) {
            free(program->sizes[s].text);
            list_free(program->sizes[s].words);
        }
        free(program->sizes);
        free(program->name);
        list_free(program->words);
        list_free(program->inputs);
    }
    free(study->programs);
    list_free(study->machines);
    list_free(study->edits);
    list_free(study->noises);
    list_free(study->policies);
    list_free(study->variables);
    free(study->assume);
    free(study->baseline);
    free(study->costs);
    free(study->path);
}

/* ---- runs ---- */

static void find_size(const struct study *study, size_t number, struct study_run *run)
{
    for (size_t p = 0; p < study->nprograms; p++) {
        const struct study_program *program = &study->programs[p];

        if (number < program->nsizes) {
            run->program = program;
            run->size = &program->sizes[number];
            return;
        }
        number -= program->nsizes;
    }
}

struct study_run study_run(const struct study *study, size_t which)
{
    struct study_run run = {0};
    size_t at = which;

    run.policy_index = at % study->npolicies;
    run.policy = study->policies[run.policy_index];
    at /= study->npolicies;
    run.workload = at % study->nworkloads;
    run.repetition = at / study->nworkloads;
    at = run.workload;
    run.noise = study->noises[at % study->nnoises];
    at /= study->nnoises;
    run.edits = study->edits[at % study->nedits];
    run.machine_and_edit = at % (study->nedits * study->nmachines);
    at /= study->nedits;
    run.machine = study->machines[at % study->nmachines];
    find_size(study, at / study->nmachines, &run);
    return run;
}

size_t study_run_number(const struct study *study, size_t workload, size_t policy,
                        size_t repetition)
{
    return (repetition * study->nworkloads + workload) * study->npolicies + policy;
}

char *study_workload_name(const struct study *study, size_t workload)
{
    struct study_run run = study_run(study, study_run_number(study, workload, 0, 0));
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    fputs(run.program->name, out);
    if (*run.size->text)
        fprintf(out, " %s", run.size->text);
    if (study->nmachines > 1)
        fprintf(out, " on %s", run.machine);
    if (study->nedits > 1)
        fprintf(out, ", %s", *run.edits ? run.edits : "no edit");
    if (study->nnoises > 1)
        fprintf(out, ", noise %s", run.noise);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    for (char *at = text; (at = strchr(at, '\n'));)
        *at = ';';
    return text;
}
