/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-remote.c - what core offers to a layer above (core/remote.h), with a
 * small layer of the test's own: what ends its messages is a thread that is no context, or
 * in a simulation a context. Each test runs on the real machine, and on a simulated one
 * with devices.
 */
#include "core/remote.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/base/log.h"
#include "core/base/module.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/device/pinned.h"
#include "core/job/count.h"
#include "core/open.h"
#include "sim/machine.h"
#include "tests/rng.h"
#include "tests/suite.h"
#include "tests/unit/child.h"

static const char *const machines[] = {NULL, "h100-pcie-4"};
enum { NMACHINES = 2 };

/* The module is part of the program. */
int __wrap_orr_module_open(const char *name, const void **ret,
                           struct orr_error *err);
int __wrap_orr_module_open(const char *name, const void **ret,
                           struct orr_error *err)
{
    if (strcmp(name, "sim") != 0)
        return orr_fail(err, -ENOENT, "the test has no module %s", name);
    *ret = &orr_sim_ops;
    return 0;
}

static struct orr_pinned pinned = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct orr_runtime *rt;

/* --- the layer --- */

enum { NREQUESTS = 4096 };

struct request {
    struct orr_message message;
    uint64_t *bytes; /* while it is held */
    uint64_t value;  /* read, or to be written */
    bool adds;       /* what is written is what was read and that */
    bool waits;      /* the test ends it */
    bool holds;      /* it was granted … */
    unsigned node;   /* … there */
    atomic_int over; /* 1: it has ended; 2: it was cancelled */
    struct request *next;
};

static struct request requests[NREQUESTS];
static unsigned nrequests;

/* What was granted, for the one that ends it. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct request *first, **last;
    bool stop;
    pthread_t thread;            /* of a real run */
    struct orr_context *context; /* of a simulation */
} ender = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static void perform(struct request *request)
{
    if (request->adds)
        request->value += *request->bytes;
    if (request->message.mode & STARPU_W)
        *request->bytes = request->value;
    else
        request->value = *request->bytes;
}

static struct request *take(void)
{
    struct request *request = ender.first;

    if (request) {
        ender.first = request->next;
        if (!ender.first)
            ender.last = &ender.first;
    }
    return request;
}

static void *end_as_thread(void *arg)
{
    struct request *request;

    (void)arg;
    pthread_mutex_lock(&ender.lock);
    while (!ender.stop || ender.first) {
        request = take();
        if (!request) {
            pthread_cond_wait(&ender.more, &ender.lock);
            continue;
        }
        pthread_mutex_unlock(&ender.lock);
        if (orr_self)
            abort();
        perform(request);
        orr_message_end(&request->message, false);
        pthread_mutex_lock(&ender.lock);
    }
    pthread_mutex_unlock(&ender.lock);
    return NULL;
}

static void end_as_context(void *arg)
{
    static const struct orr_awaited awaited = {.noun = "messages"};
    struct request *request;

    (void)arg;
    while (!ender.stop || ender.first) {
        request = take();
        if (!request) {
            orr_context_park(&awaited, ORR_FOREVER);
            continue;
        }
        orr_context_sleep(&awaited, 3);
        perform(request);
        if (nrequests % 2)
            orr_message_end(&request->message, false);
        else
            orr_message_end_here(&request->message, false);
    }
    orr_context_end();
}

static void granted(void *arg, unsigned node, void *interface)
{
    struct request *request = arg;

    ck_assert_ptr_null(orr_self->job);
    ck_assert(orr_self->frozen);
    ck_assert_ptr_eq(orr_self->runtime, rt);
    request->bytes = (uint64_t *)STARPU_VARIABLE_GET_PTR(interface);
    request->node = node;
    request->holds = true;
    if (request->waits)
        return;
    pthread_mutex_lock(&ender.lock);
    request->next = NULL;
    *ender.last = request;
    ender.last = &request->next;
    pthread_cond_signal(&ender.more);
    pthread_mutex_unlock(&ender.lock);
    if (ender.context)
        orr_context_wake(ender.context);
}

static void ended(void *arg, bool was_granted)
{
    struct request *request = arg;

    atomic_store(&request->over, was_granted ? 1 : 2);
    orr_outside_end(rt);
}

static unsigned nwriters, nleft, nends;

static void writer_submitted(struct orr_handle *handle)
{
    ck_assert_ptr_eq(handle->remote, &nwriters);
    nwriters++;
}

static void handle_left(struct orr_handle *handle)
{
    ck_assert_ptr_eq(handle->remote, &nwriters);
    ck_assert_uint_eq(nends, 0);
    nleft++;
}

static void handle_ends(struct orr_handle *handle)
{
    ck_assert_ptr_eq(handle->remote, &nwriters);
    nends++;
}

static void process_fails(struct orr_runtime *failing)
{
    (void)failing;
}

static const struct orr_remote_ops ops = {"test messages", handle_left, handle_ends,
                                          writer_submitted, process_fails};

static struct request *request_new(starpu_data_handle_t handle, uint32_t mode,
                                   uint64_t value)
{
    struct request *request = &requests[nrequests++];

    ck_assert_uint_le(nrequests, NREQUESTS);
    *request = (struct request){.value = value};
    request->message.handle = orr_handle_of(handle);
    request->message.mode = mode;
    request->message.sequential = true;
    request->message.arg = request;
    request->message.granted = granted;
    request->message.ended = ended;
    return request;
}

static struct request *start(struct request *request)
{
    orr_outside_begin(rt);
    ck_assert_int_eq(orr_message_start(&request->message, __func__), 0);
    return request;
}

static void open_with(int machine, const char *limit)
{
    const struct orr_setting settings[] = {
        {ORR_CFG_SIM_KERNELS, "run"},
        {ORR_CFG_ASSUME, "left = 1us"},
        {ORR_CFG_NCPU, "2"},
        {limit ? ORR_CFG_LIMIT_CPU_MEM : 0, limit},
        {0, NULL},
    };
    struct orr_setting named[8] = {{0, NULL}};
    unsigned n = 0;

    if (machines[machine])
        named[n++] = (struct orr_setting){ORR_CFG_MACHINE, machines[machine]};
    for (unsigned i = 0; i < 4; i++)
        if (settings[i].text)
            named[n++] = settings[i];
    ck_assert_int_eq(orr_runtime_start(NULL, named, &pinned), 0);
    rt = orr_runtime_need(__func__);
    ck_assert_int_eq(orr_remote_register(rt, &ops), 0);
    nrequests = nwriters = nleft = nends = 0;
    ender.first = NULL;
    ender.last = &ender.first;
    ender.stop = false;
    ender.context = NULL;
    if (rt->exec->virtual_time) {
        const struct orr_context init = {.runtime = rt, .name = "the ender"};

        ck_assert_int_eq(rt->exec->ops->spawn(rt->exec, &init, -1,
                                              end_as_context, NULL,
                                              &ender.context),
                         0);
    } else {
        ck_assert_int_eq(
            pthread_create(&ender.thread, NULL, end_as_thread, NULL), 0);
    }
}

static void close_it(void)
{
    pthread_mutex_lock(&ender.lock);
    ender.stop = true;
    pthread_cond_signal(&ender.more);
    pthread_mutex_unlock(&ender.lock);
    if (ender.context) {
        orr_context_wake(ender.context);
        rt->exec->ops->join(rt->exec, ender.context);
    } else {
        pthread_join(ender.thread, NULL);
    }
    orr_runtime_stop(rt);
    ck_assert_ptr_null(orr_self);
}

static void wait_for_all(void)
{
    ck_assert_int_eq(orr_outside_wait(rt, __func__), 0);
    ck_assert_uint_eq(orr_count_unfinished(rt), 0);
}

/* --- tasks --- */

static void add(void *buffers[], void *arg)
{
    uint64_t *x = (uint64_t *)STARPU_VARIABLE_GET_PTR(buffers[0]);
    uint64_t value;

    starpu_codelet_unpack_args(arg, &value);
    *x = *x * 3 + value;
}

static struct starpu_codelet cl_add = {.cpu_funcs = {add},
                                       .cuda_funcs = {add},
                                       .nbuffers = 1,
                                       .modes = {STARPU_RW},
                                       .name = "left"};

static void submit(starpu_data_handle_t handle, uint64_t value)
{
    ck_assert_int_eq(starpu_task_insert(&cl_add, STARPU_RW, handle,
                                        STARPU_VALUE, &value, sizeof(value), 0),
                     0);
}

static starpu_data_handle_t at_home(uint64_t *x)
{
    starpu_data_handle_t handle;

    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)x,
                                  sizeof(*x));
    return handle;
}

static starpu_data_handle_t homeless(void)
{
    starpu_data_handle_t handle;

    starpu_variable_data_register(&handle, -1, 0, sizeof(uint64_t));
    return handle;
}

/* --- turns --- */

START_TEST(a_message_has_its_turn_among_tasks)
{
    uint64_t x = 1;
    starpu_data_handle_t handle;
    struct request *r, *w;

    open_with(_i, NULL);
    handle = at_home(&x);
    submit(handle, 4);
    r = start(request_new(handle, STARPU_R, 0));
    submit(handle, 5);
    w = request_new(handle, STARPU_RW, 100);
    w->adds = true;
    start(w);
    submit(handle, 6);
    wait_for_all();
    ck_assert_uint_eq(r->value, 7);
    ck_assert_uint_eq(w->value, 126);
    ck_assert_int_eq(r->over, 1);
    starpu_data_unregister(handle);
    ck_assert_uint_eq(x, 384);
    close_it();
}
END_TEST

START_TEST(nobody_else_has_the_datum_while_a_message_is_held)
{
    uint64_t x = 1;
    starpu_data_handle_t handle;
    struct request *r[2];

    open_with(_i, NULL);
    handle = at_home(&x);
    for (unsigned i = 0; i < 2; i++) {
        r[i] = request_new(handle, STARPU_R, 0);
        r[i]->waits = true;
        start(r[i]);
        ck_assert(r[i]->holds); /* readers share it */
    }
    submit(handle, 1);
    ck_assert_int_eq(starpu_data_acquire_try(handle, STARPU_W), -EAGAIN);
    orr_message_end_here(&r[0]->message, false);
    ck_assert_int_eq(r[0]->over, 1);
    ck_assert_uint_eq(x, 1);
    ck_assert_uint_eq(orr_count_unfinished(rt), 1);
    orr_message_end(&r[1]->message, false);
    wait_for_all();
    starpu_data_unregister(handle);
    ck_assert_uint_eq(x, 4);
    close_it();
}
END_TEST

START_TEST(what_was_received_is_the_value)
{
    starpu_data_handle_t handle;
    struct request *r;

    open_with(_i, NULL);
    handle = homeless();
    start(request_new(handle, STARPU_W, 20));
    submit(handle, 2);
    r = start(request_new(handle, STARPU_R, 0));
    wait_for_all();
    ck_assert_uint_eq(r->value, 62);
    starpu_data_unregister(handle);
    close_it();
}
END_TEST

START_TEST(a_reception_that_failed_leaves_no_value)
{
    starpu_data_handle_t handle;
    struct request *r;

    open_with(_i, NULL);
    handle = homeless();
    r = request_new(handle, STARPU_W, 20);
    r->waits = true;
    start(r);
    ck_assert(r->holds);
    orr_message_end(&r->message, true);
    wait_for_all();
    ck_assert_uint_eq(orr_handle_of(handle)->valid, 0);
    start(request_new(handle, STARPU_W, 1));
    submit(handle, 2);
    r = start(request_new(handle, STARPU_R, 0));
    wait_for_all();
    ck_assert_uint_eq(r->value, 5);
    starpu_data_unregister(handle);
    close_it();
}
END_TEST

/* A message without order waits for who has the datum, and for nobody else. */
START_TEST(a_message_may_leave_the_order_alone)
{
    uint64_t x = 1;
    starpu_data_handle_t handle;
    struct request *held, *early;

    open_with(_i, NULL);
    handle = at_home(&x);
    held = request_new(handle, STARPU_R, 0);
    held->waits = true;
    start(held);
    submit(handle, 1); /* waits for that one */
    early = request_new(handle, STARPU_R, 0);
    early->message.sequential = false;
    early->waits = true;
    start(early);
    ck_assert(early->holds);
    orr_message_end_here(&early->message, false);
    orr_message_end_here(&held->message, false);
    wait_for_all();
    starpu_data_unregister(handle);
    ck_assert_uint_eq(x, 4);
    close_it();
}
END_TEST

/* --- where --- */

static struct orr_message_places seen;

static unsigned choose_last(void *arg, const struct orr_message_places *places)
{
    (void)arg;
    seen = *places;
    return places->nnodes - 1;
}

START_TEST(the_node_is_chosen_when_it_is_granted)
{
    uint64_t x = 3;
    starpu_data_handle_t handle;
    struct request *r;

    open_with(_i, NULL);
    handle = at_home(&x);
    submit(handle, 1);
    r = request_new(handle, STARPU_RW, 5);
    r->adds = true;
    r->message.choose = choose_last;
    start(r);
    wait_for_all();
    ck_assert_uint_eq(seen.nnodes, rt->nodes->n);
    ck_assert_int_eq(seen.home, 0);
    ck_assert_uint_ne(seen.valid, 0);
    ck_assert_uint_eq(r->node, rt->nodes->n - 1);
    ck_assert_uint_eq(orr_handle_of(handle)->valid, UINT64_C(1) << r->node);
    starpu_data_unregister(handle);
    ck_assert_uint_eq(x, 15);
    close_it();
}
END_TEST

/* --- being held back --- */

START_TEST(one_that_is_held_back_has_a_place_but_no_memory)
{
    starpu_data_handle_t handle;
    struct request *back, *early, *r;

    open_with(_i, NULL);
    starpu_variable_data_register(&handle, -1, 0, sizeof(uint64_t));
    back = request_new(handle, STARPU_W, 5);
    back->message.held_back = back->waits = true;
    start(back);
    early = request_new(handle, STARPU_RW, 2);
    early->message.held_back = early->adds = true;
    start(early);
    r = start(request_new(handle, STARPU_R, 0));
    ck_assert(orr_message_has_turn(&back->message));
    ck_assert(!orr_message_has_turn(&early->message));
    ck_assert_uint_eq(orr_handle_of(handle)->allocated, 0);
    ck_assert(!back->holds);
    orr_message_go(&early->message);
    ck_assert(!early->holds);
    orr_message_go(&back->message);
    ck_assert(back->holds);
    *back->bytes = 5;
    orr_message_end_here(&back->message, false);
    wait_for_all();
    ck_assert_uint_eq(r->value, 7);
    starpu_data_unregister(handle);
    close_it();
}
END_TEST

/* --- cancelling --- */

START_TEST(what_waits_for_its_turn_can_be_cancelled)
{
    uint64_t x = 1;
    starpu_data_handle_t handle;
    struct request *held, *w, *r;

    open_with(_i, NULL);
    handle = at_home(&x);
    held = request_new(handle, STARPU_W, 0);
    held->waits = true;
    start(held);
    w = start(request_new(handle, STARPU_W, 9));
    r = start(request_new(handle, STARPU_R, 9));
    submit(handle, 2);
    ck_assert(!orr_message_cancel(&held->message));
    ck_assert(orr_message_cancel(&w->message));
    ck_assert(orr_message_cancel(&r->message));
    ck_assert(!orr_message_cancel(&r->message));
    ck_assert_int_eq(w->over, 0);
    *held->bytes = 7;
    orr_message_end_here(&held->message, false);
    wait_for_all();
    ck_assert_int_eq(held->over, 1);
    ck_assert_int_eq(w->over, 2);
    ck_assert_int_eq(r->over, 2);
    ck_assert(!w->holds && !r->holds);
    starpu_data_unregister(handle);
    ck_assert_uint_eq(x, 23);
    close_it();
}
END_TEST

START_TEST(many_that_are_cancelled_need_no_deep_stack)
{
    enum { MANY = 200000 };
    struct request *all = calloc(MANY, sizeof(*all));
    uint64_t x = 1;
    starpu_data_handle_t handle;
    struct request *held;

    open_with(_i, NULL);
    handle = at_home(&x);
    held = request_new(handle, STARPU_W, 0);
    held->waits = true;
    start(held);
    for (unsigned i = 0; i < MANY; i++) {
        all[i].message = held->message;
        all[i].message.arg = &all[i];
        start(&all[i]);
    }
    for (unsigned i = 0; i < MANY; i++)
        ck_assert(orr_message_cancel(&all[i].message));
    *held->bytes = 8;
    orr_message_end(&held->message, false);
    wait_for_all();
    for (unsigned i = 0; i < MANY; i++)
        ck_assert_int_eq(all[i].over, 2);
    starpu_data_unregister(handle);
    ck_assert_uint_eq(x, 8);
    close_it();
    free(all);
}
END_TEST

/* --- values that are there already --- */

static struct request *early_of(starpu_data_handle_t like, uint64_t value,
                                starpu_data_handle_t *ret)
{
    struct request *early;

    starpu_data_register_same(ret, like);
    early = request_new(*ret, STARPU_W, 0);
    early->waits = true;
    start(early);
    ck_assert(early->holds);
    *early->bytes = value;
    return early;
}

START_TEST(an_early_value_is_handed_over_without_a_copy)
{
    starpu_data_handle_t handle, early_handle;
    struct request *early, *r;
    uint64_t *bytes;

    open_with(_i, NULL);
    handle = homeless();
    for (unsigned round = 1; round < 4; round++) {
        early = early_of(handle, 10 * round, &early_handle);
        bytes = early->bytes;
        r = request_new(handle, STARPU_W, 0);
        r->waits = true;
        r->message.from = &early->message;
        start(r);
        ck_assert(r->holds);
        ck_assert(r->message.taken && !r->message.copied);
        ck_assert_ptr_eq(r->bytes, bytes);
        ck_assert_uint_eq(*r->bytes, 10 * round);
        ck_assert_uint_eq(orr_handle_of(early_handle)->allocated, 0);
        orr_message_end(&early->message, false);
        orr_message_end(&r->message, false);
        submit(handle, 1);
        starpu_data_unregister(early_handle);
        r = start(request_new(handle, STARPU_R, 0));
        wait_for_all();
        ck_assert_uint_eq(r->value, 30 * round + 1);
    }
    starpu_data_unregister(handle);
    close_it();
}
END_TEST

START_TEST(a_value_for_memory_of_the_application_is_copied)
{
    starpu_data_handle_t handle, early_handle;
    struct request *early, *r;
    uint64_t x = 5;

    open_with(_i, NULL);
    handle = at_home(&x);
    early = early_of(handle, 70, &early_handle);
    r = request_new(handle, STARPU_W, 0);
    r->message.from = &early->message;
    r->adds = true;
    start(r);
    while (!r->over) /* the copy takes time in a simulation */
        starpu_sleep(1e-5F);
    ck_assert(r->message.copied && !r->message.taken);
    ck_assert_ptr_eq(r->bytes, &x);
    orr_message_end(&early->message, false);
    wait_for_all();
    starpu_data_unregister(early_handle);
    starpu_data_unregister(handle);
    ck_assert_uint_eq(x, 70);
    close_it();
}
END_TEST

START_TEST(memory_for_early_values_keeps_the_limit)
{
    enum { MIB = 1 << 20, LIMIT = 16 };
    starpu_data_handle_t handle;
    struct request *r;
    unsigned node, n = 0;

    open_with(_i, "16");
    while (n <= LIMIT && orr_memory_reserve(rt, MIB, &node) == 0)
        n++;
    ck_assert_uint_eq(n, LIMIT);
    ck_assert_uint_eq(rt->nodes->at[0].used, (size_t)LIMIT * MIB);
    for (; n > 1; n--)
        orr_memory_unreserve(rt, 0, MIB);
    starpu_vector_data_register(&handle, -1, 0, MIB, 1);
    orr_memory_use_reserved(orr_handle_of(handle), node);
    r = request_new(handle, STARPU_W, 0);
    r->waits = true;
    start(r);
    ck_assert(r->holds);
    ck_assert_uint_eq(rt->nodes->at[0].used, MIB);
    ck_assert_uint_eq(rt->nodes->at[0].reserved, 0);
    orr_message_end(&r->message, false);
    wait_for_all();
    starpu_data_unregister(handle);
    ck_assert_uint_eq(rt->nodes->at[0].used, 0);
    close_it();
}
END_TEST

/* --- what the layer is told --- */

START_TEST(the_layer_is_told_of_writers_and_ends_of_its_data)
{
    uint64_t x = 1, y = 1;
    starpu_data_handle_t ours, other;

    open_with(_i, NULL);
    ck_assert_int_eq(orr_remote_register(rt, &ops), 0);
    ours = at_home(&x);
    other = at_home(&y);
    ck_assert_ptr_null(orr_handle_of(ours)->remote);
    submit(ours, 1);
    orr_handle_of(ours)->remote = &nwriters;
    submit(other, 1);
    ck_assert_uint_eq(nwriters, 0);
    submit(ours, 1);
    ck_assert_uint_eq(nwriters, 1);
    start(request_new(ours, STARPU_R, 0));
    ck_assert_uint_eq(nwriters, 1);
    start(request_new(ours, STARPU_W, 0));
    ck_assert_uint_eq(nwriters, 2);
    ck_assert_int_eq(starpu_data_acquire(ours, STARPU_RW), 0);
    starpu_data_release(ours);
    ck_assert_uint_eq(nwriters, 3);
    ck_assert_int_eq(starpu_data_acquire_try(ours, STARPU_RW), 0);
    starpu_data_release(ours);
    ck_assert_uint_eq(nwriters, 4);
    wait_for_all();
    ck_assert_uint_eq(nends, 0);
    starpu_data_unregister(other);
    ck_assert_uint_eq(nends, 0);
    ck_assert_uint_eq(nleft, 0);
    starpu_data_unregister_submit(ours);
    ck_assert_uint_eq(nleft, 1);
    wait_for_all();
    ck_assert_uint_eq(nends, 1);
    close_it();
}
END_TEST

/* --- waiting --- */

static struct {
    starpu_data_handle_t handle;
    unsigned left;
} chain;

static void go_on(void *arg, bool was_granted);

static void begin_next(void *arg)
{
    struct request *request = request_new(chain.handle, STARPU_R, 0);

    (void)arg;
    request->message.ended = go_on;
    start(request);
}

/* The end of a message submits a task, whose end starts the next one. */
static void go_on(void *arg, bool was_granted)
{
    struct starpu_task *task;

    if (--chain.left) {
        task = starpu_task_create();
        task->callback_func = begin_next;
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    ended(arg, was_granted);
}

START_TEST(a_wait_sees_what_goes_to_and_fro)
{
    uint64_t x = 1;

    open_with(_i, NULL);
    chain.handle = at_home(&x);
    chain.left = 1000;
    begin_next(NULL);
    wait_for_all();
    ck_assert_uint_eq(chain.left, 0);
    wait_for_all(); /* there is nothing */
    starpu_data_unregister(chain.handle);
    close_it();
}
END_TEST

static void wait_for_ever(void *arg)
{
    uint64_t x = 1;
    starpu_data_handle_t handle;
    struct request *r;

    (void)arg;
    open_with(1, NULL);
    (void)orr_runtime_set_rank(rt, 3, 8);
    handle = at_home(&x);
    r = request_new(handle, STARPU_R, 0);
    r->waits = true;
    start(r);
    submit(handle, 1);
    wait_for_all();
}

START_TEST(a_deadlock_names_messages_and_rank)
{
    static const char *const says[] = {
        "orrery: rank 3: error: deadlock",
        "1 submitted task, and 1 test messages",
        "task `left' (number 1) waits for a message of ",
        "which has not ended",
    };
    char text[4096];
    int status = child_run(wait_for_ever, NULL, text, sizeof(text));

    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 3);
    for (unsigned i = 0; i < sizeof(says) / sizeof(*says); i++)
        ck_assert_msg(strstr(text, says[i]), "`%s' is not in:\n%s", says[i],
                      text);
}
END_TEST

/* --- the rank --- */

START_TEST(a_run_has_one_rank)
{
    open_with(_i, NULL);
    ck_assert_int_eq(rt->rank, -1);
    ck_assert_int_eq(orr_log_rank(), -1);
    ck_assert_int_eq(orr_runtime_set_rank(rt, 4, 4), -EINVAL);
    ck_assert_int_eq(orr_runtime_set_rank(rt, -1, 4), -EINVAL);
    ck_assert_int_eq(orr_runtime_set_rank(rt, 2, 4), 0);
    ck_assert_int_eq(orr_runtime_set_rank(rt, 2, 4), 0);
    ck_assert_int_eq(orr_runtime_set_rank(rt, 1, 4), -EALREADY);
    ck_assert_int_eq(rt->rank, 2);
    ck_assert_uint_eq(rt->nranks, 4);
    ck_assert_int_eq(orr_log_rank(), 2);
    close_it();
    ck_assert_int_eq(orr_log_rank(), -1);
}
END_TEST

/* --- all of it, by chance --- */

START_TEST(values_are_those_of_the_sequential_program)
{
    enum { NDATA = 5, NSTEPS = 3000 };
    starpu_data_handle_t handles[NDATA];
    uint64_t homes[NDATA], values[NDATA] = {0};
    static uint64_t reads[NSTEPS];
    static struct request *of[NSTEPS];
    uint64_t rng = rng_of(17 + (uint64_t)_i);

    open_with(_i, NULL);
    for (unsigned d = 0; d < NDATA; d++) {
        homes[d] = values[d] = d;
        handles[d] = d % 2 ? at_home(&homes[d]) : homeless();
        if (d % 2 == 0)
            start(request_new(handles[d], STARPU_W, values[d]));
    }
    for (unsigned s = 0; s < NSTEPS; s++) {
        unsigned d = (unsigned)(rng_next(&rng) % NDATA);

        of[s] = NULL;
        switch (rng_next(&rng) % 4) {
        case 0:
            submit(handles[d], s);
            values[d] = values[d] * 3 + s;
            break;
        case 1:
            of[s] = request_new(handles[d], STARPU_R, 0);
            reads[s] = values[d];
            break;
        case 2:
            of[s] = request_new(handles[d], STARPU_W, s);
            reads[s] = values[d] = s;
            break;
        default:
            of[s] = request_new(handles[d], STARPU_RW, s);
            of[s]->adds = true;
            reads[s] = values[d] += s;
        }
        if (of[s] && rng_next(&rng) % 3 == 0)
            of[s]->message.choose = choose_last;
        if (of[s])
            start(of[s]);
    }
    wait_for_all();
    for (unsigned s = 0; s < NSTEPS; s++)
        if (of[s])
            ck_assert_uint_eq(of[s]->value, reads[s]);
    for (unsigned d = 0; d < NDATA; d++)
        starpu_data_unregister(handles[d]);
    for (unsigned d = 1; d < NDATA; d += 2)
        ck_assert_uint_eq(homes[d], values[d]);
    close_it();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("remote");
    TCase *cases = tcase_create("remote");

    tcase_set_timeout(cases, 300);
#define EACH(test) tcase_add_loop_test(cases, test, 0, NMACHINES)
    EACH(a_message_has_its_turn_among_tasks);
    EACH(nobody_else_has_the_datum_while_a_message_is_held);
    EACH(what_was_received_is_the_value);
    EACH(a_reception_that_failed_leaves_no_value);
    EACH(a_message_may_leave_the_order_alone);
    EACH(the_node_is_chosen_when_it_is_granted);
    EACH(one_that_is_held_back_has_a_place_but_no_memory);
    EACH(what_waits_for_its_turn_can_be_cancelled);
    EACH(many_that_are_cancelled_need_no_deep_stack);
    EACH(an_early_value_is_handed_over_without_a_copy);
    EACH(a_value_for_memory_of_the_application_is_copied);
    EACH(memory_for_early_values_keeps_the_limit);
    EACH(the_layer_is_told_of_writers_and_ends_of_its_data);
    EACH(a_wait_sees_what_goes_to_and_fro);
    EACH(a_run_has_one_rank);
    EACH(values_are_those_of_the_sequential_program);
#undef EACH
    tcase_add_test(cases, a_deadlock_names_messages_and_rank);
    suite_add_tcase(suite, cases);
    return suite_main(suite);
}
