/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/codelet_pack.c - packing a kernel's arguments. The buffer is an int that
 * counts the values, then for each a size_t and that many bytes; nothing is
 * aligned. One thread per state.
 */
#include "core/api/codelet_pack.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_util.h>

/* --- packing --- */

static int pack_make_room(struct starpu_codelet_pack_arg_data *state,
                          size_t room)
{
    size_t want = state->current_offset + room, size = state->arg_buffer_size;
    char *grown;

    if (want < room)
        return -ENOMEM;
    if (want <= size)
        return 0;
    if (size < 64)
        size = 64;
    while (size < want)
        size = size > want / 2 ? want : 2 * size;
    grown = realloc(state->arg_buffer, size);
    if (!grown)
        return -ENOMEM;
    state->arg_buffer = grown;
    state->arg_buffer_size = size;
    return 0;
}

static void pack_append(struct starpu_codelet_pack_arg_data *state,
                        const void *ptr, size_t size)
{
    if (size)
        memcpy(state->arg_buffer + state->current_offset, ptr, size);
    state->current_offset += size;
    state->arg_buffer_used = state->current_offset;
}

int orr_pack_add(struct starpu_codelet_pack_arg_data *state, const void *ptr,
                 size_t size)
{
    size_t head = state->current_offset ? 0 : sizeof(int);
    int zero = 0, err;

    if (size > SIZE_MAX / 4)
        return -ENOMEM;
    err = pack_make_room(state, head + sizeof(size) + size);
    if (err)
        return err;
    pack_append(state, &zero, head); /* the count, written at the end */
    pack_append(state, &size, sizeof(size));
    pack_append(state, ptr, size);
    state->nargs++;
    return 0;
}

void orr_pack_drop(struct starpu_codelet_pack_arg_data *state)
{
    free(state->arg_buffer);
    starpu_codelet_pack_arg_init(state);
}

void starpu_codelet_pack_arg_init(struct starpu_codelet_pack_arg_data *state)
{
    memset(state, 0, sizeof(*state));
}

void starpu_codelet_pack_arg(struct starpu_codelet_pack_arg_data *state,
                             const void *ptr, size_t ptr_size)
{
    STARPU_ASSERT_MSG_ALWAYS(!orr_pack_add(state, ptr, ptr_size),
                             "starpu_codelet_pack_arg: no memory for %zu bytes",
                             ptr_size);
}

void starpu_codelet_pack_arg_fini(struct starpu_codelet_pack_arg_data *state,
                                  void **cl_arg, size_t *cl_arg_size)
{
    if (!state->current_offset) {
        STARPU_ASSERT_MSG_ALWAYS(!pack_make_room(state, sizeof(int)),
                                 "starpu_codelet_pack_arg_fini: no memory");
        pack_append(state, &state->nargs, sizeof(int));
    }
    memcpy(state->arg_buffer, &state->nargs, sizeof(int));
    *cl_arg = state->arg_buffer;
    *cl_arg_size = state->arg_buffer_used;
    starpu_codelet_pack_arg_init(state);
}

void starpu_codelet_pack_args(void **arg_buffer, size_t *arg_buffer_size, ...)
{
    struct starpu_codelet_pack_arg_data state;
    va_list ap;
    int tag;

    starpu_codelet_pack_arg_init(&state);
    va_start(ap, arg_buffer_size);
    while ((tag = va_arg(ap, int))) {
        const void *ptr;
        size_t size;

        STARPU_ASSERT_MSG_ALWAYS(tag == STARPU_VALUE,
                                 "starpu_codelet_pack_args: %d is not "
                                 "STARPU_VALUE; end the list with 0",
                                 tag);
        ptr = va_arg(ap, const void *);
        size = va_arg(ap, size_t);
        starpu_codelet_pack_arg(&state, ptr, size);
    }
    va_end(ap);
    starpu_codelet_pack_arg_fini(&state, arg_buffer, arg_buffer_size);
}

/* --- unpacking; `nargs` counts the values that are left --- */

void starpu_codelet_unpack_arg_init(struct starpu_codelet_pack_arg_data *state,
                                    void *cl_arg, size_t cl_arg_size)
{
    starpu_codelet_pack_arg_init(state);
    if (!cl_arg || cl_arg_size < sizeof(int))
        return;
    state->arg_buffer = cl_arg;
    state->arg_buffer_size = cl_arg_size;
    state->arg_buffer_used = cl_arg_size;
    memcpy(&state->nargs, cl_arg, sizeof(int));
    state->current_offset = sizeof(int);
}

/* Returns the place of the next value and its size, and steps over it. */
static char *next_value(struct starpu_codelet_pack_arg_data *state,
                        const char *call, size_t *size)
{
    size_t left = state->arg_buffer_size - state->current_offset;
    char *at = state->arg_buffer + state->current_offset;

    STARPU_ASSERT_MSG_ALWAYS(state->nargs > 0,
                             "%s: all packed values were read already", call);
    STARPU_ASSERT_MSG_ALWAYS(left >= sizeof(*size), "%s: the buffer is cut off",
                             call);
    memcpy(size, at, sizeof(*size));
    STARPU_ASSERT_MSG_ALWAYS(left - sizeof(*size) >= *size,
                             "%s: the buffer is cut off", call);
    state->current_offset += sizeof(*size) + *size;
    state->nargs--;
    return at + sizeof(*size);
}

void starpu_codelet_unpack_arg(struct starpu_codelet_pack_arg_data *state,
                               void *ptr, size_t size)
{
    size_t packed;
    const char *at = next_value(state, "starpu_codelet_unpack_arg", &packed);

    STARPU_ASSERT_MSG_ALWAYS(packed == size,
                             "starpu_codelet_unpack_arg: %zu bytes were "
                             "packed, %zu are requested",
                             packed, size);
    if (size)
        memcpy(ptr, at, size);
}

void starpu_codelet_dup_arg(struct starpu_codelet_pack_arg_data *state,
                            void **ptr, size_t *size)
{
    const char *at = next_value(state, "starpu_codelet_dup_arg", size);

    *ptr = malloc(*size ? *size : 1);
    STARPU_ASSERT_MSG_ALWAYS(
        *ptr, "starpu_codelet_dup_arg: no memory for %zu bytes", *size);
    memcpy(*ptr, at, *size);
}

void starpu_codelet_pick_arg(struct starpu_codelet_pack_arg_data *state,
                             void **ptr, size_t *size)
{
    *ptr = next_value(state, "starpu_codelet_pick_arg", size);
}

void starpu_codelet_unpack_discard_arg(
    struct starpu_codelet_pack_arg_data *state)
{
    size_t size;

    next_value(state, "starpu_codelet_unpack_discard_arg", &size);
}

void starpu_codelet_unpack_arg_fini(struct starpu_codelet_pack_arg_data *state)
{
    starpu_codelet_pack_arg_init(state);
}

/* Copies values to the given addresses until a NULL or the last one. The size
 * of the buffer is not known here, its content is trusted. */
static void unpack_list(struct starpu_codelet_pack_arg_data *state,
                        void *cl_arg, va_list ap)
{
    STARPU_ASSERT_MSG_ALWAYS(cl_arg,
                             "starpu_codelet_unpack_args: the task has no "
                             "cl_arg: nothing was packed for it");
    starpu_codelet_unpack_arg_init(state, cl_arg, SIZE_MAX);
    while (state->nargs > 0) {
        void *ptr = va_arg(ap, void *);
        const char *at;
        size_t size;

        if (!ptr)
            return;
        at = next_value(state, "starpu_codelet_unpack_args", &size);
        memcpy(ptr, at, size);
    }
}

void starpu_codelet_unpack_args(void *cl_arg, ...)
{
    struct starpu_codelet_pack_arg_data state;
    va_list ap;

    va_start(ap, cl_arg);
    unpack_list(&state, cl_arg, ap);
    va_end(ap);
}

void starpu_codelet_unpack_args_and_copyleft(void *cl_arg, void *buffer,
                                             size_t buffer_size, ...)
{
    const char *call = "starpu_codelet_unpack_args_and_copyleft";
    struct starpu_codelet_pack_arg_data state;
    char *to = buffer;
    size_t left = buffer_size;
    va_list ap;

    va_start(ap, buffer_size);
    unpack_list(&state, cl_arg, ap);
    va_end(ap);
    STARPU_ASSERT_MSG_ALWAYS(left >= sizeof(int),
                             "%s: a buffer of %zu bytes is too small", call,
                             buffer_size);
    memcpy(to, &state.nargs, sizeof(int));
    to += sizeof(int);
    left -= sizeof(int);
    while (state.nargs > 0) {
        size_t size;
        const char *value = next_value(&state, call, &size);

        STARPU_ASSERT_MSG_ALWAYS(left >= sizeof(size) + size,
                                 "%s: a buffer of %zu bytes is too small", call,
                                 buffer_size);
        memcpy(to, value - sizeof(size), sizeof(size) + size);
        to += sizeof(size) + size;
        left -= sizeof(size) + size;
    }
}
