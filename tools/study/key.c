/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/study/key.c - see key.h. Names of files are not hashed, but for those of machines. */
#include "tools/study/key.h"

#include "perfmodel/sampling.h"
#include "platforms/cluster.h"
#include "platforms/machine_desc.h"
#include "tools/common/launch.h"
#include "tools/common/modules.h"
#include "tools/common/tool.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static int feed_file(struct sha256 *hash, const char *path, struct orr_error *err)
{
    char text[SHA256_TEXT];
    int rc = sha256_of_file(path, text, err);

    if (rc == 0)
        sha256_feed_text(hash, text);
    return rc;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- programs ---- */

/* Where execvp finds it; owned. NULL: nowhere. */
static char *find_in_path(const char *name)
{
    const char *path = getenv("PATH");

    if (access(name, R_OK) == 0)
        return tool_format("%s", name);
    while (path && *path && !strchr(name, '/')) {
        size_t n = strcspn(path, ":");
        char *file = tool_format("%.*s/%s", (int)n, path, name);

        if (file && access(file, X_OK) == 0)
            return file;
        free(file);
        path += n + (path[n] == ':');
    }
    return NULL;
}

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* All files of a folder, such as the records of ranks, by their names. */
static int feed_folder(struct sha256 *hash, const char *path, struct orr_error *err)
{
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort), rc = 0;

    if (n < 0)
        return orr_fail(err, -errno, "%s: %s", path, strerror(errno));
    for (int i = 0; i < n; i++) {
        char *file = tool_format("%s/%s", path, entries[i]->d_name);

        if (!file)
            rc = orr_fail(err, -ENOMEM, "out of memory");
        if (rc == 0 && !is_folder(file)) {
            sha256_feed_text(hash, entries[i]->d_name);
            rc = feed_file(hash, file, err);
        }
        free(file);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

static int feed_path(struct sha256 *hash, const char *path, struct orr_error *err)
{
    return is_folder(path) ? feed_folder(hash, path, err) : feed_file(hash, path, err);
}

static int hash_program(const struct study *study, const struct study_program *program,
                        char ret[SHA256_TEXT])
{
    char *path = find_in_path(program->words[0]);
    struct orr_error err = {""};
    struct sha256 hash;
    int rc;

    if (!path)
        return tool_fail(TOOL_FAILED, "study: %s: there is no program `%s'", study->path,
                         program->words[0]);
    sha256_init(&hash);
    rc = feed_path(&hash, path, &err);
    for (char **input = program->inputs; input && *input && rc == 0; input++)
        rc = feed_path(&hash, *input, &err);
    sha256_end(&hash, ret);
    free(path);
    return rc == 0 ? TOOL_OK : tool_fail(TOOL_FAILED, "study: %s: %s", study->path, err.text);
}

/* ---- machines ---- */

struct model_files {
    struct sha256 *hash;
    struct orr_error *err;
    const char *host; /* of which models there are more than those of this host; NULL: take all */
};

/* "potrf.mirage" and what stands beside it, "potrf.mirage.orrery". */
static bool is_of_host(const char *name, const char *host)
{
    const char *at = strstr(name, host);

    return at && at > name && at[-1] == '.' && (!at[strlen(host)] || at[strlen(host)] == '.');
}

static int feed_model(const char *path, const char *name, bool shadowed, void *arg)
{
    const struct model_files *files = arg;

    if (shadowed || !is_of_host(name, files->host))
        return 0;
    sha256_feed_text(files->hash, name);
    return feed_file(files->hash, path, files->err);
}

/* The models of the machine, where a run looks for them. */
static int feed_models(struct sha256 *hash, const struct orr_machine_desc *desc,
                       struct orr_error *err)
{
    const struct orr_sampling_options options = {
        .perf_model_dir = orr_getenv("STARPU_PERF_MODEL_DIR"),
        .machine_dir = desc->sampling_dir,
        .home = orr_sampling_home(orr_getenv),
        .perf_model_path = orr_getenv("STARPU_PERF_MODEL_PATH")};
    struct model_files files = {hash, err, desc->host};
    struct orr_sampling *sampling;
    int rc = orr_sampling_new(&options, &sampling);

    if (rc < 0)
        return orr_fail(err, rc, "out of memory");
    rc = orr_sampling_each(sampling, ORR_SAMPLING_CODELETS, feed_model, &files);
    orr_sampling_free(sampling);
    return rc;
}

/* "moon.xml" and the files beside it, "moon.bandwidth" and "moon.latency". */
static int feed_description(struct sha256 *hash, const char *path, struct orr_error *err)
{
    static const char *const beside[] = {".bandwidth", ".latency"};
    int rc = feed_file(hash, path, err);

    for (size_t i = 0; i < 2 && rc == 0; i++) {
        char *file = tool_beside(path, beside[i]);

        if (file && access(file, R_OK) == 0)
            rc = feed_file(hash, file, err);
        free(file);
    }
    return rc;
}

static int feed_machine(struct sha256 *hash, const char *name, const char *const *dirs,
                        struct orr_error *err)
{
    struct orr_machine_desc *desc;
    int rc = orr_machine_desc_load(name, dirs, &desc, err);

    if (rc < 0)
        return rc;
    sha256_feed_text(hash, desc->name);
    rc = feed_description(hash, desc->path, err);
    if (rc == 0)
        rc = feed_models(hash, desc, err);
    orr_machine_desc_free(desc);
    return rc;
}

/* A machine, or a cluster: its line, and what its nodes are. */
static int feed_machines(struct sha256 *hash, const char *name, const char *const *dirs,
                         struct orr_error *err)
{
    struct orr_cluster_desc cluster = {0};
    int rc = orr_cluster_load(name, dirs, &cluster, err);
    char *line;

    if (rc != 0)
        return rc < 0 ? rc : feed_machine(hash, name, dirs, err);
    line = orr_cluster_line(&cluster);
    sha256_feed_text(hash, line);
    free(line);
    for (unsigned g = 0; g < cluster.ngroups && rc == 0; g++) {
        sha256_feed_text(hash, cluster.groups[g].edits);
        rc = feed_machine(hash, cluster.groups[g].machine, dirs, err);
    }
    orr_cluster_free(&cluster);
    return rc;
}

static int hash_machines(struct study_keys *keys)
{
    struct orr_sampling *sampling = NULL;
    struct orr_error err = {""};
    int rc = orr_sampling_from_env(orr_getenv, NULL, &sampling);

    for (size_t m = 0; m < keys->study->nmachines && rc == 0; m++) {
        struct sha256 hash;

        sha256_init(&hash);
        rc = feed_machines(&hash, keys->study->machines[m], orr_sampling_dirs(sampling), &err);
        sha256_end(&hash, keys->machines[m]);
    }
    orr_sampling_free(sampling);
    return rc == 0 ? TOOL_OK
                   : tool_fail(TOOL_FAILED, "study: %s: %s", keys->study->path,
                               *err.text ? err.text : "out of memory");
}

/* ---- policies, the library, the environment ---- */

/* The file of "static=FILE" or "FILE.py"; NULL: the policy is the library's. */
static const char *policy_file(const char *policy)
{
    size_t n = strlen(policy);

    if (!strncmp(policy, "static=", strlen("static=")))
        return policy + strlen("static=");
    return n > 3 && !strcmp(policy + n - 3, ".py") ? policy : NULL;
}

static int hash_policies(struct study_keys *keys)
{
    struct orr_error err = {""};

    for (size_t p = 0; p < keys->study->npolicies; p++) {
        const char *policy = keys->study->policies[p], *file = policy_file(policy);
        struct sha256 hash;

        sha256_init(&hash);
        sha256_feed_text(&hash, file ? "" : policy);
        if (file && feed_file(&hash, file, &err) < 0)
            return tool_fail(TOOL_FAILED, "study: %s: policy %s: %s", keys->study->path, policy,
                             err.text);
        sha256_end(&hash, keys->policies[p]);
    }
    return TOOL_OK;
}

/* Its version, and its bytes where it is beside this command. */
static int hash_library(struct study_keys *keys)
{
    char *files[] = {tool_find_library("liborrery.so"), tool_find_preload("sim.so"),
                     tool_find_library("libstarpumpi-1.4.so")};
    struct orr_error err = {""};
    struct sha256 hash;
    int rc = 0;

    sha256_init(&hash);
    sha256_feed_text(&hash, "orrery study 1 " ORR_VERSION);
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        if (files[i] && rc == 0)
            rc = feed_file(&hash, files[i], &err);
        free(files[i]);
    }
    sha256_end(&hash, keys->library);
    return rc == 0 ? TOOL_OK : tool_fail(TOOL_FAILED, "study: %s", err.text);
}

/* What runs find nothing in: where models and machines lie, whose contents are hashed, where
 * modules lie, and what the command sets for each run. */
static bool is_read(const char *variable)
{
    static const char *const left_out[] = {
        "STARPU_PERF_MODEL_DIR=", "STARPU_PERF_MODEL_PATH=", "STARPU_HOME=",
        "ORRERY_PLATFORM_DIR=",   "ORRERY_MODULE_DIR=",      "ORRERY_REPORT=",
        "ORRERY_MACHINE=",        "ORRERY_SET=",             "ORRERY_TRACE=",
        "ORRERY_SIM_SEED=",       "ORRERY_SIM_NOISE=",       "ORRERY_SIM_DRAW=",
        "ORRERY_ASSUME=",         "STARPU_SCHED=",           "STARPU_RAND_SEED="};

    if (strncmp(variable, "STARPU_", 7) && strncmp(variable, "ORRERY_", 7) &&
        strncmp(variable, "SOCL_", 5))
        return false;
    for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
        if (!strncmp(variable, left_out[i], strlen(left_out[i])))
            return false;
    return true;
}

static int hash_environment(struct study_keys *keys)
{
    size_t n = 0, at = 0;
    struct orr_error err = {""};
    struct sha256 hash;
    char **sorted;
    int code = TOOL_OK;

    while (environ && environ[n])
        n++;
    sorted = calloc(n + 1, sizeof(*sorted));
    if (!sorted)
        return tool_fail(TOOL_FAILED, "out of memory");
    for (size_t i = 0; i < n; i++)
        if (is_read(environ[i]))
            sorted[at++] = environ[i];
    qsort(sorted, at, sizeof(*sorted), compare_texts);
    sha256_init(&hash);
    for (size_t i = 0; i < at; i++)
        sha256_feed_text(&hash, sorted[i]);
    for (char **variable = keys->study->variables; variable && *variable; variable++)
        sha256_feed_text(&hash, *variable);
    sha256_feed_text(&hash, keys->study->assume);
    if (keys->study->costs && feed_file(&hash, keys->study->costs, &err) < 0)
        code = tool_fail(TOOL_USAGE, "study: %s: `costs': %s", keys->study->path, err.text);
    sha256_end(&hash, keys->environment);
    free(sorted);
    return code;
}

int study_keys_init(struct study_keys *ret, const struct study *study)
{
    int code;

    *ret = (struct study_keys){.study = study,
                               .programs = calloc(study->nprograms, sizeof(*ret->programs)),
                               .machines = calloc(study->nmachines, sizeof(*ret->machines)),
                               .policies = calloc(study->npolicies, sizeof(*ret->policies))};
    if (!ret->programs || !ret->machines || !ret->policies)
        return tool_fail(TOOL_FAILED, "out of memory");
    code = hash_library(ret);
    for (size_t p = 0; p < study->nprograms && code == TOOL_OK; p++)
        code = hash_program(study, &study->programs[p], ret->programs[p]);
    if (code == TOOL_OK)
        code = hash_machines(ret);
    if (code == TOOL_OK)
        code = hash_policies(ret);
    return code == TOOL_OK ? hash_environment(ret) : code;
}

void study_keys_done(struct study_keys *keys)
{
    free(keys->programs);
    free(keys->machines);
    free(keys->policies);
}

void study_key(const struct study_keys *keys, const struct study_run *run, char ret[SHA256_TEXT])
{
    const struct study *study = keys->study;
    size_t machine = 0;
    struct sha256 hash;
    char number[64];

    while (study->machines[machine] != run->machine)
        machine++;
    sha256_init(&hash);
    sha256_feed_text(&hash, keys->library);
    sha256_feed_text(&hash, keys->environment);
    sha256_feed_text(&hash, keys->programs[run->program - study->programs]);
    for (char **word = run->size->words + 1; *word; word++)
        sha256_feed_text(&hash, *word);
    sha256_feed_text(&hash, NULL);
    sha256_feed_text(&hash, keys->machines[machine]);
    sha256_feed_text(&hash, run->edits);
    sha256_feed_text(&hash, run->noise);
    sha256_feed_text(&hash, keys->policies[run->policy_index]);
    snprintf(number, sizeof(number), "%zu %d %d", run->repetition, study->draws,
             study->repetitions > 1);
    sha256_feed_text(&hash, number);
    sha256_end(&hash, ret);
}
