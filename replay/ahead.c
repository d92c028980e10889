/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/ahead.c - see player.h. What callbacks of tasks do stands in the record where they were
 * called, maybe behind a wait of the application's that lasted until then. In a replay whose
 * kernels take other times the callback may come before that, and others wait for what it
 * does. So the record is read to its end once, and a task is told when it is submitted.
 */
#include "replay/player.h"

#include <stdlib.h>
#include <sys/stat.h>

/* A call of a task's callbacks, without what points into a line. */
struct foreseen {
    struct foreseen *next;
    uint64_t submission; /* of the task: behind so many */
    struct orr_call call;
};

/* A task whose end is held back. */
struct player_ahead {
    uint64_t nread, nplayed; /* submissions */
    bool acquires;           /* since the last submission that was read */
    struct foreseen *first, **last;
};

static struct player_ahead **ahead_place(struct player *player, uint64_t number)
{
    return player_at(player, &player->ahead, &player->nahead, number,
                     sizeof(struct player_ahead *));
}

static struct player_ahead *find_ahead(const struct player *player,
                                       uint64_t number)
{
    return number < player->nahead ? player->ahead[number] : NULL;
}

static void foresee(struct player *player, struct player_ahead *ahead,
                    const struct orr_call *call)
{
    struct foreseen *foreseen =
        player_need(player, calloc(1, sizeof(*foreseen)));

    foreseen->submission = ahead->nread;
    foreseen->call = *call;
    *ahead->last = foreseen;
    ahead->last = &foreseen->next;
}

static void look_at(struct player *player, const struct orr_call *call)
{
    struct player_ahead *ahead = find_ahead(
        player, call->verb == ORR_CALL_ACQUIRE ? call->task : call->id);

    if (call->verb == ORR_CALL_END_HOLD && !ahead) {
        ahead = player_need(player, calloc(1, sizeof(*ahead)));
        ahead->last = &ahead->first;
        *ahead_place(player, call->id) = ahead;
    }
    if (!ahead)
        return;
    if (call->verb == ORR_CALL_SUBMIT) {
        ahead->nread++;
        ahead->acquires = false;
    } else if (call->verb == ORR_CALL_ACQUIRE &&
               call->how == ORR_HOW_CALLBACK) {
        ahead->acquires = true;
        foresee(player, ahead, call);
    } else if (call->verb == ORR_CALL_END_RELEASE && ahead->acquires) {
        foresee(player, ahead, call);
    }
}

/* A record that comes through a pipe is read once: its calls are played where they stand. */
static void read_ahead(struct player *player)
{
    struct orr_record_reader *reader;
    const struct orr_call *call;
    struct orr_error err = {""};
    struct stat st;
    int rc;

    player->looked_ahead = true;
    if (stat(player->path, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    rc = orr_record_open(player->path, &reader, &err);
    if (rc < 0)
        player_fail(player, "%s", err.text);
    /* What is wrong with a line is said when it is played. */
    while (orr_record_next(reader, &call, &err) > 0)
        look_at(player, call);
    orr_record_close(reader);
}

/* Whether all that the submission's callbacks acquire is registered now. */
static bool has_all_data(const struct player *player,
                         const struct player_ahead *ahead)
{
    for (const struct foreseen *f = ahead->first;
         f && f->submission == ahead->nplayed; f = f->next) {
        const struct datum *datum = numbered_find(&player->data, f->call.id);

        if (f->call.verb == ORR_CALL_ACQUIRE && (!datum || !datum->handle))
            return false;
    }
    return true;
}

unsigned player_tell_ahead(struct player *player, uint64_t number,
                           void (*tell)(struct player *player,
                                        const struct orr_call *call))
{
    struct player_ahead *ahead;
    unsigned n = 0;
    bool tells;

    if (!player->looked_ahead)
        read_ahead(player);
    ahead = find_ahead(player, number);
    if (!ahead)
        return 0;
    ahead->nplayed++;
    tells = has_all_data(player, ahead);
    while (ahead->first && ahead->first->submission <= ahead->nplayed) {
        struct foreseen *foreseen = ahead->first;

        ahead->first = foreseen->next;
        if (!ahead->first)
            ahead->last = &ahead->first;
        if (tells) {
            tell(player, &foreseen->call);
            n++;
        }
        free(foreseen);
    }
    return n;
}

void player_forget_ahead(struct player *player)
{
    for (size_t i = 0; i < player->nahead; i++) {
        struct player_ahead *ahead = player->ahead[i];

        while (ahead && ahead->first) {
            struct foreseen *foreseen = ahead->first;

            ahead->first = foreseen->next;
            free(foreseen);
        }
        free(ahead);
    }
    free(player->ahead);
}
