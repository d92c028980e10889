/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/tool.c - see tool.h. One thread. */
#include "tools/common/tool.h"

#include "core/base/result.h"
#include "core/base/shown.h"
#include "core/base/words.h"
#include "tools/common/printed.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((format(printf, 1, 0))) static void
print_error(const char *format, va_list args)
{
    char *text = NULL;

    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    if (text)
        orr_shown_lines(text);
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, text ? text : "out of memory");
    free(text);
}

void tool_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_error(format, args);
    va_end(args);
}

double tool_now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int tool_fail(int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_error(format, args);
    va_end(args);
    return code;
}

void tool_report(const struct orr_error *err, int rc)
{
    tool_error("%s", err->text[0] ? err->text : strerror(-rc));
}

/* -- commands -- */

static void print_commands(const struct tool_commands *commands, FILE *file)
{
    int widest = 0;

    for (const struct tool_command *c = commands->list; c->name; c++)
        if ((int)strlen(c->name) > widest)
            widest = (int)strlen(c->name);
    fputs(commands->head, file);
    for (const struct tool_command *c = commands->list; c->name; c++)
        fprintf(file, "  %-*s  %s\n", widest, c->name, c->what);
    fputs(commands->tail, file);
}

static const char *command_name_at(const void *list, size_t i)
{
    return ((const struct tool_command *)list)[i].name;
}

static bool is_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "-h") ||
           !strcmp(word, "help");
}

/* "help machine list" is "machine list --help". */
static int show_help(const struct tool_commands *commands, int argc,
                     char **argv)
{
    static char option[] = "--help";
    char **words;
    int code;

    if (argc == 2) {
        print_commands(commands, stdout);
        return TOOL_OK;
    }
    words = calloc((size_t)argc + 1, sizeof(*words));
    if (!words)
        return tool_fail(TOOL_FAILED, "out of memory");
    words[0] = argv[0];
    memcpy(words + 1, argv + 2, (size_t)(argc - 2) * sizeof(*words));
    words[argc - 1] = option;
    code = tool_dispatch(commands, argc, words);
    free(words);
    return code;
}

/* The verb of a command of the list that was typed without its command; `far`:
 * the nearest one will do. NULL: none. */
static const char *verb_of(const struct tool_command *list, const char *typed,
                           bool far)
{
    const char *near = NULL;

    for (const struct tool_command *c = list; c->name; c++)
        for (size_t i = 0; c->verb && c->verb(i); i++)
            if (!strcmp(typed, c->verb(i)))
                return c->verb(i);
            else if (far && !near &&
                     orr_words_distance(typed, c->verb(i)) <=
                         orr_words_tolerance(typed, c->verb(i)))
                near = c->verb(i);
    return near;
}

/* "machine check or perfmodel check"; owned, NULL without memory. */
static char *commands_with(const struct tool_command *list, const char *verb)
{
    char *text = strdup("");

    for (const struct tool_command *c = list; c->name && text; c++)
        for (size_t i = 0; text && c->verb && c->verb(i); i++)
            if (!strcmp(verb, c->verb(i))) {
                char *longer = tool_format("%s%s%s %s", text,
                                           *text ? " or " : "", c->name, verb);

                free(text);
                text = longer;
            }
    return text;
}

/* A hint at the command that a word may have meant: "", or a text, owned; NULL
 * without memory. */
static char *suggest(const struct tool_commands *commands, const char *typed)
{
    const char *verb = verb_of(commands->list, typed, false);
    const char *near =
        verb ? NULL : orr_words_nearest(typed, commands->list, command_name_at);

    if (near)
        return tool_format("%s%s%s", commands->name, *commands->name ? " " : "",
                           near);
    if (!verb)
        verb = verb_of(commands->list, typed, true);
    return verb ? commands_with(commands->list, verb) : strdup("");
}

static int no_command(const struct tool_commands *commands, const char *typed)
{
    const char *of = commands->name, *blank = *of ? " " : "";
    char *meant = suggest(commands, typed);
    bool any = meant && *meant;

    tool_error("there is no command %s%s%s%s%s%s %s%s%s --help", of, blank,
               typed, any ? ": did you mean " : "", any ? meant : "",
               any ? "? See" : "; see", program_invocation_short_name, blank,
               of);
    free(meant);
    return TOOL_USAGE;
}

int tool_dispatch(const struct tool_commands *commands, int argc, char **argv)
{
    const char *of = commands->name, *blank = *of ? " " : "";
    const struct tool_command *c = commands->list;
    char name[64];

    if (argc < 2) {
        print_commands(commands, stderr);
        return TOOL_USAGE;
    }
    if (is_help(argv[1]))
        return show_help(commands, argc, argv);
    while (c->name && strcmp(argv[1], c->name) != 0)
        c++;
    if (!c->name)
        return no_command(commands, argv[1]);
    snprintf(name, sizeof(name), "%s%s%s", of, blank, c->name);
    argv[1] = name;
    return c->run(argc - 1, argv + 1);
}

/* -- files -- */

void tool_see(const char *path, struct tool_seen *ret)
{
    struct stat st;

    *ret = (struct tool_seen){.there = path && stat(path, &st) == 0};
    if (!ret->there)
        return;
    ret->device = st.st_dev;
    ret->number = st.st_ino;
    ret->changed = st.st_ctim;
}

bool tool_is_new(const char *path, const struct tool_seen *before)
{
    struct tool_seen now;

    tool_see(path, &now);
    if (!now.there || !before->there)
        return now.there;
    return now.device != before->device || now.number != before->number ||
           now.changed.tv_sec != before->changed.tv_sec ||
           now.changed.tv_nsec != before->changed.tv_nsec;
}

int tool_check_output(const char *option, const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;
    const char *in = folder ? folder : ".";
    struct stat st;
    int code = TOOL_FAILED;

    if (!path || strcmp(path, "-") == 0)
        return TOOL_OK;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        tool_error("%s %s: that is a folder; name a file", option, path);
    else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        code = TOOL_OK;
    else if (access(in, W_OK | X_OK) < 0)
        tool_error("%s %s: cannot be written, no file can be made in %s: %s",
                   option, path, in, strerror(errno));
    else
        code = TOOL_OK;
    free(folder);
    return code;
}

int tool_write_file(const char *path, const char *text, size_t size)
{
    int rc;

    if (!path || !strcmp(path, "-")) /* tool_close says what went wrong */
        return fwrite(text, 1, size, stdout) == size && fflush(stdout) == 0
                   ? 0
                   : -EIO;
    rc = orr_result_write(path, text, size);
    if (rc)
        tool_error("%s: cannot be written: %s", path, strerror(-rc));
    return rc;
}

int tool_close(int code)
{
    errno = 0;
    if (printed_end() == 0)
        return code;
    tool_error("standard output: cannot be written: %s",
               strerror(errno ? errno : ENOSPC));
    return code == TOOL_OK ? TOOL_FAILED : code;
}

/* -- texts -- */

char **tool_split(const char *text)
{
    size_t n = strlen(text), pieces = 0;
    /* Never more than one piece per second byte, and a NULL. */
    size_t slots = n / 2 + 2;
    char **list = malloc(slots * sizeof(*list) + n + 1);
    char *copy, *saved = NULL;

    if (!list)
        return NULL;
    copy = memcpy(list + slots, text, n + 1);
    for (char *piece = strtok_r(copy, ",\n", &saved); piece;
         piece = strtok_r(NULL, ",\n", &saved))
        list[pieces++] = piece;
    list[pieces] = NULL;
    return list;
}

char *tool_beside(const char *path, const char *extension)
{
    const char *dot = strrchr(path, '.');
    size_t stem = strlen(path);

    if (dot && dot != path && !strchr(dot, '/'))
        stem = (size_t)(dot - path);
    return tool_format("%.*s%s", (int)stem, path, extension);
}

char *tool_format(const char *format, ...)
{
    va_list args;
    char *text = NULL;
    int n;

    va_start(args, format);
    n = vasprintf(&text, format, args);
    va_end(args);
    return n < 0 ? NULL : text;
}
