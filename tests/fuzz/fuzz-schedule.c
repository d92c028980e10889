/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-schedule.c - libFuzzer target for schedules: what is accepted has
 * workers and kernels, each place once; else a message names the file. One thread.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <starpu_config.h>

#include "core/sched/schedule.h"
#include "tests/fuzz/fuzz.h"

static void check(const struct orr_schedule *s)
{
    uint64_t n = 0, sum = 0;

    for (uint32_t i = 0; i < s->ntasks; i++) {
        const struct orr_schedule_task *task = &s->tasks[i];

        must(!task->place || (task->kernel && *task->kernel &&
                              task->worker < STARPU_NMAXWORKERS));
        n += task->place != 0;
        sum += task->place;
    }
    must(sum == n * (n + 1) / 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct orr_schedule schedule;
    struct orr_error err = {""};
    char path[64];
    FILE *f;

    snprintf(path, sizeof(path), "/tmp/orrery-fuzz-schedule-%d", (int)getpid());
    f = fopen(path, "w");
    must(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
    if (orr_schedule_read(path, &schedule, &err) == 0) {
        check(&schedule);
        orr_schedule_done(&schedule);
    } else {
        must(strstr(err.text, path) != NULL);
    }
    unlink(path);
    return 0;
}
