/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/loopback/options.c - the settings, and the faults that it asks
 * for. Faults: any thread.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/loopback/loopback.h"

static const char *const calls[LOOPBACK_CALLS] = {
    [LOOPBACK_ALLOC] = "alloc", [LOOPBACK_COPY] = "copy",
    [LOOPBACK_START] = "start", [LOOPBACK_KERNEL] = "kernel",
    [LOOPBACK_PIN] = "pin",     [LOOPBACK_LOST] = "lost",
};

/* "copy@5", or "copy@5+" for each one from the fifth on. */
static bool read_fault(const char *text, struct loopback_options *options)
{
    const char *at = strchr(text, '@');
    char *end;
    unsigned long n;

    for (unsigned call = 0; at && call < LOOPBACK_CALLS; call++) {
        if (strlen(calls[call]) != (size_t)(at - text) ||
            strncmp(calls[call], text, (size_t)(at - text)) != 0)
            continue;
        n = strtoul(at + 1, &end, 10);
        if (n == 0 || n > 1000000000 || (*end && strcmp(end, "+") != 0))
            return false;
        options->fail_at[call] = (unsigned)n;
        options->fail_on[call] = *end == '+';
        return true;
    }
    return false;
}

static bool read_number(const char *text, double *ret)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value >= 0) || !(value < 1e12))
        return false;
    *ret = value;
    return true;
}

static bool read_word(const char *word, struct loopback_options *options)
{
    double number;

    if (read_number(word, &number) && number <= STARPU_NMAXWORKERS / 2.0) {
        options->devices = (unsigned)number;
        return true;
    }
    if (strcmp(word, "peers") == 0) {
        options->peers = true;
        return true;
    }
    if (strncmp(word, "fault=", 6) == 0)
        return read_fault(word + 6, options);
    if (!strchr(word, '=') || !read_number(strchr(word, '=') + 1, &number))
        return false;
    if (strncmp(word, "seed=", 5) == 0)
        options->seed = (uint64_t)number;
    else if (strncmp(word, "mib=", 4) == 0 && number >= 1 && number <= 4096)
        options->memory = (size_t)number << 20;
    else if (strncmp(word, "delay=", 6) == 0)
        options->delay_us = number;
    else if (strncmp(word, "kernel=", 7) == 0)
        options->kernel_us = number;
    else if (strncmp(word, "copy=", 5) == 0)
        options->copy_us = number;
    else if (strncmp(word, "bandwidth=", 10) == 0 && number > 0)
        options->bandwidth = number;
    else if (strncmp(word, "pipeline=", 9) == 0 && number <= 4)
        options->pipeline = (unsigned)number;
    else
        return false;
    return true;
}

int loopback_options_read(const char *text, struct loopback_options *ret,
                          struct orr_error *err)
{
    struct loopback_options options = {
        .memory = (size_t)64 << 20,
        .delay_us = 100,
        .kernel_us = (double)NAN,
        .copy_us = (double)NAN,
        .bandwidth = (double)INFINITY,
        .pipeline = 2,
    };
    char *words = strdup(text), *rest = words, *word;
    int rc = words ? 0 : -ENOMEM;

    while (rc == 0 && (word = strsep(&rest, " ,")))
        if (*word && !read_word(word, &options))
            rc = orr_fail(err, -EINVAL,
                          "loopback: \"%.100s\": \"%.40s\" is none of a "
                          "number of devices, seed=, mib=, delay=, kernel=, "
                          "copy=, bandwidth=, pipeline=, peers, "
                          "fault=alloc|copy|start|kernel|pin|lost@N[+]",
                          text, word);
    free(words);
    if (rc == 0)
        *ret = options;
    return rc;
}

int loopback_fault(struct loopback *driver, struct loopback_device *device,
                   enum loopback_call call)
{
    static const int errors[LOOPBACK_CALLS] = {
        [LOOPBACK_ALLOC] = -ENOMEM, [LOOPBACK_COPY] = -EIO,
        [LOOPBACK_START] = -EAGAIN, [LOOPBACK_KERNEL] = -EIO,
        [LOOPBACK_PIN] = -ENOMEM,   [LOOPBACK_LOST] = -ENODEV,
    };
    const struct loopback_options *options = &driver->options;
    unsigned n;

    if (call != LOOPBACK_LOST && call != LOOPBACK_PIN) {
        if (loopback_fault(driver, device, LOOPBACK_LOST) != 0)
            atomic_store(&device->lost, true);
        if (atomic_load(&device->lost))
            return -ENODEV;
    }
    if (!options->fail_at[call])
        return 0;
    n = atomic_fetch_add(&driver->ncalls[call], 1) + 1;
    if (n == options->fail_at[call] ||
        (n > options->fail_at[call] && options->fail_on[call]))
        return errors[call];
    return 0;
}
