/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/player.h - an application whose calls are those of a record: what its
 * files share. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <starpu.h>

#include "record/player.h"
#include "record/read.h"
#include "replay/numbered.h"

struct chain;
struct own_times;
struct player_ahead;
struct player_place;
struct part;
struct strand;
struct threads;

struct model {
    struct starpu_perfmodel pub;
    /* the times of tasks are hints, for machines that know none … */
    bool hints;
    int known; /* … whether this one does: orrery_knows_kernel */
};

/* What is played of a record that is one rank's of several: ranks/. */
struct player_messages {
    /* A call about messages. */
    void (*play)(struct player *player, const struct orr_call *call);
    /* The datum of that number is registered next. */
    void (*number)(struct player *player, uint64_t number);
};

struct player {
    const struct orr_player_host *host;
    struct orr_record_reader *reader;
    uint64_t ncalls;
    struct numbered data;
    struct starpu_task **tasks; /* by number: those that calls may name again */
    size_t ntasks;
    struct told **told; /* by number: of such tasks; owned */
    size_t ntold;
    struct chain **chains; /* by number: of tasks that are held back; owned */
    size_t nchains;
    bool looked_ahead;
    struct player_ahead **ahead; /* by number: what is to come of them; owned */
    size_t nahead;
    struct starpu_codelet **codelets;
    size_t ncodelets;
    struct model **models;
    size_t nmodels;
    /* owned: in the recorded program's source, by number */
    struct player_place *places;
    size_t nplaces;
    struct part *parts; /* of the partition that comes next */
    size_t nparts;
    uintptr_t address; /* of the next datum that has no memory */
    starpu_arbiter_t arbiter;
    int64_t least, most; /* priorities that the recorded policy had … */
    bool asked_least, asked_most; /* … and the application asked for */
    bool widened; /* they are the widest, whatever that policy had */
    struct own_times *times; /* owned: what kernels took where it was recorded; NULL: the
                              * record has none, or they are not those of this machine */
    struct orr_record_reader *calls; /* owned: the other one, while times are read */
    const char *path; /* borrowed: the record's */
    const struct player_messages *messages; /* NULL: the record is no rank's, or is not to
                                             * be played as one */
    void *rank; /* theirs */
    /* Owned: the policy, of OpenMP's records; NULL: another one. */
    struct threads *threads;
    bool moved; /* said: a task's worker is none of this machine */
};

/* The player as a table: open, play, close. */
extern const struct orr_player_ops player_ops;

/* Ends the run, as the host wants it: what is wrong with the call that was read last. */
_Noreturn void player_fail(const struct player *player, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for want of memory. */
void *player_need(const struct player *player, void *memory);

/* Ends the run for a number that no record has. */
void player_check_number(const struct player *player, uint64_t number);

/* An element of an array by number, which grows. Ends the run likewise. */
void *player_at(const struct player *player, void *array, size_t *n,
                uint64_t number, size_t size);

/* --- data.c --- */

/* The datum that the call names; ends the run if there is none. */
starpu_data_handle_t player_datum(const struct player *player, uint64_t number);

/* The node, if this machine has it, else the datum's base. */
int player_node(int64_t node);

/* Whether the machine has it. */
bool player_has_node(int64_t node);

void player_register(struct player *player, const struct orr_call *call);
void player_add_part(struct player *player, const struct orr_call *call);
void player_partition(struct player *player, const struct orr_call *call);
void player_unpartition(struct player *player, const struct orr_call *call);
void player_switch(struct player *player, const struct orr_call *call);
void player_clean(struct player *player, const struct orr_call *call);
void player_unregister(struct player *player, const struct orr_call *call);
void player_duplicate(struct player *player, const struct orr_call *call);
void player_acquire(struct player *player, const struct orr_call *call);
void player_release(struct player *player, const struct orr_call *call);
void player_forget_data(struct player *player);

/* --- recorded.c --- */

/* Data of which only the size and the footprint are known. */
struct recorded {
    enum starpu_data_interface_id id;
    uintptr_t ptr, dev_handle;
    size_t offset;
    size_t size;
    uint32_t footprint;
};

extern struct starpu_data_interface_ops recorded_ops;

/* --- codelet.c --- */

/* What functions of a model are told of a task: its cl_arg. */
struct told {
    bool has_footprint;
    uint32_t footprint;
    size_t size;
    double times[ORR_NKINDS];
    double own_us; /* what its kernel took; NaN: not known; … */
    int own_kind;  /* … on that kind of worker, … */
    unsigned own_implementation; /* … by that one */
    uint32_t *workers;      /* in this block, as all that follows … */
    unsigned char *ordered; /* … or NULL */
    /* The player's; where player->threads is the policy. */
    struct strand *strand;
    double *parameters;
    char *name;
};

void player_model(struct player *player, const struct orr_call *call);
void player_codelet(struct player *player, const struct orr_call *call);

/* Whether the times of its tasks count, which are hints: the machine knows none. */
bool player_needs_hints(const struct starpu_codelet *cl);

/* NULL for number 0. */
struct starpu_codelet *player_find_codelet(const struct player *player,
                                           uint64_t number);

/* Frees them with their models. */
void player_forget_codelets(struct player *player);

/* Whether the codelet is one of the record's: then cl_arg of its tasks is what is told of
 * them, or NULL. */
bool player_is_codelet(const struct starpu_codelet *cl);

/* --- times.c --- */

/* The record is of `host`, and has times of its kernels: takes them, if they are those of
 * this machine. Reads all of the record; ends the run for what is wrong with it. */
void player_take_times(struct player *player, const char *host);

/* The times of the task's next run join what is told of it. */
void player_tell_time(struct player *player, uint64_t task, struct told *told);

/* Whether there are any. */
bool player_has_time(const struct player *player, uint64_t task);

void player_forget_times(struct player *player);

/* --- task.c --- */

/* Where tasks were submitted, in the program that was recorded. */
void player_place(struct player *player, const struct orr_call *call);
void player_forget_places(struct player *player);

/* Of a task of a run with player->threads. */
struct strand *player_strand_of(const struct starpu_task *task);

void player_submit(struct player *player, const struct orr_call *call);
void player_depend(struct player *player, const struct orr_call *call);
void player_end_depend(struct player *player, const struct orr_call *call);
void player_end_hold(struct player *player, const struct orr_call *call);
void player_end_release(struct player *player, const struct orr_call *call);
void player_prefetch_later(struct player *player, const struct orr_call *call);
void player_wait(struct player *player, const struct orr_call *call);
void player_forget(struct player *player, const struct orr_call *call);
void player_forget_tasks(struct player *player);

/* --- ahead.c --- */

/* The task of that number, whose end is held back, is about to be submitted: `tell` is called
 * for what its callbacks do until it ends, acquisitions and the releases of its end behind them.
 * Returns how many; these calls are still to come, and have been played then. */
unsigned player_tell_ahead(struct player *player, uint64_t number,
                           void (*tell)(struct player *player,
                                        const struct orr_call *call));
void player_forget_ahead(struct player *player);

/* --- chain.c --- */

/* The end of the task of that number, which is to be submitted, is held back: what its
 * callbacks acquire is to come. */
void player_chain_new(struct player *player, uint64_t number);

/* The task is about to be submitted. */
void player_chain_begin(struct player *player, const struct orr_call *call,
                        struct starpu_task *task);

/* An acquisition for call->task; the release of a task's end. False: they are nobody's, and happen
 * where they stand. */
bool player_chain_acquire(struct player *player, const struct orr_call *call,
                          starpu_data_handle_t handle, int node);
bool player_chain_release(struct player *player, uint64_t number);

/* No call names the task any more. */
void player_chain_forget(struct player *player, uint64_t number);
void player_forget_chains(struct player *player);
