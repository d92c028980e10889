/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/openmp/memory.c - tasks with data in memory of all sorts. Prints a line for each
 * datum: its address, and how many bytes are its share of what it is in; 0: nobody can know.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static double matrix[12][100];
static char lone[777];
int shared_integer;

static void task_on(char *data)
{
#pragma omp task depend(inout : data[0]) firstprivate(data)
    data[0]++;
}

static void say(const void *data, size_t bytes)
{
    printf("0x%lx %zu\n", (unsigned long)data, bytes);
}

/* Each in a block of its own. */
static void alone(void *data, size_t bytes)
{
    memset(data, 0, bytes);
    task_on(data);
    say(data, bytes);
}

static void allocations(void)
{
    void *at = malloc(5000);

    alone(at, 5000);
    alone(calloc(30, 100), 3000);
    alone(realloc(malloc(10), 70000), 70000);
    at = malloc(200000);
    alone(realloc(at, 300), 300);
    alone(reallocarray(NULL, 7, 9), 63);
    alone(aligned_alloc(4096, 8192), 8192);
    alone(posix_memalign(&at, 64, 6400) ? NULL : at, 6400);
    at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    alone(at, 1 << 20);
    at = mmap(NULL, 3 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(at, 1 << 16); /* the rest stays */
    alone((char *)at + (1 << 16), 2 << 16);
    alone(lone, sizeof(lone));
    alone(&shared_integer, sizeof(shared_integer));
}

/* Eight in one allocation, whose begin nobody uses; rows of a matrix. */
static void parts(void)
{
    char *block = calloc(9, 1000);

    for (int i = 1; i < 9; i++) {
        task_on(block + 1000 * i);
        say(block + 1000 * i, 9000 / 8);
    }
    for (int i = 0; i < 12; i++) {
        task_on((char *)matrix[i]);
        say(matrix[i], sizeof(matrix[i]));
    }
}

/* What is on a stack, and what was given back. */
static void unknown(void)
{
    static char *gone;
    char local[64] = {0};

    gone = malloc(300000);
    say(gone, 0);
    free(gone);
#pragma omp task depend(inout : gone[0])
    shared_integer++;
    task_on(local);
    say(local, 0);
#pragma omp taskwait
}

int main(void)
{
    int status = 0;

#pragma omp parallel
#pragma omp single
    {
        allocations();
        parts();
        unknown();
    }
    fflush(stdout);
    if (fork() == 0)
        _exit(malloc(10) ? 0 : 1);
    return wait(&status) < 0 || status != 0;
}
