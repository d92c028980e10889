/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/gpu/kernel.c - kernels on a GPU. A codelet's function is called by
 * its worker, with the device current, and puts kernels into the worker's stream.
 * How long an asynchronous one takes two events in that stream tell.
 */
#include <errno.h>

#include "core/device/gpu/gpu.h"
#include "core/device/mailbox.h"

/* -- runs -- */

static struct gpu_run *gpu_run_new(struct gpu_device *device,
                                   struct gpu_worker *worker)
{
    struct gpu_run *run;

    do
        run = &worker->runs[worker->next++ % ORR_MOST_QUEUED];
    while (atomic_load_explicit(&run->device, memory_order_acquire));
    atomic_store_explicit(&run->device, device, memory_order_relaxed);
    run->code = 0;
    return run;
}

/* Of one that is not free. */
static struct gpu_device *gpu_run_device(const struct gpu_run *run)
{
    return atomic_load_explicit(&run->device, memory_order_relaxed);
}

static void free_run(struct gpu_run *run)
{
    atomic_store_explicit(&run->device, NULL, memory_order_release);
}

/* Its events are made at its first use. A code. */
static int begin_run(struct gpu_run *run, gpu_stream_t stream)
{
    const struct gpu_api *api = &gpu_run_device(run)->driver->api;
    int code = 0;

    if (!run->begin)
        code = api->event_create(&run->begin, GPU_EVENT_DEFAULT);
    if (!code && !run->end)
        code = api->event_create(&run->end, GPU_EVENT_DEFAULT);
    return code ? code : api->event_record(run->begin, stream);
}

void gpu_worker_done(struct gpu_device *device, struct gpu_worker *worker)
{
    const struct gpu_api *api = &device->driver->api;

    for (unsigned i = 0; i < ORR_MOST_QUEUED; i++) {
        if (worker->runs[i].begin)
            (void)api->event_destroy(worker->runs[i].begin);
        if (worker->runs[i].end)
            (void)api->event_destroy(worker->runs[i].end);
    }
    gpu_queue_close(&worker->kernels);
}

/* -- ends -- */

static void gpu_run_set_times(const struct gpu_run *run,
                              struct orr_kernel *kernel)
{
    struct gpu *driver = gpu_run_device(run)->driver;
    float ms;

    kernel->end = orr_exec_now(driver->head.machine->exec);
    if (kernel->error || !run->timed ||
        driver->api.event_elapsed(&ms, run->begin, run->end))
        return;
    kernel->start = kernel->end - (double)ms * 1e3;
}

static void gpu_kernel_arrived(struct orr_post *post)
{
    struct orr_kernel *kernel =
        (struct orr_kernel *)(void *)((char *)post -
                                      offsetof(struct orr_kernel, post));
    struct gpu_run *run = kernel->machine_link[0];
    struct gpu_device *device = gpu_run_device(run);

    kernel->error = post->error;
    if (run->code)
        (void)orr_gpu_report(device, "a kernel", run->code);
    gpu_run_set_times(run, kernel);
    free_run(run);
    kernel->done(kernel);
}

static void run_ended(gpu_stream_t stream, int code, void *arg)
{
    struct gpu_run *run = arg;

    (void)stream;
    run->code = code;
    run->post->error = gpu_failure(code);
    orr_post(run->post);
}

/* -- starts -- */

static int end_at_once(struct orr_kernel *kernel, struct orr_exec *exec,
                       int error)
{
    kernel->end = orr_exec_now(exec);
    kernel->error = error;
    return 1;
}

/* The codelet's function has waited for its kernels, or should have. */
static int gpu_run_now(struct gpu_device *device, struct gpu_worker *worker,
                       struct orr_kernel *kernel)
{
    struct gpu *driver = device->driver;
    int code;

    kernel->run(kernel);
    code = driver->api.stream_synchronize(worker->kernels.stream);
    return end_at_once(
        kernel, driver->head.machine->exec,
        gpu_failure(code) ? orr_gpu_report(device, "a kernel", code) : 0);
}

/* The function only puts kernels into the stream. */
static int run_beside(struct gpu_run *run, struct gpu_worker *worker,
                      struct orr_kernel *kernel)
{
    const struct gpu_device *device = gpu_run_device(run);
    int code;

    kernel->machine_link[0] = run;
    run->post = &kernel->post;
    run->timed = true;
    kernel->run(kernel);
    kernel->post.arrived = gpu_kernel_arrived;
    kernel->post.error = 0;
    orr_post_expect(&kernel->post, device->driver->head.machine->exec);
    code = device->driver->vendor->use(device);
    if (!code)
        code = gpu_call_at_end(&worker->kernels, run->end, run_ended, run);
    /* Without failures the kernel may be gone. */
    if (code) {
        run->timed = false; /* `end' may be that of a kernel before */
        gpu_post_failure(&worker->kernels, &kernel->post, code);
    }
    return 0;
}

int gpu_kernel_start(struct orr_driver *head, struct orr_kernel *kernel)
{
    struct gpu *driver = (struct gpu *)head;
    struct gpu_device *device = orr_gpu_of_worker(driver, kernel->worker);
    struct gpu_worker *worker = orr_gpu_worker(driver, kernel->worker);
    struct orr_exec *exec = head->machine->exec;
    struct gpu_run *run;
    int code;

    kernel->start = orr_exec_now(exec);
    if (atomic_load_explicit(&device->lost, memory_order_relaxed))
        return end_at_once(kernel, exec, -ENODEV);
    /* Functions before may have made another one current. */
    code = driver->vendor->use(device);
    if (code)
        return end_at_once(
            kernel, exec,
            orr_gpu_report(device, "the start of a kernel", code));
    if (!kernel->async)
        return gpu_run_now(device, worker, kernel);
    run = gpu_run_new(device, worker);
    code = begin_run(run, worker->kernels.stream);
    if (!code)
        return run_beside(run, worker, kernel);
    free_run(run);
    return end_at_once(kernel, exec,
                       orr_gpu_report(device, "the start of a kernel", code));
}

/* A device fills a byte by a kernel of the vendor's. */
int gpu_null_kernel(struct orr_driver *head, unsigned number)
{
    struct gpu *driver = (struct gpu *)head;
    struct gpu_device *device = orr_gpu_of_worker(driver, number);
    struct gpu_worker *worker = orr_gpu_worker(driver, number);
    int code = 0;

    if (!device->byte)
        code = driver->api.alloc(&device->byte, 1);
    if (!code)
        code = driver->api.fill(device->byte, 0, 1, worker->kernels.stream);
    return gpu_errno(code);
}
