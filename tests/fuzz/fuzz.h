/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz.h - what fuzz targets share: claims, texts, files that have a name while
 * they are open, and silence for readers that print what is wrong. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes for a reader of these, or of a file: libFuzzer and replay.c call it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A claim that is wrong ends the program. */
static inline void must(bool holds)
{
    if (!holds)
        abort();
}

/* The bytes as a text, which ends at the first 0; the caller's to free. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* A file with these bytes, by its name; the caller closes the descriptor. */
static inline int fuzz_file(const void *bytes, size_t size, char name[32])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    must(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(name, 32, "/proc/self/fd/%d", fd);
    return fd;
}

/* Where standard output and error go meanwhile: what is printed is not looked at, but
 * reports of crashes, which do not go through these. */
struct fuzz_silence {
    FILE *out, *err;
};

static inline struct fuzz_silence fuzz_silence(void)
{
    struct fuzz_silence before = {stdout, stderr};

    stdout = fopen("/dev/null", "w");
    stderr = fopen("/dev/null", "w");
    must(stdout && stderr);
    return before;
}

static inline void fuzz_speak(struct fuzz_silence before)
{
    fclose(stdout);
    fclose(stderr);
    stdout = before.out;
    stderr = before.err;
}
