/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-debug.c - libFuzzer target for what `orrery debug' is asked: messages of
 * editors (tools/debug/dap.h), if the first byte is a C of their header, else lines of a
 * person or script (commands.h). The run is none, but answers like one (functions of
 * program.h and launch.h are wrapped). Whatever is asked, each line has a result, and what is
 * sent to the run is one line that it can read. One thread.
 */
#include <fcntl.h>

#include "debug/channel.h"
#include "debug/stops.h"
#include "tests/fuzz/fuzz.h"
#include "tools/common/launch.h"
#include "tools/debug/commands.h"
#include "tools/debug/dap.h"
#include "tools/debug/session.h"

int __wrap_program_start(struct program *program);
void __wrap_program_stop(struct program *program);
void __wrap_program_send(struct program *program, const char *request);
json_t *__wrap_program_request(struct program *program, const char *request);
json_t *__real_program_request(struct program *program, const char *request);
json_t *__wrap_program_go(struct program *program, const char *words);
json_t *__wrap_program_ask(struct program *program, const char *words);
json_t *__wrap_program_back(struct program *program, uint64_t number);
void __wrap_program_halt(const struct program *program);
void __wrap_program_flush(struct program *program);
int __wrap_launch_ready(struct launch *launch, const char *folder);
int __wrap_launch_place(struct launch *launch, const char *command,
                        bool *ret_cluster);
int __wrap_chdir(const char *path);

enum { LAST = 40 }; /* event of the run */

static uint64_t event;

/* --- the run --- */

/* What is not a line that the run reads would shift all answers by one. Returns whether it
 * refuses a breakpoint. */
static bool check_request(const char *words)
{
    char *copy = strdup(words), *rest = copy, *word, *list[DEBUG_WORDS + 1];
    struct debug_stops stops = {0};
    const char *wrong;
    bool refused = false;
    unsigned n = 0;

    must(copy && strlen(words) < DEBUG_LINE - 1 && !strchr(words, '\n'));
    while (n < DEBUG_WORDS && (word = strsep(&rest, "\t")))
        list[n++] = word;
    list[n] = NULL;
    if (!strcmp(list[0], "stop"))
        refused = debug_stops_add(&stops, list + 1, &wrong) < 0;
    free(copy);
    return refused;
}

/* The run is one of several. */
static bool has_ranks;

static json_t *stand(void)
{
    json_t *json = json_pack(
        "{sIsfsssisIss}", "event", (json_int_t)event, "date",
        2.5 * (double)event, "kind", event == LAST ? "finish" : "start", "lane",
        (int)(event % 3) - 1, "task", (json_int_t)event, "text", "an event");

    if (has_ranks)
        json_object_set_new(json, "rank",
                            json_integer((json_int_t)(event % 2)));
    return json;
}

int __wrap_program_start(struct program *program)
{
    program->fd = STDERR_FILENO;
    event = 0;
    return 0;
}

void __wrap_program_stop(struct program *program)
{
    program->fd = -1;
}

void __wrap_program_send(struct program *program, const char *request)
{
    (void)program;
    must(strncmp(request, "stop", 4) != 0); /* it would have an answer */
    check_request(request);
}

/* Those of the program's own that cannot be sent are refused there. */
json_t *__wrap_program_request(struct program *program, const char *request)
{
    if (strchr(request, '\n') || strlen(request) >= PROGRAM_REQUEST)
        return __real_program_request(program, request);
    return check_request(request) ? json_pack("{ss}", "error", "refused")
                                  : json_object();
}

json_t *__wrap_program_go(struct program *program, const char *words)
{
    must(strlen(words) < 200 && !strchr(words, '\n'));
    if (event < LAST) {
        event++;
        return stand();
    }
    program->fd = -1;
    return NULL;
}

json_t *__wrap_program_ask(struct program *program, const char *words)
{
    (void)program;
    (void)words;
    return event % 5 ? json_pack("{s[{sssIsisssssssisi}]}", "answer", "text",
                                 "an item", "task", (json_int_t)event, "worker",
                                 1, "data", "a", "node", "RAM", "source",
                                 "none.c:3", "on", 1, "rank", (int)has_ranks)
                     : json_pack("{ss}", "error", "there is no such thing");
}

json_t *__wrap_program_back(struct program *program, uint64_t number)
{
    program->fd = STDERR_FILENO;
    event = number && number < LAST ? number : 1;
    return stand();
}

void __wrap_program_halt(const struct program *program)
{
    (void)program;
}

void __wrap_program_flush(struct program *program)
{
    (void)program;
}

int __wrap_launch_ready(struct launch *launch, const char *folder)
{
    (void)launch;
    (void)folder;
    return 0;
}

int __wrap_launch_place(struct launch *launch, const char *command,
                        bool *ret_cluster)
{
    (void)command;
    launch->nranks = has_ranks ? 2 : 0;
    *ret_cluster = has_ranks;
    return 0;
}

int __wrap_chdir(const char *path)
{
    return *path ? 0 : -1;
}

/* --- those who ask --- */

static void serve_editor(const uint8_t *data, size_t size)
{
    struct launch launch = {.machine = "m"};
    char path[32];
    int before = dup(STDIN_FILENO), fd = fuzz_file(data, size, path);
    int again = open(path, O_RDONLY | O_CLOEXEC);

    has_ranks = size % 2;
    must(again >= 0 && dup2(again, STDIN_FILENO) == STDIN_FILENO);
    must(dap_serve(&launch, "/nonexistent", NULL) == 0);
    if (before >= 0) {
        dup2(before, STDIN_FILENO);
        close(before);
    }
    close(again);
    close(fd);
}

static void do_lines(const uint8_t *data, size_t size)
{
    struct launch launch = {.machine = "m"};
    struct session session = {.program.launch = &launch, .program.near.fd = -1};
    char *text = fuzz_text(data, size), *rest = text, *line;

    json_decref(session_open(&session));
    while ((line = strsep(&rest, "\n"))) {
        json_t *result = commands_do(&session, line);
        char *said = commands_text(result);

        must(result && said);
        free(said);
        json_decref(result);
    }
    session_close(&session);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_silence before = fuzz_silence();

    if (size && (*data == 'C' || *data == 'c'))
        serve_editor(data, size);
    else
        do_lines(data, size);
    fuzz_speak(before);
    return 0;
}
