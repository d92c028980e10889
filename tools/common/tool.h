/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/tool.h - what the sub-commands of `orrery` share: exit codes,
 * messages and the parsing of options. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "core/base/error.h"

/* Own exit codes; otherwise `run` and `trace` end as the program did. */
enum {
    TOOL_OK = 0,
    TOOL_FAILED = 1, /* something could not be done */
    TOOL_USAGE = 2,  /* the command line is wrong */
};

/* The sub-commands. argv[0] is the command's name. Each returns the exit
 * code of the process. */
int cmd_advise(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_bound(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_debug(int argc, char **argv);
int cmd_env(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_machine(int argc, char **argv);
int cmd_optimise(int argc, char **argv);
int cmd_perfmodel(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_sched(int argc, char **argv);
int cmd_study(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_try(int argc, char **argv);
int cmd_validate(int argc, char **argv);
int cmd_watch(int argc, char **argv);

/* The names of their verbs; NULL behind the last. */
const char *calibrate_verb(size_t i);
const char *machine_verb(size_t i);
const char *optimise_verb(size_t i);
const char *perfmodel_verb(size_t i);
const char *record_verb(size_t i);
const char *sched_verb(size_t i);

/* A command of the program, or a verb of a command. Returns the exit code. */
struct tool_command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0]: the name in messages */
    const char *what;                  /* a short text for the list */
    const char *(*verb)(size_t i); /* names of its verbs, NULL behind the last;
                                    * or NULL: it has none */
};

struct tool_commands {
    const char *name; /* of the command they are verbs of; "": of the program */
    const struct tool_command *list; /* ends with one that has no name */
    const char *head, *tail;         /* of the help, around the list */
};

/* Runs the one that argv[1] names, or prints the help or what is wrong. Returns
 * the exit code. */
int tool_dispatch(const struct tool_commands *commands, int argc, char **argv);

/* The program's name, a colon, the message and a newline on stderr. */
void tool_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and returns `code`. */
int tool_fail(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Seconds of a clock that nobody sets. */
double tool_now_s(void);

/* Prints the message of `err`, or, without one, the meaning of the negative
 * errno `rc`. */
void tool_report(const struct orr_error *err, int rc);
/* Letter of an option without one that may be repeated: its texts are joined
 * by line ends into a new string, which the caller frees. */
enum { TOOL_JOINED = '\n' };
/* Letter of the option --devices without one: what it says is checked, and holds for
 * all that is started. */
enum { TOOL_DEVICES = '\t' };

/* One option of a sub-command. `value`, `flag` or both are set: an option with
 * both takes a value only behind an equals sign. */
struct tool_option {
    char letter;        /* 0: none; or TOOL_JOINED, TOOL_DEVICES */
    const char *name;   /* "machine" for --machine */
    const char **value; /* gets the text that follows, borrowed from argv */
    bool *flag;         /* gets true */
};

/* argv[0] is the sub-command as named in messages, "" in programs without any.
 * Parses options (-xy is -x -y), up to `--` or the first operand, and returns
 * that index (argc when there is none). `options` ends with one that has no
 * name. --help prints `help` and returns 0; an unknown option or a missing
 * value prints a message and returns -1. */
int tool_parse(int argc, char **argv, const struct tool_option *options,
               const char *help);

/* What words behind the options of a command that runs programs may be. */
struct tool_words {
    /* Whether the option, of a letter, has such a value. */
    bool (*known)(const char *option, const char *value);
    /* Whether a word that stands where the program would is a file that takes no
     * arguments, such as a trace: then options may follow. "-" always is one. */
    bool (*is_file)(const char *word);
};

/* The same for commands that run a program, the first operand. One of the
 * options among the program's arguments, without `--` before it, is an error
 * that shows the right order: as a word of its own, or a letter with its value
 * (-mMACHINE) if that is known, since programs have options such as -size. Behind
 * a file options and operands may mix: moves the operands to the end of argv. One
 * that is "-" is standard input (input.h), and then named so. */
int tool_parse_program(int argc, char **argv, const struct tool_option *options,
                       const struct tool_words *words, const char *help);

/* The same for commands whose operands and options may mix: moves the operands
 * to argv[1] onwards, in order; all after `--` are operands. Returns 1 and how
 * many in *ret_noperands, 0 or -1 as tool_parse. */
int tool_parse_operands(int argc, char **argv,
                        const struct tool_option *options, const char *help,
                        int *ret_nwords);

/* A file as it is before it is to be written: what is there later may be an old one, which
 * stays where the new one is not written. */
struct tool_seen {
    bool there;
    dev_t device;
    ino_t number;
    struct timespec changed;
};

/* NULL is no file. */
void tool_see(const char *path, struct tool_seen *ret);

/* Whether it has been made or changed since. */
bool tool_is_new(const char *path, const struct tool_seen *before);

/* Whether a file of that name can be made, before the work whose result it is to
 * have: TOOL_OK; else a message that begins with what asked for it ("trace: -o"), and
 * TOOL_FAILED, as for one that turns out not to be writable later. NULL and "-" can. */
int tool_check_output(const char *option, const char *path);

/* Writes text to the file of option -o: on standard output when `path` is NULL
 * or "-", else in the file, which is then the new one or, on failure, as
 * before. Prints what went wrong, with standard output at the end of the program
 * (tool_close), and returns a negative errno. */
int tool_write_file(const char *path, const char *text, size_t size);

/* At the end of a program that ends with `code`: that, or TOOL_FAILED and a
 * message when what was printed could not be written. */
int tool_close(int code);

/* Splits "a,b,c", or what TOOL_JOINED has joined, into a NULL-terminated array,
 * owned by the caller (free, one block); empty pieces are dropped. NULL without
 * memory. */
char **tool_split(const char *text);

/* "run.csv" with another extension, which begins with a point: "run.graph";
 * owned. NULL without memory. */
char *tool_beside(const char *path, const char *extension);

/* "printf" into a new string, owned; NULL without memory. */
char *tool_format(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
