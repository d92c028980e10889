/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/room.c - see room.h. */
#include "mpi/room.h"

void orr_room_init(struct orr_room *room, size_t capacity)
{
    *room = (struct orr_room){.most = capacity / 2};
    orr_list_init(&room->all);
    orr_list_init(&room->waiting);
}

/* Until the oldest of those that wait has to. */
static void share_out(struct orr_room *room)
{
    while (!orr_list_empty(&room->waiting)) {
        struct orr_room_place *first =
            orr_container(room->waiting.next, struct orr_room_place, in_waiting);
        size_t bytes = first->turn->handle->size;

        if (room->all.next != &first->in_all && room->held + bytes > room->most)
            return;
        orr_list_remove(&first->in_waiting);
        first->holds = bytes;
        room->held += bytes;
        orr_message_go(first->turn);
    }
}

void orr_room_enter(struct orr_room *room, struct orr_room_place *place)
{
    place->nth = ++room->nentered;
    orr_list_append(&room->all, &place->in_all);
}

/* Turns come in any order. */
void orr_room_ask(struct orr_room *room, struct orr_room_place *place)
{
    struct orr_list *link = room->waiting.prev;

    while (link != &room->waiting &&
           orr_container(link, struct orr_room_place, in_waiting)->nth > place->nth)
        link = link->prev;
    orr_list_prepend(link, &place->in_waiting);
    share_out(room);
}

void orr_room_leave(struct orr_room *room, struct orr_room_place *place)
{
    orr_list_remove(&place->in_all);
    room->held -= place->holds;
    share_out(room);
}
