/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/switch.c - see switch.h. The stacks, the exception state of C++,
 * and the annotations for the sanitizers and valgrind.
 */
#include "core/device/switch.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* ORR_FIBER_UCONTEXT selects the portable implementation where a fast one
 * exists. */
#if !defined(__x86_64__) && !defined(__aarch64__)
#    define ORR_FIBER_UCONTEXT 1
#endif
#if defined(ORR_FIBER_UCONTEXT)
#    include <ucontext.h>
#endif

#if defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define ORR_FIBER_ASAN 1
#    endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#    define ORR_FIBER_ASAN 1
#endif
#if defined(__has_feature)
#    if __has_feature(thread_sanitizer)
#        define ORR_FIBER_TSAN 1
#    endif
#endif
#if defined(__SANITIZE_THREAD__)
#    define ORR_FIBER_TSAN 1
#endif
#if defined(ORR_FIBER_TSAN)
#    include <sanitizer/tsan_interface.h>
#endif
#if defined(ORR_FIBER_ASAN)
#    include <sanitizer/asan_interface.h>
#    include <sanitizer/common_interface_defs.h>
#endif
#if defined(__has_include)
#    if __has_include(<valgrind/valgrind.h>)
#        include <valgrind/valgrind.h>
#    endif
#endif

#define STACK_MIN ((size_t)256 << 10)
#define STACK_MAX ((size_t)8 << 20)

/* The C++ ABI's name for the thread's exception state; not there in a process
 * that has no C++. */
__attribute__((weak)) void *__cxa_get_globals(void);

typedef void *(*globals_fn)(void);

static int is_cxx_library(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    return strstr(info->dlpi_name, "libstdc++.so.6") != NULL;
}

/* Also of a C++ library that a C program has opened, whose names are its own. Each stack
 * asks, and a name that is not there is looked for in files: so those that are there are
 * looked at before. */
static globals_fn find_globals(void)
{
    globals_fn found = NULL;
    void *library, *symbol;

    if (__cxa_get_globals)
        return __cxa_get_globals;
    library = dl_iterate_phdr(is_cxx_library, NULL)
                  ? dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD)
                  : NULL;
    if (!library)
        return NULL;
    symbol = dlsym(library, "__cxa_get_globals");
    memcpy(&found, &symbol, sizeof(found));
    dlclose(library); /* NOLOAD counts a use */
    return found;
}

size_t orr_fiber_default_size(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_STACK, &limit) != 0 ||
        limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > STACK_MAX)
        return STACK_MAX;
    return limit.rlim_cur < STACK_MIN ? STACK_MIN : (size_t)limit.rlim_cur;
}

/* Tells the sanitizers that we leave `from` for `to`. */
static void fiber_announce_switch(struct orr_fiber *from, const struct orr_fiber *to,
                                  bool last)
{
#if defined(ORR_FIBER_ASAN)
    __sanitizer_start_switch_fiber(last ? NULL : &from->fake_stack, to->bottom,
                                   to->bottom_size);
#else
    (void)from, (void)to, (void)last;
#endif
#if defined(ORR_FIBER_TSAN)
    __tsan_switch_to_fiber(to->thread_sanitizer, 0);
#endif
}

/* The other half, after arrival on `self`. The bounds of main's stack are known
 * here: they are those of the former stack. */
static void fiber_arrive(struct orr_fiber *self)
{
#if defined(ORR_FIBER_ASAN)
    const void *bottom;
    size_t size;

    __sanitizer_finish_switch_fiber(self->fake_stack, &bottom, &size);
    self->fake_stack = NULL;
    if (!self->came_from->bottom) {
        self->came_from->bottom = bottom;
        self->came_from->bottom_size = size;
    }
#else
    (void)self;
#endif
}

static void fiber_main(void *arg)
{
    struct orr_fiber *fiber = arg;

    fiber_arrive(fiber);
    fiber->entry(fiber->arg);
    abort(); /* an entry ends in orr_fiber_leave() */
}

#if !defined(ORR_FIBER_UCONTEXT)

void orr_switch_stacks(void **save, void *to);
void orr_switch_start(void);
void orr_call_on_stack(void *top, void (*function)(void *), void *arg);

/* Lays out the frame that orr_switch_stacks() will take off. */
static int fiber_prepare(struct orr_fiber *fiber)
{
    uintptr_t *top = (uintptr_t *)(fiber->stack + fiber->size);
#    if defined(__x86_64__)
    /* Control words, r15 r14 r13 r12 rbx rbp, return address; two zeros stay
     * above, so that orr_switch_start() finds a multiple of 16 and the
     * unwinder no caller. */
    uintptr_t *frame = top - 10;
    uint32_t words[2] = {0, 0};

    memset(frame, 0, 10 * sizeof(*frame));
    __asm__ volatile("stmxcsr %0" : "=m"(words[0]));
    __asm__ volatile("fnstcw %0" : "=m"(words[1]));
    memcpy(frame, words, sizeof(words));
    frame[3] = (uintptr_t)fiber;            /* r13 */
    frame[4] = (uintptr_t)fiber_main;       /* r12 */
    frame[7] = (uintptr_t)orr_switch_start; /* return address */
#    else
    uintptr_t *frame = top - 22;

    memset(frame, 0, 22 * sizeof(*frame));
    frame[0] = (uintptr_t)fiber_main;        /* x19 */
    frame[1] = (uintptr_t)fiber;             /* x20 */
    frame[11] = (uintptr_t)orr_switch_start; /* x30 */
    __asm__ volatile("mrs %0, fpcr" : "=r"(frame[20]));
#    endif
    fiber->sp = frame;
    return 0;
}

static void fiber_forget(struct orr_fiber *fiber)
{
    (void)fiber;
}

static void fiber_exchange(struct orr_fiber *from, struct orr_fiber *to)
{
    orr_switch_stacks(&from->sp, to->sp);
}

/* What is left free there is more than any ABI's leaf functions use beneath their frame. */
static void fiber_call_on(const struct orr_fiber *host, void (*function)(void *),
                          void *arg)
{
    uintptr_t top = ((uintptr_t)host->sp - 256) & ~(uintptr_t)63;

    orr_call_on_stack((void *)top, function, arg);
}

#else

/* Elsewhere: slower by a system call, since swapcontext saves signal masks. */
static void fiber_main_halves(unsigned high, unsigned low)
{
    fiber_main((void *)(uintptr_t)((uint64_t)high << 32 | low));
}

static int fiber_prepare(struct orr_fiber *fiber)
{
    ucontext_t *context = malloc(sizeof(*context));
    uint64_t bits = (uintptr_t)fiber;

    if (!context)
        return -ENOMEM;
    getcontext(context);
    context->uc_stack.ss_sp = fiber->stack;
    context->uc_stack.ss_size = fiber->size;
    context->uc_link = NULL;
    makecontext(context, (void (*)(void))fiber_main_halves, 2,
                (unsigned)(bits >> 32), (unsigned)bits);
    fiber->sp = context;
    return 0;
}

static void fiber_forget(struct orr_fiber *fiber)
{
    if (fiber->stack)
        free(fiber->sp);
}

static void fiber_exchange(struct orr_fiber *from, struct orr_fiber *to)
{
    ucontext_t own;

    /* main's context lives on its own stack while it is away. */
    if (!from->stack)
        from->sp = &own;
    swapcontext(from->sp, to->sp);
}

static void fiber_call_halves(unsigned high, unsigned low)
{
    const uintptr_t *call = (const uintptr_t *)(uintptr_t)((uint64_t)high << 32 | low);

    ((void (*)(void *))call[0])((void *)call[1]);
}

/* A stack that ends beneath the context of `host`, which is on its stack; how far it goes
 * down nobody asks. */
static void fiber_call_on(const struct orr_fiber *host, void (*function)(void *),
                          void *arg)
{
    enum { LENGTH = 1 << 16 };
    uintptr_t call[2] = {(uintptr_t)function, (uintptr_t)arg};
    uint64_t bits = (uintptr_t)call;
    ucontext_t own, other;

    getcontext(&other);
    other.uc_stack.ss_sp = (char *)(((uintptr_t)host->sp - 256) & ~(uintptr_t)63) - LENGTH;
    other.uc_stack.ss_size = LENGTH;
    other.uc_link = &own;
    makecontext(&other, (void (*)(void))fiber_call_halves, 2, (unsigned)(bits >> 32),
                (unsigned)bits);
    swapcontext(&own, &other);
}

#endif

static int map_stack(struct orr_fiber *fiber, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *base;

    size = (size + page - 1) / page * page;
    base = mmap(NULL, size + page, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED)
        return -errno;
    if (mprotect(base, page, PROT_NONE) != 0) {
        munmap(base, size + page);
        return -EAGAIN;
    }
    /* A huge page would make the first touch of each stack cost 2 MiB. */
    madvise(base + page, size, MADV_NOHUGEPAGE);
    fiber->stack = base + page;
    fiber->size = size;
    fiber->bottom = fiber->stack;
    fiber->bottom_size = size;
    return 0;
}

static void unmap_stack(struct orr_fiber *fiber)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (!fiber->stack)
        return;
#if defined(ORR_FIBER_ASAN)
    /* Frames that are never returned to would stay poisoned. */
    __asan_unpoison_memory_region(fiber->stack, fiber->size);
#endif
    munmap(fiber->stack - page, fiber->size + page);
    fiber->stack = NULL;
}

int orr_fiber_init(struct orr_fiber *fiber, size_t size, void (*entry)(void *),
                   void *arg)
{
    int ret;

    orr_fiber_init_running(fiber);
    ret = map_stack(fiber, size);
    if (ret < 0)
        return ret;
    fiber->entry = entry;
    fiber->arg = arg;
    ret = fiber_prepare(fiber);
    if (ret < 0) {
        unmap_stack(fiber);
        return ret;
    }
#if defined(ORR_FIBER_TSAN)
    fiber->thread_sanitizer = __tsan_create_fiber(0);
#endif
#if defined(VALGRIND_STACK_REGISTER)
    fiber->valgrind_id =
        VALGRIND_STACK_REGISTER(fiber->stack, fiber->stack + fiber->size);
#endif
    return 0;
}

void orr_fiber_init_running(struct orr_fiber *fiber)
{
    globals_fn globals = find_globals();

    memset(fiber, 0, sizeof(*fiber));
    fiber->live = globals ? globals() : &fiber->none;
#if defined(ORR_FIBER_TSAN)
    fiber->thread_sanitizer = __tsan_get_current_fiber();
#endif
}

void orr_fiber_move(struct orr_fiber *fiber)
{
    globals_fn globals = find_globals();

    fiber->live = globals ? globals() : &fiber->none;
    if (fiber->stack)
        return;
    fiber->bottom = NULL;
#if defined(ORR_FIBER_TSAN)
    fiber->thread_sanitizer = __tsan_get_current_fiber();
#endif
}

void orr_fiber_switch(struct orr_fiber *from, struct orr_fiber *to)
{
    from->saved = *from->live;
    *from->live = to->saved;
    to->came_from = from;
    fiber_announce_switch(from, to, false);
    fiber_exchange(from, to);
    fiber_arrive(from);
}

/* A call on another fiber's stack. */
struct hosted {
    struct orr_fiber *running;
    void (*function)(void *);
    void *arg;
};

/* On that stack. */
static void hosted_main(void *arg)
{
    struct hosted *hosted = arg;

#if defined(ORR_FIBER_ASAN)
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
    hosted->function(hosted->arg);
#if defined(ORR_FIBER_ASAN)
    __sanitizer_start_switch_fiber(NULL, hosted->running->bottom,
                                   hosted->running->bottom_size);
#endif
}

void orr_fiber_call(struct orr_fiber *running, const struct orr_fiber *host,
                    void (*function)(void *), void *arg)
{
    struct hosted hosted = {running, function, arg};

    fiber_announce_switch(running, host, false);
    fiber_call_on(host, hosted_main, &hosted);
#if defined(ORR_FIBER_TSAN)
    __tsan_switch_to_fiber(running->thread_sanitizer, 0);
#endif
#if defined(ORR_FIBER_ASAN)
    __sanitizer_finish_switch_fiber(running->fake_stack, NULL, NULL);
    running->fake_stack = NULL;
#endif
}

void orr_fiber_leave(struct orr_fiber *from, struct orr_fiber *to)
{
    *from->live = to->saved;
    to->came_from = from;
    fiber_announce_switch(from, to, true);
    fiber_exchange(from, to);
    abort();
}

void orr_fiber_done(struct orr_fiber *fiber)
{
#if defined(VALGRIND_STACK_DEREGISTER)
    if (fiber->stack)
        VALGRIND_STACK_DEREGISTER(fiber->valgrind_id);
#endif
#if defined(ORR_FIBER_TSAN)
    if (fiber->stack)
        __tsan_destroy_fiber(fiber->thread_sanitizer);
#endif
    fiber_forget(fiber);
    unmap_stack(fiber);
}
