/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/openmp/all-memory.c - tasks with depend(inout: omp_all_memory), as compilers that know
 * it call the runtime: this program makes these calls itself. Claims of TAP.
 */
#include <omp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 20 };

static int values[N], nclaims, nfailed;
static atomic_int nended;
static bool early, late;

static void claim(bool holds, const char *what)
{
    nclaims++;
    nfailed += !holds;
    printf("%sok %d - %s\n", holds ? "" : "not ", nclaims, what);
}

static void before(int i)
{
#pragma omp task depend(out : values[i])
    {
        usleep(500);
        values[i] = 1;
        atomic_fetch_add(&nended, 1);
    }
}

static void after(int i)
{
#pragma omp task depend(in : values[i])
    if (values[i] != 2) {
#pragma omp atomic write
        late = true;
    }
}

static void all(void *data)
{
    (void)data;
    early = atomic_load(&nended) != N;
    for (int i = 0; i < N; i++)
        values[i] = 2;
}

static void begin(void)
{
    atomic_store(&nended, 0);
    early = late = false;
    for (int i = 0; i < N; i++)
        before(i);
}

static void end(const char *what)
{
    for (int i = 0; i < N; i++)
        after(i);
#pragma omp taskwait
    claim(!early && !late, what);
}

/* gcc's form: an address that is NULL. */
void GOMP_task(void (*code)(void *), void *data, void (*copy)(void *, void *),
               long size, long align, bool deferred, unsigned flags,
               void **depend, int priority, void *detach);

static void by_gcc(void)
{
    void *depend[] = {(void *)1, (void *)1, NULL};

    begin();
    GOMP_task(all, NULL, NULL, 0, 1, true, 8, depend, 0, NULL);
    end("gcc's form of omp_all_memory");
}

#ifdef __clang__
/* clang's: address 0, with a flag. */
struct use {
    intptr_t address;
    size_t length;
    uint8_t flags;
};

void *__kmpc_omp_task_alloc(void *place, int32_t thread, int32_t flags,
                            size_t size, size_t nshared,
                            int32_t (*code)(int32_t, void *));
int32_t __kmpc_omp_task_with_deps(void *place, int32_t thread, void *task,
                                  int32_t n, const struct use *at,
                                  int32_t nmore, const struct use *more);
void __kmpc_omp_wait_deps(void *place, int32_t thread, int32_t n,
                          const struct use *at, int32_t nmore,
                          const struct use *more);

static int32_t all_of_clang(int32_t thread, void *task)
{
    (void)thread;
    (void)task;
    all(NULL);
    return 0;
}

static void by_clang(void)
{
    const struct use use = {.flags = 0x80};

    begin();
    __kmpc_omp_task_with_deps(
        NULL, 0, __kmpc_omp_task_alloc(NULL, 0, 1, 64, 0, all_of_clang), 1,
        &use, 0, NULL);
    end("clang's form of omp_all_memory");
    begin();
    __kmpc_omp_wait_deps(NULL, 0, 1, &use, 0, NULL);
    all(NULL);
    end("taskwait for omp_all_memory");
}
#endif

int main(void)
{
#pragma omp parallel
#pragma omp single
    {
        by_gcc();
#ifdef __clang__
        by_clang();
#endif
    }
    printf("1..%d\n", nclaims);
    return nfailed > 0;
}
