/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/perfmodel_util.h - a folder to write in and small files, for the
 * tests of perfmodel/. One thread.
 */
#pragma once

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/suite.h"

/* Makes an empty folder in `dir`. */
static inline void tmp_make(char dir[64])
{
    strcpy(dir, "/tmp/orrery-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

static inline int tmp_remove_one(const char *path, const struct stat *st,
                                 int kind, struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

static inline void tmp_remove(const char *dir)
{
    ck_assert_int_eq(nftw(dir, tmp_remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static inline void text_write(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

/* The file's text, for the caller to free(); NULL without the file. */
static inline char *text_read(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text;
    size_t n;

    if (!f)
        return NULL;
    text = malloc(1 << 20);
    ck_assert_ptr_nonnull(text);
    n = fread(text, 1, (1 << 20) - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}
