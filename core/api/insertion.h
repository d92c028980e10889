/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/insertion.h - the argument list of starpu_task_insert and its siblings in two
 * steps: what it says, and a task that is so. A layer above, such as one where not every
 * process executes every task, decodes first and decides then. Any thread.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#include <starpu_task.h>

/* One argument that is no datum. */
struct orr_insert_arg {
    int tag;    /* STARPU_PRIORITY and so on */
    unsigned n; /* of an array the length */
    union {
        int i;
        unsigned u;
        unsigned long long ull;
        double d;
        void *ptr;
        void (*func)(void *);
    };
    union {
        size_t size;
        void *ptr2;
    };
};

enum { ORR_INSERT_FEW_DATA = 16, ORR_INSERT_FEW_ARGS = 16 };

/* By which argument the list says who executes the task. */
enum orr_insert_where {
    ORR_INSERT_ANYWHERE,
    ORR_INSERT_ON_NODE, /* STARPU_EXECUTE_ON_NODE, not negative; the last one */
    ORR_INSERT_ON_DATA, /* STARPU_EXECUTE_ON_DATA: the first one, before any ON_NODE */
};

/* What a list says. On the caller's stack, not initialised; it borrows what the list
 * points to. */
struct orr_insertion {
    const char *call; /* named in messages */
    struct starpu_codelet *cl;
    /* The handles, some of which may be NULL, with their modes, in which the layer's
     * STARPU_SSEND and STARPU_MPI_REDUX are left. */
    struct starpu_data_descr *data;
    struct orr_insert_arg *args; /* the rest */
    unsigned ndata, nargs;
    enum orr_insert_where where;
    int node;                /* of ORR_INSERT_ON_NODE */
    starpu_data_handle_t on; /* of ORR_INSERT_ON_DATA */
    int policy;   /* STARPU_NODE_SELECTION_POLICY, -1: none is given */
    int priority; /* STARPU_PRIORITY, STARPU_DEFAULT_PRIO without */
    unsigned data_room, args_room;
    struct starpu_data_descr few_data[ORR_INSERT_FEW_DATA];
    struct orr_insert_arg few_args[ORR_INSERT_FEW_ARGS];
};

/* Reads a list up to the 0 at its end, which the caller started, and ends. Makes no task,
 * takes no lock, allocates only for long lists. Then the caller makes one task of it, or
 * drops it, while what the list points to is there, and ends with orr_insertion_end.
 * Errors, after a message: -EINVAL, -ENOMEM; then it is dropped and ended. */
int orr_insertion_decode(struct orr_insertion *insertion, const char *call,
                         struct starpu_codelet *cl, va_list ap);

/* The same by hand, for lists of another form: begins, without data and arguments. */
void orr_insertion_begin(struct orr_insertion *insertion, const char *call,
                         struct starpu_codelet *cl);

/* What follows a tag in a list. */
enum orr_insert_shape {
    ORR_TAKES_UNKNOWN, /* there is no such tag */
    ORR_TAKES_DATA_ARRAY, /* with the codelet's modes, or with their own */
    ORR_TAKES_INT,
    ORR_TAKES_ULL,
    ORR_TAKES_DOUBLE,
    ORR_TAKES_POINTER,
    ORR_TAKES_FUNCTION,
    ORR_TAKES_FUNCTION_POINTER,
    ORR_TAKES_POINTER_SIZE,
    ORR_TAKES_LENGTH_POINTER,
};

/* Whether it is an access mode, which a handle follows; else what follows the tag, or
 * ORR_TAKES_UNKNOWN after a message. */
static inline bool orr_insertion_is_access(int tag)
{
    const int accesses = STARPU_RW | STARPU_SCRATCH | STARPU_REDUX |
                         STARPU_MPI_REDUX | STARPU_NONE;

    return tag > 0 && tag < STARPU_ACCESS_MODE_MAX && tag & accesses;
}
enum orr_insert_shape orr_insertion_shape(const struct orr_insertion *insertion,
                                          int tag);

/* Add what the list has: a datum, those of STARPU_DATA_ARRAY or STARPU_DATA_MODE_ARRAY, an
 * argument with a known tag. 0, -ENOMEM, or -EINVAL after a message. */
int orr_insertion_add_datum(struct orr_insertion *insertion, int mode,
                            starpu_data_handle_t handle);
int orr_insertion_add_array(struct orr_insertion *insertion, int tag, int n,
                            void *array);
int orr_insertion_add_arg(struct orr_insertion *insertion,
                          const struct orr_insert_arg *arg);

/* Frees what the list gave to be freed with the task, such as what comes with
 * STARPU_CL_ARGS, where no task is made of it. */
void orr_insertion_drop(const struct orr_insertion *insertion);

/* Frees what a long list needed. */
void orr_insertion_end_long(struct orr_insertion *insertion);
static inline void orr_insertion_end(struct orr_insertion *insertion)
{
    if (insertion->data_room > ORR_INSERT_FEW_DATA ||
        insertion->args_room > ORR_INSERT_FEW_ARGS)
        orr_insertion_end_long(insertion);
}

/* A task of this codelet runs nowhere, but has its place in the order of its data's
 * accesses. */
extern struct starpu_codelet orr_codelet_sync;

/* A task that is as the list says, for starpu_task_submit; the caller owns *ret. It is
 * the first that looks whether handles are NULL, or more or less than the codelet has, and
 * whether arguments exclude each other. Errors, after a message: -EINVAL, -ENOMEM; what
 * the list gave to be freed is freed then. */
int orr_insertion_make(const struct orr_insertion *insertion,
                       struct starpu_task **ret);
