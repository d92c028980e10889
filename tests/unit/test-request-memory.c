/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-request-memory.c - tests of core/data/request.c where memory
 * decides: jobs that only write, devices that are full, main memory in several
 * nodes, nothing left at all. Copies as such are in test-request.c.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "core/data/data.h"
#include "core/data/registry.h"
#include "core/slab_set.h"
#include "tests/suite.h"
#include "tests/unit/child.h"
#include "tests/unit/fake_runtime.h"

static struct orr_handle *h; /* its value is 7 */

static void setup(void)
{
    static const struct fake_spec spec = {.ndevices = 3};

    fake_open(&spec);
    h = fake_handle(0, FAKE_SIZE);
    fake_set(h, 0, 7);
}

static void teardown(void)
{
    fake_close();
}

static bool is_under_way(unsigned i, unsigned src, unsigned dst)
{
    return i < fake.ncopies && fake.copies[i]->src == src &&
           fake.copies[i]->dst == dst && fake.copies[i]->size == FAKE_SIZE;
}

/* --- memory only --- */

START_TEST(who_only_writes_gets_memory)
{
    struct orr_job *job = fake_ask(h, STARPU_W, 1);

    ck_assert_uint_eq(h->loading, 0);
    ck_assert_uint_eq(fake.bytes[1], 0);
    fake_progress(1);
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert_uint_eq(fake.nstarted, 0);
    ck_assert(fake_is_allocated(h, 1) && !fake_is_valid(h, 1));
    ck_assert_uint_eq(fake.bytes[1], FAKE_SIZE);
    fake_finish(job, 8);
    ck_assert_uint_eq(h->valid, 2);
}
END_TEST

START_TEST(who_reads_joins_who_only_writes)
{
    struct orr_job *writer = fake_ask(h, STARPU_W, 1);
    struct orr_job *reader = fake_ask(h, STARPU_R, 1);

    ck_assert(h->loading >> 1 & 1);
    fake_settle();
    ck_assert_uint_eq(fake.nstarted, 1);
    ck_assert_uint_eq(fake_told(writer), 1);
    ck_assert_uint_eq(fake_told(reader), 1);
    ck_assert_uint_eq(fake_get(h, 1), 7);
    fake_finish(reader, 0);
    fake_finish(writer, 0);
    fake_assert_idle(h);
}
END_TEST

static struct orr_job *late;

static void ask_meanwhile(unsigned node)
{
    fake.allocating = NULL;
    late = fake_ask(h, STARPU_R, node);
}

START_TEST(who_reads_may_come_while_memory_is_made)
{
    struct orr_job *writer = fake_ask(h, STARPU_W, 1);

    fake.allocating = ask_meanwhile;
    fake_progress(1);
    ck_assert_ptr_null(fake.allocating);
    ck_assert_uint_eq(fake_told(writer), 1);
    ck_assert_uint_eq(fake_told(late), 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(late), 1);
    ck_assert_uint_eq(fake_get(h, 1), 7);
    fake_finish(late, 0);
    fake_finish(writer, 0);
    ck_assert_uint_eq(fake_told(writer), 1);
}
END_TEST

START_TEST(main_memory_is_had_at_once)
{
    const struct fake_spec spec = {
        .nram = 2, .ncpus = 1, .empty = _i < 2 ? 3 : 0};
    struct orr_handle *handle;
    unsigned node = (unsigned)_i % 2;
    struct orr_job *job;

    fake_close();
    fake_open(&spec);
    handle = fake_handle(-1, FAKE_SIZE);
    job = fake_unordered(handle, STARPU_W);
    ck_assert(fake_fetch(job, node));
    ck_assert_uint_eq(fake.bytes[node], FAKE_SIZE);
    fake_finish(job, 8);
    ck_assert_uint_eq(fake_told(job), 0);
    fake_assert_idle(handle);
}
END_TEST

START_TEST(so_is_memory_of_a_device_without_progress_workers)
{
    const struct fake_spec spec = {.ndevices = 2, .empty = 4};
    struct orr_job *job;

    fake_close();
    fake_open(&spec);
    job = fake_unordered(fake_handle(-1, FAKE_SIZE), STARPU_W);
    ck_assert(fake_fetch(job, 2));
    fake_finish(job, 8);
}
END_TEST

START_TEST(main_memory_that_is_out_is_asked_for_again)
{
    const struct fake_spec spec = {.nram = 2, .ncpus = 1};
    struct orr_job *job;

    fake_close();
    fake_open(&spec);
    fake.no_memory = 2;
    job = fake_ask(fake_handle(-1, FAKE_SIZE), STARPU_W, 1);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 0);
    fake.no_memory = 0;
    orr_node_freed(&fake.rt, 1);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 8);
}
END_TEST

/* --- devices that are full --- */

static struct orr_handle *more[3];

static void setup_small(void)
{
    static const struct fake_spec spec = {.ndevices = 2,
                                          .device_bytes = 2 * FAKE_SIZE};

    fake_open(&spec);
    h = fake_handle(0, FAKE_SIZE);
    fake_set(h, 0, 7);
    for (unsigned i = 0; i < 3; i++)
        more[i] = fake_handle(0, FAKE_SIZE);
}

/* A job that keeps two blocks of node 1, all that it has. */
static struct orr_job *fill(void)
{
    struct orr_job *job = fake_job(2);

    fake_use(job, more[0], STARPU_R);
    fake_use(job, more[1], STARPU_R);
    fake_submit(job);
    ck_assert(!fake_fetch(job, 1));
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake.nstarted = 0;
    return job;
}

START_TEST(a_prefetch_that_finds_no_memory_is_dropped)
{
    struct orr_job *full = fill();

    orr_handle_prefetch(&fake.rt, h, 1, _i ? ORR_PREFETCH : ORR_IDLE_PREFETCH);
    ck_assert_uint_ne(h->loading, 0);
    fake_settle();
    fake_assert_idle(h);
    ck_assert_uint_eq(fake.nstarted, 0);
    fake_finish(full, 0);
    fake_settle();
    ck_assert_uint_eq(fake.nstarted, 0); /* not even later */
    fake_task(h, STARPU_R, 1, 0);
    ck_assert_uint_eq(fake_get(h, 1), 7);
}
END_TEST

START_TEST(a_prefetch_that_a_task_waits_for_is_not_dropped)
{
    struct orr_job *full = fill(), *job;

    orr_handle_prefetch(&fake.rt, h, 1, ORR_PREFETCH);
    job = fake_ask(h, STARPU_R, 1);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 0);
    fake_finish(full, 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 0);
}
END_TEST

/* What a task is expected to wait for is a fetch, too. */
START_TEST(a_fetch_is_not_dropped)
{
    struct orr_job *full = fill();

    orr_handle_prefetch(&fake.rt, h, 1, ORR_FETCH);
    fake_settle();
    ck_assert_uint_eq(fake.nstarted, 0);
    fake_finish(full, 0);
    fake_settle();
    ck_assert(fake_is_valid(h, 1));
}
END_TEST

START_TEST(who_found_no_memory_is_tried_again_when_some_is_free)
{
    struct orr_job *full = fill();
    struct orr_job *job = fake_ask(h, _i & 1 ? STARPU_W : STARPU_R, 1);

    for (unsigned i = 0; i < 10; i++) { /* in vain */
        orr_node_freed(&fake.rt, 1);
        fake_settle();
    }
    ck_assert_uint_eq(fake_told(job) + fake.nstarted, 0);
    if (_i & 2) { /* by the end of a handle, not of its use */
        orr_data_unregister_submit(&fake.rt, more[0]);
        orr_data_unregister_submit(&fake.rt, more[1]);
        fake_finish(full, 0);
    } else {
        fake_finish(full, 0);
    }
    ck_assert_uint_eq(fake.woken, 1U << fake_driver(1));
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 0);
}
END_TEST

/* A job keeps node 1 full and writes; what the same progress worker has to copy
 * out of there goes on. */
START_TEST(who_finds_no_memory_holds_up_no_copy_elsewhere)
{
    struct orr_job *writer = fake_job(2), *job, *reader;

    fake_use(writer, more[0], STARPU_W);
    fake_use(writer, more[1], STARPU_W);
    fake_submit(writer);
    ck_assert(!fake_fetch(writer, 1));
    fake_settle();
    orr_job_take_data(&fake.rt, writer, 1);
    job = fake_ask(h, STARPU_R, 1);
    reader = fake_ask(more[0], STARPU_R, 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 0);
    ck_assert_uint_eq(fake_told(reader), 1);
    fake_finish(reader, 0);
    fake_finish(writer, 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 0);
}
END_TEST

/* Its end may be what frees memory for the other. */
START_TEST(who_finds_no_memory_holds_up_no_copy_to_memory_that_is_there)
{
    struct orr_job *writer = fake_job(2), *job, *reader;

    fake_use(writer, more[0], STARPU_W);
    fake_use(writer, more[1], STARPU_W);
    fake_submit(writer);
    ck_assert(!fake_fetch(writer, 1));
    fake_settle();
    job = fake_ask(h, STARPU_R, 1);
    reader = fake_ask(more[0], STARPU_R, 1);
    fake_progress(1);
    ck_assert_uint_eq(fake.ncopies, 1);
    fake_settle();
    ck_assert_uint_eq(fake_told(reader), 1);
    ck_assert_uint_eq(fake_told(job), 0);
    fake_finish(reader, 0);
    fake_finish(writer, 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 0);
}
END_TEST

/* The only values of two data are on node 1 when a third one wants to go
 * there. */
START_TEST(what_must_leave_is_brought_home_first)
{
    struct orr_job *job;

    fake_task(more[0], STARPU_W, 1, 10);
    fake_task(more[1], STARPU_W, 1, 11);
    fake.nstarted = 0;
    job = fake_ask(h, _i ? STARPU_W : STARPU_R, 1);
    fake_progress(1);
    ck_assert(!fake_is_allocated(h, 1));
    ck_assert_uint_ge(fake.ncopies, 1);
    ck_assert_uint_eq(fake.copies[0]->src, 1);
    ck_assert_uint_eq(fake.copies[0]->dst, 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 8);
    ck_assert(fake_is_valid(more[0], 0));
    ck_assert(!fake_is_valid(more[0], 1));
    ck_assert_uint_eq(fake_get(more[0], 0), 10);
    fake_task(more[1], STARPU_R, 0, 0);
    ck_assert_uint_eq(fake_get(more[1], 0), 11);
}
END_TEST

/* The old value would come over what a writer at home writes. */
START_TEST(nothing_is_brought_home_where_it_is_about_to_be_written)
{
    struct orr_job *writer = fake_job(2), *job;

    fake_task(more[0], STARPU_W, 1, 10);
    fake_task(more[1], STARPU_W, 1, 11);
    fake_use(writer, more[0], STARPU_W);
    fake_use(writer, fake_only_on(2, 12), STARPU_R);
    fake_submit(writer);
    ck_assert(!fake_fetch(writer, 0));
    job = fake_ask(h, STARPU_R, 1);
    fake_progress(1);
    ck_assert_uint_eq(fake.ncopies, 1);
    ck_assert_ptr_eq(
        orr_container(fake.copies[0], struct orr_request, copy)->handle,
        more[1]);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 0);
    fake.woken = ~0U >> 1;
    fake_settle();
    ck_assert_uint_eq(fake_told(writer), 1);
    fake_finish(writer, 20);
    ck_assert_uint_eq(fake_get(more[0], 0), 20);
}
END_TEST

/* Nothing else could make room. */
START_TEST(what_was_overwritten_elsewhere_makes_room)
{
    struct orr_job *writer = fake_job(2), *keeper, *job;

    fake_task(more[0], STARPU_W, 1, 10);
    keeper = fake_ask(more[1], STARPU_R, 1);
    fake_use(writer, more[0], STARPU_W);
    fake_use(writer, fake_only_on(2, 12), STARPU_R);
    fake_settle();
    fake_submit(writer);
    ck_assert(!fake_fetch(writer, 0));
    job = fake_ask(h, STARPU_R, 1);
    fake_settle();
    fake.woken = 1U << fake_driver(2);
    fake_settle();
    ck_assert_uint_eq(fake_told(writer), 1);
    ck_assert_uint_eq(fake_told(job), 0);
    fake_run(writer, 20);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_end(writer);
    fake_finish(job, 0);
    fake_finish(keeper, 0);
}
END_TEST

/* --- what cannot be had --- */

START_TEST(what_was_never_written_cannot_be_read)
{
    struct orr_handle *handle = fake_handle(-1, FAKE_SIZE);

    ck_assert_int_eq(fake_need(handle, 1, true, ORR_FETCH, NULL), -ENODATA);
    ck_assert_int_eq(fake_need(handle, 0, true, ORR_FETCH, NULL), -ENODATA);
    orr_handle_prefetch(&fake.rt, handle, 1, ORR_PREFETCH);
    fake_settle();
    ck_assert_uint_eq(fake.nstarted, 0);
    fake_assert_idle(handle);
}
END_TEST

START_TEST(without_spare_requests_nothing_is_done)
{
    struct orr_deferred deferred = {0};
    int there;

    orr_lock(&h->lock);
    there = orr_request_need(&fake.rt, h, 1, true, ORR_FETCH, NULL, &deferred);
    orr_unlock(&h->lock);
    ck_assert_int_eq(there, -EAGAIN);
    ck_assert_uint_eq(deferred.kick, 0);
    ck_assert_ptr_null(deferred.now);
    ck_assert_ptr_null(deferred.spare);
    orr_deferred_run(&fake.rt, &deferred);
    ck_assert_uint_eq(fake.woken, 0);
    fake_assert_idle(h);
}
END_TEST

START_TEST(joining_needs_no_spare_request)
{
    struct orr_deferred deferred = {0};
    int there;

    orr_handle_prefetch(&fake.rt, h, 1, ORR_PREFETCH);
    orr_lock(&h->lock);
    there = orr_request_need(&fake.rt, h, 1, true, ORR_FETCH, NULL, &deferred);
    orr_unlock(&h->lock);
    ck_assert_int_eq(there, 0);
    orr_deferred_run(&fake.rt, &deferred);
    fake_settle();
}
END_TEST

START_TEST(spares_that_were_not_needed_are_given_back)
{
    struct orr_deferred deferred = {0};

    ck_assert_int_eq(orr_deferred_prepare(&fake.rt, &deferred), 0);
    ck_assert_int_gt(fake.out[FAKE_REQUESTS], 0);
    ck_assert_int_eq(orr_deferred_prepare(&fake.rt, &deferred), 0);
    orr_deferred_run(&fake.rt, &deferred);
    ck_assert_int_eq(fake.out[FAKE_REQUESTS], 0);
    ck_assert_ptr_null(deferred.spare);
    fake.no_slab = fake.rt.slabs->requests;
    ck_assert_int_eq(orr_deferred_prepare(&fake.rt, &deferred), -ENOMEM);
    orr_deferred_run(&fake.rt, &deferred);
}
END_TEST

START_TEST(a_prefetch_without_memory_for_it_does_nothing)
{
    fake.no_slab = fake.rt.slabs->requests;
    orr_handle_prefetch(&fake.rt, h, 1, ORR_PREFETCH);
    fake.no_slab = NULL;
    fake_settle();
    ck_assert_uint_eq(fake.nstarted, 0);
    fake_assert_idle(h);
}
END_TEST

static void read_the_unwritten(void *arg)
{
    (void)arg;
    (void)fake_fetch(fake_unordered(fake_handle(-1, FAKE_SIZE), STARPU_R), 1);
}

static void fetch_without_requests(void *arg)
{
    (void)arg;
    fake.no_slab = fake.rt.slabs->requests;
    (void)fake_fetch(fake_unordered(h, STARPU_R), 1);
}

static void fetch_main_memory_that_is_out(void *arg)
{
    (void)arg;
    fake.no_memory = 1;
    (void)fake_fetch(fake_unordered(fake_handle(-1, FAKE_SIZE), STARPU_W), 0);
}

static void end_an_old_copy_without_requests(void *arg)
{
    (void)arg;
    (void)fake_ask(h, STARPU_R, 1);
    fake_progress(1);
    fake_overwrite(h, 0, 8);
    fake.no_slab = fake.rt.slabs->requests;
    fake_end_copy(0);
}

static void forget_what_a_job_waits_for(void *arg)
{
    (void)arg;
    (void)fake_ask(h, STARPU_R, 1);
    fake_progress(1);
    orr_data_invalidate_submit(&fake.rt, h, false);
    fake_end_copy(0);
}

static const struct {
    void (*body)(void *);
    const char *says;
} deadly[] = {
    {read_the_unwritten, "has no value"},
    {fetch_without_requests, "no memory for buffer 0"},
    {fetch_main_memory_that_is_out, "no memory for buffer 0"},
    {end_an_old_copy_without_requests, "out of memory"},
    {forget_what_a_job_waits_for, "has no value"},
};

START_TEST(what_ends_the_run_says_so)
{
    char text[1000];
    int status = child_run(deadly[_i].body, NULL, text, sizeof(text));

    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT,
                  "status %d: %s", status, text);
    ck_assert_msg(strstr(text, deadly[_i].says) != NULL, "%s", text);
}
END_TEST

/* --- main memory in several nodes --- */

static void open_numa(bool simulated, uint64_t empty)
{
    const struct fake_spec spec = {.nram = 3,
                                   .ncpus = 2,
                                   .empty = empty,
                                   .simulated = simulated,
                                   .ndevices = 1};

    fake_open(&spec);
    h = fake_handle(1, FAKE_SIZE);
    fake_set(h, 1, 7);
}

static void setup_numa(void)
{
    open_numa(false, 0);
}

START_TEST(between_main_memories_a_worker_copies_at_once)
{
    struct orr_job *job = fake_ask(h, STARPU_R, 0);

    fake_progress(0);
    ck_assert_uint_eq(fake.nstarted, 1);
    ck_assert_uint_eq(fake.ncopies, 0);
    ck_assert_uint_eq(fake_told(job), 1);
    ck_assert_uint_eq(fake_get(h, 0), 7);
    fake_finish(job, 0);
}
END_TEST

START_TEST(simulated_such_a_copy_is_under_way_like_others)
{
    struct orr_job *job;

    fake_close();
    open_numa(true, 0);
    job = fake_ask(h, STARPU_R, 0);
    fake_progress(0);
    ck_assert_uint_eq(fake.ncopies, 1);
    ck_assert_uint_eq(fake_told(job), 0);
    fake_settle();
    ck_assert_uint_eq(fake_told(job), 1);
    fake_finish(job, 0);
}
END_TEST

/* From node 1 to 2: the requesting worker, the nodes without workers, the
 * progress worker. */
static const struct {
    int worker;
    uint64_t empty;
    unsigned driver;
} askers[] = {{-1, 0, 2},            /* the destination's */
              {2, 0, 1},             /* the requesting one */
              {4, 0, 2},  {0, 0, 2}, /* a worker of a third node */
              {-1, 4, 1},            /* no worker there: the source's */
              {-1, 6, 0}};           /* nor there: another one */

START_TEST(who_drives_a_copy_between_main_memories)
{
    fake_close();
    open_numa(false, askers[_i].empty);
    fake_be(askers[_i].worker);
    orr_handle_prefetch(&fake.rt, h, 2, ORR_PREFETCH);
    fake_be(-1);
    for (unsigned node = 0; node < 3; node++)
        if (node != askers[_i].driver && fake_driver(node) >= 0)
            fake_progress(node);
    ck_assert(!fake_is_valid(h, 2));
    fake_progress(askers[_i].driver);
    ck_assert(fake_is_valid(h, 2));
    ck_assert_uint_eq(fake_get(h, 2), 7);
}
END_TEST

START_TEST(between_main_memory_and_a_device_the_device_drives)
{
    const unsigned device = 3;
    struct orr_handle *there;

    fake_be((int)_i);
    orr_handle_prefetch(&fake.rt, h, device, ORR_PREFETCH);
    fake_be(-1);
    ck_assert_uint_eq(fake.woken, 1U << fake_driver(device));
    fake_progress(device);
    ck_assert(is_under_way(0, 1, device));
    fake_settle();
    there = fake_only_on(device, 8);
    orr_handle_prefetch(&fake.rt, there, 1, ORR_PREFETCH);
    ck_assert_uint_eq(fake.woken, 1U << fake_driver(device));
    fake_progress(device);
    ck_assert(is_under_way(0, device, 1));
    fake_settle();
}
END_TEST

static unsigned nlooks;

static void end_copying(void)
{
    if (++nlooks == 3)
        atomic_store(&h->ncopying, 0);
}

START_TEST(a_writer_waits_for_copies_that_read_main_memory)
{
    struct orr_job *job = fake_unordered(h, _i ? STARPU_RW : STARPU_W);

    ck_assert(fake_fetch(job, 1));
    nlooks = 0;
    atomic_store(&h->ncopying, 1); /* as if another thread made one */
    fake.meanwhile = end_copying;
    fake_finish(job, 8);
    ck_assert_uint_eq(nlooks, 3);
}
END_TEST

START_TEST(a_reader_does_not)
{
    struct orr_job *job = fake_unordered(h, STARPU_R);

    ck_assert(fake_fetch(job, 1));
    atomic_store(&h->ncopying, 1);
    fake_finish(job, 0);
    atomic_store(&h->ncopying, 0);
}
END_TEST

/* --- handles that end --- */

START_TEST(a_copy_keeps_its_handle)
{
    orr_handle_prefetch(&fake.rt, h, 1, ORR_PREFETCH);
    if (_i)
        fake_progress(1);
    orr_data_unregister_submit(&fake.rt, h);
    ck_assert(!orr_list_empty(&fake.rt.data->handles));
    fake_settle();
    ck_assert(orr_list_empty(&fake.rt.data->handles));
    ck_assert_uint_eq(fake.bytes[1], 0);
}
END_TEST

/* The machine's context calls no methods of the application's interfaces; the
 * first worker frees the handle. */
START_TEST(the_end_of_a_copy_frees_no_handle)
{
    orr_handle_prefetch(&fake.rt, h, 1, ORR_PREFETCH);
    fake_progress(1);
    orr_data_unregister_submit(&fake.rt, h);
    fake.woken = 0;
    orr_self->machine = true;
    fake_end_copy(0);
    orr_self->machine = false;
    ck_assert_uint_gt(fake.bytes[1], 0);
    ck_assert_uint_eq(fake.woken & 1, 1);
    ck_assert_uint_eq(atomic_load(&fake.rt.data->ndead), 1);
    orr_handles_free_dead(&fake.rt);
    ck_assert_uint_eq(atomic_load(&fake.rt.data->ndead), 0);
    ck_assert_uint_eq(fake.bytes[1], 0);
    ck_assert(orr_list_empty(&fake.rt.data->handles));
}
END_TEST

#ifndef NDEBUG
static void need_a_dying_one(void *arg)
{
    (void)arg;
    orr_handle_wait_idle(&fake.rt, h, true);
    (void)fake_need(h, 1, true, ORR_FETCH, NULL);
}

START_TEST(no_request_begins_for_a_dying_handle)
{
    char text[1000];
    int status = child_run(need_a_dying_one, NULL, text, sizeof(text));

    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    ck_assert_ptr_nonnull(strstr(text, "dying"));
}
END_TEST
#endif

static TCase *case_of(const char *name, void (*before)(void))
{
    TCase *tc = tcase_create(name);

    tcase_add_checked_fixture(tc, before, teardown);
    return tc;
}

static TCase *memory(void)
{
    TCase *tc = case_of("memory", setup);

    tcase_add_test(tc, who_only_writes_gets_memory);
    tcase_add_test(tc, who_reads_joins_who_only_writes);
    tcase_add_test(tc, who_reads_may_come_while_memory_is_made);
    tcase_add_loop_test(tc, main_memory_is_had_at_once, 0, 4);
    tcase_add_test(tc, so_is_memory_of_a_device_without_progress_workers);
    tcase_add_test(tc, main_memory_that_is_out_is_asked_for_again);
    return tc;
}

static TCase *refusals(void)
{
    TCase *tc = case_of("refusals", setup);

    tcase_add_test(tc, what_was_never_written_cannot_be_read);
    tcase_add_test(tc, without_spare_requests_nothing_is_done);
    tcase_add_test(tc, joining_needs_no_spare_request);
    tcase_add_test(tc, spares_that_were_not_needed_are_given_back);
    tcase_add_test(tc, a_prefetch_without_memory_for_it_does_nothing);
    tcase_add_loop_test(tc, what_ends_the_run_says_so, 0, 5);
    tcase_add_loop_test(tc, a_copy_keeps_its_handle, 0, 2);
    tcase_add_test(tc, the_end_of_a_copy_frees_no_handle);
#ifndef NDEBUG
    tcase_add_test(tc, no_request_begins_for_a_dying_handle);
#endif
    return tc;
}

static TCase *full(void)
{
    TCase *tc = case_of("full", setup_small);

    tcase_add_loop_test(tc, a_prefetch_that_finds_no_memory_is_dropped, 0, 2);
    tcase_add_test(tc, a_prefetch_that_a_task_waits_for_is_not_dropped);
    tcase_add_test(tc, a_fetch_is_not_dropped);
    tcase_add_loop_test(
        tc, who_found_no_memory_is_tried_again_when_some_is_free, 0, 4);
    tcase_add_test(tc, who_finds_no_memory_holds_up_no_copy_elsewhere);
    tcase_add_test(
        tc, who_finds_no_memory_holds_up_no_copy_to_memory_that_is_there);
    tcase_add_loop_test(tc, what_must_leave_is_brought_home_first, 0, 2);
    tcase_add_test(tc, nothing_is_brought_home_where_it_is_about_to_be_written);
    tcase_add_test(tc, what_was_overwritten_elsewhere_makes_room);
    return tc;
}

static TCase *numa(void)
{
    TCase *tc = case_of("numa", setup_numa);

    tcase_add_test(tc, between_main_memories_a_worker_copies_at_once);
    tcase_add_test(tc, simulated_such_a_copy_is_under_way_like_others);
    tcase_add_loop_test(tc, who_drives_a_copy_between_main_memories, 0, 6);
    tcase_add_loop_test(tc, between_main_memory_and_a_device_the_device_drives,
                        -1, 5);
    tcase_add_loop_test(tc, a_writer_waits_for_copies_that_read_main_memory, 0,
                        2);
    tcase_add_test(tc, a_reader_does_not);
    return tc;
}

SUITE_MAIN(request_memory)
{
    Suite *suite = suite_create("request-memory");

    suite_add_tcase(suite, memory());
    suite_add_tcase(suite, refusals());
    suite_add_tcase(suite, full());
    suite_add_tcase(suite, numa());
    return suite_main(suite);
}
