/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/check.c - see check.h.
 *
 *     rank r                     rank 0 of the communicator
 *     COUNT n, hash ──────────→  equal: CONFIRM n, both forget what they have up to there
 *                                else:  halves what is left until one insertion is
 *     ASK m         ←──────────         the first with another hash
 *     ANSWER m, hash, text ───→
 *
 * A hash is of an insertion and all before it.
 */
#include "mpi/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/log.h"
#include "core/base/number.h"
#include "core/base/symbol.h"
#include "mpi/control.h"
#include "mpi/datum.h"
#include "mpi/rank.h"

enum word { COUNT, CONFIRM, ASK, ANSWER };

enum { TEXT = 800 };

struct letter {
    uint64_t n;         /* so many insertions … */
    uint64_t hash;      /* … have this one */
    uint64_t nbarriers; /* the sender has come to so many … */
    uint64_t before;    /* … to the last of them after so many insertions */
};

struct inserted {
    uint64_t hash;
    char *text; /* owned; NULL: no memory */
};

/* What rank 0 knows of another one. */
struct peer {
    bool has_told; /* of `told` it has looked at nothing yet */
    struct letter told;
    uint64_t same, differ; /* so many are equal; as many as `differ`, if it is not 0, not */
};

/* Of one communicator. */
struct sequence {
    uint64_t n, hash;
    struct inserted *at; /* numbers forgotten + 1 … n; room */
    uint64_t forgotten;
    size_t room;
    uint64_t told;      /* this rank has told rank 0 of so many */
    bool awaits;        /* it has not been answered yet */
    uint64_t nbarriers; /* that this rank has come to … */
    uint64_t before[2]; /* … and n at the last two, by number */
    struct peer *peers; /* [carrier] of rank 0; owned */
};

/* Guarded by the rank's lock but for the peers. */
struct orr_check {
    struct sequence of[ORR_MOST_COMMS];
    struct orr_errand errand; /* tell what there is */
    bool is_handed;
};

/* --- what was inserted --- */

static uint64_t mix(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

struct writing {
    char text[TEXT];
    size_t n;
    uint64_t hash;
};

static void put(struct writing *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct writing *w, const char *format, ...)
{
    char piece[TEXT / 2];
    size_t size;
    va_list ap;

    va_start(ap, format);
    orr_vsnprintf(piece, sizeof(piece), format, ap);
    va_end(ap);
    w->hash = mix(w->hash, piece);
    size = strlen(piece);
    if (w->n + size >= sizeof(w->text))
        return;
    memcpy(w->text + w->n, piece, size + 1);
    w->n += size;
}

/* What is not compared. */
static void put_place(struct writing *w, const struct orr_insertion *insertion)
{
    const char *file = NULL;
    int line = 0;

    for (unsigned i = 0; i < insertion->nargs; i++) {
        if (insertion->args[i].tag == STARPU_TASK_FILE)
            file = insertion->args[i].ptr;
        else if (insertion->args[i].tag == STARPU_TASK_LINE)
            line = insertion->args[i].i;
    }
    if (file && w->n < sizeof(w->text))
        snprintf(w->text + w->n, sizeof(w->text) - w->n, ", at %s:%d", file, line);
    else if (w->n < sizeof(w->text))
        snprintf(w->text + w->n, sizeof(w->text) - w->n, ", by %s", insertion->call);
}

static void put_codelet(struct writing *w, const struct starpu_codelet *cl)
{
    const char *name = NULL;
    char *symbol = NULL;

    if (!cl) {
        put(w, "a task without codelet");
        return;
    }
    name = cl->name;
    if (!name && cl->model)
        name = cl->model->symbol;
    if (!name && cl->cpu_funcs[0])
        name = symbol = orr_symbol_at((const void *)(uintptr_t)cl->cpu_funcs[0]);
    put(w, "the task \"%s\"", name ? name : "(its codelet has no name)");
    free(symbol);
}

/* Of predefined interfaces: others may know a size on the owner only. */
static void put_size(struct writing *w, starpu_data_handle_t handle)
{
    if (handle && starpu_data_get_interface_id(handle) < STARPU_MAX_INTERFACE_ID)
        put(w, " (%zu bytes)", starpu_data_get_size(handle));
}

static void put_datum(struct writing *w, const struct starpu_data_descr *d)
{
    static const struct {
        unsigned mode;
        const char *name;
    } names[] = {
        {STARPU_COMMUTE, "|COMMUTE"},     {STARPU_SSEND, "|SSEND"},
        {STARPU_LOCALITY, "|LOCALITY"},   {STARPU_MPI_REDUX, "|MPI_REDUX"},
    };
    const struct orr_datum *datum = d->handle ? orr_datum_of(orr_handle_of(d->handle))
                                              : NULL;

    put(w, " %s",
        d->mode & STARPU_REDUX     ? "REDUX"
        : d->mode & STARPU_SCRATCH ? "SCRATCH"
        : (d->mode & STARPU_RW) == STARPU_RW ? "RW"
        : d->mode & STARPU_W       ? "W"
        : d->mode & STARPU_R       ? "R"
                                   : "no access of");
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (d->mode & names[i].mode)
            put(w, "%s", names[i].name);
    if (!datum || datum->tag < 0)
        put(w, " a datum without tag");
    else if (datum->owner == ORR_EVERY_RANK)
        put(w, " tag %lld of each rank", (long long)datum->tag);
    else
        put(w, " tag %lld of rank %d", (long long)datum->tag, datum->owner);
    put_size(w, d->handle);
}

static void write_insertion(struct writing *w, const struct orr_insertion *insertion)
{
    put_codelet(w, insertion->cl);
    if (insertion->ndata)
        put(w, " of %u dat%s:", insertion->ndata, insertion->ndata == 1 ? "um" : "a");
    for (unsigned i = 0; i < insertion->ndata; i++)
        put_datum(w, &insertion->data[i]);
    if (insertion->where == ORR_INSERT_ON_NODE)
        put(w, ", on rank %d", insertion->node);
    else if (insertion->where == ORR_INSERT_ON_DATA && insertion->on)
        put(w, ", where tag %lld is",
            orr_datum_of(orr_handle_of(insertion->on))
                ? (long long)orr_datum_of(orr_handle_of(insertion->on))->tag
                : -1);
    put_place(w, insertion);
}

void orr_check_inserted(struct orr_rank *rank, const struct orr_comm *comm,
                        const struct orr_insertion *insertion)
{
    struct orr_check *check = rank->check;
    struct sequence *s;
    struct writing w = {.n = 0};
    char *text;

    if (!check)
        return;
    s = &check->of[comm->number];
    orr_lock(&rank->lock);
    w.hash = s->hash;
    orr_unlock(&rank->lock);
    write_insertion(&w, insertion);
    text = strdup(w.text);
    orr_lock(&rank->lock);
    if (orr_grow(&s->at, &s->room, s->n - s->forgotten + 1, sizeof(*s->at))) {
        orr_unlock(&rank->lock);
        free(text);
        orr_rank_fail(rank, "%s: no memory to check insertions: unset ORRERY_MPI_CHECK",
                      insertion->call);
    }
    s->hash = w.hash;
    s->at[s->n - s->forgotten] = (struct inserted){.hash = w.hash, .text = text};
    s->n++;
    orr_unlock(&rank->lock);
}

/* 0 of none, as at first. */
static uint64_t hash_locked(const struct sequence *s, uint64_t n)
{
    return n <= s->forgotten ? 0 : s->at[n - s->forgotten - 1].hash;
}

static void forget_locked(struct sequence *s, uint64_t n)
{
    uint64_t left = s->n - n, gone = n - s->forgotten;

    for (uint64_t i = 0; i < gone; i++)
        free(s->at[i].text);
    memmove(s->at, s->at + gone, left * sizeof(*s->at));
    s->forgotten = n;
}

/* --- letters --- */

static void send_letter(struct orr_rank *rank, unsigned comm, int peer, enum word word,
                        const struct letter *letter, const char *text)
{
    char bytes[sizeof(struct letter) + TEXT + 64];
    size_t size = sizeof(*letter);

    memcpy(bytes, letter, size);
    if (text) {
        snprintf(bytes + size, sizeof(bytes) - size, "%s", text);
        size += strlen(bytes + size) + 1;
    }
    orr_control_send(rank, comm, peer, ORR_CONTROL_CHECK, (int64_t)word, bytes, size);
}

/* --- rank 0 --- */

static void copy_text_locked(const struct sequence *s, uint64_t n, char *text, size_t size)
{
    const char *from = n > s->forgotten && n <= s->n ? s->at[n - s->forgotten - 1].text
                                                     : NULL;

    snprintf(text, size, "%s", from ? from : "a task of which nothing is known any more");
}

static _Noreturn void end_differing(struct orr_rank *rank, int peer, uint64_t n,
                                    const char *mine, const char *theirs)
{
    orr_rank_fail(rank,
                  "the ranks insert different tasks (ORRERY_MPI_CHECK), and the first that "
                  "differs is insertion %llu:\n"
                  "  rank 0 inserts %s\n"
                  "  rank %d inserts %s",
                  (unsigned long long)n, mine, peer, theirs);
}

static void ask(struct orr_rank *rank, unsigned comm, int number)
{
    struct peer *peer = &rank->check->of[comm].peers[number];
    struct letter letter = {.n = peer->differ};

    if (peer->same + 1 < peer->differ)
        letter.n = peer->same + (peer->differ - peer->same) / 2;
    rank->nexpected++;
    send_letter(rank, comm, number, ASK, &letter, NULL);
}

/* Whether the two have not inserted as many before the same barrier: *mine is how many
 * this rank has. One that it has not come to yet is its next. */
static bool barriers_differ_locked(const struct sequence *s, const struct letter *told,
                                   uint64_t *mine)
{
    if (told->nbarriers == 0 || told->nbarriers + 1 < s->nbarriers)
        return false;
    if (told->nbarriers > s->nbarriers) {
        *mine = s->n;
        return s->n > told->before;
    }
    *mine = s->before[told->nbarriers % 2];
    return *mine != told->before;
}

static void forget_what_is_equal(struct orr_rank *rank, unsigned comm)
{
    struct sequence *s = &rank->check->of[comm];
    uint64_t least = s->peers[1].same;

    for (int i = 2; i < orr_rank_comm_at(rank, comm)->size; i++)
        least = s->peers[i].same < least ? s->peers[i].same : least;
    orr_lock(&rank->lock);
    if (least > s->forgotten)
        forget_locked(s, least);
    orr_unlock(&rank->lock);
}

/* Looks at what the peer has told, as far as this rank has inserted as much. */
static void compare(struct orr_rank *rank, unsigned comm, int number)
{
    struct sequence *s = &rank->check->of[comm];
    struct peer *peer = &s->peers[number];
    struct letter told = peer->told;
    bool equal, ahead, apart;
    uint64_t mine = 0;
    char text[TEXT];

    if (!peer->has_told || peer->differ)
        return;
    orr_lock(&rank->lock);
    ahead = told.n > s->n;
    equal = !ahead && (told.n == peer->same || hash_locked(s, told.n) == told.hash);
    apart = barriers_differ_locked(s, &told, &mine);
    if (mine < told.before)
        copy_text_locked(s, mine + 1, text, sizeof(text));
    else
        copy_text_locked(s, told.before + 1, text, sizeof(text));
    orr_unlock(&rank->lock);
    if (ahead && !apart)
        return; /* this rank goes on */
    if (!equal) {
        peer->differ = told.n;
        ask(rank, comm, number);
        return;
    }
    if (apart)
        orr_rank_fail(rank,
                      "the ranks insert different tasks (ORRERY_MPI_CHECK): rank %d comes "
                      "to a barrier, or the shutdown, after %llu insertions, and rank 0 "
                      "after %llu, so that there is one too many, or one is missing; the "
                      "first of them is insertion %llu:\n  rank %d inserts %s",
                      number, (unsigned long long)told.before, (unsigned long long)mine,
                      (unsigned long long)(mine < told.before ? mine : told.before) + 1,
                      mine < told.before ? number : 0, text);
    peer->has_told = false;
    peer->same = told.n;
    send_letter(rank, comm, number, CONFIRM, &told, NULL);
    forget_what_is_equal(rank, comm);
}

static void take_answer(struct orr_rank *rank, const struct orr_header *header,
                        const struct letter *answer)
{
    struct sequence *s = &rank->check->of[header->comm];
    struct peer *peer = &s->peers[header->peer];
    char mine[TEXT] = "nothing before its next barrier";
    bool equal;

    rank->nexpected--;
    orr_lock(&rank->lock);
    equal = answer->n <= s->n && hash_locked(s, answer->n) == answer->hash;
    if (answer->n <= s->n)
        copy_text_locked(s, answer->n, mine, sizeof(mine));
    orr_unlock(&rank->lock);
    if (equal)
        peer->same = answer->n;
    else
        peer->differ = answer->n;
    if (!equal && peer->same + 1 >= peer->differ)
        end_differing(rank, header->peer, answer->n, mine, (const char *)(answer + 1));
    ask(rank, header->comm, header->peer);
}

static void make_peers(struct orr_rank *rank, unsigned comm)
{
    struct sequence *s = &rank->check->of[comm];

    if (!s->peers)
        s->peers = calloc((size_t)orr_rank_comm_at(rank, comm)->size, sizeof(*s->peers));
    if (!s->peers)
        orr_rank_fail(rank, "no memory to check insertions: unset ORRERY_MPI_CHECK");
}

/* --- both --- */

static void take(struct orr_rank *rank, const struct orr_header *header, const void *bytes)
{
    struct orr_check *check = rank->check;
    const struct letter *letter = bytes;
    struct letter answer;
    char text[TEXT];
    struct sequence *s;

    if (!check)
        orr_rank_fail(rank, "rank %d checks insertions, and this rank does not: set "
                            "ORRERY_MPI_CHECK on all ranks (mpirun -x ORRERY_MPI_CHECK of "
                            "Open MPI, -genv ORRERY_MPI_CHECK 1 of MPICH)",
                      header->peer);
    s = &check->of[header->comm];
    switch ((enum word)header->tag) {
    case COUNT:
        make_peers(rank, header->comm);
        s->peers[header->peer].told = *letter;
        s->peers[header->peer].has_told = true;
        compare(rank, header->comm, header->peer);
        break;
    case CONFIRM:
        orr_lock(&rank->lock);
        forget_locked(s, letter->n);
        if (s->awaits && letter->n == s->told) {
            s->awaits = false;
            rank->nexpected--;
        }
        orr_unlock(&rank->lock);
        break;
    case ASK:
        orr_lock(&rank->lock);
        answer = (struct letter){.n = letter->n, .hash = hash_locked(s, letter->n)};
        copy_text_locked(s, letter->n, text, sizeof(text));
        orr_unlock(&rank->lock);
        send_letter(rank, header->comm, header->peer, ANSWER, &answer, text);
        break;
    case ANSWER:
        take_answer(rank, header, letter);
        break;
    }
}

static void tell(struct orr_rank *rank, struct orr_errand *errand)
{
    struct orr_check *check = orr_container(errand, struct orr_check, errand);
    unsigned ncomms = atomic_load(&rank->ncomms);

    orr_lock(&rank->lock);
    check->is_handed = false;
    orr_unlock(&rank->lock);
    for (unsigned i = 0; i < ncomms; i++) {
        const struct orr_comm *comm = orr_rank_comm_at(rank, i);
        struct sequence *s = &check->of[i];
        struct letter letter;

        if (comm->rank == 0) {
            for (int peer = 1; peer < comm->size && s->peers; peer++)
                compare(rank, i, peer);
            continue;
        }
        orr_lock(&rank->lock);
        letter = (struct letter){.n = s->n,
                                 .hash = s->hash,
                                 .nbarriers = s->nbarriers,
                                 .before = s->before[s->nbarriers % 2]};
        if (!s->awaits && s->n > s->told) {
            s->awaits = true;
            rank->nexpected++;
        }
        s->told = s->n;
        orr_unlock(&rank->lock);
        if (letter.n || letter.nbarriers)
            send_letter(rank, i, 0, COUNT, &letter, NULL);
    }
}

void orr_check_wait(struct orr_rank *rank)
{
    struct orr_check *check = rank->check;
    bool hands;

    if (!check)
        return;
    orr_lock(&rank->lock);
    hands = !check->is_handed;
    check->is_handed = true;
    orr_unlock(&rank->lock);
    if (hands)
        orr_rank_hand(rank, &check->errand);
}

void orr_check_barrier(struct orr_rank *rank, const struct orr_comm *comm)
{
    struct sequence *s;

    if (!rank->check)
        return;
    s = &rank->check->of[comm->number];
    orr_lock(&rank->lock);
    s->nbarriers++;
    s->before[s->nbarriers % 2] = s->n;
    orr_unlock(&rank->lock);
    orr_check_wait(rank);
}

/* --- begin and end --- */

int orr_check_open(struct orr_rank *rank)
{
    rank->controls[ORR_CONTROL_CHECK] = take;
    if (!orr_config_bool(&rank->rt->config, ORR_CFG_MPI_CHECK) ||
        rank->conf.pretended_size)
        return 0;
    rank->check = calloc(1, sizeof(*rank->check));
    if (!rank->check)
        return -ENOMEM;
    rank->check->errand.run = tell;
    return 0;
}

struct last {
    uint64_t checks, n, hash;
};

/* Rank 0 looks for the difference, and ends the program when it has found it. */
static _Noreturn void wait_for_the_end(struct orr_rank *rank)
{
    static const struct orr_awaited awaited = {
        .noun = "the first insertion that differs"};
    struct orr_waiter waiter;

    orr_waiter_init(&waiter);
    orr_rank_await(rank, &waiter, &awaited);
    abort();
}

void orr_check_end(struct orr_rank *rank, const char *call)
{
    struct last mine = {.checks = rank->check != NULL}, *all;
    struct orr_meeting meeting = {
        .kind = ORR_MEETING_GATHER, .mine = &mine, .bytes = sizeof(mine)};
    bool differ = false, checks_differ = false;

    if (rank->conf.pretended_size)
        return;
    if (rank->check) {
        orr_check_barrier(rank, orr_rank_comm_at(rank, 0));
        mine.n = rank->check->of[0].n;
        mine.hash = rank->check->of[0].hash;
    }
    meeting.all = all = calloc((size_t)rank->size, sizeof(*all));
    if (!all)
        orr_rank_fail(rank, "%s: out of memory", call);
    if (orr_rank_meet(rank, &meeting, call))
        orr_runtime_fail(rank->rt);
    for (int i = 1; i < rank->size; i++) {
        checks_differ |= all[i].checks != all[0].checks;
        differ |= all[i].n != all[0].n || all[i].hash != all[0].hash;
    }
    free(all);
    if (checks_differ)
        orr_rank_fail(rank, "%s: ORRERY_MPI_CHECK is set on some ranks only: set it on all "
                            "(mpirun -x ORRERY_MPI_CHECK of Open MPI, -genv "
                            "ORRERY_MPI_CHECK 1 of MPICH)",
                      call);
    if (differ)
        wait_for_the_end(rank);
}

void orr_check_close(struct orr_rank *rank)
{
    struct orr_check *check = rank->check;

    for (unsigned i = 0; check && i < ORR_MOST_COMMS; i++) {
        struct sequence *s = &check->of[i];

        for (uint64_t n = s->forgotten; n < s->n; n++)
            free(s->at[n - s->forgotten].text);
        free(s->at);
        free(s->peers);
    }
    free(check);
    rank->check = NULL;
}
