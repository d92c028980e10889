/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/sampling.h - the sampling directories, where models and bus files
 * are looked for, and the host name in their files' names. A search path never
 * changes once made, so that any thread may use it.
 */
#pragma once

#include <stdbool.h>

#include "core/base/error.h"

#define ORR_SAMPLING_CODELETS "codelets/45"
#define ORR_SAMPLING_BUS      "bus"

/* Where to look, in this order; NULL or empty: not given. All borrowed. */
struct orr_sampling_options {
    const char *perf_model_dir;  /* STARPU_PERF_MODEL_DIR */
    const char *machine_dir;     /* of an exported machine */
    const char *home;            /* orr_sampling_home(): <home>/.starpu/sampling
                                 * is the next, unless */
    const char *configured_dir;  /* a directory was fixed at build time */
    const char *perf_model_path; /* STARPU_PERF_MODEL_PATH: several, separated
                                  * by ':' or ','; those that exist */
    const char *datadir; /* <datadir>/starpu/perfmodels/sampling, if it exists
                          */
};

struct orr_sampling;

/* A function like getenv. */
typedef const char *(*orr_getenv_fn)(const char *name);

/* getenv itself. */
const char *orr_getenv(const char *name);

/* The home directory by StarPU's rule: the first set of STARPU_HOME,
 * XDG_CACHE_HOME, HOME, TMPDIR, TEMP, TMP, else /tmp. Lent by `get`. */
const char *orr_sampling_home(orr_getenv_fn get);

/* Builds the search path, owned by the caller. A directory that appears twice
 * is looked at once. Errors: -ENOMEM. */
int orr_sampling_new(const struct orr_sampling_options *options,
                     struct orr_sampling **ret);
void orr_sampling_free(struct orr_sampling *sampling);

/* The search path from the environment, for tools; core has its own
 * configuration. `datadir` as in the options. Errors: -ENOMEM. */
int orr_sampling_from_env(orr_getenv_fn get, const char *datadir,
                          struct orr_sampling **ret);

/* The directories in order, ended by NULL; at least one. Lent. */
const char *const *orr_sampling_dirs(const struct orr_sampling *sampling);

/* The path of the file `name` in the folder `folder` (ORR_SAMPLING_…) of the
 * first directory that has it, for the caller to free(). Errors: -ENOENT when
 * none has it, -ENOMEM. */
int orr_sampling_find(const struct orr_sampling *sampling, const char *folder,
                      const char *name, char **ret);

/* As orr_sampling_find, but when no directory has the file: where to save it,
 * in the first directory. Nothing is made. Errors: -ENOMEM. */
int orr_sampling_place(const struct orr_sampling *sampling, const char *folder,
                       const char *name, char **ret);

/* The file name of the model `symbol` on `host`: "symbol.host", or the symbol
 * alone when there is a dot in it. For the caller to free(). Errors: -EINVAL,
 * with a message, for a symbol that cannot be a file name; -ENOMEM. */
int orr_model_name(const char *symbol, const char *host, char **ret,
                   struct orr_error *err);

/* What ends the symbols of default models: those of codelets that have no model, which
 * are named after the codelet. */
#define ORR_MODEL_DEFAULT "~default"

/* The symbol of the default model of codelets called `name`: what a file name cannot
 * have, or has a meaning in a symbol, is written as %2F; a long name is cut, with a hash
 * of all of it at its end. For the caller to free(). Errors: -ENOMEM. */
int orr_model_default_symbol(const char *name, char **ret);

/* Whether the symbol is that of a default model. */
bool orr_model_is_default(const char *symbol);

/* Calls visit for the path of each file in `folder`, directory after
 * directory and in order of their names; hidden files are left out. `shadowed`
 * tells that an earlier directory has a file of that name. A result other than
 * 0 stops it and is returned. Errors: -ENOMEM. */
int orr_sampling_each(const struct orr_sampling *sampling, const char *folder,
                      int (*visit)(const char *path, const char *name,
                                   bool shadowed, void *arg),
                      void *arg);

/* Where a host name comes from. */
struct orr_host_options {
    const char *mpi_hostnames; /* STARPU_MPI_HOSTNAMES, or NULL */
    unsigned mpi_rank;         /* its index */
    const char *hostname;      /* STARPU_HOSTNAME, or NULL */
    const char *machine;       /* a simulated machine's host, or NULL */
    const char *system;        /* instead of asking gethostname(), or NULL */
};

/* The name under which models are looked up: the first that is given, the
 * system's cut at its first dot. For the caller to free(). Errors: -EINVAL,
 * with a message, when STARPU_MPI_HOSTNAMES has too few, or for a name that
 * cannot be in the names of files (core/base/host.h); -ENOMEM. */
int orr_host_name(const struct orr_host_options *options, char **ret,
                  struct orr_error *err);
