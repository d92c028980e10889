/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/sha256.c - see sha256.h. The names are those of FIPS 180-4, section 6.2. */
#include "tools/common/sha256.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void take_block(uint32_t state[8], const uint8_t block[64])
{
    /* v[(i - t) % 8] is the standard's a, b … h of step t: nothing is moved. */
    uint32_t w[64], v[8];

    for (unsigned t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (unsigned t = 16; t < 64; t++) {
        uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;

        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    memcpy(v, state, sizeof(v));
    for (unsigned t = 0; t < 64; t++) {
        uint32_t a = v[-t % 8], b = v[(1 - t) % 8], c = v[(2 - t) % 8], e = v[(4 - t) % 8];
        uint32_t f = v[(5 - t) % 8], g = v[(6 - t) % 8], *h = &v[(7 - t) % 8];
        uint32_t s1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25), ch = (e & f) ^ (~e & g);
        uint32_t t1 = *h + s1 + ch + K[t] + w[t];
        uint32_t s0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);

        v[(3 - t) % 8] += t1;                             /* the next e */
        *h = t1 + s0 + ((a & b) ^ (a & c) ^ (b & c)); /* the next a */
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] += v[i];
}

void sha256_init(struct sha256 *hash)
{
    /* Of the square roots of the first 8 primes. */
    *hash = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                      0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_feed(struct sha256 *hash, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;

    while (n > 0) {
        size_t used = hash->length % 64, part = 64 - used < n ? 64 - used : n;

        memcpy(hash->block + used, at, part);
        hash->length += part;
        at += part;
        n -= part;
        if (used + part == 64)
            take_block(hash->state, hash->block);
    }
}

void sha256_feed_text(struct sha256 *hash, const char *text)
{
    if (text)
        sha256_feed(hash, text, strlen(text) + 1);
    else
        sha256_feed(hash, "\1", 2);
}

void sha256_end(struct sha256 *hash, char ret[SHA256_TEXT])
{
    static const uint8_t one = 0x80, zero = 0;
    uint64_t bits = hash->length * 8;
    uint8_t length[8];

    sha256_feed(hash, &one, 1);
    while (hash->length % 64 != 56)
        sha256_feed(hash, &zero, 1);
    for (unsigned i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_feed(hash, length, sizeof(length));
    for (unsigned i = 0; i < 8; i++)
        snprintf(ret + 8 * (size_t)i, 9, "%08x", (unsigned)hash->state[i]);
}

int sha256_of_file(const char *path, char ret[SHA256_TEXT], struct orr_error *err)
{
    FILE *file = fopen(path, "rbe");
    struct sha256 hash;
    char bytes[1 << 14];
    size_t n;
    int error = errno;

    if (!file)
        return orr_fail(err, -error, "%s: %s", path, strerror(error));
    sha256_init(&hash);
    while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0)
        sha256_feed(&hash, bytes, n);
    error = ferror(file) ? errno ? errno : EIO : 0;
    fclose(file);
    if (error)
        return orr_fail(err, -error, "%s: %s", path, strerror(error));
    sha256_end(&hash, ret);
    return 0;
}
