/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/sha256.h - the hash SHA-256 (NIST, "Secure Hash Standard", FIPS 180-4),
 * by which contents are told apart. No state but the caller's.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

#define SHA256_TEXT 65 /* 64 hexadecimal digits and the end */

struct sha256 {
    uint32_t state[8];
    uint64_t length;   /* bytes fed */
    uint8_t block[64]; /* those that fill no block yet */
};

void sha256_init(struct sha256 *hash);
void sha256_feed(struct sha256 *hash, const void *bytes, size_t n);

/* A text with its end, so that "ab", "c" is not "a", "bc"; NULL is no text. */
void sha256_feed_text(struct sha256 *hash, const char *text);

/* Ends it. */
void sha256_end(struct sha256 *hash, char ret[SHA256_TEXT]);

/* Of a file's bytes. Errors: those of the system, with a message. */
int sha256_of_file(const char *path, char ret[SHA256_TEXT], struct orr_error *err);
