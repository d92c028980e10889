/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/scratch.c - see scratch.h. */
#include "tools/common/scratch.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/tool.h"

enum { MOST_FOLDERS = 16, MOST_LEVELS = 16 };

/* A signal handler can reach nothing but a file-scope variable. */
static char *volatile folders[MOST_FOLDERS];

/* Reads the folder without memory of its own, which a signal handler has not. */
static void remove_inside(int folder, int levels)
{
    _Alignas(struct dirent64) char entries[4096];
    ssize_t n;

    while ((n = getdents64(folder, entries, sizeof(entries))) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            int inner;

            at += entry->d_reclen;
            if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
                unlinkat(folder, entry->d_name, 0) == 0 || levels == 0)
                continue;
            inner = openat(folder, entry->d_name,
                           O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (inner < 0)
                continue;
            remove_inside(inner, levels - 1);
            close(inner);
            unlinkat(folder, entry->d_name, AT_REMOVEDIR);
        }
}

/* Again where entries were passed over, since others had gone. */
static void remove_folder(const char *path)
{
    for (int round = 0; round < 8 && rmdir(path) < 0 && errno != ENOENT; round++) {
        int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (folder < 0)
            return;
        remove_inside(folder, MOST_LEVELS);
        close(folder);
    }
}

void scratch_remove_all(void)
{
    for (unsigned i = 0; i < MOST_FOLDERS; i++)
        if (folders[i])
            remove_folder(folders[i]);
}

/* Its name has a place before it is made: a signal in between finds none. */
static bool make_at(int place, char *name)
{
    static bool removed_at_exit;

    folders[place] = name;
    if (mkdtemp(name)) {
        if (!removed_at_exit)
            removed_at_exit = atexit(scratch_remove_all) == 0;
        return true;
    }
    folders[place] = NULL;
    tool_error("no temporary folder: %s; TMPDIR names another place", strerror(errno));
    return false;
}

char *scratch_make(void)
{
    const char *parent = getenv("TMPDIR");
    char *name = tool_format("%s/orrery-XXXXXX", parent && *parent ? parent : "/tmp");
    char *folder = NULL;
    int place = 0;

    while (place < MOST_FOLDERS && folders[place])
        place++;
    assert(place < MOST_FOLDERS);
    if (!name)
        tool_error("out of memory");
    else if (make_at(place, name))
        folder = tool_format("%s", name);
    if (name && !folder) {
        folders[place] = NULL;
        rmdir(name);
        free(name);
    }
    return folder;
}

void scratch_remove(char *folder)
{
    for (unsigned i = 0; folder && i < MOST_FOLDERS; i++) {
        char *name = folders[i];

        if (!name || strcmp(name, folder) != 0)
            continue;
        remove_folder(name);
        folders[i] = NULL;
        free(name);
    }
    free(folder);
}
