/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/record/ranks.c - `orrery record --ranks`: what each rank of a program asks for, each
 * in a process without the others, which are pretended. One thread.
 */
#include "tools/common/here.h"
#include "tools/common/json.h"
#include "tools/common/notes.h"
#include "tools/common/program.h"
#include "tools/common/tool.h"
#include "tools/record/record.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of one rank. */
struct one {
    unsigned rank;
    char *path;
    struct tool_seen before;
    char *settings[6];
    const char *more[LAUNCH_MORE];
};

/* What all records lack: a line without its number, and the sum of those. */
struct lack {
    char *text;
    unsigned long n;
    unsigned ranks;
};

struct sum {
    unsigned long tasks, data, calls;
    struct lack *lacks;
    size_t nlacks;
};

/* --- where they go --- */

static bool is_folder(const char *path)
{
    struct stat st;
    size_t n = strlen(path);

    return (n > 0 && path[n - 1] == '/') ||
           (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* FOLDER/rank3.recb; of FILE.rec FILE.rank3.rec. NULL without memory. */
static char *path_of(const char *path, unsigned rank)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    size_t stem = dot && dot > path ? (size_t)(dot - path) : strlen(path);

    if (is_folder(path))
        return tool_format("%s%srank%u.recb", path, path[strlen(path) - 1] == '/' ? "" : "/",
                           rank);
    return tool_format("%.*s.rank%u%s", (int)stem, path, rank, path + stem);
}

/* --- the runs --- */

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value && *value;
}

/* Kernels take some time: which one makes no difference to what is asked for. */
static bool prepare(struct one *one, struct launch *launch, const struct ranks_asked *asked,
                    unsigned rank)
{
    bool assumes = launch->assume || is_set("ORRERY_ASSUME");
    unsigned n = 0;

    one->rank = rank;
    one->path = path_of(asked->path, rank);
    one->settings[n++] = tool_format("ORRERY_RECORD=%s", one->path);
    one->settings[n++] = tool_format("STARPU_MPI_FAKE_SIZE=%u", asked->n);
    one->settings[n++] = tool_format("STARPU_MPI_FAKE_RANK=%u", rank);
    if (!assumes)
        one->settings[n++] = strdup("ORRERY_ASSUME=* = 1us");
    if (asked->lines)
        one->settings[n++] = strdup("ORRERY_SOURCE_LINES=1");
    for (unsigned i = 0; i < n; i++) {
        if (!one->path || !one->settings[i])
            return false;
        one->more[i] = one->settings[i];
    }
    launch->more = one->more;
    launch->quiet = true;
    tool_see(one->path, &one->before);
    return true;
}

/* Whether its record is there. */
static bool check(const struct one *one, const struct launch *launch)
{
    if (tool_is_new(one->path, &one->before) && *launch->problem == '\0')
        return true;
    tool_error("rank %u: %s %s", one->rank, one->path,
               tool_is_new(one->path, &one->before) ? "is not whole" : "was not written");
    if (*launch->problem)
        tool_error("rank %u: %s", one->rank, launch->problem);
    process_print_errors(&launch->process, stderr);
    return false;
}

/* --- what is in them --- */

/* "what (3)": adds that up. */
static bool add_lack(struct sum *sum, const char *line, size_t length)
{
    const char *open = line + length;
    struct lack *more;
    unsigned long n = 1;

    while (open > line && *open != '(')
        open--;
    if (open > line && sscanf(open, "(%lu)", &n) == 1)
        length = (size_t)(open - line);
    for (size_t i = 0; i < sum->nlacks; i++)
        if (strlen(sum->lacks[i].text) == length &&
            !memcmp(sum->lacks[i].text, line, length)) {
            sum->lacks[i].n += n;
            sum->lacks[i].ranks++;
            return true;
        }
    more = realloc(sum->lacks, (sum->nlacks + 1) * sizeof(*more));
    if (!more)
        return false;
    sum->lacks = more;
    more[sum->nlacks] = (struct lack){strndup(line, length), n, 1};
    return more[sum->nlacks++].text != NULL;
}

static bool add_record(struct sum *sum, const struct one *one)
{
    struct orr_error err = {""};
    struct notes notes;
    bool good = true;

    if (notes_read(one->path, &notes, &err) < 0) {
        tool_error("record: %s", err.text);
        return false;
    }
    sum->tasks += notes.tasks;
    sum->data += notes.data;
    sum->calls += notes.calls;
    for (const char *line = notes.lacks; good && *line;) {
        size_t length = strcspn(line, "\n");

        good = add_lack(sum, line, length);
        line += length + (line[length] == '\n');
    }
    notes_done(&notes);
    if (!good)
        tool_error("out of memory");
    return good;
}

static void tell_json(const struct sum *sum, const struct ranks_asked *asked)
{
    json_t *lacks = json_array();

    for (size_t i = 0; i < sum->nlacks; i++) {
        char *text = tool_format("%s(%lu)", sum->lacks[i].text + 2, sum->lacks[i].n);

        json_array_append_new(lacks, tool_json_text(text));
        free(text);
    }
    if (tool_json_print(json_pack("{s:o, s:I, s:I, s:I, s:I, s:o}", "records",
                                  tool_json_text(asked->path), "ranks",
                                  (json_int_t)asked->n, "tasks", (json_int_t)sum->tasks,
                                  "data", (json_int_t)sum->data, "calls",
                                  (json_int_t)sum->calls, "lacks", lacks)) < 0)
        tool_error("out of memory");
}

static void tell(const struct sum *sum, const struct ranks_asked *asked, unsigned n)
{
    printf("records     %s: %u of %u ranks, %lu tasks, %lu data, %lu calls\n", asked->path,
           n, asked->n, sum->tasks, sum->data, sum->calls);
    fflush(stdout);
    if (sum->nlacks)
        fprintf(stderr, "The records lack, or a replay does otherwise (how often, of how "
                        "many ranks):\n");
    for (size_t i = 0; i < sum->nlacks; i++)
        fprintf(stderr, "%s(%lu, %u)\n", sum->lacks[i].text, sum->lacks[i].n,
                sum->lacks[i].ranks);
}

static bool report(const struct one *ones, unsigned n, const struct ranks_asked *asked)
{
    struct sum sum = {0};
    bool good = true;

    for (unsigned i = 0; good && i < n; i++)
        good = add_record(&sum, &ones[i]);
    if (good && asked->json)
        tell_json(&sum, asked);
    else if (good)
        tell(&sum, asked, n);
    for (size_t i = 0; i < sum.nlacks; i++)
        free(sum.lacks[i].text);
    free(sum.lacks);
    return good;
}

/* --- all of them --- */

static int run_all(struct one *ones, struct launch *launches, unsigned n,
                   const struct ranks_asked *asked)
{
    int stopped = launch_all(launches, n, asked->jobs, NULL, NULL);
    bool good = true;

    if (stopped > 0)
        return tool_fail(128 + stopped, "interrupted: the ranks were ended");
    if (stopped < 0)
        return TOOL_FAILED;
    for (unsigned i = 0; i < n && good; i++)
        good = check(&ones[i], &launches[i]);
    return good && report(ones, n, asked) ? TOOL_OK : TOOL_FAILED;
}

static int record_several(const struct launch *like, const struct ranks_asked *asked)
{
    unsigned n = asked->one >= 0 ? 1 : asked->n;
    struct launch *launches = calloc(n, sizeof(*launches));
    struct one *ones = calloc(n, sizeof(*ones));
    bool good = launches && ones;
    int result;

    for (unsigned i = 0; good && i < n; i++) {
        launches[i] = *like;
        good = prepare(&ones[i], &launches[i], asked,
                       asked->one >= 0 ? (unsigned)asked->one : i);
    }
    result = good ? run_all(ones, launches, n, asked)
                  : tool_fail(TOOL_FAILED, "out of memory");
    for (unsigned i = 0; launches && ones && i < n; i++) {
        launch_done(&launches[i]);
        free(ones[i].path);
        for (unsigned s = 0; s < sizeof(ones[i].settings) / sizeof(char *); s++)
            free(ones[i].settings[s]);
    }
    free(launches);
    free(ones);
    return result;
}

int record_ranks(struct launch *launch, const struct ranks_asked *asked)
{
    char *machine = NULL;
    int result;

    if (asked->one >= (int)asked->n)
        return tool_fail(TOOL_USAGE, "record: --rank %d: the ranks are 0 to %u", asked->one,
                         asked->n - 1);
    if (asked->path[strlen(asked->path) - 1] == '/' && mkdir(asked->path, 0777) &&
        errno != EEXIST)
        return tool_fail(TOOL_FAILED, "record: -o %s: %s", asked->path, strerror(errno));
    if (!launch->machine && !is_set("ORRERY_MACHINE")) {
        if (here_make(&machine) < 0)
            return TOOL_FAILED;
        launch->machine = machine;
    }
    result = record_several(launch, asked);
    here_remove(machine);
    return result;
}
