/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/standin/calls.c - see private.h: what calls do that both vendors have. */
#include "private.h"
#include "standin.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gpus gpus;
extern _Thread_local bool in_callback;

/* -- all calls -- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool initialised;
static int init_code;
static atomic_ulong ncalls, nfaults[NFAULTS];

static void init(void)
{
    options_read(&gpus.options);
    for (unsigned i = 0; i < gpus.options.devices && !init_code; i++) {
        struct device *device = &gpus.devices[i];

        device->number = i;
        pthread_mutex_init(&device->lock, NULL);
        init_code = memory_init(device, gpus.options.memory);
    }
    atomic_store(&initialised, true);
}

int gpus_init(void)
{
    pthread_once(&once, init);
    return init_code ? init_code : gpus.options.devices ? OK : NO_DEVICE;
}

static int enter(void)
{
    atomic_fetch_add_explicit(&ncalls, 1, memory_order_relaxed);
    if (in_callback)
        return NOT_PERMITTED;
    return atomic_load(&initialised) ? OK : NOT_INITIALISED;
}

bool gpus_fault(enum fault fault)
{
    unsigned long n = atomic_fetch_add(&nfaults[fault], 1) + 1;

    return gpus.options.fault == fault &&
           (gpus.options.from_then_on ? n >= gpus.options.at
                                      : n == gpus.options.at);
}

int gpus_enter(void)
{
    int code = enter();

    if (!code && gpus_fault(FAULT_CALL))
        code = UNKNOWN;
    if (!code && gpus_fault(FAULT_NOMEM))
        code = OUT_OF_MEMORY;
    return code;
}

unsigned long gpu_standin_calls(void);
unsigned long gpu_standin_calls(void)
{
    return atomic_load(&ncalls);
}

void *gpu_standin_bytes(const void *address);
void *gpu_standin_bytes(const void *address)
{
    return bytes_of(address);
}

int gpu_standin_launch(void *stream, void (*function)(void *), void *arg);
int gpu_standin_launch(void *stream, void (*function)(void *), void *arg)
{
    struct stream *s;
    int code = enter();

    if (!code)
        code = stream_of(stream, &s);
    return code ? code : put_kernel(s, function, arg);
}

/* -- the current device -- */

/* Those of a thread, or of a context of the program's. */
struct currents {
    void *context;
    struct device *stack[16];
    unsigned depth;
};

static struct currents of_contexts[64];

void currents_forget(void)
{
    memset(of_contexts, 0, sizeof(of_contexts));
}

static struct currents *mine(void)
{
    static _Thread_local struct currents of_thread;
    void *context = clock_context();
    unsigned i = 0;

    if (!context)
        return &of_thread;
    while (i < 63 && of_contexts[i].context &&
           of_contexts[i].context != context)
        i++;
    of_contexts[i].context = context;
    return &of_contexts[i];
}

int current_set(struct device *device)
{
    struct currents *c = mine();

    if (c->depth == 0)
        c->depth = 1;
    c->stack[c->depth - 1] = device;
    return OK;
}

int current_push(struct device *device)
{
    struct currents *c = mine();

    if (c->depth == sizeof(c->stack) / sizeof(c->stack[0]))
        return INVALID_VALUE;
    c->stack[c->depth++] = device;
    return OK;
}

int current_pop(struct device **ret)
{
    struct currents *c = mine();

    if (c->depth == 0)
        return INVALID_CONTEXT;
    *ret = c->stack[--c->depth];
    return OK;
}

struct device *current(void)
{
    const struct currents *c = mine();

    return c->depth ? c->stack[c->depth - 1] : NULL;
}

int current_get(struct device **ret)
{
    *ret = current();
    if (!*ret)
        return INVALID_CONTEXT;
    return __atomic_load_n(&(*ret)->broken, __ATOMIC_RELAXED);
}

/* -- devices -- */

static int check_device(int device)
{
    int code = gpus_enter();

    if (code)
        return code;
    return device >= 0 && device < (int)gpus.options.devices ? OK
                                                             : INVALID_DEVICE;
}

int call_count(int *ret)
{
    int code = gpus_enter();

    if (!code)
        *ret = (int)gpus.options.devices;
    return code;
}

int call_device(int *ret, int number)
{
    int code = check_device(number);

    if (!code)
        *ret = number;
    return code;
}

int call_name(char *name, int size, int device)
{
    int code = check_device(device);

    if (!code)
        snprintf(name, (size_t)size, "Stand-in");
    return code;
}

int call_memory(size_t *ret, int device)
{
    int code = check_device(device);

    if (!code)
        *ret = gpus.options.memory;
    return code;
}

int call_bus(char *name, int size, int device)
{
    int code = check_device(device);

    if (!code)
        snprintf(name, (size_t)size, "0000:%02X:00.0", (unsigned)device + 0x3a);
    return code;
}

int call_can_access(int *ret, int device, int peer)
{
    int code = check_device(device);

    if (!code)
        code = check_device(peer);
    if (!code)
        *ret = device != peer && gpus.options.peers != PEERS_NONE;
    return code;
}

int call_open_peer(struct device *peer)
{
    struct device *device;
    int code = gpus_enter();

    if (!code)
        code = current_get(&device);
    if (code)
        return code;
    if (device == peer || gpus.options.peers != PEERS_ALL)
        return PEER_REFUSED;
    pthread_mutex_lock(&device->lock);
    code = device->peers[peer->number] ? PEER_OPEN : OK;
    device->peers[peer->number] = true;
    pthread_mutex_unlock(&device->lock);
    return code;
}

/* -- memory -- */

int call_alloc(uintptr_t *ret, size_t size)
{
    struct device *device;
    int code = gpus_enter();

    if (!code)
        code = current_get(&device);
    if (!code && gpus_fault(FAULT_ALLOC))
        code = OUT_OF_MEMORY;
    return code ? code : memory_alloc(device, size, ret);
}

/* `flags` says who has it at first: all, or the host. */
int call_managed_alloc(uintptr_t *ret, size_t size, unsigned flags)
{
    struct device *device;
    int code = gpus_enter();

    if (!code)
        code = current_get(&device);
    if (!code && flags != 1 && flags != 2)
        code = INVALID_VALUE;
    if (!code && gpus_fault(FAULT_ALLOC))
        code = OUT_OF_MEMORY;
    return code ? code : managed_alloc(size, ret);
}

int call_free(uintptr_t address)
{
    struct device *device, *owner = memory_owner(address);
    int code = gpus_enter();

    if (!code)
        code = current_get(&device);
    if (!code && owner)
        return memory_free(owner, address);
    if (code)
        return code;
    device_synchronize(device);
    return managed_free(address);
}

int call_range(uintptr_t *ret_base, size_t *ret_size, uintptr_t address)
{
    int code = gpus_enter();

    return code ? code : memory_range(address, ret_base, ret_size);
}

int call_host_alloc(void **ret, size_t size)
{
    enum { PAGE = 4096 };
    void *address = NULL;
    struct device *device;
    int code = gpus_enter();

    if (!code)
        code = current_get(&device);
    if (!code && posix_memalign(&address, PAGE, size))
        code = OUT_OF_MEMORY;
    if (!code)
        code = pin(address, size);
    if (code)
        free(address);
    else
        *ret = address;
    return code;
}

int call_host_free(void *address)
{
    int code = gpus_enter();

    if (!code)
        code = unpin(address);
    if (!code)
        free(address);
    return code;
}

/* -- streams -- */

int call_stream_create(void **ret, unsigned flags)
{
    struct device *device;
    struct stream *stream;
    int code = gpus_enter();

    if (!code)
        code = current_get(&device);
    if (!code)
        code = stream_create(device, !(flags & 1), &stream);
    if (!code)
        *ret = stream;
    return code;
}

/* From the first byte to the last one. */
static size_t extent(const struct copy *copy, size_t pitch, size_t slice)
{
    return (copy->depth - 1) * slice + (copy->height - 1) * pitch + copy->width;
}

static bool is_end(struct device *device, uintptr_t address, size_t size)
{
    return device ? memory_holds(device, address, size)
                  : memory_owner(address) == NULL;
}

int call_box(struct copy *copy, void *handle)
{
    struct stream *stream;
    int code = gpus_enter();

    if (!code)
        code = stream_of(handle, &stream);
    if (code)
        return code;
    if (copy->width == 0 || copy->height == 0 || copy->depth == 0)
        return OK;
    if (!is_end(copy->src_device, copy->src,
                extent(copy, copy->src_pitch, copy->src_slice)) ||
        !is_end(copy->dst_device, copy->dst,
                extent(copy, copy->dst_pitch, copy->dst_slice)) ||
        (copy->height > 1 &&
         (copy->src_pitch < copy->width || copy->dst_pitch < copy->width)))
        return INVALID_VALUE;
    return put_copy(stream, copy);
}

int call_copy(uintptr_t dst, bool dst_device, uintptr_t src, bool src_device,
              size_t size, void *stream)
{
    struct copy copy = {
        .src_device = src_device ? memory_owner(src) : NULL,
        .dst_device = dst_device ? memory_owner(dst) : NULL,
        .src = src,
        .dst = dst,
        .width = size,
        .height = 1,
        .depth = 1,
    };

    if ((src_device && !copy.src_device) || (dst_device && !copy.dst_device))
        return INVALID_VALUE;
    return call_box(&copy, stream);
}

int call_fill(uintptr_t dst, unsigned char value, size_t size, void *handle)
{
    struct device *device = memory_owner(dst);
    struct stream *stream;
    int code = gpus_enter();

    if (!code)
        code = stream_of(handle, &stream);
    if (!code && (!device || !memory_holds(device, dst, size)))
        code = INVALID_VALUE;
    return code ? code : put_fill(stream, dst, value, size);
}

const char *call_words(int code)
{
    static const struct {
        int code;
        const char *words;
    } all[] = {
        {OK, "no error"},
        {INVALID_VALUE, "invalid argument"},
        {OUT_OF_MEMORY, "out of memory"},
        {NOT_INITIALISED, "initialization error"},
        {NO_DEVICE, "no device is detected"},
        {INVALID_DEVICE, "invalid device ordinal"},
        {INVALID_CONTEXT, "invalid device context"},
        {INVALID_HANDLE, "invalid resource handle"},
        {NOT_READY, "device not ready"},
        {LAUNCH_REFUSED, "too many resources requested for launch"},
        {PEER_OPEN, "peer access is already enabled"},
        {PEER_REFUSED, "peer access is not supported"},
        {INVALID_PTX, "a PTX JIT compilation failed"},
        {NOT_FOUND, "named symbol not found"},
        {ALREADY_PINNED, "memory is already pinned"},
        {NOT_PINNED, "memory is not pinned"},
        {LAUNCH_FAILED, "unspecified launch failure"},
        {NOT_PERMITTED, "operation not permitted"},
        {UNKNOWN, "unknown error"},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i].code == code)
            return all[i].words;
    return NULL;
}
