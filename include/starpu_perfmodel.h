/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_perfmodel.h - models of how long tasks and transfers take, and the
 * files they are kept in. Times are microseconds. Any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <starpu_config.h>
#include <starpu_task.h>
#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_task;

struct starpu_perfmodel_device {
    /* STARPU_CPU_WORKER, STARPU_CUDA_WORKER, ... */
    enum starpu_worker_archtype type;
    /* Number of the device. */
    int devid;
    /* How many cores of it, 1 unless combined. */
    int ncores;
};

/* The set of devices a task runs on, nearly always one. */
struct starpu_perfmodel_arch {
    int ndevices;
    struct starpu_perfmodel_device *devices;
};

/* What was measured for one footprint. */
struct starpu_perfmodel_history_entry {
    /* Of the samples that were kept. */
    double mean;
    double deviation;
    /* Sum and sum of squares of the samples. */
    double sum;
    double sum2;
    /* Samples kept, and samples thrown away as too far off. */
    unsigned nsample;
    unsigned nerror;
    /* Hash of the task's data sizes. */
    uint32_t footprint;
    /* Bytes of the task's data. */
    size_t size;
    double flops;
    /* Of one sample, for multiple regression. */
    double duration;
    starpu_tag_t tag;
    double *parameters;
};

struct starpu_perfmodel_history_list {
    struct starpu_perfmodel_history_list *next;
    struct starpu_perfmodel_history_entry *entry;
};

/* alpha * size^beta, a * size^b + c, and the polynomial of parameters. */
struct starpu_perfmodel_regression_model {
    /* Sums over the samples; x is the size, y the time. */
    double sumlny;
    double sumlnx;
    double sumlnx2;
    unsigned long minx;
    unsigned long maxx;
    double sumlnxlny;
    /* Valid if `valid`. */
    double alpha;
    double beta;
    unsigned valid;
    /* Valid if `nl_valid`. */
    double a;
    double b;
    double c;
    unsigned nl_valid;
    unsigned nsample;
    /* Valid if `multi_valid`. */
    double *coeff;
    unsigned ncoeff;
    unsigned multi_valid;
};

struct starpu_perfmodel_history_table;

#define starpu_per_arch_perfmodel starpu_perfmodel_per_arch

typedef double (*starpu_perfmodel_per_arch_cost_function)(
    struct starpu_task *task, struct starpu_perfmodel_arch *arch,
    unsigned nimpl);
typedef size_t (*starpu_perfmodel_per_arch_size_base)(
    struct starpu_task *task, struct starpu_perfmodel_arch *arch,
    unsigned nimpl);

/* The model of one architecture and implementation. */
struct starpu_perfmodel_per_arch {
    starpu_perfmodel_per_arch_cost_function cost_function;
    starpu_perfmodel_per_arch_size_base size_base;
    struct starpu_perfmodel_history_table *history;
    struct starpu_perfmodel_history_list *list;
    struct starpu_perfmodel_regression_model regression;
    char debug_path[256];
};

enum starpu_perfmodel_type {
    STARPU_PERFMODEL_INVALID = 0, /* not set */
    STARPU_PER_WORKER = 1,        /* worker_cost_function */
    STARPU_PER_ARCH = 2,          /* arch_cost_function, or one per device */
    STARPU_COMMON = 3,            /* cost_function on a CPU, scaled by speed */
    STARPU_HISTORY_BASED = 4,     /* mean of the same footprint */
    STARPU_REGRESSION_BASED = 5,  /* alpha * size^beta */
    STARPU_NL_REGRESSION_BASED = 6,      /* a * size^b + c */
    STARPU_MULTIPLE_REGRESSION_BASED = 7 /* polynomial of parameters */
};

struct _starpu_perfmodel_state;
typedef struct _starpu_perfmodel_state *starpu_perfmodel_state_t;

/* A model. Usually static: type and symbol are enough, the rest may be zero
 * and is filled at first use. It must outlive the tasks that use it. */
struct starpu_perfmodel {
    enum starpu_perfmodel_type type;
    /* Time of the task; which is called depends on `type`. The policies of the
     * library take worker_cost_function's result for the first of several equal
     * workers for all of them. */
    double (*cost_function)(struct starpu_task *, unsigned);
    double (*arch_cost_function)(struct starpu_task *,
                                 struct starpu_perfmodel_arch *, unsigned);
    double (*worker_cost_function)(struct starpu_task *, unsigned, unsigned);
    /* The size to use instead of the sum of the buffers. */
    size_t (*size_base)(struct starpu_task *, unsigned);
    /* The hash to use instead of that of the buffers. */
    uint32_t (*footprint)(struct starpu_task *);
    /* Name of the file on disk; several codelets may share it. */
    const char *symbol;
    /* The library's own, like is_loaded to is_init and state. */
    char *path;
    unsigned is_loaded;
    unsigned benchmarking;
    unsigned is_init;
    /* Writes the `nparameters` values of multiple regression. */
    void (*parameters)(struct starpu_task *, double *);
    const char **parameters_names;
    unsigned nparameters;
    /* Exponents of each parameter in each term. */
    unsigned **combinations;
    unsigned ncombinations;
    starpu_perfmodel_state_t state;
};

/* Always 1e-6: the task costs nothing. */
extern struct starpu_perfmodel starpu_perfmodel_nop;

/* -- life -- */

/* Does nothing: tools of StarPU call it before they load models. */
void starpu_perfmodel_initialize(void);
/* Prepares the structure; what loads or uses the model does this as well. */
void starpu_perfmodel_init(struct starpu_perfmodel *model);
/* Frees what the structure holds, without writing a file; what the run has measured
 * stays with the run. Returns 0. */
int starpu_perfmodel_deinit(struct starpu_perfmodel *model);
/* Reads a model's file into `model`, for the functions that print it: the run does
 * not use it. 0; 1, with a message, when it cannot be read. Works without
 * starpu_init; starpu_perfmodel_unload_model frees what was read. */
int starpu_perfmodel_load_file(const char *filename,
                               struct starpu_perfmodel *model);
/* The same of the file that belongs to a symbol, on this host; a name that ends in
 * the host's is tried without it. 1 when there is none. */
int starpu_perfmodel_load_symbol(const char *symbol,
                                 struct starpu_perfmodel *model);
/* As starpu_perfmodel_deinit. Returns 0. */
int starpu_perfmodel_unload_model(struct starpu_perfmodel *model);
/* Writes the model's file now, as starpu_shutdown will; of models with a symbol and
 * measures, else it does nothing. An error is a message only. */
void starpu_save_history_based_model(struct starpu_perfmodel *model);
/* Writes the path of a symbol's file, at most maxlen bytes with the end, or "" when
 * there is none. */
void starpu_perfmodel_get_model_path(const char *symbol, char *path,
                                     size_t maxlen);
/* Where raw measures of the model are kept, or "": the side file, one for all
 * architectures and implementations. It need not exist yet. */
void starpu_perfmodel_debugfilepath(struct starpu_perfmodel *model,
                                    struct starpu_perfmodel_arch *arch,
                                    char *path, size_t maxlen, unsigned nimpl);
/* Does nothing: the models' memory ends with the run. */
void starpu_perfmodel_free_sampling(void);

/* -- architectures -- */

/* The architecture that models have for a worker, or combined worker; in a context
 * without policy that of all its processors for the worker that executes its tasks.
 * Borrowed until starpu_shutdown(); NULL without memory. */
struct starpu_perfmodel_arch *
starpu_worker_get_perf_archtype(int workerid, unsigned sched_ctx_id);
/* How many combinations of devices have a number, from 0 on, in this run. */
int starpu_perfmodel_get_narch_combs(void);
/* The number of a combination, which gets one if it has none; -1 without memory. The
 * array is copied. */
int starpu_perfmodel_arch_comb_add(int ndevices,
                                   struct starpu_perfmodel_device *devices);
/* The number of a combination; -1: it has none. */
int starpu_perfmodel_arch_comb_get(int ndevices,
                                   struct starpu_perfmodel_device *devices);
/* The combination with that number, borrowed until starpu_shutdown(); NULL: there is
 * none. */
struct starpu_perfmodel_arch *starpu_perfmodel_arch_comb_fetch(int comb);
/* The name of a type in models' files, such as "cpu": a constant; NULL for a type
 * that there is not. */
const char *
starpu_perfmodel_get_archtype_name(enum starpu_worker_archtype archtype);
/* Writes a name of the architecture and implementation, at most maxlen bytes with
 * the end; without starpu_init the combination counts as number 0. */
void starpu_perfmodel_get_arch_name(struct starpu_perfmodel_arch *arch,
                                    char *archname, size_t maxlen,
                                    unsigned nimpl);

/* What the application sets of the model for one architecture and implementation,
 * its functions of cost and size: made when missing, with the model's structure
 * freed. Without memory the program ends. */
struct starpu_perfmodel_per_arch *
starpu_perfmodel_get_model_per_arch(struct starpu_perfmodel *model,
                                    struct starpu_perfmodel_arch *arch,
                                    unsigned impl);
/* The same; `...` are int triples (type, device, cores), one for each device, then
 * -1. */
struct starpu_perfmodel_per_arch *
starpu_perfmodel_get_model_per_devices(struct starpu_perfmodel *model, int impl,
                                       ...);
/* Sets the function that says how many µs a task takes there; `...` as above.
 * Returns 0. */
int starpu_perfmodel_set_per_devices_cost_function(
    struct starpu_perfmodel *model, int impl,
    starpu_perfmodel_per_arch_cost_function func, ...);
/* Sets the function that says what size the model takes a task for there; `...` as
 * above. Returns 0. */
int starpu_perfmodel_set_per_devices_size_base(
    struct starpu_perfmodel *model, int impl,
    starpu_perfmodel_per_arch_size_base func, ...);

/* -- measures and estimates -- */

/* The mean of a footprint there, for implementation 0, in µs (joules of an energy
 * model); NaN when it is unknown. */
double
starpu_perfmodel_history_based_expected_perf(struct starpu_perfmodel *model,
                                             struct starpu_perfmodel_arch *arch,
                                             uint32_t footprint);

/* Feeds the run's model, as if the task had taken that many µs there; `cpuid` is not
 * looked at. Models without history or symbol stay as they are. */
void starpu_perfmodel_update_history(struct starpu_perfmodel *model,
                                     struct starpu_task *task,
                                     struct starpu_perfmodel_arch *arch,
                                     unsigned cpuid, unsigned nimpl,
                                     double measured);
/* The same for the mean of `number` measures. */
void starpu_perfmodel_update_history_n(struct starpu_perfmodel *model,
                                       struct starpu_task *task,
                                       struct starpu_perfmodel_arch *arch,
                                       unsigned cpuid, unsigned nimpl,
                                       double average_measured,
                                       unsigned number);

/* Measure the energy of `ntasks` tasks like `task` that the application runs
 * between the two calls, and nothing else meanwhile, and add joules per task to
 * the energy model. CPUs are measured together, by their packages' RAPL
 * counters; a CUDA device by its own, through NVML. `workerid` is of type
 * `archi`, -1 for the first such. The first measure of a task type is a
 * warm-up, and models are only fed while they are calibrated
 * (STARPU_CALIBRATE=1). 0; -ENODEV without counters, -EACCES when this user may
 * not read them, -EBUSY when measured already, -EINVAL, all with a message that
 * names the remedy. */
int starpu_energy_start(int workerid, enum starpu_worker_archtype archi);
/* Ends what starpu_energy_start began, with the same worker and type. */
int starpu_energy_stop(struct starpu_perfmodel *model, struct starpu_task *task,
                       unsigned nimpl, unsigned ntasks, int workerid,
                       enum starpu_worker_archtype archi);

/* For tools, without starpu_init as well: prints the directories of models, and a
 * line for each file in them. 0, or 1 when they cannot be read. */
int starpu_perfmodel_list(FILE *output);
/* Prints what a loaded file has for one architecture and implementation, nothing if
 * it has none: all, or one value by name (a, b, c, alpha, beta, mean, stddev,
 * path-file-debug); all footprints with NULL. */
void starpu_perfmodel_print(struct starpu_perfmodel *model,
                            struct starpu_perfmodel_arch *arch, unsigned nimpl,
                            char *parameter, uint32_t *footprint, FILE *output);
/* The same for all implementations of the architectures that `arch` names: "cpu",
 * "cpu:2" by cores, "cuda1" or "cuda_1" by device, NULL for all. 0; 1 without a
 * loaded file, or for a parameter that there is not. */
int starpu_perfmodel_print_all(struct starpu_perfmodel *model, char *arch,
                               char *parameter, uint32_t *footprint,
                               FILE *output);
/* Writes the loaded file as XML; without one, a message only. */
void starpu_perfmodel_dump_xml(FILE *output, struct starpu_perfmodel *model);
/* The mean of a footprint on each worker (implementation 0), with blanks between,
 * "inf" where it is unknown, of the loaded file or else of the run's model. 0; 1
 * when there is neither. After starpu_init. */
int starpu_perfmodel_print_estimations(struct starpu_perfmodel *model,
                                       uint32_t footprint, FILE *output);
/* Prints the combinations of devices in the loaded file. 0, or 1 without one. */
int starpu_perfmodel_list_combs(FILE *output, struct starpu_perfmodel *model);
/* Prints a line for each directory in which models are looked for. */
void starpu_perfmodel_directory(FILE *output);

/* -- transfers between memory nodes -- */

/* Prints a table of bandwidths and latencies between all memory nodes. */
void starpu_bus_print_bandwidth(FILE *f);
/* Prints which main memory is near each device. */
void starpu_bus_print_affinity(FILE *f);
/* Prints where the files of these parameters are, or would be. */
void starpu_bus_print_filenames(FILE *f);
/* MB/s from a memory node to another one. */
double starpu_transfer_bandwidth(unsigned src_node, unsigned dst_node);
/* Microseconds of a copy without bytes. */
double starpu_transfer_latency(unsigned src_node, unsigned dst_node);
/* Microseconds for `size` bytes. */
double starpu_transfer_predict(unsigned src_node, unsigned dst_node,
                               size_t size);

#ifdef __cplusplus
}
#endif
