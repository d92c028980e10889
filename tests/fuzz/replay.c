/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/replay.c - a fuzz target without libFuzzer, for every build: each
 * seed as it is, then many with seeded changes. What is found crashes.
 *
 *   fuzz-NAME [-n CHANGED] FOLDER
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../rng.h"

enum { SIZE_MAX_BYTES = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct text {
    uint8_t bytes[SIZE_MAX_BYTES + 1]; /* a 0 follows */
    size_t size;
};

struct seeds {
    struct text *texts; /* owned */
    size_t n;
};

/* What readers of numbers and of names may fail on. */
static const char *const words[] = {
    "",        "-1",      "0",     "nan",
    "inf",     "-0.0",    "1e999", "1e-999",
    "%n",      "\n",      "\r",    "\xff",
    "&x;",     "]]>",     "/*",    "99999999999999999999",
    ";",       "#",       "\"",    "'",
    "<a b=''", "\t\t\t ", "=",     "0x1p3"};

static void read_seed(struct seeds *seeds, const char *folder, const char *name)
{
    char path[4096];
    FILE *f;
    struct text *grown =
        realloc(seeds->texts, (seeds->n + 1) * sizeof(*seeds->texts));

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "rb");
    if (!grown || !f) {
        printf("Bail out! %s cannot be read\n", path);
        exit(1);
    }
    seeds->texts = grown;
    grown[seeds->n].size = fread(grown[seeds->n].bytes, 1, SIZE_MAX_BYTES, f);
    grown[seeds->n].bytes[grown[seeds->n].size] = '\0';
    seeds->n++;
    fclose(f);
}

/* In the order of their names, so that all machines change the same. */
static void read_seeds(struct seeds *seeds, const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);

    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.')
            read_seed(seeds, folder, entries[i]->d_name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

/* Replaces `old` bytes at `at` by others, if there is room. */
static void replace(struct text *text, size_t at, size_t old, const void *bytes,
                    size_t size)
{
    if (text->size - old + size > SIZE_MAX_BYTES)
        return;
    memmove(text->bytes + at + size, text->bytes + at + old,
            text->size - at - old);
    memcpy(text->bytes + at, bytes, size);
    text->size += size - old;
    text->bytes[text->size] = '\0';
}

/* The start of a word near a random position; numbers are words. */
static size_t word_at(const struct text *text, uint64_t *rng)
{
    size_t at = rng_next(rng) % (text->size + 1);

    while (at > 0 && at < text->size &&
           !strchr(" \t\n\"'=>;[", text->bytes[at - 1]))
        at++;
    return at;
}

static void change(struct text *text, uint64_t *rng)
{
    size_t at = word_at(text, rng), to = word_at(text, rng);
    size_t size = rng_next(rng) % 64,
           old = strcspn((const char *)text->bytes + at, " \t\n\"'<;]");
    const char *word = words[rng_next(rng) % (sizeof(words) / sizeof(*words))];
    uint8_t copy[64];

    switch (rng_next(rng) % 8) {
    case 0: /* another byte */
        if (at < text->size)
            text->bytes[at] ^= (uint8_t)(1 << rng_next(rng) % 8);
        break;
    case 1: /* a piece again somewhere else */
        size = size < text->size - at ? size : text->size - at;
        memcpy(copy, text->bytes + at, size);
        replace(text, to, 0, copy, size);
        break;
    case 2: /* a piece is missing, now and then all that follows */
        size = size < text->size - at ? size : text->size - at;
        replace(text, at, rng_next(rng) % 4 ? size : text->size - at, "", 0);
        break;
    default: /* another word */
        replace(text, at, old, word, strlen(word));
    }
}

/* Behind the room for a text is a page that nobody may read. */
static uint8_t *make_room(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = (SIZE_MAX_BYTES + page - 1) / page * page;
    uint8_t *at = mmap(NULL, size + page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED || mprotect(at + size, page, PROT_NONE) != 0)
        exit(1);
    return at + size;
}

/* The text ends where its room does: who reads on crashes. */
static void run(const struct text *text, uint8_t *end)
{
    memcpy(end - text->size, text->bytes, text->size);
    LLVMFuzzerTestOneInput(end - text->size, text->size);
}

int main(int argc, char **argv)
{
    static struct text text;
    struct seeds seeds = {0};
    unsigned long changed = 20000;
    uint64_t rng = rng_of(1);
    uint8_t *end = make_room();

    if (argc > 2 && !strcmp(argv[1], "-n"))
        changed = strtoul(argv[2], NULL, 10);
    read_seeds(&seeds, argv[argc - 1]);
    printf("1..2\n");
    fflush(stdout);
    for (size_t i = 0; i < seeds.n; i++)
        run(&seeds.texts[i], end);
    printf("%s 1 - %zu texts as they are\n", seeds.n ? "ok" : "not ok",
           seeds.n);
    fflush(stdout);
    for (unsigned long i = 0; seeds.n && i < changed; i++) {
        text = seeds.texts[rng_next(&rng) % seeds.n];
        do
            change(&text, &rng);
        while (rng_next(&rng) % 2);
        run(&text, end);
    }
    printf("ok 2 - %lu with changes\n", seeds.n ? changed : 0);
    free(seeds.texts);
    return seeds.n == 0;
}
