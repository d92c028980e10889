/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/tool.c - see tool.h. One thread. */
#include "tools/common/tool.h"

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
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void tool_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_error(format, args);
    va_end(args);
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

int tool_dispatch(const struct tool_commands *commands, int argc, char **argv)
{
    const char *of = commands->name, *blank = *of ? " " : "";
    const struct tool_command *c = commands->list;
    char name[64];

    if (argc < 2) {
        print_commands(commands, stderr);
        return TOOL_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        print_commands(commands, stdout);
        return TOOL_OK;
    }
    while (c->name && strcmp(argv[1], c->name) != 0)
        c++;
    if (!c->name) {
        tool_error("there is no command %s%s%s; see %s%s%s --help", of, blank,
                   argv[1], program_invocation_short_name, blank, of);
        return TOOL_USAGE;
    }
    snprintf(name, sizeof(name), "%s%s%s", of, blank, c->name);
    argv[1] = name;
    return c->run(argc - 1, argv + 1);
}

/* -- options -- */

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
static int join(const char **to, const char *value)
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
        if (!option || (option->flag && value && !option->value)) {
            tool_error("%s%sunknown option %s; see %s%s%s --help", argv[0],
                       *argv[0] ? ": " : "", argv[a],
                       program_invocation_short_name, *argv[0] ? " " : "",
                       argv[0]);
            return -1;
        }
        if (option->flag) {
            *option->flag = true;
            if (value)
                *option->value = value;
            continue;
        }
        if (!value && a + 1 < argc)
            value = argv[++a];
        if (!value || !*value) {
            tool_error("%s%soption %s needs a value", argv[0],
                       *argv[0] ? ": " : "", argv[a]);
            return -1;
        }
        if (option->letter != TOOL_JOINED)
            *option->value = value;
        else if (join(option->value, value) < 0)
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

/* -- files -- */

static int write_stream(FILE *file, const char *name, const char *text,
                        size_t size)
{
    errno = 0;
    if (fwrite(text, 1, size, file) == size && fflush(file) == 0)
        return 0;
    tool_error("%s: cannot be written: %s", name, strerror(errno));
    return errno ? -errno : -EIO;
}

/* Writes beside the file and renames, so that no reader finds half of it. */
static int replace_file(const char *path, const char *text, size_t size)
{
    char *beside = tool_format("%s.new-%ld", path, (long)getpid());
    FILE *file = beside ? fopen(beside, "wx") : NULL;
    int rc;

    if (!file) {
        rc = beside ? -errno : -ENOMEM;
        tool_error("%s: cannot be written: %s", path, strerror(-rc));
        free(beside);
        return rc;
    }
    rc = write_stream(file, path, text, size);
    if (fclose(file) != 0 && rc == 0) {
        rc = -errno;
        tool_error("%s: cannot be written: %s", path, strerror(-rc));
    }
    if (rc == 0 && rename(beside, path) != 0) {
        rc = -errno;
        tool_error("%s: cannot be replaced: %s", path, strerror(-rc));
    }
    if (rc < 0)
        unlink(beside);
    free(beside);
    return rc;
}

int tool_write_file(const char *path, const char *text, size_t size)
{
    struct stat st;
    FILE *file;
    int rc;

    if (!path || !strcmp(path, "-"))
        return write_stream(stdout, "standard output", text, size);
    if (stat(path, &st) != 0 || S_ISREG(st.st_mode))
        return replace_file(path, text, size);
    file = fopen(path, "w"); /* a pipe, a terminal, /dev/null */
    if (!file) {
        rc = -errno;
        tool_error("%s: cannot be opened: %s", path, strerror(-rc));
        return rc;
    }
    rc = write_stream(file, path, text, size);
    fclose(file);
    return rc;
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
