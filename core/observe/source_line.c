/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/source_line.c - see source_line.h. */
#include "core/observe/source_line.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* --- objects --- */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* Modules lie beside the library, or in a folder of ours there; no name of theirs begins as
 * that of a library does. The player of records submits what another program has, and behind
 * the last of these calls the C library has started the program. */
bool orr_source_is_ours(uintptr_t call)
{
    static const char *const layers[] = {"liborrery", "libstarpu", "libsocl",
                                         "play-record", "libc.so"};
    Dl_info here, there;
    size_t folder;
    const char *name;

    if (!dladdr((void *)(call - 1), &there) || !there.dli_fname ||
        !dladdr((void *)(uintptr_t)orr_source_is_ours, &here) || !here.dli_fname)
        return false;
    if (there.dli_fbase == here.dli_fbase)
        return true;
    name = file_name(there.dli_fname);
    for (size_t i = 0; i < sizeof(layers) / sizeof(*layers); i++)
        if (begins(name, layers[i]))
            return true;
    folder = (size_t)(file_name(here.dli_fname) - here.dli_fname);
    if (strncmp(there.dli_fname, here.dli_fname, folder) != 0 || !strstr(name, ".so"))
        return false;
    return name == there.dli_fname + folder
               ? !begins(name, "lib")
               : begins(there.dli_fname + folder, "orrery/");
}

/* The number of symbols that the object has from elsewhere, which come first where a table of
 * GNU's has the others; of the older table, of all. */
static size_t count_symbols(const ElfW(Dyn) * dynamic)
{
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        const uint32_t *table = (const uint32_t *)dynamic->d_un.d_ptr;

        if (dynamic->d_tag == DT_GNU_HASH || dynamic->d_tag == DT_HASH)
            return table[1];
    }
    return 0;
}

/* Whether the object was compiled with orrery/stf.hpp, whose functions submit for others: it
 * calls what nobody else does. */
static bool has_headers_of_ours(const struct link_map *object)
{
    size_t n = object->l_ld ? count_symbols(object->l_ld) : 0;
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;

    for (const ElfW(Dyn) *at = object->l_ld; at && at->d_tag != DT_NULL; at++) {
        if (at->d_tag == DT_SYMTAB)
            symbols = (const ElfW(Sym) *)at->d_un.d_ptr;
        if (at->d_tag == DT_STRTAB)
            names = (const char *)at->d_un.d_ptr;
    }
    for (size_t i = 0; symbols && names && i < n; i++)
        if (!strcmp(names + symbols[i].st_name, "orrery_drawing_watch"))
            return true;
    return false;
}

/* --- lines --- */

/* The environment without what is preloaded into this program; owned. */
static char **plain_environment(void)
{
    size_t n = 0, kept = 0;
    char **plain;

    while (environ[n])
        n++;
    plain = calloc(n + 1, sizeof(*plain));
    for (size_t i = 0; plain && i < n; i++)
        if (!begins(environ[i], "LD_PRELOAD="))
            plain[kept++] = environ[i];
    return plain;
}

/* What addr2line prints of an address: "FILE:LINE" for each function that was inlined
 * there, the innermost first. */
static FILE *start_lookup(const char *object, uint64_t offset, pid_t *ret_pid)
{
    char address[32], name[] = "addr2line", inner[] = "-i", of[] = "-e";
    char *argv[] = {name, inner, of, (char *)(uintptr_t)object, address, NULL};
    char **environment = plain_environment();
    posix_spawn_file_actions_t actions;
    int ends[2] = {-1, -1}, rc = -1;

    snprintf(address, sizeof(address), "0x%llx", (unsigned long long)offset);
    if (environment && pipe2(ends, O_CLOEXEC) == 0 &&
        posix_spawn_file_actions_init(&actions) == 0) {
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        rc = posix_spawnp(ret_pid, name, &actions, NULL, argv, environment);
        posix_spawn_file_actions_destroy(&actions);
    }
    free(environment);
    if (ends[1] >= 0)
        close(ends[1]);
    if (rc != 0 && ends[0] >= 0)
        close(ends[0]);
    return rc == 0 ? fdopen(ends[0], "r") : NULL;
}

/* Without what leads up again in it, if it is there. */
static char *tidy(const char *source)
{
    char path[PATH_MAX], *real, *text = NULL;
    unsigned long line;
    int length;

    if (!orr_source_split(source, &length, &line) || length >= PATH_MAX)
        return strdup("");
    snprintf(path, sizeof(path), "%.*s", length, source);
    real = realpath(path, NULL);
    if (asprintf(&text, "%s:%lu", real ? real : path, line) < 0)
        text = NULL;
    free(real);
    return text;
}

/* Headers of ours are not where the user has written something; *ret_ours: there is nothing
 * else. */
static char *read_lookup(FILE *lines, bool *ret_ours)
{
    char *line = NULL, *found = NULL;
    size_t room = 0;
    bool ours = false;

    while (getline(&line, &room, lines) >= 0) {
        char *end = strstr(line, " (");

        line[end ? (size_t)(end - line) : strcspn(line, "\n")] = '\0';
        ours |= strstr(line, "/orrery/stf") != NULL;
        if (*line != '?' && !strstr(line, "/orrery/stf") && !found)
            found = tidy(line);
    }
    free(line);
    *ret_ours = ours && !found;
    return found ? found : strdup("");
}

/* The call, which may be the last instruction of its function, not what is behind. */
bool orr_source_place(uintptr_t call, char *ret_path, size_t size,
                      uint64_t *ret_offset)
{
    struct link_map *object = NULL;
    char path[PATH_MAX];
    Dl_info info;

    if (!dladdr1((void *)(call - 1), &info, (void **)&object,
                 RTLD_DL_LINKMAP) ||
        !realpath(*object->l_name ? object->l_name : "/proc/self/exe", path) ||
        strlen(path) >= size)
        return false;
    strcpy(ret_path, path);
    *ret_offset = call - 1 - object->l_addr;
    return true;
}

static char *look_up_at(const char *object, uint64_t offset, bool *ret_ours)
{
    pid_t pid = -1;
    FILE *lines = start_lookup(object, offset, &pid);
    char *found;

    *ret_ours = false;
    if (!lines)
        return strdup("");
    found = read_lookup(lines, ret_ours);
    fclose(lines);
    waitpid(pid, NULL, 0);
    return found;
}

char *orr_source_look_up_at(const char *object, uint64_t offset)
{
    bool ours;

    return look_up_at(object, offset, &ours);
}

static char *look_up(uintptr_t call, bool *ret_ours)
{
    char path[PATH_MAX];
    uint64_t offset;

    *ret_ours = false;
    return orr_source_place(call, path, sizeof(path), &offset)
               ? look_up_at(path, offset, ret_ours)
               : strdup("");
}

char *orr_source_look_up(uintptr_t call)
{
    bool ours;

    return look_up(call, &ours);
}

bool orr_source_is_in_headers(uintptr_t call, char **ret_text)
{
    struct link_map *object = NULL;
    bool ours = false;
    Dl_info info;

    *ret_text = NULL;
    if (dladdr1((void *)(call - 1), &info, (void **)&object, RTLD_DL_LINKMAP) &&
        has_headers_of_ours(object))
        *ret_text = look_up(call, &ours);
    return ours;
}

/* --- links --- */

bool orr_source_split(const char *source, int *ret_length, unsigned long *ret_line)
{
    const char *colon = strrchr(source, ':');
    char *end;

    if (!colon || colon == source)
        return false;
    *ret_line = strtoul(colon + 1, &end, 10);
    *ret_length = (int)(colon - source);
    return end != colon + 1 && !*end;
}

static const struct {
    const char *name, *address;
} schemes[] = {
    {"vscode", "vscode://file{file}:{line}"},
    {"vscodium", "vscodium://file{file}:{line}"},
    {"zed", "zed://file{file}:{line}"},
    {"idea", "idea://open?file={file}&line={line}"},
    {"textmate", "txmt://open?url=file://{file}&line={line}"},
    {"file", "file://{file}"},
};

const char orr_source_scheme_names[] = "vscode, vscodium, zed, idea, textmate, file";

/* What is replaced in addresses; NULL: it is none. */
static const char *address_of(const char *scheme)
{
    for (size_t i = 0; scheme && i < sizeof(schemes) / sizeof(*schemes); i++)
        if (!strcmp(schemes[i].name, scheme))
            return schemes[i].address;
    return scheme && strstr(scheme, "{file}") ? scheme : NULL;
}

bool orr_source_scheme_is_known(const char *scheme)
{
    return address_of(scheme) != NULL;
}

/* A path in an address: RFC 3986. */
static void put_path(FILE *to, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-._~/";

    for (; *path; path++)
        if (strchr(plain, *path))
            fputc(*path, to);
        else
            fprintf(to, "%%%02X", (unsigned char)*path);
}

static void put_address(FILE *to, const char *address, const char *path, unsigned long line)
{
    static const char file[] = "{file}", number[] = "{line}";

    while (*address)
        if (begins(address, file)) {
            put_path(to, path);
            address += sizeof(file) - 1;
        } else if (begins(address, number)) {
            fprintf(to, "%lu", line);
            address += sizeof(number) - 1;
        } else {
            fputc(*address++, to);
        }
}

char *orr_source_link(const char *scheme, const char *source)
{
    const char *address = address_of(scheme);
    char path[PATH_MAX], *real, *link = NULL;
    unsigned long line;
    size_t size;
    int length;
    FILE *to;

    if (!address || !orr_source_split(source, &length, &line) || length >= PATH_MAX)
        return NULL;
    snprintf(path, sizeof(path), "%.*s", length, source);
    real = realpath(path, NULL);
    to = real || *path == '/' ? open_memstream(&link, &size) : NULL;
    if (to) {
        put_address(to, address, real ? real : path, line);
        if (fclose(to) != 0) {
            free(link);
            link = NULL;
        }
    }
    free(real);
    return link;
}
