/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/machine.h - verbs of `orrery machine` that have files of their own, and
 * what they share. One thread.
 */
#pragma once

#include <stdbool.h>

#include "platforms/machine_desc.h"
#include "tools/perfmodel/perfmodel.h"

/* The verbs. argv[0] is the verb; `sampling_dirs` ends with NULL; `json`:
 * --json was among the first or last words. Each returns the process's exit
 * code (tools/common/tool.h). */
int machine_copy(int argc, char **argv, const char *const *sampling_dirs,
                 bool json);
int machine_show(int argc, char **argv, const char *const *sampling_dirs,
                 bool json);
int machine_new(int argc, char **argv, const char *const *sampling_dirs,
                bool json);
/* `new hosts NAME`; argv[0] is "machine new hosts". */
int machine_new_hosts(int argc, char **argv, const char *const *sampling_dirs,
                      bool json);

/* `new cluster NAME`; argv[0] is "machine new cluster". */
int machine_new_cluster(int argc, char **argv, const char *const *sampling_dirs,
                        bool json);
int machine_export(int argc, char **argv, const char *const *sampling_dirs,
                   bool json);
int machine_import(int argc, char **argv, const char *const *sampling_dirs,
                   bool json);
int machine_check(int argc, char **argv, const char *const *sampling_dirs,
                  bool json);
int machine_diff(int argc, char **argv, const char *const *sampling_dirs,
                 bool json);

/* The machine that `name` means (NULL: this one), edited (tools/common/edits.h; NULL:
 * not). *ret is owned by the caller, and so is *ret_calibrated (may be NULL), the
 * file that this machine was calibrated in, NULL without; another machine
 * leaves it alone. -1 when there is none, printed. */
int machine_open(const char *name, const char *edits,
                 const char *const *sampling_dirs,
                 struct orr_machine_desc **ret, char **ret_calibrated);

/* -- models -- */

/* Visits the model files that a simulation of the machine would read, sorted
 * by name; files that others hide are left out. A result other than 0 ends it
 * and is returned. Errors are printed: -ENOMEM. */
int machine_models_each(const struct orr_machine_desc *desc,
                        int (*visit)(const struct perfmodel_item *item,
                                     void *arg),
                        void *arg);

/* -- putting machines in place -- */

/* One file to be written. */
struct machine_file {
    char *path;  /* owned */
    char *bytes; /* owned; NULL: there must be no such file */
    size_t size;
};

/* Files that appear together. All zero: none. */
struct machine_files {
    struct machine_file *items;
    unsigned n;
};

/* Adds a file; `path` and `bytes` are taken, also on failure. NULL for either
 * counts as no memory. Errors are printed: -ENOMEM. */
int machine_files_add(struct machine_files *files, char *path, char *bytes,
                      size_t size);

/* Adds the description as the file `path`, which names the machine `name`, with
 * its measured bus files beside it; where it has none there must be none, since
 * they would be taken as its own. Errors are printed: -EINVAL for a description
 * that is not complete, -ENOMEM. */
int machine_files_add_desc(struct machine_files *files,
                           const struct orr_machine_desc *desc,
                           const char *path, const char *name);

/* The same for `path` of machine_place: once more beside it as the file that
 * `orrery calibrate` writes, which -m finds before the one that StarPU reads, and
 * which would otherwise hide it. */
int machine_files_add_named(struct machine_files *files,
                            const struct orr_machine_desc *desc,
                            const char *path, const char *name);

/* Writes them, making folders. Without `force` nothing is written when one of
 * them exists; with it they are replaced one by one. When writing fails, those
 * that were not there before are removed again. Errors are printed: -EEXIST,
 * those of the system. */
int machine_files_write(const struct machine_files *files, bool force);
void machine_files_done(struct machine_files *files);

/* Adds their paths to `root`, a JSON object or NULL, as "files", and returns
 * it; without memory releases it and returns NULL. */
struct json_t;
struct json_t *machine_files_json(struct json_t *root,
                                  const struct machine_files *files);

/* The texts of the files that describe a machine; each owned by the caller.
 * Errors are printed: -ENOMEM. */
int machine_xml_text(const struct orr_machine_desc *desc, const char *name,
                     char **ret_text, size_t *ret_size);
int machine_matrix_text(const struct orr_machine_desc *desc,
                        const double *matrix, char **ret_text,
                        size_t *ret_size);

/* The paths at which -m finds a machine by its name: of its platform file and
 * of the folder of its models in a sampling directory, both owned by the
 * caller. Errors are printed: -ENOMEM. */
int machine_place(const char *sampling_dir, const char *name, char **ret_path,
                  char **ret_models);

/* -EEXIST, printed, when -m NAME would find another machine than the one at
 * `path`. */
int machine_is_hidden(const char *name, const char *path,
                      const char *const *sampling_dirs);
