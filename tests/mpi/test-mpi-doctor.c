/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/test-mpi-doctor.c - what is said of ranks, by what they say of themselves: no
 * rank is there, and no time is measured.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/config.h"
#include "mpi/doctor.h"

enum { N = 4 };

static int number, failed;
static struct orr_config config;

struct said {
    int n;
    char last[1000];
};

static void keep(void *arg, const char *text)
{
    struct said *said = arg;

    said->n++;
    snprintf(said->last, sizeof(said->last), "%s", text);
}

static void claim(const char *what, const struct said *said, int n, const char *words)
{
    bool holds = said->n == n && (n == 0 || strstr(said->last, words));

    if (!holds)
        printf("# %d said: %s\n", said->n, said->last);
    printf("%sok %d - %s\n", holds ? "" : "not ", ++number, what);
    failed += !holds;
}

/* Reads the settings, with that variable 0, or NULL. */
static void set(const char *variable)
{
    static const char *const all[] = {"ORRERY_MPI_WARN_CORES", "ORRERY_MPI_WARN_DEVICES",
                                      "ORRERY_MPI_WARN_GRAIN"};
    struct orr_error err = {""};

    for (int i = 0; i < 3; i++)
        unsetenv(all[i]);
    if (variable)
        setenv(variable, "0", 1);
    orr_config_done(&config);
    if (orr_config_read(&config, &err) < 0)
        abort();
}

/* Ranks of one host with 2 workers each; `used`, `allowed`: their processors. */
static void fill(struct orr_doctor_place places[N], const uint64_t used[N],
                 const uint64_t allowed[N])
{
    for (int r = 0; r < N; r++) {
        places[r] = (struct orr_doctor_place){.host = "node1", .nworkers = 2};
        places[r].used[0] = used[r];
        places[r].allowed[0] = allowed[r];
    }
}

static void test_processors(void)
{
    const uint64_t apart[N] = {0x3, 0xc, 0x30, 0xc0}, same[N] = {3, 3, 3, 3};
    const uint64_t all[N] = {0xff, 0xff, 0xff, 0xff}, few[N] = {0xf, 0xf, 0xf, 0xf};
    struct orr_doctor_place places[N];
    struct said said = {0};

    fill(places, apart, apart);
    orr_doctor_judge_places(&config, places, N, keep, &said);
    claim("ranks that are bound apart are right", &said, 0, "");
    fill(places, all, all);
    orr_doctor_judge_places(&config, places, N, keep, &said);
    claim("so are those that are not bound, with a processor for each worker", &said, 0, "");
    fill(places, same, all);
    orr_doctor_judge_places(&config, places, N, keep, &said);
    claim("all on the same processors, where there are others", &said, 1,
          "the 4 ranks on node1 have 8 workers, all on 2 of its 8 processors");
    said.n = 0;
    fill(places, few, few);
    orr_doctor_judge_places(&config, places, N, keep, &said);
    claim("more workers than processors: how many each may have", &said, 1,
          "8 workers and 4 processors, so that they take turns: give each rank its share, "
          "STARPU_NCPU=1");
    said.n = 0;
    fill(places, same, same);
    orr_doctor_judge_places(&config, places, N, keep, &said);
    claim("more ranks than processors", &said, 1, "have at most 2 ranks per host");
    said.n = 0;
    for (int r = 0; r < N; r++)
        snprintf(places[r].host, sizeof(places[r].host), "node%d", r);
    orr_doctor_judge_places(&config, places, N, keep, &said);
    claim("ranks of several hosts may have the same numbers", &said, 0, "");
    snprintf(places[3].host, sizeof(places[3].host), "node1");
    orr_doctor_judge_places(&config, places, N, keep, &said);
    claim("the host is named, and how many are there", &said, 1, "the 2 ranks on node1");
}

static void test_devices(void)
{
    const uint64_t apart[N] = {0x3, 0xc, 0x30, 0xc0};
    struct orr_doctor_place places[N];
    struct said said = {0};

    fill(places, apart, apart);
    for (int r = 0; r < N; r++) {
        places[r].ndevices = 1;
        snprintf(places[r].devices[0], sizeof(places[r].devices[0]), "%d:00.0", r);
    }
    orr_doctor_judge_places(&config, places, N, keep, &said);
    claim("each rank has a GPU of its own", &said, 0, "");
    snprintf(places[3].devices[0], sizeof(places[3].devices[0]), "1:00.0");
    orr_doctor_judge_places(&config, places, N, keep, &said);
    claim("two ranks use one", &said, 1,
          "the ranks 1 and 3 on node1 use the same GPU, 1:00.0");
    said.n = 0;
    for (int r = 0; r < N; r++)
        snprintf(places[r].devices[0], sizeof(places[r].devices[0]), "0:00.0");
    orr_doctor_judge_places(&config, places, N, keep, &said);
    claim("it is said once of a host", &said, 1, "the ranks 0 and 1");
    said.n = 0;
    for (int r = 0; r < N; r++)
        snprintf(places[r].host, sizeof(places[r].host), "node%d", r);
    orr_doctor_judge_places(&config, places, N, keep, &said);
    claim("GPUs of several hosts are different ones", &said, 0, "");
}

static void test_work(void)
{
    struct orr_doctor_work works[2] = {
        {.tasks = 500, .messages = 400, .tasks_us = 1000, .messages_us = 3000},
        {.tasks = 500, .messages = 400, .tasks_us = 1000, .messages_us = 5000}};
    struct said said = {0};

    orr_doctor_judge_work(&config, works, 2, keep, &said);
    claim("tasks that are shorter than their messages", &said, 1,
          "they took 2.0 us on average, and each message 20.0 us of the threads MPI, with "
          "0.4 messages per task");
    said.n = 0;
    works[0].tasks_us = 8000;
    orr_doctor_judge_work(&config, works, 2, keep, &said);
    claim("longer ones are right", &said, 0, "");
    works[0] = works[1] = (struct orr_doctor_work){
        .tasks = 10, .messages = 400, .tasks_us = 1, .messages_us = 3000};
    orr_doctor_judge_work(&config, works, 2, keep, &said);
    claim("few tasks say nothing", &said, 0, "");
    orr_doctor_judge_work(&config, works, 0, keep, &said);
    claim("nor does nobody", &said, 0, "");
}

/* All is wrong: each variable leaves out one warning. */
static void test_settings(void)
{
    const uint64_t same[N] = {3, 3, 3, 3};
    const struct orr_doctor_work work = {
        .tasks = 500, .messages = 400, .tasks_us = 1000, .messages_us = 3000};
    struct orr_doctor_place places[N];
    struct said said = {0};

    fill(places, same, same);
    for (int r = 0; r < N; r++) {
        places[r].ndevices = 1;
        snprintf(places[r].devices[0], sizeof(places[r].devices[0]), "0:00.0");
    }
    orr_doctor_judge_places(&config, places, N, keep, &said);
    claim("processors and devices are both told", &said, 2, "ORRERY_MPI_WARN_DEVICES=0");
    said.n = 0;
    set("ORRERY_MPI_WARN_CORES");
    orr_doctor_judge_places(&config, places, N, keep, &said);
    claim("ORRERY_MPI_WARN_CORES=0 leaves out processors", &said, 1, "same GPU");
    said.n = 0;
    set("ORRERY_MPI_WARN_DEVICES");
    orr_doctor_judge_places(&config, places, N, keep, &said);
    claim("ORRERY_MPI_WARN_DEVICES=0 leaves out devices", &said, 1, "take turns");
    said.n = 0;
    orr_doctor_judge_work(&config, &work, 1, keep, &said);
    claim("small tasks are told", &said, 1, "ORRERY_MPI_WARN_GRAIN=0");
    said.n = 0;
    set("ORRERY_MPI_WARN_GRAIN");
    orr_doctor_judge_work(&config, &work, 1, keep, &said);
    claim("ORRERY_MPI_WARN_GRAIN=0 leaves them out", &said, 0, "");
}

/* The thread of MPI is bound where it has a processor of its own. */
static void test_sharing(void)
{
    const uint64_t apart[N] = {0x3, 0xc, 0x30, 0xc0}, some[N] = {0x3, 0xe, 0x30, 0xc0};
    struct orr_doctor_place places[N];
    struct said said = {0};

    fill(places, apart, apart);
    said.n = (int)(orr_doctor_sharers(places, N, 0) + orr_doctor_sharers(places, N, 3));
    claim("ranks that are bound apart share no processor", &said, 0, "");
    fill(places, some, some);
    said.n = (int)(orr_doctor_sharers(places, N, 0) + orr_doctor_sharers(places, N, 1) +
                   orr_doctor_sharers(places, N, 2));
    claim("two that may use one do", &said, 2, "");
    snprintf(places[1].host, sizeof(places[1].host), "node2");
    said.n = (int)orr_doctor_sharers(places, N, 0);
    claim("but not those of different hosts", &said, 0, "");
}

int main(void)
{
    set(NULL);
    test_processors();
    test_sharing();
    test_devices();
    test_work();
    test_settings();
    orr_config_done(&config);
    printf("1..%d\n", number);
    return failed > 0;
}
