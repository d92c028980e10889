/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/openmp/recorder.c - see recorder.h. Each thread writes into a chunk of the
 * log's file that is mapped for it alone; `used` grows when an event is complete, so that
 * a killed process leaves whole ones.
 */
#include "record/openmp/recorder.h"
#include "record/openmp/sizes.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { NCODES = 256 }; /* that a thread remembers, a power of two */

enum state { OFF, ON, CHILD };

/* What this process has once. */
static struct {
    pthread_once_t once;
    pthread_mutex_t lock; /* a new chunk */
    atomic_int state;
    int fd;
    struct orr_omp_header *header;
    uint64_t end; /* [lock] of the file */
    atomic_uint_fast64_t nthreads;
    atomic_bool has_team; /* the clock is chosen */
    __typeof__(&orrery_openmp_block) find_block; /* NULL: sizes are not asked for */
} recorder = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* Of each thread. */
static __thread struct {
    struct orr_omp_chunk *chunk; /* NULL: none yet, or no more */
    uint64_t thread, numbers;
    const void *codes[NCODES];
} self __attribute__((tls_model("initial-exec")));

static uint64_t nanoseconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

void *orr_omp_next(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    void *library;

    /* Of a program that has opened libgomp for one of its parts alone. */
    if (!function && (library = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD)))
        function = dlsym(library, name);
    if (!function) {
        fprintf(stderr, "orrery: error: %s is in no library of this program\n", name);
        abort();
    }
    return function;
}

/* --- the process --- */

static void recorder_leave_child(void)
{
    if (recorder.state == ON)
        recorder.state = CHILD;
}

static bool recorder_make_log(const char *path)
{
    struct orr_omp_header *header;
    cpu_set_t set;
    ssize_t n;

    recorder.fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (recorder.fd < 0 || posix_fallocate(recorder.fd, 0, ORR_OMP_PAGE) != 0)
        return false;
    header = mmap(NULL, ORR_OMP_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, recorder.fd, 0);
    if (header == MAP_FAILED)
        return false;
    recorder.header = header;
    recorder.end = ORR_OMP_PAGE;
    recorder.find_block =
        (__typeof__(recorder.find_block))dlsym(RTLD_DEFAULT, ORR_OMP_FIND_BLOCK);
    header->runtime = ORR_OMP_LIBGOMP;
    header->sizes = recorder.find_block != NULL;
    header->pid = (uint64_t)getpid();
    header->processors = sched_getaffinity(0, sizeof(set), &set) == 0
                             ? (uint64_t)CPU_COUNT(&set)
                             : (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    n = readlink("/proc/self/exe", header->program, sizeof(header->program) - 1);
    header->program[n > 0 ? n : 0] = '\0';
    memcpy(header->magic, ORR_OMP_MAGIC, sizeof(header->magic));
    return true;
}

static void recorder_begin(void)
{
    const char *prefix = getenv("ORRERY_OPENMP_LOG");
    char path[4096];

    if (!prefix || !*prefix || dlsym(RTLD_DEFAULT, "starpu_init"))
        return;
    snprintf(path, sizeof(path), "%s.%ld", prefix, (long)getpid());
    if (recorder_make_log(path)) {
        pthread_atfork(NULL, NULL, recorder_leave_child);
        recorder.state = ON;
        return;
    }
    fprintf(stderr, "orrery: error: %s: %s: OpenMP is not recorded\n", path, strerror(errno));
}

__attribute__((destructor)) static void recorder_end(void)
{
    if (recorder.state == ON)
        recorder.header->ended = 1;
}

bool orr_omp_on(void)
{
    if (recorder.state == ON)
        return true;
    pthread_once(&recorder.once, recorder_begin);
    if (recorder.state == CHILD)
        recorder.header->forked = 1;
    return recorder.state == ON;
}

void orr_omp_runtime(enum orr_omp_runtime runtime)
{
    if (orr_omp_on())
        recorder.header->runtime = runtime;
}

void orr_omp_team(unsigned threads)
{
    const char *clock = getenv("ORRERY_OPENMP_CLOCK");

    if (clock && !strcmp(clock, "cpu"))
        threads = UINT_MAX;
    if (!atomic_exchange(&recorder.has_team, true))
        recorder.header->cpu_clock = threads > recorder.header->processors;
}

/* --- events --- */

/* Whose number is in the upper bits. */
static uint64_t thread_number(void)
{
    if (!self.thread)
        self.thread = atomic_fetch_add(&recorder.nthreads, 1) + 1;
    return self.thread;
}

uint64_t orr_omp_number(void)
{
    return thread_number() << 40 | ++self.numbers;
}

/* Room that the file system has for certain: else a write would end the program. */
static struct orr_omp_chunk *recorder_new_chunk(void)
{
    void *chunk = MAP_FAILED;

    pthread_mutex_lock(&recorder.lock);
    if (!recorder.header->lost &&
        posix_fallocate(recorder.fd, (off_t)recorder.end, ORR_OMP_CHUNK) == 0)
        chunk = mmap(NULL, ORR_OMP_CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                     recorder.fd, (off_t)recorder.end);
    if (chunk != MAP_FAILED)
        recorder.end += ORR_OMP_CHUNK;
    else
        recorder.header->lost = 1;
    pthread_mutex_unlock(&recorder.lock);
    return chunk != MAP_FAILED ? chunk : NULL;
}

/* Memory for `bytes` of events; NULL: the log is full, or that of another process. What the search takes is in the
 * chunk as a gap. */
static void *recorder_room(size_t bytes)
{
    struct orr_omp_chunk *chunk = self.chunk;
    struct orr_omp_event *gap;
    uint64_t wall, spent;

    if (!orr_omp_on()) /* a child shares the chunks of its parent */
        return NULL;
    if (chunk && sizeof(*chunk) + chunk->used + bytes <= ORR_OMP_CHUNK)
        return (char *)(chunk + 1) + chunk->used;
    wall = nanoseconds(CLOCK_MONOTONIC);
    spent = recorder.header->cpu_clock ? nanoseconds(CLOCK_THREAD_CPUTIME_ID) : wall;
    if (chunk)
        munmap(chunk, ORR_OMP_CHUNK);
    self.chunk = chunk = recorder.header->lost ? NULL : recorder_new_chunk();
    if (!chunk)
        return NULL;
    chunk->thread = thread_number();
    gap = (struct orr_omp_event *)(chunk + 1);
    *gap = (struct orr_omp_event){.kind = ORR_OMP_GAP, .a = wall, .b = spent};
    gap->wall = nanoseconds(CLOCK_MONOTONIC);
    gap->spent =
        recorder.header->cpu_clock ? nanoseconds(CLOCK_THREAD_CPUTIME_ID) : gap->wall;
    chunk->used = sizeof(*gap);
    return gap + 1;
}

/* The event is complete. */
static void recorder_commit(size_t bytes)
{
    atomic_signal_fence(memory_order_release);
    self.chunk->used += bytes;
}

void orr_omp_put(enum orr_omp_kind kind, unsigned flags, uint32_t n, uint64_t a, uint64_t b)
{
    struct orr_omp_event *event = recorder_room(sizeof(*event));

    if (!event)
        return;
    event->wall = nanoseconds(CLOCK_MONOTONIC);
    event->spent =
        recorder.header->cpu_clock ? nanoseconds(CLOCK_THREAD_CPUTIME_ID) : event->wall;
    event->kind = (uint16_t)kind;
    event->flags = (uint16_t)flags;
    event->n = n;
    event->a = a;
    event->b = b;
    recorder_commit(sizeof(*event));
}

/* --- code --- */

/* Of ORR_OMP_CODE or ORR_OMP_DATUM. */
static void recorder_put_code(enum orr_omp_kind kind, const void *code, bool returns)
{
    struct link_map *map = NULL;
    const char *name;
    struct orr_omp_event *event;
    size_t length, bytes;
    Dl_info info;

    if (!dladdr1(code, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return;
    name = map->l_name && *map->l_name ? map->l_name : recorder.header->program;
    length = strnlen(name, 4095) + 1;
    bytes = sizeof(*event) * (1 + (length + sizeof(*event) - 1) / sizeof(*event));
    event = recorder_room(bytes);
    if (!event)
        return;
    memset(event, 0, bytes);
    event->wall = nanoseconds(CLOCK_MONOTONIC);
    event->spent =
        recorder.header->cpu_clock ? nanoseconds(CLOCK_THREAD_CPUTIME_ID) : event->wall;
    event->kind = (uint16_t)kind;
    event->flags = returns;
    event->n = (uint32_t)length;
    event->a = (uintptr_t)code;
    event->b = map->l_addr;
    memcpy(event + 1, name, length - 1);
    recorder_commit(bytes);
}

/* Once a thread, or seldom. */
static uint64_t code_or_datum(enum orr_omp_kind kind, const void *code, bool returns)
{
    uintptr_t address = (uintptr_t)code;
    const void **place = &self.codes[(address >> 4 ^ address >> 12) % NCODES];

    if (code && *place != code) {
        *place = code;
        recorder_put_code(kind, code, returns);
    }
    return address;
}

uint64_t orr_omp_code(const void *code, bool returns)
{
    return code_or_datum(ORR_OMP_CODE, code, returns);
}

void orr_omp_depend(uint64_t task, enum orr_omp_mode mode, uint64_t address)
{
    uint64_t begin, bytes;

    if (recorder.find_block && recorder.find_block(address, &begin, &bytes))
        orr_omp_put(ORR_OMP_BLOCK, 0, 0, begin, bytes);
    else if (recorder.find_block)
        (void)code_or_datum(ORR_OMP_DATUM, (const void *)(uintptr_t)address, false);
    orr_omp_put(ORR_OMP_DEPEND, 0, mode, task, address);
}
