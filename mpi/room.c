/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/room.c - see room.h. */
#include "mpi/room.h"

#include "mpi/request.h"

void orr_room_init(struct orr_room *room, size_t capacity)
{
    *room = (struct orr_room){.most = capacity / 2};
    orr_list_init(&room->sends);
    orr_list_init(&room->waiting);
}

static struct orr_room *room_of(const struct orr_request *request)
{
    return &request->rank->room;
}

static bool is_oldest(const struct orr_request *request)
{
    return room_of(request)->sends.next == &request->in_room;
}

/* Until the oldest of those that wait has to. */
static void share_out(struct orr_room *room)
{
    while (!orr_list_empty(&room->waiting)) {
        struct orr_request *first =
            orr_container(room->waiting.next, struct orr_request, waits_for_room);
        size_t bytes = first->turn.handle->size;

        if (!is_oldest(first) && room->held + bytes > room->most)
            return;
        orr_list_remove(&first->waits_for_room);
        first->holds = bytes;
        room->held += bytes;
        orr_message_go(&first->turn);
    }
}

void orr_room_enter(struct orr_request *request)
{
    request->entered = ++room_of(request)->nentered;
    orr_list_append(&room_of(request)->sends, &request->in_room);
}

/* Turns come in any order. */
void orr_room_ask(struct orr_request *request)
{
    struct orr_room *room = room_of(request);
    struct orr_list *link = room->waiting.prev;

    while (link != &room->waiting &&
           orr_container(link, struct orr_request, waits_for_room)->entered >
               request->entered)
        link = link->prev;
    orr_list_prepend(link, &request->waits_for_room);
    share_out(room);
}

void orr_room_leave(struct orr_request *request)
{
    orr_list_remove(&request->in_room);
    room_of(request)->held -= request->holds;
    share_out(room_of(request));
}
