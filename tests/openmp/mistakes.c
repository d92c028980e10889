/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/openmp/mistakes.c - what is not possible on our runtime, by the first argument. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *region(void *unused)
{
    int n = 0;

    (void)unused;
#pragma omp parallel reduction(+ : n)
    n++;
    printf("%d threads\n", n);
    return NULL;
}

static void forked(void)
{
    int status;
    pid_t child;

    region(NULL);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        region(NULL);
        exit(0);
    }
    waitpid(child, &status, 0);
    exit(WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
    const char *mistake = argc > 1 ? argv[1] : "";
    pthread_t thread;
    omp_lock_t lock;

    if (!strcmp(mistake, "thread")) {
        region(NULL);
        pthread_create(&thread, NULL, region, NULL);
        pthread_join(thread, NULL);
    } else if (!strcmp(mistake, "fork")) {
        forked();
    } else if (!strcmp(mistake, "lock")) {
        memset(&lock, 0, sizeof(lock));
        omp_set_lock(&lock);
    } else if (!strcmp(mistake, "target")) {
#pragma omp target
        printf("target\n");
    } else if (!strcmp(mistake, "exit")) {
#pragma omp parallel num_threads(2)
#pragma omp master
        exit(7);
    }
    return 0;
}
