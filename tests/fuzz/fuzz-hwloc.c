/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-hwloc.c - libFuzzer target for hwloc's XML: as a machine that is imported
 * (tools/machine/topology.h), as the topology of a run (core/device/cpu/topology.h), and as the
 * machine at hand (platforms/discover.h). Whatever hwloc accepts gives a sound plan and sound
 * answers. What ends hwloc itself ends the process in which an import tries that before; the
 * others come after it. One thread.
 */
#include "core/device/cpu/topology.h"
#include "platforms/desc_build.h"
#include "platforms/discover.h"
#include "tests/fuzz/fuzz.h"
#include "tools/machine/topology.h"

#include <limits.h>
#include <signal.h>

/* libFuzzer's and the sanitizers', which would keep what hwloc has died of. */
__attribute__((weak)) void
__sanitizer_set_death_callback(void (*callback)(void));
pid_t __real_fork(void);
pid_t __wrap_fork(void);

pid_t __wrap_fork(void)
{
    static const int ends[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    pid_t pid = __real_fork();

    if (pid != 0)
        return pid;
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        signal(ends[i], SIG_DFL);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(NULL);
    return 0;
}

static void check_plan(const struct machine_plan *plan)
{
    struct orr_machine_desc *desc = NULL;

    must(plan->name && plan->processor && plan->ncores >= 1 &&
         plan->ncores <= MACHINE_PLAN_MAX_CORES &&
         plan->nnuma <= MACHINE_PLAN_MAX_NODES &&
         plan->ndevices <= MACHINE_PLAN_MAX_DEVICES);
    for (unsigned i = 0; plan->cores && i < plan->ncores; i++)
        must(plan->cores[i].l3 >= -1 &&
             (plan->cores[i].numa == 0 || plan->cores[i].numa < plan->nnuma) &&
             plan->cores[i].package < plan->npackages);
    for (unsigned i = 0; i < plan->ndevices; i++)
        must(plan->devices[i].model &&
             plan->devices[i].group < (int)plan->ndevices &&
             (plan->devices[i].numa == 0 ||
              plan->devices[i].numa < plan->nnuma));
    if (machine_plan_describe(plan, &desc) == 0)
        must(desc != NULL);
    orr_machine_desc_free(desc);
}

static void check_cpus(const struct orr_topology *topology,
                       const struct orr_cpus *cpus)
{
    const struct orr_cpu_request request = {.avoid = -1};
    const struct orr_memory *memories;
    unsigned nmemories = orr_topology_memories(topology, &memories);
    struct orr_cpu_choice choice = {0};
    struct orr_error err = {""};

    must(cpus->n >= 1 && cpus->n <= cpus->nall && nmemories >= 1);
    for (unsigned i = 0; i < cpus->n && i < 16; i++) {
        int number = cpus->cpus[i].number;

        must(cpus->cpus[i].node < nmemories);
        must(orr_topology_distance(topology, number, number) == 0);
        must(orr_topology_distance(topology, number, cpus->cpus[0].number) !=
             UINT_MAX);
        (void)orr_topology_is_near(topology, number, cpus->cpus[i].node);
        (void)orr_topology_is_near_bus(topology, number, "3b:00.0");
        must(orr_topology_processor(topology, number) != NULL);
    }
    must(orr_cpus_choose(cpus, &request, &choice, &err) == 0 &&
         choice.usual >= 1 && choice.usual <= choice.n);
    free(choice.cpus);
}

static void check_topology(const char *name)
{
    const struct orr_topology_input input = {.xml = name, .devices = true};
    struct orr_topology *topology = NULL;
    struct orr_cpus cpus = {0};
    struct orr_error err = {""};

    if (orr_topology_open(&input, &topology, &err) < 0) {
        must(err.text[0] != '\0');
        return;
    }
    if (orr_topology_cpus(topology, &cpus, &err) == 0)
        check_cpus(topology, &cpus);
    else
        must(err.text[0] != '\0');
    orr_cpus_done(&cpus);
    orr_topology_close(topology);
}

static void check_here(const char *name)
{
    struct orr_machine_desc *desc = NULL;
    struct orr_error err = {""};

    setenv("HWLOC_XMLFILE", name, 1);
    if (orr_machine_desc_discover(&desc, &err) == 0)
        must(orr_machine_desc_check(desc, &err) == 0);
    else
        must(err.text[0] != '\0');
    orr_machine_desc_free(desc);
    unsetenv("HWLOC_XMLFILE");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_silence before = fuzz_silence();
    struct machine_plan plan = {0};
    char name[32];
    int fd = fuzz_file(data, size, name);
    const struct machine_topology_options options = {
        .hwloc = name, .gpu = "NVIDIA A100-SXM4-40GB"};

    if (machine_topology_read(&options, &plan) == 0) {
        check_plan(&plan);
        machine_plan_done(&plan);
        check_topology(name);
        check_here(name);
    }
    close(fd);
    fuzz_speak(before);
    return 0;
}
