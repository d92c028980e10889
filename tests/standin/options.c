/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/standin/options.c - see standin.h for what they are. */
#include "private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refuse(const char *word)
{
    fprintf(stderr, "GPU_STANDIN: `%s' is not understood (standin.h)\n", word);
    abort();
}

static unsigned long number(const char *word, const char *text)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (end == text || *end)
        refuse(word);
    return value;
}

static void read_peers(struct options *options, const char *word,
                       const char *text)
{
    static const char *const names[] = {"all", "none", "refused"};

    for (unsigned i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            options->peers = (enum peers)i;
            return;
        }
    refuse(word);
}

static void read_fault(struct options *options, const char *word,
                       const char *text)
{
    static const char *const names[NFAULTS] = {"alloc",  "copy",   "peer",
                                               "kernel", "launch", "lost",
                                               "call",   "nomem",  "pin",
                                               "wait",   "copywait"};
    const char *at = strchr(text, '@');
    char digits[24] = "";
    size_t n;

    for (unsigned i = 0; at && i < NFAULTS; i++)
        if (strlen(names[i]) == (size_t)(at - text) &&
            strncmp(text, names[i], (size_t)(at - text)) == 0)
            options->fault = (enum fault)i;
    n = at ? strlen(at + 1) : 0;
    if (options->fault == NFAULTS || n == 0 || n >= sizeof(digits))
        refuse(word);
    options->from_then_on = at[n] == '+';
    memcpy(digits, at + 1, n - options->from_then_on);
    options->at = number(word, digits);
}

static void read_word(struct options *options, const char *word)
{
    const char *value = strchr(word, '=');

    if (!value++)
        refuse(word);
    else if (strncmp(word, "devices=", 8) == 0)
        options->devices = (unsigned)number(word, value);
    else if (strncmp(word, "mib=", 4) == 0)
        options->memory = number(word, value) << 20;
    else if (strncmp(word, "seed=", 5) == 0)
        options->seed = number(word, value);
    else if (strncmp(word, "delay=", 6) == 0)
        options->delay_us = (unsigned)number(word, value);
    else if (strncmp(word, "now=", 4) == 0)
        options->now = number(word, value) != 0;
    else if (strncmp(word, "kernel=", 7) == 0)
        options->kernel_us = (unsigned)number(word, value);
    else if (strncmp(word, "copy=", 5) == 0)
        options->copy_us = (unsigned)number(word, value);
    else if (strncmp(word, "bandwidth=", 10) == 0)
        options->bandwidth = (unsigned)number(word, value);
    else if (strncmp(word, "latency=", 8) == 0)
        options->latency_us = (unsigned)number(word, value);
    else if (strncmp(word, "peers=", 6) == 0)
        read_peers(options, word, value);
    else if (strncmp(word, "fault=", 6) == 0)
        read_fault(options, word, value);
    else
        refuse(word);
    if (options->devices > MAX_DEVICES)
        refuse(word);
}

void options_read(struct options *options)
{
    const char *text = getenv("GPU_STANDIN");
    char *words = strdup(text ? text : ""), *rest = words, *word;

    *options = (struct options){
        .devices = 2,
        .delay_us = 100,
        .memory = (size_t)64 << 20,
        .seed = 1,
        .fault = NFAULTS,
    };
    while (words && (word = strsep(&rest, " ")))
        if (*word)
            read_word(options, word);
    free(words);
}
