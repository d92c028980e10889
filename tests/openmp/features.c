/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/openmp/features.c - what OpenMP promises of each construct that compilers translate
 * to calls, as claims of TAP. It is an ordinary OpenMP program, which knows no runtime.
 */
#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int nclaims, nfailed;

static void claim(bool holds, const char *what)
{
    nclaims++;
    nfailed += !holds;
    printf("%sok %d - %s\n", holds ? "" : "not ", nclaims, what);
}

enum { N = 1000 };

static int counts[N];

static bool each_once(int n, int step)
{
    for (int i = 0; i < N; i++)
        if (counts[i] != (i < n && i % step == 0))
            return false;
    return true;
}

/* -- regions -- */

static void regions(void)
{
    int n = 0, threads = 0, inner = 0;

#pragma omp parallel reduction(+ : n)
    {
        n++;
#pragma omp single
        threads = omp_get_num_threads();
    }
    claim(n == threads, "each thread executes a region");
    claim(threads == omp_get_max_threads(), "a region has as many threads as were said");
    n = 0;
#pragma omp parallel num_threads(3) reduction(+ : n)
    n += omp_get_num_threads() == 3;
    claim(n == 3, "num_threads");
    n = 0;
#pragma omp parallel if (n > 0)
    n += omp_get_num_threads();
    claim(n == 1, "if that is false");
    omp_set_max_active_levels(2);
    n = 0;
#pragma omp parallel num_threads(2) reduction(+ : n) reduction(+ : inner)
    {
#pragma omp parallel num_threads(3) reduction(+ : n) reduction(+ : inner)
        {
            n++;
            inner += omp_get_level() == 2 && omp_get_team_size(1) == 2;
        }
    }
    claim(n == 6 && inner == 6, "regions in regions");
    omp_set_max_active_levels(1);
    n = 0;
#pragma omp parallel
#pragma omp master
    n++;
    claim(n == 1, "master");
    claim(!omp_in_parallel(), "no region outside");
}

static int private_value;
#pragma omp threadprivate(private_value)

static void variables(void)
{
    int x = 5, last = -1, sum = 0, good = 0;
    double many[20] = {0};
    int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i1 = 9, j = 10, k = 11,
        l = 12, m = 13, n = 14, o = 15, p = 16, q = 17, r = 18;

#pragma omp parallel firstprivate(x) reduction(+ : sum)
    {
        x++;
        sum += x == 6;
    }
    claim(sum == omp_get_max_threads() && x == 5, "firstprivate");
#pragma omp parallel for lastprivate(last) schedule(dynamic, 7)
    for (int i = 0; i < N; i++)
        last = i;
    claim(last == N - 1, "lastprivate of a dynamic loop");
    last = -1;
#pragma omp parallel for lastprivate(last)
    for (int i = 0; i < N; i++)
        last = i;
    claim(last == N - 1, "lastprivate of a static loop");
    private_value = 7;
#pragma omp parallel copyin(private_value) reduction(+ : good)
    good += private_value == 7;
    claim(good == omp_get_max_threads(), "copyin");
    good = 0;
    /* One region behind the other: thread 0 is this one each time. */
    for (int i = 0; i < 2000; i++) {
        private_value = i;
#pragma omp parallel copyin(private_value) reduction(+ : good)
        good += private_value == i;
    }
    claim(good == 2000 * omp_get_max_threads(), "copyin of many regions");
    private_value = -5;
    good = 0;
#pragma omp parallel reduction(+ : good)
    {
        good += omp_get_thread_num() > 0 || private_value == -5;
        private_value = omp_get_thread_num() * 3;
#pragma omp barrier
        good += private_value == omp_get_thread_num() * 3;
    }
    claim(good == 2 * omp_get_max_threads() && private_value == 0,
          "threadprivate: main is thread 0");
#pragma omp parallel reduction(+ : good)
    good += private_value == omp_get_thread_num() * 3;
    claim(good == 3 * omp_get_max_threads(),
          "threadprivate values outlive a region");
    good = 0;
#pragma omp parallel reduction(+ : good) private(x)
    {
#pragma omp single copyprivate(x)
        x = 42;
        good += x == 42;
    }
    claim(good == omp_get_max_threads(), "copyprivate");
#pragma omp parallel reduction(+ : a, b, c, d, e, f, g, h, i1, j, k, l, m, n, o, p, q, r)
    {
        a++, b++, c++, d++, e++, f++, g++, h++, i1++, j++, k++, l++, m++, n++, o++, p++, q++,
            r++;
#pragma omp atomic
        many[0] += 1;
    }
    claim(a + b + c + d + e + f + g + h + i1 + j + k + l + m + n + o + p + q + r ==
                  171 + 18 * omp_get_max_threads() &&
              (int)many[0] == omp_get_max_threads(),
          "a region with many variables");
}

/* -- loops -- */

#define LOOP(clauses, text)                                                            \
    do {                                                                               \
        memset(counts, 0, sizeof(counts));                                             \
        _Pragma("omp parallel") _Pragma(clauses) for (int i = 0; i < N; i++) counts[i]++;  \
        claim(each_once(N, 1), text);                                                  \
    } while (0)

static void loops(void)
{
    long long sum = 0;
    unsigned long long usum = 0;
    int n = 0;

    LOOP("omp for", "a loop");
    LOOP("omp for schedule(static, 3)", "static chunks");
    LOOP("omp for schedule(dynamic)", "dynamic");
    LOOP("omp for schedule(dynamic, 17)", "dynamic chunks");
    LOOP("omp for schedule(guided)", "guided");
    LOOP("omp for schedule(guided, 5)", "guided chunks");
    LOOP("omp for schedule(runtime)", "runtime");
    LOOP("omp for schedule(auto)", "auto");
    LOOP("omp for schedule(monotonic : dynamic, 2)", "monotonic");
    LOOP("omp for nowait", "nowait");
    memset(counts, 0, sizeof(counts));
#pragma omp parallel for schedule(dynamic, 2)
    for (int i = 0; i < N; i += 7)
        counts[i]++;
    claim(each_once(N, 7), "a step");
    memset(counts, 0, sizeof(counts));
#pragma omp parallel for schedule(dynamic, 2)
    for (int i = N - 1; i >= 0; i--)
        counts[i]++;
    claim(each_once(N, 1), "downwards");
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 3)
    for (long long i = LLONG_MAX - 100; i < LLONG_MAX; i++)
        sum += LLONG_MAX - i;
    claim(sum == 5050, "near the greatest number");
    sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(guided)
    for (long i = -500; i <= 500; i++)
        sum += i;
    claim(sum == 0, "negative numbers");
#pragma omp parallel for reduction(+ : usum) schedule(dynamic, 3)
    for (unsigned long long i = ULLONG_MAX - 10; i < ULLONG_MAX; i++)
        usum += ULLONG_MAX - i;
    claim(usum == 55, "numbers without sign");
    n = 0;
#pragma omp parallel for reduction(+ : n) schedule(dynamic)
    for (int i = 5; i < 5; i++)
        n++;
#pragma omp parallel for reduction(+ : n)
    for (int i = 5; i < 4; i++)
        n++;
    claim(n == 0, "no iterations");
    n = 0;
#pragma omp parallel for collapse(2) reduction(+ : n) schedule(dynamic, 4)
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 30; j++)
            n += i * j;
    claim(n == 190 * 435, "collapse");
    n = 0;
#pragma omp parallel for simd reduction(+ : n)
    for (int i = 0; i < N; i++)
        n += i;
    claim(n == N * (N - 1) / 2, "for simd");
}

static void ordered(void)
{
    int next = 0, good = 0, grid[30][40] = {{0}};

#pragma omp parallel for ordered schedule(dynamic, 3)
    for (int i = 0; i < N; i++) {
        if (i % 5 == 0)
            continue;
#pragma omp ordered
        {
            good += i > next;
            next = i;
        }
    }
    claim(good == N - N / 5, "ordered, dynamic");
    good = next = 0;
#pragma omp parallel for ordered schedule(static, 2)
    for (int i = 0; i < N; i++) {
#pragma omp ordered
        {
            good += i == next;
            next++;
        }
    }
    claim(good == N, "ordered, static");
    good = next = 0;
#pragma omp parallel for ordered
    for (unsigned long i = 0; i < N; i++) {
#pragma omp ordered
        {
            good += i == (unsigned long)next;
            next++;
        }
    }
    claim(good == N, "ordered, in blocks");
#pragma omp parallel for ordered(2) schedule(static, 1)
    for (int i = 1; i < 30; i++)
        for (int j = 1; j < 40; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
            grid[i][j] = 1 + grid[i - 1][j] + grid[i][j - 1];
#pragma omp ordered depend(source)
        }
    good = 1;
    for (int i = 1; i < 30; i++)
        for (int j = 1; j < 40; j++)
            good &= grid[i][j] == 1 + grid[i - 1][j] + grid[i][j - 1];
    claim(good, "iterations that wait for others");
    memset(grid, 0, sizeof(grid));
#pragma omp parallel for ordered(2) schedule(static, 1)
    for (int i = 1; i < 30; i++)
        for (int j = 1; j < 40; j++) {
#pragma omp ordered depend(sink : i - 1, j + 1)
            grid[i][j] = 1 + (j < 39 ? grid[i - 1][j + 1] : 0);
#pragma omp ordered depend(source)
        }
    claim(
        grid[29][11] == 29 && grid[29][39] == 1 && grid[20][30] == 10,
        "iterations that are behind the end of a loop are waited for by nobody");
    memset(grid, 0, sizeof(grid));
#pragma omp parallel for ordered(1) schedule(dynamic)
    for (int i = 28; i >= 0; i -= 2) {
#pragma omp ordered depend(sink : i + 2)
        grid[i][0] = 1 + (i < 28 ? grid[i + 2][0] : 0);
#pragma omp ordered depend(source)
    }
    claim(grid[0][0] == 15, "iterations that wait, downwards");
}

static void sections(void)
{
    int a = 0, b = 0, c = 0;

#pragma omp parallel sections
    {
#pragma omp section
        a++;
#pragma omp section
        b++;
#pragma omp section
        c++;
    }
    claim(a == 1 && b == 1 && c == 1, "parallel sections");
#pragma omp parallel
    {
#pragma omp sections nowait
        {
#pragma omp section
            a++;
#pragma omp section
            b++;
        }
#pragma omp sections reduction(+ : c)
        {
#pragma omp section
            c += a == 2 || a == 1;
        }
    }
    claim(a == 2 && b == 2 && c == 2, "sections");
}

/* -- one at a time -- */

static void exclusion(void)
{
    int n = 0, m = 0, k = 0, depth = 0;
    long double precise = 0;
    struct {
        double v;
    } s = {0};
    omp_lock_t lock;
    omp_nest_lock_t nest;

    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 200; i++) {
#pragma omp critical
        n++;
#pragma omp critical(other)
        m++;
        omp_set_lock(&lock);
        k++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        depth++;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
#ifdef __clang__ /* which wants another library for that */
#pragma omp critical
#else
#pragma omp atomic
#endif
        precise += 1;
#pragma omp atomic
        s.v += 0.5;
    }
    claim(n == 800 && m == 800, "critical");
    claim(k == 800 && omp_test_lock(&lock), "locks");
    claim(depth == 800 && omp_test_nest_lock(&nest) == 1, "nestable locks");
    claim((int)precise == 800 && (int)s.v == 400, "atomic");
    omp_unset_lock(&lock);
    omp_unset_nest_lock(&nest);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    for (int i = 0; i < N; i++) {
        omp_lock_t l[3];

        for (int j = 0; j < 3; j++)
            omp_init_lock(&l[j]);
        for (int j = 0; j < 3; j++)
            omp_destroy_lock(&l[j]);
    }
    claim(true, "locks made again and again");
}

/* -- tasks -- */

static long fib(int n)
{
    long a, b;

    if (n < 2)
        return n;
#pragma omp task shared(a) final(n < 8)
    a = fib(n - 1);
#pragma omp task shared(b) if (n > 5)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static void tasks(void)
{
    long f = 0;
    int done = 0, x = 0, order = 0, good = 0, chain[64] = {0};
    char big[3000];

#pragma omp parallel
#pragma omp single
    f = fib(20);
    claim(f == 6765, "tasks in tasks");
    f = fib(12);
    claim(f == 144, "tasks outside of regions");
#pragma omp parallel
    for (int i = 0; i < 100; i++)
#pragma omp task
    {
#pragma omp atomic
        done++;
    }
    claim(done == 100 * omp_get_max_threads(), "a region waits for its tasks");
    done = 0;
    memset(big, 3, sizeof(big));
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 50; i++)
#pragma omp task firstprivate(i, big) untied
        {
            if (big[i * 50] == 3)
#pragma omp atomic
                done++;
#pragma omp taskyield
        }
        memset(big, 4, sizeof(big));
    }
    claim(done == 50, "data of tasks are copies");
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 64; i++) {
#pragma omp task depend(inout : x)
            {
                good += order == i;
                order++;
            }
        }
#pragma omp task depend(in : x)
        good += order == 64;
    }
    claim(good == 65, "depend on one variable");
#pragma omp parallel
#pragma omp single
    for (int i = 1; i < 64; i++)
#pragma omp task depend(in : chain[i - 1]) depend(out : chain[i])
        chain[i] = chain[i - 1] + 1;
    claim(chain[63] == 63, "depend on a chain of variables");
    good = 0;
#pragma omp parallel
#pragma omp single
    {
        int v[40] = {0}, w = 0;

        for (int i = 0; i < 40; i++)
#pragma omp task depend(out : v[i]) shared(v)
            v[i] = 1;
#pragma omp task depend(in : v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9],       \
                            v[10], v[11], v[12], v[13], v[14], v[15], v[16], v[17], v[18],     \
                            v[19]) depend(out : w) shared(v, w)
        for (int i = 0; i < 20; i++)
            w += v[i];
#pragma omp task depend(in : w) if (0) shared(w)
        good = w == 20;
#pragma omp taskwait
    }
    claim(good, "depend on many variables; a task that is not deferred");
    x = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 100; i++)
#pragma omp task depend(mutexinoutset : x)
            x++;
#pragma omp task depend(in : x)
        good = x;
#pragma omp taskwait depend(inout : x)
        good += x;
    }
    claim(good == 200, "mutexinoutset, taskwait depend");
    good = 0;
#pragma omp parallel num_threads(3)
    for (int i = 0; i < 40; i++) {
        int own = 0;

#pragma omp barrier
#pragma omp task depend(out : counts[i]) shared(own)
        {
#pragma omp taskyield
            own = 1;
        }
#pragma omp task depend(in : counts[i]) shared(own, good)
        {
#pragma omp atomic
            good += own;
        }
#pragma omp taskwait
    }
    claim(good == 120, "threads that name a variable first at one time order their own tasks");
    done = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        {
            for (int i = 0; i < 10; i++)
#pragma omp task
            {
#pragma omp task
                {
#pragma omp atomic
                    done++;
                }
            }
        }
        good = done;
    }
    claim(good == 10, "a taskgroup waits for tasks of its tasks");
}

/* Some time after all others wait. */
static void *fulfil_late(void *event)
{
    usleep(20000);
    omp_fulfill_event((omp_event_handle_t)(size_t)event);
    return NULL;
}

static void events(void)
{
    pthread_t thread;
    omp_event_handle_t event = 0;
    int after = 0;
    atomic_bool bodied = false;

#pragma omp parallel num_threads(3)
#pragma omp single
    {
        int x = 0;

#pragma omp task detach(event) depend(out : x)
        atomic_store(&bodied, true);
#pragma omp task depend(in : x) shared(after)
        after = 1;
#pragma omp task shared(bodied) firstprivate(event)
        {
            while (!atomic_load(&bodied)) {
#pragma omp taskyield
            }
            omp_fulfill_event(event);
        }
#pragma omp taskwait
    }
    claim(after == 1, "a detached task ends with its event");
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t own = 0;
#pragma omp task detach(own)
        omp_fulfill_event(own);
#pragma omp taskwait
    }
    claim(true, "an event that its own task fulfils");
    after = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
    {
        omp_event_handle_t late = 0;
        int x = 0;

#pragma omp task detach(late) depend(out : x) shared(thread)
        pthread_create(&thread, NULL, fulfil_late, (void *)(size_t)late);
#pragma omp task depend(in : x) shared(after)
        after = 1;
#pragma omp taskwait
        after += after;
    }
    pthread_join(thread, NULL);
    claim(after == 2, "an event that a thread of the program's own fulfils");
}

static void taskloops(void)
{
    int sum = 0;

#define TASKLOOP(clauses, text)                                                        \
    do {                                                                               \
        memset(counts, 0, sizeof(counts));                                             \
        _Pragma("omp parallel") _Pragma("omp single")                                  \
            _Pragma(clauses) for (int i = 0; i < N; i++) counts[i]++;                  \
        claim(each_once(N, 1), text);                                                  \
    } while (0)
    TASKLOOP("omp taskloop", "taskloop");
    TASKLOOP("omp taskloop grainsize(13)", "taskloop with a grain");
    TASKLOOP("omp taskloop num_tasks(7)", "taskloop of 7 tasks");
    TASKLOOP("omp taskloop nogroup", "taskloop without group");
    TASKLOOP("omp taskloop untied", "untied taskloop");
    memset(counts, 0, sizeof(counts));
#pragma omp parallel
#pragma omp single
#pragma omp taskloop num_tasks(5)
    for (unsigned long i = 0; i < N; i += 3)
        counts[i]++;
    claim(each_once(N, 3), "taskloop with a step");
#pragma omp parallel
#pragma omp single
#pragma omp taskloop reduction(+ : sum) grainsize(4)
    for (int i = 0; i < 100; i++)
        sum += i;
    claim(sum == 4950, "taskloop with a reduction");
    sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop lastprivate(sum)
    for (int i = 0; i < 100; i++)
        sum = i;
    claim(sum == 99, "taskloop with lastprivate");
}

static void reductions(void)
{
    int sum = 0, product = 1, both = 0, count = 0;

#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(* : product)
        {
            for (int i = 1; i <= 10; i++) {
#pragma omp task in_reduction(+ : sum) firstprivate(i)
                {
                    sum += i;
#pragma omp task in_reduction(+ : sum)
                    sum += 100;
                }
                if (i < 6)
#pragma omp task in_reduction(* : product) firstprivate(i)
                    product *= i;
            }
        }
    }
    claim(sum == 1055 && product == 120, "reductions over tasks");
#pragma omp parallel reduction(task, + : both)
    {
        both++;
#pragma omp task in_reduction(+ : both)
        both += 1000;
    }
    claim(both == 1001 * omp_get_max_threads(), "reductions over a region and its tasks");
#pragma omp parallel
    {
#pragma omp for reduction(task, + : count)
        for (int i = 0; i < 10; i++) {
            count++;
#pragma omp task in_reduction(+ : count)
            count += 100;
        }
    }
    claim(count == 1010, "reductions over a loop and its tasks");
}

/* -- cancellation, where it is allowed -- */

static void cancellation(void)
{
    int n = 0, found = -1, after = 0;
    bool may = omp_get_cancellation();

#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < 100000; i++) {
#pragma omp atomic
            n++;
            if (i == 10) {
                found = i;
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
#pragma omp atomic
        after++;
    }
    claim(found == 10 && after == 4 && (may ? n < 100000 : n == 100000),
          "a loop that is cancelled");
    after = 0;
#pragma omp parallel num_threads(4)
    {
        if (omp_get_thread_num() == 2) {
#pragma omp cancel parallel
        }
#pragma omp barrier
#pragma omp atomic
        after++;
#pragma omp barrier
#pragma omp cancellation point parallel
    }
    claim(may ? after == 0 : after == 4, "a region that is cancelled");
    n = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 1000; i++)
#pragma omp task firstprivate(i)
    {
#pragma omp atomic
        n++;
        if (i == 0) {
#pragma omp cancel taskgroup
        }
    }
    claim(may ? n <= 1000 : n == 1000, "a taskgroup that is cancelled");
    n = 0;
#pragma omp parallel num_threads(2)
#pragma omp for
    for (int i = 0; i < 100; i++)
#pragma omp atomic
        n++;
    claim(n == 100, "loops after that");
}

static void questions(void)
{
    omp_sched_t kind;
    int chunk;
    double begin = omp_get_wtime();

    omp_set_schedule(omp_sched_guided, 3);
    omp_get_schedule(&kind, &chunk);
    claim((kind & ~omp_sched_monotonic) == omp_sched_guided && chunk == 3, "schedules are set");
    claim(omp_get_wtime() >= begin && omp_get_wtick() > 0, "time");
    claim(omp_get_num_procs() > 0 &&
              omp_get_thread_limit() >= omp_get_max_threads() &&
              omp_get_num_devices() == 0 && omp_is_initial_device(),
          "the machine");
    omp_set_dynamic(1);
    chunk = 0;
#pragma omp parallel num_threads(100)
#pragma omp single
    chunk = omp_get_num_threads();
    claim(omp_get_dynamic() && chunk > 0 && chunk < 100, "dynamic");
    omp_set_dynamic(0);
    omp_set_num_threads(5);
    claim(omp_get_max_threads() == 5, "omp_set_num_threads");
}

int main(void)
{
    regions();
    variables();
    loops();
    ordered();
    sections();
    exclusion();
    tasks();
    events();
    taskloops();
    reductions();
    cancellation();
    questions();
    printf("1..%d\n", nclaims);
    return nfailed > 0;
}
