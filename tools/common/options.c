/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/options.c - the options of commands, see tool.h. One thread. */
#include "core/base/words.h"
#include "tools/common/devices.h"
#include "tools/common/input.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The option that `word` names, NULL for none. `*ret_value` gets the rest after
 * an equals sign or a letter in the same argument, else NULL. */
static const struct tool_option *find_option(const struct tool_option *options,
                                             const char *word,
                                             const char **ret_value)
{
    size_t length = strcspn(word, "=");

    *ret_value = NULL;
    for (; options->name; options++) {
        if (word[1] != '-' && word[1] == options->letter) {
            *ret_value = word[2] ? word + 2 : NULL;
            return options;
        }
        if (word[1] == '-' && strlen(options->name) == length - 2 &&
            !strncmp(options->name, word + 2, length - 2)) {
            *ret_value = word[length] ? word + length + 1 : NULL;
            return options;
        }
    }
    return NULL;
}

/* Appends to the values of an option that may be repeated. */
static int join_repeated_values(const char **to, const char *value)
{
    char *joined =
        *to ? tool_format("%s\n%s", *to, value) : tool_format("%s", value);

    if (!joined) {
        tool_error("out of memory");
        return -1;
    }
    free((char *)(uintptr_t)*to);
    *to = joined;
    return 0;
}

static const char *option_name_at(const void *list, size_t i)
{
    return ((const struct tool_option *)list)[i].name;
}

/* What options of one purpose are called here and elsewhere. */
static const char *const purposes[][12] = {
    {"gantt", "plot", "svg", "png", "pdf", "picture", "image", "draw", "chart"},
    {"output", "out", "file"},
    {"machine", "platform", "target"},
    {"scheduler", "sched", "policy"},
    {"time", "time-limit", "timeout", "limit"},
    {"set", "edit", "what-if", "change"},
    {"sizes", "size"},
    {"host", "hostname"},
};

static const struct tool_option *
find_option_named(const struct tool_option *options, const char *name)
{
    for (; options->name; options++)
        if (!strcmp(options->name, name))
            return options;
    return NULL;
}

/* The option of the same purpose as one that another command or program has; NULL:
 * none. */
static const char *find_option_of_purpose(const struct tool_option *options,
                                          const char *typed)
{
    size_t n = sizeof(purposes) / sizeof(*purposes);

    for (size_t p = 0; p < n; p++) {
        const char *const *words = purposes[p];
        bool meant = false;

        for (size_t i = 0; i < 12 && words[i]; i++)
            meant = meant || !strcasecmp(words[i], typed);
        for (size_t i = 0; meant && i < 12 && words[i]; i++)
            if (find_option_named(options, words[i]))
                return words[i];
    }
    return NULL;
}

/* The message for a word that is no option, or for an option without value that
 * was given one. Returns -1. */
static int report_unknown_option(const char *command, const char *word,
                                 const struct tool_option *option,
                                 const struct tool_option *options)
{
    const char *blank = *command ? " " : "", *near = NULL;
    const char *us = program_invocation_short_name;
    char typed[64];

    if (option) {
        tool_error("%s%soption --%s takes no value; see %s%s%s --help", command,
                   *command ? ": " : "", option->name, us, blank, command);
        return -1;
    }
    if (word[1] == '-') {
        snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(word + 2, "="),
                 word + 2);
        near = orr_words_nearest(typed, options, option_name_at);
        if (!near)
            near = find_option_of_purpose(options, typed);
    }
    tool_error("%s%sunknown option %s%s%s%s %s%s%s --help", command,
               *command ? ": " : "", word, near ? ": did you mean --" : "",
               near ? near : "", near ? "? See" : "; see", us, blank, command);
    return -1;
}

int tool_parse(int argc, char **argv, const struct tool_option *options,
               const char *help)
{
    int a = 1;

    for (; a < argc && argv[a][0] == '-' && argv[a][1]; a++) {
        const struct tool_option *option;
        const char *value, *word = argv[a];

        if (!strcmp(argv[a], "--"))
            return a + 1;
        if (!strcmp(argv[a], "--help") || !strcmp(argv[a], "-h")) {
            fputs(help, stdout);
            return 0;
        }
        /* -xy is -x -y. */
        while ((option = find_option(options, word, &value)) && option->flag &&
               value && word[1] != '-') {
            *option->flag = true;
            word = value - 1;
        }
        if (!option || (option->flag && value && !option->value))
            return report_unknown_option(argv[0], argv[a], option, options);
        if (option->flag) {
            *option->flag = true;
            if (value)
                *option->value = value;
            continue;
        }
        if (!value && a + 1 < argc)
            value = argv[++a];
        if (!value || !*value) {
            tool_error("%s%soption --%s needs a value%s; see %s%s%s --help",
                       argv[0], *argv[0] ? ": " : "", option->name,
                       value ? ", not an empty one" : "",
                       program_invocation_short_name, *argv[0] ? " " : "",
                       argv[0]);
            return -1;
        }
        if (option->letter == TOOL_DEVICES && devices_take(argv[0], value) < 0)
            return -1;
        if (option->letter != TOOL_JOINED)
            *option->value = value;
        else if (join_repeated_values(option->value, value) < 0)
            return -1;
    }
    return a;
}

int tool_parse_operands(int argc, char **argv,
                        const struct tool_option *options, const char *help,
                        int *ret_nwords)
{
    int at = 0, n = 0;

    for (;;) {
        char *there = argv[at];
        bool ended;
        int first;

        argv[at] = argv[0]; /* the name in messages */
        first = tool_parse(argc - at, argv + at, options, help);
        ended = first > 1 && !strcmp(argv[at + first - 1], "--");
        argv[at] = there;
        if (first <= 0)
            return first;
        at += first;
        if (at >= argc)
            break;
        argv[++n] = argv[at];
        while (ended && ++at < argc)
            argv[++n] = argv[at];
        if (ended)
            break;
    }
    *ret_nwords = n;
    return 1;
}

/* The options of a command that runs programs. */
struct ours {
    const struct tool_option *options;
    const struct tool_words *words;
};

/* Whether the word is one of the options. *ret_value: the next word is its
 * value. */
static bool is_known_option(const struct ours *ours, const char *word,
                            bool *ret_value)
{
    const char *value;
    const struct tool_option *option;

    if (word[0] != '-' || !word[1] || !strcmp(word, "--"))
        return false;
    option = find_option(ours->options, word, &value);
    if (!option ||
        (word[1] != '-' && value && !ours->words->known(option->name, value)))
        return false;
    *ret_value = !option->flag && !value;
    return true;
}

/* Whether blanks or signs of the shell are in the word. */
static bool needs_quotes(const char *word)
{
    return !*word || word[strcspn(word, " \t\n;*?&|<>()$`\"\\\[]")];
}

static void append_command_word(char *line, size_t size, const char *word)
{
    size_t used = strlen(line);
    const char *quote = needs_quotes(word) ? "'" : "";

    snprintf(line + used, size - used, " %s%s%s", quote, word, quote);
}

/* Adds to the line the words from argv[first + 1] on that are ours, or are not.
 */
static void add_words(char *line, size_t size, int argc, char **argv, int first,
                      const struct ours *ours, bool wanted)
{
    for (int a = first + 1; a < argc; a++) {
        bool value = false, mine = is_known_option(ours, argv[a], &value);

        if (mine == wanted)
            append_command_word(line, size, argv[a]);
        if (value && a + 1 < argc) {
            a++;
            if (wanted)
                append_command_word(line, size, argv[a]);
        } else if (value && wanted) {
            append_command_word(line, size, "VALUE"); /* it was forgotten */
        }
    }
}

/* Says what the order should be. */
static int wrong_order(int argc, char **argv, int first,
                       const struct ours *ours, const char *word)
{
    char line[512] = "";

    snprintf(line, sizeof(line), "%s %s", program_invocation_short_name,
             argv[0]);
    for (int a = 1; a < first; a++)
        append_command_word(line, sizeof(line), argv[a]);
    add_words(line, sizeof(line), argc, argv, first, ours, true);
    append_command_word(line, sizeof(line), "--");
    append_command_word(line, sizeof(line), argv[first]);
    add_words(line, sizeof(line), argc, argv, first, ours, false);
    tool_error("%s: option %s comes after the program %s: write %s; an option "
               "of the program itself comes behind --",
               argv[0], word, argv[first], line);
    return -1;
}

/* Options that follow a file, argv[first]. */
static int parse_behind(int argc, char **argv, int first,
                        const struct tool_option *options, const char *help)
{
    char **words = argv + first - 1;
    int n = 0, rc;

    *words = argv[0]; /* the name in messages */
    rc = tool_parse_operands(argc - first + 1, words, options, help, &n);
    if (rc <= 0)
        return rc;
    memmove(argv + argc - n, words + 1, (size_t)n * sizeof(*argv));
    return argc - n;
}

/* Of operands from argv[first] on that are files. */
static int take_input(int argc, char **argv, int first)
{
    if (first > 0 &&
        input_take_words(argv[0], argc - first, argv + first) != TOOL_OK)
        return -1;
    return first;
}

int tool_parse_program(int argc, char **argv, const struct tool_option *options,
                       const struct tool_words *words, const char *help)
{
    const struct ours ours = {options, words};
    int first = tool_parse(argc, argv, options, help);
    bool value, is_file;

    if (first <= 0 || first >= argc)
        return first;
    is_file = !strcmp(argv[first], "-") || words->is_file(argv[first]);
    if (!strcmp(argv[first - 1], "--"))
        return is_file ? take_input(argc, argv, first) : first;
    if (is_file)
        return take_input(argc, argv,
                          parse_behind(argc, argv, first, options, help));
    for (int a = first + 1; a < argc && strcmp(argv[a], "--") != 0; a++)
        if (is_known_option(&ours, argv[a], &value))
            return wrong_order(argc, argv, first, &ours, argv[a]);
    return first;
}
