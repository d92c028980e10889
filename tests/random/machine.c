/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/machine.c - see machine.h. */
#include "machine.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../loopback/use.h"

const char *const codelet_names[] = {"one", "ten", "hundred", "thousand"};

/* -- the platform file -- */

struct writer {
    FILE *out;
    const char *before, *after;
};

__attribute__((format(printf, 2, 3))) static void line(const struct writer *w,
                                                       const char *format, ...)
{
    va_list args;

    fputs(w->before, w->out);
    va_start(args, format);
    vfprintf(w->out, format, args);
    va_end(args);
    fputs(w->after, w->out);
}

static void route(const struct writer *w, const char *src, const char *dst,
                  const char *link)
{
    line(w,
         "<route src='%s' dst='%s' symmetrical='NO'><link_ctn id='%s'/>"
         "</route>",
         src, dst, link);
}

/* GPUs and processors are next to one memory after the other. */
static unsigned numa_of(const struct machine *m, unsigned i)
{
    return i % m->nram;
}

static void hosts(const struct writer *w, const struct machine *m)
{
    line(w, "<host id='MAIN' speed='1f'/>");
    for (unsigned i = 0; i < m->ncpu + m->ngpu; i++)
        line(w,
             "<host id='CPU%u' speed='1Gf'><prop id='numa' value='%u'/>"
             "</host>",
             i, numa_of(m, i));
    for (unsigned i = 0; i < m->ngpu; i++)
        line(w,
             "<host id='CUDA%u' speed='1Gf'><prop id='model' value='Toy'/>"
             "<prop id='memsize' value='%lu'/>"
             "<prop id='memcpy_peer' value='1'/>"
             "<prop id='orrery-speed' value='%u'/>"
             "<prop id='numa' value='%u'/></host>",
             i, ((unsigned long)m->gpu_mib[i] << 20) * 10 / 9 + 2, m->gpu_speed,
             numa_of(m, i));
    line(w, "<host id='RAM' speed='1f'/>");
    if (m->disk)
        line(w, "<host id='DISK0' speed='1f'/>");
    for (unsigned i = 0; m->nram > 1 && i < m->nram; i++) {
        if (m->ram_kib)
            line(w,
                 "<host id='RAM%u' speed='1f'><prop id='memsize' "
                 "value='%lu'/></host>",
                 i, (unsigned long)m->ram_kib << 10);
        else
            line(w, "<host id='RAM%u' speed='1f'/>", i);
    }
}

static void links(const struct writer *w, const struct machine *m)
{
    line(w, "<link id='bus' bandwidth='12GBps' latency='1us'/>");
    for (unsigned i = 0; i < m->ngpu; i++) {
        line(w, "<link id='up%u' bandwidth='%uGBps' latency='10us'/>", i,
             10 - 2 * i);
        line(w, "<link id='down%u' bandwidth='%uGBps' latency='10us'/>", i,
             10 - 2 * i);
    }
    if (m->disk)
        line(w, "<link id='disk' bandwidth='500MBps' latency='50us'/>");
    if (m->peers)
        line(w, "<link id='peer' bandwidth='20GBps' latency='5us'/>");
}

static void routes_of_gpu(const struct writer *w, const struct machine *m,
                          unsigned i)
{
    char gpu[16], up[16], down[16], other[16];

    snprintf(gpu, sizeof(gpu), "CUDA%u", i);
    snprintf(up, sizeof(up), "up%u", i);
    snprintf(down, sizeof(down), "down%u", i);
    route(w, "RAM", gpu, down);
    route(w, gpu, "RAM", up);
    for (unsigned n = 0; m->nram > 1 && n < m->nram; n++) {
        snprintf(other, sizeof(other), "RAM%u", n);
        route(w, other, gpu, down);
        route(w, gpu, other, up);
    }
    for (unsigned j = 0; j < m->ngpu; j++) {
        snprintf(other, sizeof(other), "CUDA%u", j);
        if (m->peers >> (4 * i + j) & 1)
            route(w, gpu, other, "peer");
    }
}

static void routes_of_disk(const struct writer *w, const struct machine *m)
{
    char ram[16];

    route(w, "RAM", "DISK0", "disk");
    route(w, "DISK0", "RAM", "disk");
    for (unsigned n = 0; m->nram > 1 && n < m->nram; n++) {
        snprintf(ram, sizeof(ram), "RAM%u", n);
        route(w, ram, "DISK0", "disk");
        route(w, "DISK0", ram, "disk");
    }
}

static void routes(const struct writer *w, const struct machine *m)
{
    for (unsigned i = 0; i < m->ngpu; i++)
        routes_of_gpu(w, m, i);
    if (m->disk)
        routes_of_disk(w, m);
    for (unsigned i = 0; m->nram > 1 && i < m->nram; i++)
        for (unsigned j = 0; j < m->nram; j++) {
            char src[16], dst[16];

            snprintf(src, sizeof(src), "RAM%u", i);
            snprintf(dst, sizeof(dst), "RAM%u", j);
            if (i != j)
                route(w, src, dst, "bus");
        }
}

void machine_write(FILE *out, const struct machine *machine, const char *before,
                   const char *after)
{
    struct writer w = {out, before, after};

    line(&w, "<?xml version='1.0'?>");
    line(&w, "<!DOCTYPE platform SYSTEM "
             "'https://simgrid.org/simgrid.dtd'>");
    line(&w, "<platform version='4.1'><zone id='AS0' routing='Full'>");
    hosts(&w, machine);
    links(&w, machine);
    routes(&w, machine);
    line(&w, "</zone></platform>");
}

/* -- the environment -- */

struct speaker {
    void (*say)(const char *, const char *, void *);
    void *arg;
};

__attribute__((format(printf, 3, 4))) static void
say(const struct speaker *s, const char *name, const char *format, ...)
{
    char value[200];
    va_list args;

    va_start(args, format);
    vsnprintf(value, sizeof(value), format, args);
    va_end(args);
    s->say(name, value, s->arg);
}

static void say_none(const struct speaker *s, const char *name)
{
    s->say(name, NULL, s->arg);
}

static void simulated(const struct speaker *s, const struct machine *m)
{
    say(s, "ORRERY_SIM_KERNELS", "run");
    say(s, "ORRERY_ASSUME",
        "%s = %uus; %s = %uus; %s = %uus; %s = %uus; starpu_data_cpy = 5us",
        codelet_names[0], lengths_us[0], codelet_names[1], lengths_us[1],
        codelet_names[2], lengths_us[2], codelet_names[3], lengths_us[3]);
    say(s, "STARPU_CUDA_PIPELINE", "%u", m->pipeline);
    if (m->nram == 1 && m->ram_kib)
        say(s, "STARPU_LIMIT_CPU_MEM", "%u", m->ram_kib / 1024U);
    else
        say_none(s, "STARPU_LIMIT_CPU_MEM");
    say_none(s, "STARPU_NCPU");
}

/* What real devices are, but for loopback ones. */
#ifndef DEVICE_KIND
#    define DEVICE_KIND "OPENCL"
#endif

static void real(const struct speaker *s, const struct machine *m)
{
    unsigned cores = (m->ncpu + m->nram - 1U) / m->nram;

    say_none(s, "ORRERY_MACHINE");
    say(s, "STARPU_NCPU", "%u", m->ncpu);
    say(s, "STARPU_WORKERS_NOBIND", "1");
    if (m->loopback) {
        char settings[80], drivers[PATH_MAX + 200];

        snprintf(settings, sizeof(settings), "%u seed=%u mib=%u pipeline=%u%s",
                 m->ngpu, m->gpu_mib[0], m->gpu_mib[0], m->pipeline,
                 m->peers ? " peers" : "");
        loopback_drivers(settings, drivers, sizeof(drivers));
        s->say("ORRERY_DRIVERS", drivers, s->arg);
    } else {
        say_none(s, "ORRERY_DRIVERS");
    }
    say(s, "STARPU_N" DEVICE_KIND, "%u", m->loopback ? 0 : m->ngpu);
    for (unsigned i = 0; i < m->ngpu && !m->loopback; i++) {
        char name[40];

        snprintf(name, sizeof(name), "STARPU_LIMIT_" DEVICE_KIND "_%u_MEM", i);
        say(s, name, "%u", m->gpu_mib[i]);
    }
    if (m->nram > 1)
        say(s, "HWLOC_SYNTHETIC", "pack:%u [numa(memory=16GB)] core:%u pu:1",
            m->nram, cores);
    else
        say_none(s, "HWLOC_SYNTHETIC");
    if (m->nram > 1 && m->ram_kib)
        say(s, "STARPU_LIMIT_CPU_NUMA_MEM", "%u", m->ram_kib / 1024U);
    else
        say_none(s, "STARPU_LIMIT_CPU_NUMA_MEM");
    if (m->nram == 1 && m->ram_kib)
        say(s, "STARPU_LIMIT_CPU_MEM", "%u", m->ram_kib / 1024U);
    else
        say_none(s, "STARPU_LIMIT_CPU_MEM");
}

static const char *only_sched;

void machine_only_sched(const char *name)
{
    only_sched = name;
}

const char *machine_policy(const struct machine *machine)
{
    return only_sched ? only_sched : schedulers[machine->sched];
}

const char *machine_second_policy(const struct machine *machine)
{
    if (!only_sched)
        return schedulers[machine->sched];
    return strpbrk(only_sched, "=/.") ? schedulers[0] : only_sched;
}

void machine_environment(const struct machine *machine,
                         void (*speak)(const char *name, const char *value,
                                       void *arg),
                         void *arg)
{
    struct speaker s = {speak, arg};

    say(&s, "STARPU_SCHED", "%s", machine_policy(machine));
    say(&s, "ORRERY_EVICTION", "%s", evictions[machine->eviction]);
    say(&s, "STARPU_PREFETCH", "%u", machine->prefetch);
    if (machine->nram > 1)
        say(&s, "STARPU_USE_NUMA", "1");
    else
        say_none(&s, "STARPU_USE_NUMA");
    if (machine->queued)
        say(&s, "STARPU_NTASKS_THRESHOLD", "%u", machine->queued);
    else
        say_none(&s, "STARPU_NTASKS_THRESHOLD");
    say(&s, "STARPU_SILENT", "1");
    say(&s, "STARPU_RAND_SEED", "1");
    if (machine->disk)
        say(&s, "STARPU_DISK_SWAP", "/tmp/orrery-random-disk");
    else
        say_none(&s, "STARPU_DISK_SWAP");
    if (machine->real)
        real(&s, machine);
    else
        simulated(&s, machine);
}
