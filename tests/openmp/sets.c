/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/openmp/sets.c - depend(inoutset) and depend(mutexinoutset), as claims of TAP. Two
 * tasks of an inoutset meet inside of their bodies, which they can only if both run; those
 * of a mutexinoutset must not. Compilers of today do not know the word inoutset: what it
 * becomes is put into an omp_depend_t by hand.
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

static int nclaims, nfailed;

static void claim(int holds, const char *what)
{
    nclaims++;
    nfailed += !holds;
    printf("%sok %d - %s\n", holds ? "" : "not ", nclaims, what);
}

#ifdef __clang__
struct use {
    intptr_t address;
    size_t length;
    uint8_t flags;
};
#define MAKE_SET(it) (((struct use *)(it))->flags = 8)
#else
struct object {
    void *address;
    uintptr_t kind;
};
#define MAKE_SET(it) (((struct object *)(void *)&(it))->kind = 5)
#endif

static int here;

/* Returns when two tasks have come here. Other tasks of the thread may go first: two threads
 * are not needed. */
static void meet(void)
{
    int now;

#pragma omp atomic
    here++;
    do {
#pragma omp taskyield
#pragma omp atomic read
        now = here;
    } while (now < 2);
}

static void sets_meet(void)
{
    int x = 0;
    omp_depend_t set;

#pragma omp depobj(set) depend(mutexinoutset : x)
    MAKE_SET(set);
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 2; i++)
#pragma omp task depend(depobj : set)
            meet();
#pragma omp taskwait
        here = 0;
#pragma omp task depend(in : x)
        here = 0;
        for (int i = 0; i < 2; i++)
#pragma omp task depend(depobj : set)
            meet();
#pragma omp task depend(in : x)
        here = 0;
        for (int i = 0; i < 2; i++)
#pragma omp task depend(depobj : set)
            meet();
    }
#pragma omp depobj(set) destroy
    claim(here == 2, "tasks of an inoutset run at the same time");
}

enum { ROUNDS = 20, READERS = 4, WRITERS = 3 };

static void let_others_go(void)
{
    for (int i = 0; i < READERS + WRITERS; i++) {
#pragma omp taskyield
    }
}

/* Readers, a set, now and then one that writes alone. */
static void sets_are_in_order(void)
{
    int x = 0, value = 0, wrong = 0;
    omp_depend_t set;

#pragma omp depobj(set) depend(mutexinoutset : x)
    MAKE_SET(set);
#pragma omp parallel
#pragma omp single
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < READERS; i++)
#pragma omp task depend(in : x) shared(value, wrong)
        {
            let_others_go();
#pragma omp atomic
            wrong += value != round * (WRITERS + 1);
        }
        for (int i = 0; i < WRITERS; i++)
#pragma omp task depend(depobj : set) shared(value)
        {
            let_others_go();
#pragma omp atomic
            value++;
        }
#pragma omp task depend(inout : x) shared(value, wrong)
        {
            let_others_go();
#pragma omp atomic
            wrong += value != round * (WRITERS + 1) + WRITERS;
            value++;
        }
    }
#pragma omp depobj(set) destroy
    claim(wrong == 0 && value == ROUNDS * (WRITERS + 1),
          "readers wait for an inoutset, and it for them");
}

/* Each thread creates its own tasks, which are ordered among themselves. */
static void threads_have_sets(void)
{
    int x = 0, wrong = 0;

#pragma omp parallel num_threads(3)
    {
        int value = 0;
        omp_depend_t set;

#pragma omp depobj(set) depend(mutexinoutset : x)
        MAKE_SET(set);
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < WRITERS; i++)
#pragma omp task depend(depobj : set) shared(value)
            {
                let_others_go();
#pragma omp atomic
                value++;
            }
#pragma omp task depend(in : x) shared(value, wrong)
            {
                let_others_go();
#pragma omp atomic
                wrong += value != (round + 1) * WRITERS;
            }
        }
#pragma omp taskwait
#pragma omp depobj(set) destroy
    }
    claim(wrong == 0, "sets of several threads");
}

static void one_at_a_time(void)
{
    int x = 0, inside = 0, most = 0, n = 0;

#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 50; i++)
#pragma omp task depend(mutexinoutset : x) shared(inside, most, n)
    {
        int now;

#pragma omp atomic capture
        now = ++inside;
        let_others_go();
        most = now > most ? now : most;
        n++;
#pragma omp atomic
        inside--;
    }
    claim(most == 1 && n == 50, "tasks of a mutexinoutset come one at a time");
}

int main(void)
{
    sets_meet();
    sets_are_in_order();
    threads_have_sets();
    one_at_a_time();
    printf("1..%d\n", nclaims);
    return nfailed != 0;
}
