/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-study.c - libFuzzer target for studies (tools/study/study.h): no file crashes
 * the reader, and of what it accepts each run has its parts. One thread.
 */
#include "tests/fuzz/fuzz.h"
#include "tools/common/tool.h"
#include "tools/study/study.h"

static void check(const struct study *study)
{
    size_t n = study->nruns < 100 ? study->nruns : 100;

    must(study->nprograms && study->npolicies && study->repetitions &&
         study->nruns <= STUDY_MAX_RUNS);
    for (size_t i = 0; i < n; i++) {
        struct study_run run = study_run(study, i);
        char *name = study_workload_name(study, run.workload);

        must(run.program && run.machine && run.policy && run.workload < study->nworkloads);
        must(study_run_number(study, run.workload, run.policy_index, run.repetition) == i);
        free(name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), path[64];
    struct fuzz_silence before = fuzz_silence();
    struct study study;
    FILE *file;
    int code;

    /* In a folder, which the reader goes to. */
    snprintf(path, sizeof(path), "/tmp/orrery-fuzz-study-%d", (int)getpid());
    file = fopen(path, "w");
    must(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    code = study_read(path, &study);
    must(code == TOOL_OK || code == TOOL_FAILED || code == TOOL_USAGE);
    if (code == TOOL_OK)
        check(&study);
    study_done(&study);
    fuzz_speak(before);
    unlink(path);
    free(text);
    return 0;
}
