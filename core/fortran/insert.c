/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/fortran/insert.c - tasks and scheduling contexts by a list that is an array of
 * addresses, and the kernel's side of it.
 */
#include <errno.h>
#include <string.h>

#include "core/api/ctx.h"
#include "core/fortran/fortran.h"
#include "core/fortran/list.h"

/* --- reading a list --- */

/* The number at an address of the list: 0, or -EINVAL after a message. */
static int read_number(const struct orr_insertion *in, int tag,
                       const void *address, void *ret, size_t size)
{
    if (address) {
        memcpy(ret, address, size);
        return 0;
    }
    orr_log_error("%s: tag %d (0x%x) is followed by a null pointer: give the "
                  "address of the number, such as c_loc(i) of a variable with "
                  "the attribute target",
                  in->call, tag, (unsigned)tag);
    return -EINVAL;
}

static int read_array(struct orr_insertion *in, int tag, void *const *values)
{
    int n, err = read_number(in, tag, values[1], &n, sizeof(n));

    if (err)
        return err;
    return orr_insertion_add_array(in, tag, n, values[0]);
}

/* A tag and what follows: the number of elements that it takes, or a negative errno. */
static int read_argument(struct orr_insertion *in, int tag, void *const *values)
{
    struct orr_insert_arg arg = {.tag = tag, .ptr = values[0]};
    int nvalues = 1, err = 0;

    switch (orr_insertion_shape(in, tag)) {
    case ORR_TAKES_UNKNOWN:
        return -EINVAL;
    case ORR_TAKES_POINTER:
        break;
    case ORR_TAKES_DATA_ARRAY:
        err = read_array(in, tag, values);
        return err ? err : 3;
    case ORR_TAKES_INT:
        err = read_number(in, tag, values[0], &arg.i, sizeof(arg.i));
        break;
    case ORR_TAKES_ULL:
        if (tag == STARPU_EXECUTE_WHERE)
            arg.ull = (uintptr_t)values[0];
        else
            err = read_number(in, tag, values[0], &arg.ull, sizeof(arg.ull));
        break;
    case ORR_TAKES_DOUBLE:
        err = read_number(in, tag, values[0], &arg.d, sizeof(arg.d));
        break;
    case ORR_TAKES_FUNCTION_POINTER:
        nvalues = 2;
        arg.ptr2 = values[1];
        __attribute__((fallthrough));
    case ORR_TAKES_FUNCTION:
        arg.func = (void (*)(void *))(uintptr_t)values[0];
        break;
    case ORR_TAKES_POINTER_SIZE:
        nvalues = 2;
        arg.size = (size_t)(uintptr_t)values[1];
        break;
    case ORR_TAKES_LENGTH_POINTER:
        nvalues = 2;
        err = read_number(in, tag, values[0], &arg.n, sizeof(arg.n));
        arg.ptr = values[1];
    }
    if (!err)
        err = orr_insertion_add_arg(in, &arg);
    return err ? err : 1 + nvalues;
}

/* Up to a NULL in the place of a tag. */
static int decode(struct orr_insertion *in, const char *call,
                  struct starpu_codelet *cl, void *const *list)
{
    int taken = 0;

    orr_insertion_begin(in, call, cl);
    for (; *list && taken >= 0; list += taken > 0 ? taken : 0) {
        int tag = (int)(intptr_t)*list;

        if (!orr_insertion_is_access(tag))
            taken = read_argument(in, tag, list + 1);
        else
            taken = orr_insertion_add_datum(in, tag, list[1]) == 0 ? 2 : -ENOMEM;
    }
    if (taken >= 0)
        return 0;
    orr_insertion_drop(in);
    orr_insertion_end(in);
    return taken;
}

/* Texts of the list are the caller's: of names there is a copy. */
static void keep_texts(struct orr_insertion *in)
{
    for (unsigned i = 0; i < in->nargs; i++)
        if (in->args[i].tag == STARPU_NAME || in->args[i].tag == STARPU_TASK_FILE)
            in->args[i].ptr =
                (void *)(uintptr_t)orr_fortran_keep(in->call, in->args[i].ptr);
}

int orr_insertion_decode_list(struct orr_insertion *in, const char *call,
                              void *const *list)
{
    int err;

    if (!*list) {
        orr_log_error("%s: the codelet is a null pointer: the list begins with what "
                      "fstarpu_codelet_allocate returned",
                      call);
        return -EINVAL;
    }
    err = decode(in, call, *list, list + 1);
    if (!err)
        keep_texts(in);
    return err;
}

/* --- tasks --- */

static int build(const char *call, void *const *list, struct starpu_task **ret)
{
    struct orr_insertion insertion;
    int err = orr_insertion_decode_list(&insertion, call, list);

    if (err)
        return err;
    err = orr_insertion_make(&insertion, ret);
    orr_insertion_end(&insertion);
    return err;
}

static int insert_task(const char *call, void *const *list)
{
    struct starpu_task *task;
    int err = build(call, list, &task);

    if (err)
        return err;
    err = starpu_task_submit(task);
    if (err) {
        task->destroy = 0;
        starpu_task_destroy(task);
    }
    return err;
}

int fstarpu_task_insert_ret(void *const *arglist)
{
    return insert_task(__func__, arglist);
}

void fstarpu_task_insert(void *const *arglist)
{
    int err = insert_task(__func__, arglist);

    if (!err)
        return;
    if (err == -ENODEV)
        orr_log_error("%s: no worker can run the task; fstarpu_task_insert_ret would "
                      "return %d",
                      __func__, err);
    abort();
}

void *fstarpu_task_build(void *const *arglist)
{
    struct starpu_task *task = NULL;

    (void)build(__func__, arglist, &task);
    return task;
}

/* --- the kernel's side --- */

void fstarpu_unpack_arg(void *cl_arg, void *const *bufferlist)
{
    struct starpu_codelet_pack_arg_data state;

    if (!cl_arg)
        ORR_FORTRAN_FAIL("%s", "the task has no values: its list has no FSTARPU_VALUE");
    starpu_codelet_unpack_arg_init(&state, cl_arg, SIZE_MAX);
    for (; state.nargs > 0 && *bufferlist; bufferlist++) {
        size_t size;
        void *at;

        starpu_codelet_pick_arg(&state, &at, &size);
        memcpy(*bufferlist, at, size);
    }
}

/* --- scheduling contexts --- */

/* Sorts no array of the caller's. */
int fstarpu_sched_ctx_create(const int *workers_array, int nworkers,
                             const char *ctx_name, void *const *arglist)
{
    int ids[STARPU_NMAXWORKERS];
    unsigned n = nworkers > 0 ? (unsigned)nworkers : 0;

    if (n > STARPU_NMAXWORKERS)
        ORR_FORTRAN_FAIL("there are no %d workers", nworkers);
    for (unsigned i = 0; i < n; i++) {
        ids[i] = workers_array[i];
        if (ids[i] >= 0 && (unsigned)ids[i] < starpu_worker_get_count())
            continue;
        orr_log_error("%s: there is no worker %d", __func__, ids[i]);
        return STARPU_NMAX_SCHED_CTXS;
    }
    return (int)orr_api_sched_ctx_create_array(
        nworkers < 0 ? NULL : ids, nworkers,
        orr_fortran_keep(__func__, ctx_name), arglist);
}

void fstarpu_sched_ctx_display_workers(int ctx)
{
    starpu_sched_ctx_display_workers((unsigned)ctx, stderr);
}
