/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/buffers.c - collecting the handles of a task one by one. The dyn_
 * arrays belong to the task and end with it; a codelet's dyn_modes, if they
 * must be made here, live as long as the codelet.
 */
#include "core/api/buffers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_task_util.h>

#include "core/base/log.h"
#include "core/base/race.h"

static const char *buffers_codelet_name(const struct orr_buffers *b)
{
    return b->cl && b->cl->name ? b->cl->name : "?";
}

static bool is_variable(const struct orr_buffers *b)
{
    return b->cl && b->cl->nbuffers == STARPU_VARIABLE_NBUFFERS;
}

/* Whether the codelet has a buffer number b->n. */
static bool buffers_codelet_has_next(const struct orr_buffers *b)
{
    return b->cl && (is_variable(b) || b->n < b->cl->nbuffers);
}

/* --- arrays --- */

/* Makes an array `length` long. Its first content comes from the `n` elements
 * of the short array inside the structure. */
static int buffers_array_grow(void **array, const void *inside, size_t size,
                              int n, int length)
{
    void *grown = realloc(*array, size * (size_t)length);

    if (!grown)
        return -ENOMEM;
    if (!*array)
        memcpy(grown, inside, size * (size_t)n);
    *array = grown;
    return 0;
}

/* buffers_array_grow() for an array of any type of element. */
#define GROW(array, inside, n, length)                                         \
    grow_field(&(array), sizeof(array), inside, sizeof(*(array)), n, length)

/* A pointer to a typed pointer is no void **: go through a copy. */
static int grow_field(void *field, size_t field_size, const void *inside,
                      size_t size, int n, int length)
{
    void *array;
    int err;

    memcpy(&array, field, field_size);
    err = buffers_array_grow(&array, inside, size, n, length);
    memcpy(field, &array, field_size);
    return err;
}

static int grow_task(struct orr_buffers *b, int length)
{
    struct starpu_task *task = b->task;
    int n = b->n < STARPU_NMAXBUFS ? b->n : STARPU_NMAXBUFS;
    int err = GROW(task->dyn_handles, task->handles, n, length);

    if (!err)
        err = GROW(task->dyn_interfaces, task->interfaces, n, length);
    if (!err && is_variable(b))
        err = GROW(task->dyn_modes, task->modes, n, length);
    if (!err)
        b->allocated = length;
    return err;
}

/* Sets what a codelet has none of yet; code that knows that the codelet has it reads it
 * plainly. `had`, none, becomes what another thread has set meanwhile. An exchange that
 * fails writes nothing, but the thread sanitizer takes it for a write. */
#define SET_ONCE(at, had, value)                                               \
    do {                                                                       \
        orr_race_repeat_begin();                                               \
        (void)__atomic_compare_exchange_n(at, &(had), value, false,            \
                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); \
        orr_race_repeat_end();                                                 \
    } while (0)

/* The modes of a codelet with a large fixed number of buffers may be set too. Of
 * several threads that insert its first tasks one sets them. */
static int give_codelet_modes(struct starpu_codelet *cl)
{
    enum starpu_data_access_mode *modes, *had = NULL;

    if (cl->nbuffers <= STARPU_NMAXBUFS ||
        __atomic_load_n(&cl->dyn_modes, __ATOMIC_ACQUIRE))
        return 0;
    modes = calloc((size_t)cl->nbuffers, sizeof(*modes));
    if (!modes)
        return -ENOMEM;
    SET_ONCE(&cl->dyn_modes, had, modes);
    if (had)
        free(modes);
    return 0;
}

static int buffers_make_room(struct orr_buffers *b, int room)
{
    int want = b->n + room, length = b->allocated;
    int err = b->cl ? give_codelet_modes(b->cl) : 0;

    if (!err && (want > STARPU_NMAXBUFS || b->task->dyn_handles) &&
        want > length) {
        if (length < 2 * STARPU_NMAXBUFS)
            length = 2 * STARPU_NMAXBUFS;
        while (length < want)
            length *= 2;
        err = grow_task(b, length);
    }
    if (err)
        orr_log_error("%s: no memory for %d handles", b->call, want);
    return err;
}

/* --- modes --- */

/* The part of an access mode that a codelet keeps: the rest is for one task or
 * the MPI layer. */
static enum starpu_data_access_mode lasting(int mode)
{
    mode &= ~(STARPU_SSEND | STARPU_NOFOOTPRINT);
    if (mode & STARPU_MPI_REDUX)
        mode = (mode & ~STARPU_MPI_REDUX) | STARPU_RW | STARPU_COMMUTE;
    return (enum starpu_data_access_mode)mode;
}

/* "STARPU_RW|STARPU_COMMUTE"; what has no name stays a number. */
static const char *mode_text(unsigned mode, char *text, size_t size)
{
    static const struct {
        unsigned bits;
        const char *name;
    } names[] = {{STARPU_RW, "STARPU_RW"},
                 {STARPU_R, "STARPU_R"},
                 {STARPU_W, "STARPU_W"},
                 {STARPU_SCRATCH, "STARPU_SCRATCH"},
                 {STARPU_REDUX, "STARPU_REDUX"},
                 {STARPU_COMMUTE, "STARPU_COMMUTE"}};
    size_t used = 0;

    *text = '\0';
    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && used < size; i++) {
        if ((mode & names[i].bits) != names[i].bits)
            continue;
        mode &= ~names[i].bits;
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 used ? "|" : "", names[i].name);
    }
    if ((mode || !used) && used < size)
        snprintf(text + used, size - used, "%s0x%x", used ? "|" : "", mode);
    return text;
}

/* Where the codelet keeps the mode of the next buffer. */
static enum starpu_data_access_mode *mode_of_codelet(struct orr_buffers *b)
{
    enum starpu_data_access_mode *modes =
        __atomic_load_n(&b->cl->dyn_modes, __ATOMIC_ACQUIRE);

    return &(modes ? modes : b->cl->modes)[b->n];
}

/* What the codelet has already; 0: `kept` is its mode from now on. */
static enum starpu_data_access_mode
codelet_mode_set_once(enum starpu_data_access_mode *mode,
                      enum starpu_data_access_mode kept)
{
    enum starpu_data_access_mode had = __atomic_load_n(mode, __ATOMIC_ACQUIRE);

    if (!had)
        SET_ONCE(mode, had, kept);
    return had;
}

static int set_mode(struct orr_buffers *b, int mode)
{
    enum starpu_data_access_mode kept = lasting(mode), had;
    char asked[96], has[96];

    if (is_variable(b)) {
        kept = (enum starpu_data_access_mode)((int)kept |
                                              (mode & STARPU_NOFOOTPRINT));
        STARPU_TASK_SET_MODE(b->task, kept, b->n);
        return 0;
    }
    had = codelet_mode_set_once(mode_of_codelet(b), kept);
    if (!had || lasting((int)had) == kept)
        return 0;
    orr_log_error("%s: buffer %d of codelet `%s' is accessed with mode %s, "
                  "but the codelet's modes[%d] is %s; use the same, or "
                  "another codelet",
                  b->call, b->n, buffers_codelet_name(b),
                  mode_text((unsigned)kept, asked, sizeof(asked)), b->n,
                  mode_text((unsigned)had, has, sizeof(has)));
    return -EINVAL;
}

/* --- handles --- */

static int check_handle(const struct orr_buffers *b,
                        starpu_data_handle_t handle)
{
    if (handle)
        return 0;
    orr_log_error("%s: buffer %d of codelet `%s' is NULL; register the data "
                  "first",
                  b->call, b->n, buffers_codelet_name(b));
    return -EINVAL;
}

static void buffers_put_handle(struct orr_buffers *b,
                               starpu_data_handle_t handle)
{
    STARPU_TASK_SET_HANDLE(b->task, handle, b->n);
    b->n++;
    if (is_variable(b))
        b->task->nbuffers = b->n;
}

int orr_buffers_add(struct orr_buffers *b, int mode,
                    starpu_data_handle_t handle)
{
    int err;

    if (mode & STARPU_NONE)
        return 0;
    err = check_handle(b, handle);
    if (err)
        return err;
    if (!buffers_codelet_has_next(b)) {
        b->n++;
        return 0;
    }
    if (b->n >= STARPU_NMAXBUFS || b->task->dyn_handles ||
        b->cl->nbuffers > STARPU_NMAXBUFS)
        err = buffers_make_room(b, 1);
    if (!err)
        err = set_mode(b, mode);
    if (!err)
        buffers_put_handle(b, handle);
    return err;
}

static int check_known_mode(const struct orr_buffers *b)
{
    if (!is_variable(b) && STARPU_CODELET_GET_MODE(b->cl, b->n))
        return 0;
    orr_log_error("%s: STARPU_DATA_ARRAY takes the modes of codelet `%s', "
                  "whose access mode for buffer %d is not set; set its "
                  "modes[], or use STARPU_DATA_MODE_ARRAY",
                  b->call, buffers_codelet_name(b), b->n);
    return -EINVAL;
}

int orr_buffers_known_mode(const char *call, struct starpu_codelet *cl, int n)
{
    const struct orr_buffers b = {.call = call, .cl = cl, .n = n};

    if (!cl) {
        orr_log_error("%s: STARPU_DATA_ARRAY takes the access modes of the codelet, and "
                      "there is none; use STARPU_DATA_MODE_ARRAY",
                      call);
        return -EINVAL;
    }
    if (!buffers_codelet_has_next(&b))
        return STARPU_R;
    return check_known_mode(&b) == 0 ? (int)STARPU_CODELET_GET_MODE(cl, n)
                                     : -EINVAL;
}

int orr_buffers_add_array(struct orr_buffers *b, int n,
                          starpu_data_handle_t *handles)
{
    for (int i = 0; i < n; i++) {
        int err = check_handle(b, handles[i]);

        if (!err && !buffers_codelet_has_next(b)) {
            b->n++;
            continue;
        }
        if (!err)
            err = buffers_make_room(b, n - i);
        if (!err)
            err = check_known_mode(b);
        if (err)
            return err;
        buffers_put_handle(b, handles[i]);
    }
    return 0;
}

int orr_buffers_add_descrs(struct orr_buffers *b, int n,
                           const struct starpu_data_descr *descrs)
{
    for (int i = 0; i < n; i++) {
        int err = orr_buffers_add(b, (int)descrs[i].mode, descrs[i].handle);

        if (err)
            return err;
    }
    return 0;
}

int orr_buffers_check_number(const struct orr_buffers *b)
{
    int wanted = b->cl ? b->cl->nbuffers : 0;

    if (wanted == STARPU_VARIABLE_NBUFFERS || wanted == b->n)
        return 0;
    orr_log_error("%s: codelet `%s' has nbuffers = %d, but %d handles were given",
                  b->call, buffers_codelet_name(b), wanted, b->n);
    return -EINVAL;
}

/* --- the public steps --- */

/* The collector that the arguments of a public call describe. */
static struct orr_buffers buffers_resume(const char *call,
                                         struct starpu_codelet *cl,
                                         struct starpu_task *task,
                                         const int *allocated_buffers,
                                         int current_buffer)
{
    return (struct orr_buffers){
        .call = call,
        .cl = cl,
        .task = task,
        .n = current_buffer,
        .allocated = *allocated_buffers,
    };
}

/* These calls return nothing, so that an error can only end the program. */
static void buffers_suspend(const struct orr_buffers *b, int err,
                            int *allocated_buffers, int *current_buffer)
{
    if (err)
        STARPU_ABORT_MSG("%s cannot go on, see above", b->call);
    *allocated_buffers = b->allocated;
    if (current_buffer)
        *current_buffer = b->n;
}

void starpu_task_insert_data_make_room(struct starpu_codelet *cl,
                                       struct starpu_task *task,
                                       int *allocated_buffers,
                                       int current_buffer, int room)
{
    struct orr_buffers b =
        buffers_resume("starpu_task_insert_data_make_room", cl, task,
                       allocated_buffers, current_buffer);

    buffers_suspend(&b, buffers_make_room(&b, room), allocated_buffers, NULL);
}

void starpu_task_insert_data_process_arg(struct starpu_codelet *cl,
                                         struct starpu_task *task,
                                         int *allocated_buffers,
                                         int *current_buffer, int arg_type,
                                         starpu_data_handle_t handle)
{
    struct orr_buffers b =
        buffers_resume("starpu_task_insert_data_process_arg", cl, task,
                       allocated_buffers, *current_buffer);

    buffers_suspend(&b, orr_buffers_add(&b, arg_type, handle),
                    allocated_buffers, current_buffer);
}

void starpu_task_insert_data_process_array_arg(
    struct starpu_codelet *cl, struct starpu_task *task, int *allocated_buffers,
    int *current_buffer, int nb_handles, starpu_data_handle_t *handles)
{
    struct orr_buffers b =
        buffers_resume("starpu_task_insert_data_process_array_arg", cl, task,
                       allocated_buffers, *current_buffer);

    buffers_suspend(&b, orr_buffers_add_array(&b, nb_handles, handles),
                    allocated_buffers, current_buffer);
}

void starpu_task_insert_data_process_mode_array_arg(
    struct starpu_codelet *cl, struct starpu_task *task, int *allocated_buffers,
    int *current_buffer, int nb_descrs, struct starpu_data_descr *descrs)
{
    struct orr_buffers b =
        buffers_resume("starpu_task_insert_data_process_mode_array_arg", cl,
                       task, allocated_buffers, *current_buffer);

    buffers_suspend(&b, orr_buffers_add_descrs(&b, nb_descrs, descrs),
                    allocated_buffers, current_buffer);
}
