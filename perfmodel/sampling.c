/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/sampling.c - the search path for calibration files. Constant once
 * made; what is on disk is looked at anew with each call.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif

#include "perfmodel/sampling.h"

#include "core/base/crc.h"
#include "core/base/host.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct orr_sampling {
    char **dirs; /* owned, ended by NULL */
    unsigned ndirs;
};

const char *orr_getenv(const char *name)
{
    return getenv(name);
}

static bool is_given(const char *value)
{
    return value && *value;
}

const char *orr_sampling_home(orr_getenv_fn get)
{
    static const char *const names[] = {"STARPU_HOME", "XDG_CACHE_HOME", "HOME",
                                        "TMPDIR",      "TEMP",           "TMP"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (is_given(get(names[i])))
            return get(names[i]);
    return "/tmp";
}

static bool is_sampling_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Takes `dir`, which may be NULL when memory ran out. */
static int dirs_add(struct orr_sampling *sampling, char *dir)
{
    char **dirs;

    if (!dir)
        return -ENOMEM;
    for (unsigned i = 0; i < sampling->ndirs; i++)
        if (strcmp(sampling->dirs[i], dir) == 0) {
            free(dir);
            return 0;
        }
    dirs = realloc(sampling->dirs, (sampling->ndirs + 2) * sizeof(char *));
    if (!dirs) {
        free(dir);
        return -ENOMEM;
    }
    sampling->dirs = dirs;
    dirs[sampling->ndirs++] = dir;
    dirs[sampling->ndirs] = NULL;
    return 0;
}

static int dirs_add_below(struct orr_sampling *sampling, const char *base,
                          const char *below, bool must_exist)
{
    char *dir;

    if (asprintf(&dir, "%s/%s", base, below) < 0)
        return -ENOMEM;
    if (must_exist && !is_sampling_directory(dir)) {
        free(dir);
        return 0;
    }
    return dirs_add(sampling, dir);
}

static int dirs_add_path(struct orr_sampling *sampling, const char *path)
{
    int rc = 0;

    while (!rc && *path) {
        size_t length = strcspn(path, ":,");
        char *dir = strndup(path, length);

        if (!dir)
            return -ENOMEM;
        if (length > 0 && is_sampling_directory(dir))
            rc = dirs_add(sampling, dir);
        else
            free(dir);
        path += length + (path[length] != '\0');
    }
    return rc;
}

static int dirs_fill(struct orr_sampling *sampling,
                     const struct orr_sampling_options *options)
{
    const char *home = is_given(options->home) ? options->home : "/tmp";
    int rc = 0;

    if (is_given(options->perf_model_dir))
        rc = dirs_add(sampling, strdup(options->perf_model_dir));
    if (!rc && is_given(options->machine_dir))
        rc = dirs_add(sampling, strdup(options->machine_dir));
    if (!rc && is_given(options->configured_dir))
        rc = dirs_add(sampling, strdup(options->configured_dir));
    else if (!rc)
        rc = dirs_add_below(sampling, home, ".starpu/sampling", false);
    if (!rc && is_given(options->perf_model_path))
        rc = dirs_add_path(sampling, options->perf_model_path);
    if (!rc && is_given(options->datadir))
        rc = dirs_add_below(sampling, options->datadir,
                            "starpu/perfmodels/sampling", true);
    return rc;
}

int orr_sampling_new(const struct orr_sampling_options *options,
                     struct orr_sampling **ret)
{
    struct orr_sampling *sampling = calloc(1, sizeof(*sampling));
    int rc;

    if (!sampling)
        return -ENOMEM;
    rc = dirs_fill(sampling, options);
    if (rc) {
        orr_sampling_free(sampling);
        return rc;
    }
    *ret = sampling;
    return 0;
}

void orr_sampling_free(struct orr_sampling *sampling)
{
    if (!sampling)
        return;
    for (unsigned i = 0; i < sampling->ndirs; i++)
        free(sampling->dirs[i]);
    free(sampling->dirs);
    free(sampling);
}

int orr_sampling_from_env(orr_getenv_fn get, const char *datadir,
                          struct orr_sampling **ret)
{
    struct orr_sampling_options options = {
        .perf_model_dir = get("STARPU_PERF_MODEL_DIR"),
        .home = orr_sampling_home(get),
        .perf_model_path = get("STARPU_PERF_MODEL_PATH"),
        .datadir = datadir,
    };

    return orr_sampling_new(&options, ret);
}

const char *const *orr_sampling_dirs(const struct orr_sampling *sampling)
{
    return (const char *const *)sampling->dirs;
}

/* Whether one of the first `n` directories has the file; its path in *ret. */
static int find_among(const struct orr_sampling *sampling, unsigned n,
                      const char *folder, const char *name, char **ret)
{
    for (unsigned i = 0; i < n; i++) {
        char *path;

        if (asprintf(&path, "%s/%s/%s", sampling->dirs[i], folder, name) < 0)
            return -ENOMEM;
        if (access(path, F_OK) == 0) {
            *ret = path;
            return 0;
        }
        free(path);
    }
    return -ENOENT;
}

int orr_sampling_find(const struct orr_sampling *sampling, const char *folder,
                      const char *name, char **ret)
{
    return find_among(sampling, sampling->ndirs, folder, name, ret);
}

int orr_sampling_place(const struct orr_sampling *sampling, const char *folder,
                       const char *name, char **ret)
{
    char *path;
    int rc = orr_sampling_find(sampling, folder, name, ret);

    if (rc != -ENOENT)
        return rc;
    if (asprintf(&path, "%s/%s/%s", sampling->dirs[0], folder, name) < 0)
        return -ENOMEM;
    *ret = path;
    return 0;
}

int orr_model_name(const char *symbol, const char *host, char **ret,
                   struct orr_error *err)
{
    char *name;
    int length;

    if (*symbol == '\0' || *symbol == '.' || strchr(symbol, '/'))
        return orr_fail(err, -EINVAL,
                        "\"%s\" cannot name a performance model: the symbol is "
                        "used as a file name, so it must not be empty, begin "
                        "with a dot or contain a slash.",
                        symbol);
    if (!strchr(symbol, '.') && strchr(host, '/'))
        return orr_fail(err, -EINVAL,
                        "\"%s\" cannot be the host of performance models: it "
                        "is used in file names and must not contain a slash "
                        "(STARPU_HOSTNAME).",
                        host);
    if (strchr(symbol, '.'))
        length = asprintf(&name, "%s", symbol);
    else
        length = asprintf(&name, "%s.%s", symbol, host);
    if (length < 0)
        return orr_fail(err, -ENOMEM, "%s: out of memory.", symbol);
    *ret = name;
    return 0;
}

/* Bytes of a file's name are 255 at most, the host's among them. */
enum { LONGEST_NAME = 120 };

int orr_model_default_symbol(const char *name, char **ret)
{
    size_t length = strlen(name);
    char *symbol = malloc(3 * length + sizeof(ORR_MODEL_DEFAULT) + 16);
    char *to = symbol;

    if (!symbol)
        return -ENOMEM;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] <= ' ' || strchr("/.%,~\x7f", name[i]))
            to += sprintf(to, "%%%02X", (unsigned char)name[i]);
        else
            *to++ = name[i];
    if (to - symbol > LONGEST_NAME)
        to = symbol + LONGEST_NAME +
             sprintf(symbol + LONGEST_NAME, "~%08x",
                     orr_crc_bytes(name, length, 0));
    strcpy(to, ORR_MODEL_DEFAULT);
    *ret = symbol;
    return 0;
}

bool orr_model_is_default(const char *symbol)
{
    size_t length = strlen(symbol), end = strlen(ORR_MODEL_DEFAULT);

    return length > end && !strcmp(symbol + length - end, ORR_MODEL_DEFAULT);
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Visits directory number `index`. */
static int each_of(const struct orr_sampling *sampling, unsigned index,
                   const char *folder,
                   int (*visit)(const char *, const char *, bool, void *),
                   void *arg)
{
    struct dirent **entries = NULL;
    char *dir;
    int n, rc = 0;

    if (asprintf(&dir, "%s/%s", sampling->dirs[index], folder) < 0)
        return -ENOMEM;
    n = scandir(dir, &entries, is_shown, alphasort);
    if (n < 0 && errno == ENOMEM)
        rc = -ENOMEM;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        char *path = NULL, *earlier = NULL;

        if (!rc && asprintf(&path, "%s/%s", dir, name) < 0) {
            path = NULL;
            rc = -ENOMEM;
        }
        if (!rc && !is_sampling_directory(path)) {
            rc = find_among(sampling, index, folder, name, &earlier);
            if (rc == 0 || rc == -ENOENT)
                rc = visit(path, name, earlier != NULL, arg);
        }
        free(earlier);
        free(path);
        free(entries[i]);
    }
    free(entries);
    free(dir);
    return rc;
}

int orr_sampling_each(const struct orr_sampling *sampling, const char *folder,
                      int (*visit)(const char *path, const char *name,
                                   bool shadowed, void *arg),
                      void *arg)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < sampling->ndirs; i++)
        rc = each_of(sampling, i, folder, visit, arg);
    return rc;
}

/* Name number `rank`, separated by blanks, for the caller to free(). */
static int host_of_rank(const char *hostnames, unsigned rank, char **ret,
                        struct orr_error *err)
{
    const char *word = hostnames + strspn(hostnames, " ");
    unsigned seen = 0;

    for (; *word && seen < rank; seen++) {
        word += strcspn(word, " ");
        word += strspn(word, " ");
    }
    if (!*word)
        return orr_fail(err, -EINVAL,
                        "STARPU_MPI_HOSTNAMES has %u names, rank %u needs one "
                        "more: give one for each rank.",
                        seen, rank);
    *ret = strndup(word, strcspn(word, " "));
    return *ret ? 0 : orr_fail(err, -ENOMEM, "Out of memory.");
}

static int sampling_find_host(const struct orr_host_options *options,
                              char **ret, struct orr_error *err)
{
    char system[HOST_NAME_MAX + 1] = "";
    struct orr_error unused;
    const char *name;
    char *copy;

    if (options->mpi_hostnames)
        return host_of_rank(options->mpi_hostnames, options->mpi_rank, ret,
                            err);
    if (is_given(options->hostname)) {
        copy = strdup(options->hostname);
    } else if (is_given(options->machine)) {
        copy = strdup(options->machine);
    } else {
        name = options->system;
        if (!name) {
            if (gethostname(system, sizeof(system) - 1) || !system[0])
                return orr_fail(err, -EINVAL,
                                "This machine has no host name: set "
                                "STARPU_HOSTNAME.");
            name = system;
        }
        copy = strndup(name, strcspn(name, "."));
        /* The system's name was not chosen for us: no error. */
        if (copy && orr_host_check(copy, &unused) < 0) {
            free(copy);
            copy = strdup("localhost");
        }
    }
    if (!copy)
        return orr_fail(err, -ENOMEM, "Out of memory.");
    *ret = copy;
    return 0;
}

int orr_host_name(const struct orr_host_options *options, char **ret,
                  struct orr_error *err)
{
    char *name = NULL;
    int rc = sampling_find_host(options, &name, err);

    if (rc == 0)
        rc = orr_host_check(name, err);
    if (rc == 0)
        *ret = name;
    else
        free(name);
    return rc;
}
