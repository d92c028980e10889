/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-report.c - libFuzzer target for the reader of reports (tools/common/report.h):
 * no file crashes it, texts of what it accepts are there, and errors name the file. One thread.
 */
#include "tests/fuzz/fuzz.h"
#include "tools/common/report.h"

static void check(const struct report *report)
{
    must(report->json && report->machine && report->scheduler && report->exit && report->host);
    for (size_t i = 0; i < report->nkernels; i++) {
        const struct report_kernel *kernel = &report->kernels[i];

        must(kernel->name && kernel->arch && kernel->origin);
        must(report_same_kernel(kernel, kernel));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct report report;
    struct orr_error err = {""};
    char path[32];
    int fd = fuzz_file(data, size, path), rc = report_read(path, &report, &err);

    close(fd);
    if (rc) {
        must(strncmp(err.text, path, strlen(path)) == 0);
    } else {
        check(&report);
        report_done(&report);
    }
    return 0;
}
