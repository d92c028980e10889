/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/starpu/starpu_machine_display.c - the program of that name: which
 * workers there are, how the machine is made and how fast its bus is, real or
 * simulated (ORRERY_MACHINE). It uses the public interface only. One thread.
 */
#include "tools/starpu/program.h"

#include <orrery.h>
#include <starpu.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define NAME "starpu_machine_display"

static const char help[] =
    "usage: " NAME " [OPTIONS]\n"
    "Shows the workers, memories and bus of this machine, or of the one that\n"
    "ORRERY_MACHINE names.\n"
    "  -i, --info         print the names of the bus files and stop\n"
    "  -f, --force        measure the bus anew\n"
    "  -w, --worker TYPE  only workers of this type: CPU, CUDA, OpenCL ...\n"
    "  -c, --count        only how many workers there are\n"
    "  -n, --notopology   neither topology nor bus\n"
    "  -h, --help         this text\n"
    "  -v, --version      the version\n"
    "Bandwidths are MB/s, latencies microseconds.\n"
    "Exit codes: 0; 1 when the machine cannot be used; 2 for a wrong command line.\n"
    "example: ORRERY_MACHINE=h100-pcie-4 " NAME "\n";

/* The order of the output. */
static const enum starpu_worker_archtype types[] = {
    STARPU_CPU_WORKER,      STARPU_CUDA_WORKER,   STARPU_OPENCL_WORKER,
    STARPU_MAX_FPGA_WORKER, STARPU_MPI_MS_WORKER, STARPU_TCPIP_MS_WORKER,
    STARPU_HIP_WORKER,
};
#define NTYPES (sizeof(types) / sizeof(types[0]))

/* The options for workers. */
static const char *const variables[] = {
    "ORRERY_MACHINE",
    "STARPU_NCPU",
    "STARPU_NCPUS",
    "STARPU_RESERVE_NCPU",
    "STARPU_NCUDA",
    "STARPU_NOPENCL",
    "STARPU_NHIP",
    "STARPU_WORKERS_CPUID",
    "STARPU_WORKERS_COREID",
    "STARPU_WORKERS_CUDAID",
    "STARPU_WORKERS_OPENCLID",
    "STARPU_WORKERS_NOBIND",
    "STARPU_NTHREADS_PER_CORE",
    "STARPU_MAIN_THREAD_BIND",
    "STARPU_MAIN_THREAD_CPUID",
    "STARPU_MAIN_THREAD_COREID",
    "STARPU_USE_NUMA",
};

/* The options. */
struct request {
    bool info, force, count, no_topology;
    int type; /* -1: all */
};

static int read_worker_type(const char *text, struct request *request)
{
    for (size_t i = 0; i < NTYPES; i++)
        if (strcasecmp(text, starpu_worker_get_type_as_string(types[i])) == 0) {
            request->type = (int)types[i];
            return TOOL_OK;
        }
    fprintf(stderr, NAME ": -w %s: no such type of worker; there are", text);
    for (size_t i = 0; i < NTYPES; i++)
        fprintf(stderr, " %s", starpu_worker_get_type_as_string(types[i]));
    fputc('\n', stderr);
    return TOOL_USAGE;
}

/* ---- output ---- */

/* The name in the names of bus and model files: taken from the bus files,
 * ".../HOST.bandwidth" being the first. Owned; NULL when it is unknown. */
static char *bus_files_host(void)
{
    static const char suffix[] = ".bandwidth";
    char *text = NULL, *name = NULL, *end, *start;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    starpu_bus_print_filenames(out);
    if (fclose(out) == 0 && text) {
        text[strcspn(text, "\n")] = '\0';
        end = text + strlen(text) - strlen(suffix);
        start = strrchr(text, '/');
        if (start && end > start && strcmp(end, suffix) == 0)
            name = strndup(start + 1, (size_t)(end - start - 1));
    }
    free(text);
    return name;
}

static void print_names(void)
{
    char real[256] = "";
    char *host = bus_files_host();

    if (gethostname(real, sizeof(real) - 1) < 0 || !real[0])
        strcpy(real, "unknown");
    printf("Real hostname: %s (StarPU hostname: %s)\n", real,
           host ? host : "unknown");
    free(host);
}

static void print_set_variables(void)
{
    bool any = false;

    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = getenv(variables[i]);

        if (!value || !*value)
            continue;
        if (!any)
            printf("Environment variables\n");
        any = true;
        printf("\t%s=%s\n", variables[i], value);
    }
    if (any)
        putchar('\n');
}

static void print_workers_of(enum starpu_worker_archtype type, bool count)
{
    const char *name = starpu_worker_get_type_as_string(type);
    int n = starpu_worker_get_count_by_type(type);
    int *ids = n > 0 ? malloc((size_t)n * sizeof(*ids)) : NULL;
    char worker[256];

    if (n <= 0) {
        printf("No %s worker\n", name);
        return;
    }
    printf("%d %s worker%s%s\n", n, name, n > 1 ? "s" : "", count ? "" : ":");
    if (ids && !count)
        n = (int)starpu_worker_get_ids_by_type(type, ids, n);
    for (int i = 0; ids && !count && i < n; i++) {
        starpu_worker_get_name(ids[i], worker, sizeof(worker));
        printf("\t%s\n", worker);
    }
    free(ids);
}

static void print_combined(void)
{
    unsigned n = starpu_combined_worker_get_count();

    if (n)
        printf("%u combined worker%s\n", n, n > 1 ? "s" : "");
}

static void print_found_machine(const struct request *request)
{
    print_names();
    print_set_variables();
    printf("StarPU has found :\n");
    for (size_t i = 0; i < NTYPES; i++)
        if (request->type < 0 || (int)types[i] == request->type)
            print_workers_of(types[i], request->count);
    if (request->count)
        return;
    if (request->type < 0)
        print_combined();
    if (request->no_topology)
        return;
    putchar('\n');
    starpu_topology_print(stdout);
    putchar('\n');
    starpu_bus_print_bandwidth(stdout);
}

/* ---- the run ---- */

/* A machine without workers is no error: there is nothing to show. */
static int print_nothing(const struct request *request)
{
    print_set_variables();
    printf("StarPU has found :\n");
    for (size_t i = 0; i < NTYPES; i++)
        if (request->type < 0 || (int)types[i] == request->type)
            printf("No %s worker\n",
                   starpu_worker_get_type_as_string(types[i]));
    return TOOL_OK;
}

static int display_machine(const struct request *request)
{
    struct starpu_conf conf;
    int rc;

    starpu_conf_init(&conf);
    if (request->force)
        conf.bus_calibrate = 1;
    rc = starpu_init(&conf);
    if (rc == -ENODEV)
        return print_nothing(request);
    if (rc < 0)
        return TOOL_FAILED; /* the reason was printed */
    if (request->force && orrery_is_simulated())
        fprintf(stderr, NAME ": the bus of a simulated machine is that of its "
                             "description: -f measures real ones\n");
    if (request->info)
        starpu_bus_print_filenames(stdout);
    else
        print_found_machine(request);
    starpu_shutdown();
    return TOOL_OK;
}

static int machine_display_main(int argc, char **argv)
{
    struct request request = {.type = -1};
    const char *type = NULL;
    bool version = false;
    const struct tool_option options[] = {
        {'i', "info", NULL, &request.info},
        {'f', "force", NULL, &request.force},
        {'w', "worker", &type, NULL},
        {'c', "count", NULL, &request.count},
        {'n', "notopology", NULL, &request.no_topology},
        {'v', "version", NULL, &version},
        {0}};
    int noperands, rc;

    noperands =
        starpu_program_parse(NAME, argc, argv, options, &version, help, &rc);
    if (noperands < 0)
        return rc;
    if (noperands > 0)
        return tool_fail(TOOL_USAGE,
                         "%s is not understood; see " NAME " --help", argv[1]);
    rc = type ? read_worker_type(type, &request) : TOOL_OK;
    if (rc == TOOL_OK)
        rc = display_machine(&request);
    return rc;
}

int main(int argc, char **argv)
{
    return tool_close(machine_display_main(argc, argv));
}
