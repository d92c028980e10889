/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/checkpoint.c - see checkpoint.h. */
#include "mpi/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>

#include "core/base/grow.h"
#include "core/base/log.h"
#include "mpi/control.h"
#include "mpi/datum.h"
#include "mpi/layout.h"
#include "mpi/redux.h"
#include "mpi/saved.h"

struct orr_checkpoints {
    struct orr_list templates; /* [submitter] */
    struct orr_list known;     /* [carrier] those that are frozen */
};

/* --- messages --- */

enum kind {
    PART,    /* a value; its bytes are behind this */
    SAME,    /* it is that of the checkpoint before */
    STORED,  /* the sender has all that it is to keep */
    COMPLETE /* all have */
};

struct head {
    int32_t id, domain;
    uint64_t number;
    uint64_t size; /* of the bytes, or of the file */
    uint32_t kind;
    uint32_t entry;
    uint32_t crc; /* of the file */
    uint32_t failed; /* STORED: the file could not be written; COMPLETE: one could not */
};

static struct head head_of(const struct orr_checkpoint_template *t, uint64_t number,
                           enum kind kind)
{
    return (struct head){
        .id = t->id, .domain = t->domain, .number = number, .kind = kind};
}

static void tell(struct orr_rank *rank, int peer, const struct head *head)
{
    orr_control_send(rank, 0, peer, ORR_CONTROL_CHECKPOINT, 0, head, sizeof(*head));
}

/* --- what a rank keeps --- */

/* The bytes behind a PART, in its memory; checkpoints in which a value is the same share
 * it. */
struct orr_checkpoint_copy {
    unsigned refs;
    int source;
    struct head *part; /* owned */
};

static struct orr_checkpoint_copy *copy_ref(struct orr_checkpoint_copy *copy)
{
    copy->refs++;
    return copy;
}

static void copy_drop(struct orr_checkpoint_copy *copy)
{
    if (!copy || --copy->refs)
        return;
    free(copy->part);
    free(copy);
}

/* [carrier] One that is not complete yet, or was the last one that is. */
struct checkpoint {
    struct orr_list link;
    uint64_t number;
    bool submitted;                     /* by this rank */
    bool assembled;                     /* all parts are there */
    bool complete;
    unsigned ncame;                     /* parts, or words that they are the same */
    struct orr_checkpoint_copy **parts; /* of each slot; NULL until assembled: the same */
    /* Of rank 0. */
    int nstored;
    bool failed;
    struct orr_saved_sum *sums; /* of each rank */
};

static void checkpoint_free(struct orr_checkpoint_template *t, struct checkpoint *c)
{
    orr_list_remove(&c->link);
    for (unsigned i = 0; i < t->nslots; i++)
        copy_drop(c->parts[i]);
    free(c->parts);
    free(c->sums);
    free(c);
}

/* The one with that number, made if need be, in its place. */
static struct checkpoint *need(struct orr_checkpoint_template *t, uint64_t number)
{
    struct orr_list *before = t->under_way.prev;
    struct checkpoint *c;

    while (before != &t->under_way) {
        c = orr_container(before, struct checkpoint, link);
        if (c->number == number)
            return c;
        if (c->number < number)
            break;
        before = before->prev;
    }
    c = calloc(1, sizeof(*c));
    if (c) {
        c->parts = calloc(t->nslots ? t->nslots : 1, sizeof(*c->parts));
        c->sums = calloc((size_t)t->rank->size, sizeof(*c->sums));
    }
    if (!c || !c->parts || !c->sums)
        orr_rank_fail(t->rank, "out of memory for a checkpoint");
    c->number = number;
    orr_list_prepend(before, &c->link);
    return c;
}

static const char *folder_of(const struct orr_rank *rank)
{
    return orr_config_string(&rank->rt->config, ORR_CFG_MPI_CHECKPOINT_DIR);
}

static struct orr_saved saved_of(const struct orr_checkpoint_template *t, uint64_t number)
{
    return (struct orr_saved){.folder = folder_of(t->rank),
                              .id = t->id,
                              .domain = t->domain,
                              .number = number};
}

static void warn(const struct orr_checkpoint_template *t, uint64_t number,
                 const struct orr_error *err)
{
    orr_log_warning("checkpoint %llu of template %d, domain %d: %s; older files stay",
                    (unsigned long long)number, t->id, t->domain, err->text);
}

/* To a file, if there are any; then rank 0 knows. */
static void store(struct orr_checkpoint_template *t, const struct checkpoint *c)
{
    struct head head = head_of(t, c->number, STORED);
    struct orr_saved_record *records;
    struct orr_saved_sum sum = {0, 0};
    struct orr_error err = {""};

    if (folder_of(t->rank)) {
        struct orr_saved saved = saved_of(t, c->number);

        records = calloc(t->nslots ? t->nslots : 1, sizeof(*records));
        if (!records)
            orr_rank_fail(t->rank, "out of memory for a checkpoint");
        for (unsigned i = 0; i < t->nslots; i++)
            records[i] = (struct orr_saved_record){.entry = t->slots[i].entry,
                                                   .source = c->parts[i]->source,
                                                   .size = c->parts[i]->part->size,
                                                   .bytes = c->parts[i]->part + 1};
        if (orr_saved_write_part(&saved, t->rank->number, records, t->nslots, &sum, &err)) {
            warn(t, c->number, &err);
            head.failed = 1;
        }
        free(records);
    }
    head.size = sum.size;
    head.crc = sum.crc;
    tell(t->rank, 0, &head);
}

/* In the order of their numbers, since the values of one may be those of the one before. */
static void assemble(struct orr_checkpoint_template *t)
{
    orr_list_foreach (link, &t->under_way) {
        struct checkpoint *c = orr_container(link, struct checkpoint, link);

        if (c->assembled)
            continue;
        if (!c->submitted || c->ncame < t->nslots)
            return;
        for (unsigned i = 0; i < t->nslots; i++) {
            struct orr_checkpoint_slot *slot = &t->slots[i];

            if (!c->parts[i])
                c->parts[i] = copy_ref(slot->newest);
            copy_drop(slot->newest);
            slot->newest = copy_ref(c->parts[i]);
        }
        c->assembled = true;
        store(t, c);
    }
}

/* --- what comes --- */

static struct orr_checkpoint_slot *slot_of(const struct orr_checkpoint_template *t,
                                           unsigned entry, int source)
{
    if (entry >= t->nentries)
        return NULL;
    for (unsigned i = t->first[entry]; i < t->first[entry + 1]; i++)
        if (t->slots[i].source == ORR_NO_RANK || t->slots[i].source == source)
            return &t->slots[i];
    return NULL;
}

static void take_part(struct orr_checkpoint_template *t, const struct orr_header *header,
                      const struct head *head, const void *bytes)
{
    struct checkpoint *c = need(t, head->number);
    struct orr_checkpoint_slot *slot = slot_of(t, head->entry, header->peer);

    if (!slot)
        orr_rank_fail(t->rank, "checkpoint template %d, domain %d: rank %d sends entry %u, "
                               "which this rank is not to keep: give all ranks the same "
                               "entries",
                      t->id, t->domain, header->peer, head->entry);
    c->ncame++;
    if (head->kind == PART) {
        struct orr_checkpoint_copy *copy = calloc(1, sizeof(*copy));

        if (!copy)
            orr_rank_fail(t->rank, "out of memory for a checkpoint");
        *copy = (struct orr_checkpoint_copy){
            .refs = 1,
            .source = header->peer,
            .part = orr_control_keep(t->rank, header, bytes)};
        c->parts[slot - t->slots] = copy;
    }
    assemble(t);
}

/* On rank 0. */
static void take_stored(struct orr_checkpoint_template *t, int source,
                        const struct head *head)
{
    struct orr_rank *rank = t->rank;
    struct checkpoint *c = need(t, head->number);
    struct head complete = head_of(t, head->number, COMPLETE);
    struct orr_error err = {""};

    c->sums[source] = (struct orr_saved_sum){.size = head->size, .crc = head->crc};
    c->failed |= head->failed;
    if (++c->nstored < rank->size)
        return;
    if (folder_of(rank) && !c->failed) {
        struct orr_saved saved = saved_of(t, c->number);
        struct orr_saved_manifest manifest = {.nranks = rank->size,
                                              .nentries = (unsigned)t->nentries,
                                              .sums = c->sums};

        if (orr_saved_write_manifest(&saved, &manifest, &err)) {
            warn(t, c->number, &err);
            c->failed = true;
        } else if (c->number > 2) {
            saved.number -= 2;
            orr_saved_remove_manifest(&saved);
        }
    }
    complete.failed = c->failed;
    for (int r = 0; r < rank->size; r++)
        tell(rank, r, &complete);
}

/* Of files the last two stay, should the last one be damaged. */
static void take_complete(struct orr_checkpoint_template *t, const struct head *head)
{
    struct orr_rank *rank = t->rank;
    struct checkpoint *c = need(t, head->number);
    struct orr_list *first;

    c->complete = true;
    while ((first = t->under_way.next) != &c->link)
        checkpoint_free(t, orr_container(first, struct checkpoint, link));
    if (folder_of(rank) && !head->failed && head->number > 2) {
        struct orr_saved saved = saved_of(t, head->number - 2);

        orr_saved_remove_part(&saved, rank->number);
    }
    rank->nexpected--;
    orr_outside_end(rank->rt);
}

static void take(struct orr_rank *rank, const struct orr_header *header, const void *bytes)
{
    struct orr_checkpoint_template *t = NULL;
    struct head head;

    memcpy(&head, bytes, sizeof(head));
    orr_list_foreach (link, &rank->checkpoints->known) {
        struct orr_checkpoint_template *its =
            orr_container(link, struct orr_checkpoint_template, known);

        if (its->id == head.id && its->domain == head.domain)
            t = its;
    }
    if (!t)
        orr_rank_fail(rank, "rank %d makes a checkpoint of template %d, domain %d, which "
                            "this rank does not have: register it on all ranks",
                      header->peer, head.id, head.domain);
    if (head.kind == STORED)
        take_stored(t, header->peer, &head);
    else if (head.kind == COMPLETE)
        take_complete(t, &head);
    else
        take_part(t, header, &head, bytes);
}

/* --- begin and end --- */

static void listen(struct orr_rank *rank, struct orr_errand *errand)
{
    (void)errand;
    rank->controls[ORR_CONTROL_CHECKPOINT] = take;
}

int orr_checkpoints_init(struct orr_rank *rank, const char *call)
{
    struct orr_errand errand = {.run = listen};
    struct orr_error err = {""};
    int rc;

    if (rank->checkpoints) {
        orr_log_error("%s: called twice without starpu_mpi_checkpoint_shutdown in between",
                      call);
        return -EALREADY;
    }
    if (folder_of(rank) && (rc = orr_saved_folder(folder_of(rank), &err))) {
        orr_log_error("%s: ORRERY_MPI_CHECKPOINT_DIR: %s", call, err.text);
        return rc;
    }
    rc = orr_rank_ask(rank, &errand, call);
    if (rc)
        return rc;
    rank->checkpoints = calloc(1, sizeof(*rank->checkpoints));
    if (!rank->checkpoints) {
        orr_log_error("%s: out of memory", call);
        return -ENOMEM;
    }
    orr_list_init(&rank->checkpoints->templates);
    orr_list_init(&rank->checkpoints->known);
    return 0;
}

/* On the carrier, if it was frozen. */
static void template_free(struct orr_checkpoint_template *t)
{
    while (!orr_list_empty(&t->under_way))
        checkpoint_free(t, orr_container(t->under_way.next, struct checkpoint, link));
    for (unsigned i = 0; i < t->nslots; i++)
        copy_drop(t->slots[i].newest);
    orr_list_remove(&t->link);
    free(t->entries);
    free(t->slots);
    free(t->first);
    free(t);
}

static void forget_all(struct orr_rank *rank, struct orr_errand *errand)
{
    struct orr_checkpoints *all = rank->checkpoints;

    (void)errand;
    while (!orr_list_empty(&all->templates))
        template_free(
            orr_container(all->templates.next, struct orr_checkpoint_template, link));
    rank->checkpoints = NULL;
    free(all);
}

int orr_checkpoints_shutdown(struct orr_rank *rank, const char *call)
{
    struct orr_errand errand = {.run = forget_all};
    int rc;

    if (!rank->checkpoints) {
        orr_log_error("%s: called without starpu_mpi_checkpoint_init before", call);
        return -EINVAL;
    }
    rc = orr_outside_wait(rank->rt, call);
    return rc ? rc : orr_rank_ask(rank, &errand, call);
}

/* --- templates --- */

int orr_checkpoint_create(struct orr_rank *rank, int id, int domain,
                          struct orr_checkpoint_template **ret, const char *call)
{
    struct orr_checkpoint_template *t;

    if (!rank->checkpoints) {
        orr_log_error("%s: call starpu_mpi_checkpoint_init first", call);
        return -EINVAL;
    }
    orr_list_foreach (link, &rank->checkpoints->templates) {
        t = orr_container(link, struct orr_checkpoint_template, link);
        if (t->id == id && t->domain == domain) {
            orr_log_error("%s: there is a template %d of domain %d already: give each one "
                          "another number",
                          call, id, domain);
            return -EEXIST;
        }
    }
    t = calloc(1, sizeof(*t));
    if (!t) {
        orr_log_error("%s: out of memory", call);
        return -ENOMEM;
    }
    t->rank = rank;
    t->id = id;
    t->domain = domain;
    orr_list_init(&t->under_way);
    orr_list_append(&rank->checkpoints->templates, &t->link);
    *ret = t;
    return 0;
}

void orr_checkpoint_discard(struct orr_checkpoint_template *t)
{
    template_free(t);
}

static int check_backup(const struct orr_rank *rank, int backup, const char *call)
{
    if (backup >= 0 && backup < rank->size)
        return 0;
    orr_log_error("%s: rank %d is to keep a copy, and there are ranks 0 to %d", call,
                  backup, rank->size - 1);
    return -EINVAL;
}

static int check_entry(const struct orr_checkpoint_template *t,
                       const struct orr_checkpoint_entry *entry, const char *call)
{
    const char *trouble = entry->handle ? orr_handle_trouble(entry->handle) : NULL;
    const struct orr_datum *datum =
        entry->handle && !trouble ? orr_datum_of(entry->handle) : NULL;

    if (!entry->handle) {
        if (entry->backup_of && (entry->value || !entry->size))
            return 0;
        orr_log_error("%s: STARPU_VALUE: the %s is NULL", call,
                      entry->value ? "function" : "address");
    } else if (trouble) {
        orr_log_error("%s: the handle is %s", call, trouble);
    } else if (!datum || datum->owner < 0 || datum->comm->number != 0) {
        orr_log_error("%s: a datum that belongs to no rank, to each, or to one of a "
                      "smaller communicator cannot be kept: call "
                      "starpu_mpi_data_register on all ranks first",
                      call);
    } else {
        return check_backup(t->rank, entry->backup, call);
    }
    return -EINVAL;
}

int orr_checkpoint_add(struct orr_checkpoint_template *t,
                       const struct orr_checkpoint_entry *entry, const char *call)
{
    int rc;

    if (t->first) {
        orr_log_error("%s: template %d is frozen", call, t->id);
        return -EBUSY;
    }
    rc = check_entry(t, entry, call);
    if (rc)
        return rc;
    if (orr_grow(&t->entries, &t->room, t->nentries + 1, sizeof(*t->entries))) {
        orr_log_error("%s: out of memory", call);
        return -ENOMEM;
    }
    t->entries[t->nentries] = *entry;
    t->entries[t->nentries++].owner = ORR_NO_RANK;
    return 0;
}

/* What this rank keeps. With `slots` NULL they are only counted; -EINVAL after a message. */
static int find_slots(const struct orr_checkpoint_template *t, unsigned *first,
                      struct orr_checkpoint_slot *slots, const char *call)
{
    unsigned n = 0;

    for (unsigned e = 0; e < t->nentries; e++) {
        const struct orr_checkpoint_entry *entry = &t->entries[e];
        int nsources = entry->handle ? 1 : t->rank->size;

        first[e] = n;
        for (int r = 0; r < nsources; r++) {
            int backup = entry->handle ? entry->backup : entry->backup_of(r);

            if (check_backup(t->rank, backup, call))
                return -EINVAL;
            if (backup != t->rank->number)
                continue;
            if (slots)
                slots[n] = (struct orr_checkpoint_slot){
                    .entry = e, .source = entry->handle ? ORR_NO_RANK : r};
            n++;
        }
    }
    first[t->nentries] = n;
    return 0;
}

static int make_slots(struct orr_checkpoint_template *t, const char *call)
{
    t->first = calloc(t->nentries + 1, sizeof(*t->first));
    if (t->first && find_slots(t, t->first, NULL, call))
        return -EINVAL;
    if (t->first)
        t->slots = calloc(t->first[t->nentries] + 1, sizeof(*t->slots));
    if (!t->slots) {
        orr_log_error("%s: out of memory", call);
        return -ENOMEM;
    }
    t->nslots = t->first[t->nentries];
    return find_slots(t, t->first, t->slots, call);
}

struct freezing {
    struct orr_errand errand;
    struct orr_checkpoint_template *t;
};

static void make_known(struct orr_rank *rank, struct orr_errand *errand)
{
    struct freezing *freezing = orr_container(errand, struct freezing, errand);

    orr_list_append(&rank->checkpoints->known, &freezing->t->known);
}

/* What ranks compare, and from rank 0 the number of the newest checkpoint in the folder:
 * those that are made from now on are newer. */
struct introduction {
    int32_t id, domain;
    uint64_t nentries, newest;
    int32_t error;
};

static int compare(struct orr_checkpoint_template *t, int error, const char *call)
{
    struct orr_rank *rank = t->rank;
    struct introduction mine = {
        .id = t->id, .domain = t->domain, .nentries = t->nentries, .error = error};
    struct introduction *all = calloc((size_t)rank->size, sizeof(*all));
    struct orr_meeting meeting = {.kind = ORR_MEETING_GATHER,
                                  .mine = &mine,
                                  .all = all,
                                  .bytes = sizeof(mine)};
    int rc;

    if (!all)
        orr_rank_fail(rank, "%s: out of memory", call);
    if (rank->number == 0 && folder_of(rank))
        mine.newest = orr_saved_newest(folder_of(rank), t->id, t->domain, UINT64_MAX);
    rc = orr_rank_meet(rank, &meeting, call);
    for (int r = 0; rc == 0 && r < rank->size && !rank->conf.pretended_size; r++) {
        if (all[r].error)
            rc = all[r].error;
        else if (all[r].id != t->id || all[r].domain != t->domain ||
                 all[r].nentries != t->nentries) {
            orr_log_error("%s: template %d, domain %d has %zu entries here, but rank %d has "
                          "template %d, domain %d with %llu: all ranks give the same, in "
                          "the same order",
                          call, t->id, t->domain, t->nentries, r, all[r].id,
                          all[r].domain, (unsigned long long)all[r].nentries);
            rc = -EINVAL;
        }
    }
    t->number = all[0].newest;
    free(all);
    return rc;
}

int orr_checkpoint_freeze(struct orr_checkpoint_template *t, const char *call)
{
    struct freezing freezing = {.errand = {.run = make_known}, .t = t};
    int rc, error;

    if (t->first) {
        orr_log_error("%s: template %d is frozen already", call, t->id);
        return -EBUSY;
    }
    if (!orr_may_block(call))
        return -EDEADLK;
    error = make_slots(t, call);
    /* Before the meeting: after it messages may come. */
    rc = orr_rank_ask(t->rank, &freezing.errand, call);
    if (rc == 0)
        rc = compare(t, error, call);
    t->frozen = rc == 0;
    return rc;
}

/* --- a checkpoint --- */

struct start {
    struct orr_errand errand;
    struct orr_checkpoint_template *t;
    uint64_t number;
};

static void start_one(struct orr_rank *rank, struct orr_errand *errand)
{
    struct start *start = orr_container(errand, struct start, errand);

    need(start->t, start->number)->submitted = true;
    rank->nexpected++; /* until it is complete */
    assemble(start->t);
    free(start);
}

/* A value on its way to the rank that keeps it. */
struct part {
    struct orr_errand errand;
    struct orr_message turn; /* of a datum */
    unsigned node;
    struct orr_rank *rank;
    int backup;
    struct head head;
    struct head *bytes; /* that, and the value; owned */
};

static void send_part(struct orr_rank *rank, struct orr_errand *errand)
{
    struct part *part = orr_container(errand, struct part, errand);

    if (part->bytes)
        orr_control_send_owned(rank, 0, part->backup, ORR_CONTROL_CHECKPOINT, 0,
                               part->bytes, sizeof(struct head) + part->head.size);
    else
        tell(rank, part->backup, &part->head);
    free(part);
}

/* The datum goes on when its value is copied. */
static void send_datum(struct orr_rank *rank, struct orr_errand *errand)
{
    struct part *part = orr_container(errand, struct part, errand);
    struct orr_layout layout;

    if (orr_layout_send(&layout, orr_handle_public(part->turn.handle), part->node,
                        "starpu_mpi_checkpoint_template_submit"))
        orr_rank_fail(rank, "entry %u of checkpoint template %d cannot be copied",
                      part->head.entry, part->head.id);
    part->head.size = layout.bytes;
    part->bytes = malloc(sizeof(struct head) + layout.bytes);
    if (!part->bytes)
        orr_rank_fail(rank, "out of memory for a copy of %zu bytes for a checkpoint",
                      layout.bytes);
    *part->bytes = part->head;
    orr_parts_pack(layout.parts, layout.nparts, part->bytes + 1, layout.bytes);
    orr_layout_done(&layout);
    orr_message_end_here(&part->turn, false);
    send_part(rank, errand);
}

static void datum_granted(void *arg, unsigned node, void *interface)
{
    struct part *part = arg;

    (void)interface;
    part->node = node;
    orr_rank_hand(part->rank, &part->errand);
}

static struct part *new_part(const struct orr_checkpoint_template *t, unsigned entry,
                             int backup, enum kind kind)
{
    struct part *part = calloc(1, sizeof(*part));

    if (!part)
        orr_rank_fail(t->rank, "out of memory for a checkpoint");
    part->rank = t->rank;
    part->backup = backup;
    part->head = head_of(t, t->number, kind);
    part->head.entry = entry;
    part->errand.run = send_part;
    return part;
}

static void submit_value(const struct orr_checkpoint_template *t, unsigned e)
{
    const struct orr_checkpoint_entry *entry = &t->entries[e];
    struct part *part = new_part(t, e, entry->backup_of(t->rank->number), PART);

    part->head.size = entry->size;
    part->bytes = malloc(sizeof(struct head) + entry->size);
    if (!part->bytes)
        orr_rank_fail(t->rank, "out of memory for a checkpoint");
    *part->bytes = part->head;
    if (entry->size)
        memcpy(part->bytes + 1, entry->value, entry->size);
    orr_rank_hand(t->rank, &part->errand);
}

/* Whether its value may be another one than in the last checkpoint. Of data that have
 * parts nobody tells who writes these. */
static bool has_changed(const struct orr_checkpoint_entry *entry,
                        const struct orr_datum *datum, unsigned long version)
{
    const struct orr_handle *handle = entry->handle;

    return entry->owner != datum->owner || entry->version != version || handle->family ||
           handle->nchildren > 0 || handle->parent;
}

static void submit_datum(struct orr_checkpoint_template *t, unsigned e, int priority,
                         const char *call)
{
    struct orr_checkpoint_entry *entry = &t->entries[e];
    struct orr_datum *datum = orr_datum_of(entry->handle);
    struct orr_rank *rank = t->rank;
    unsigned long version;
    struct part *part;

    orr_redux_before(datum, STARPU_R, call);
    version = atomic_load_explicit(&datum->version, memory_order_relaxed);
    if (datum->owner == rank->number) {
        bool changed = has_changed(entry, datum, version);

        part = new_part(t, e, entry->backup, changed ? PART : SAME);
        if (changed) {
            part->errand.run = send_datum;
            part->turn = (struct orr_message){.handle = entry->handle,
                                              .mode = STARPU_R,
                                              .sequential = true,
                                              .priority = priority,
                                              .arg = part,
                                              .granted = datum_granted};
            if (orr_message_start(&part->turn, call))
                orr_runtime_fail(rank->rt);
        } else {
            orr_rank_hand(rank, &part->errand);
        }
    }
    entry->owner = datum->owner;
    entry->version = version;
}

static int check_data(const struct orr_checkpoint_template *t, const char *call)
{
    for (unsigned e = 0; e < t->nentries; e++)
        if (t->entries[e].handle && check_entry(t, &t->entries[e], call))
            return -EINVAL;
    return 0;
}

int orr_checkpoint_submit(struct orr_checkpoint_template *t, int priority,
                          const char *call)
{
    struct orr_rank *rank = t->rank;
    struct start *start;

    if (!t->frozen) {
        orr_log_error("%s: template %d is not frozen: call "
                      "starpu_mpi_checkpoint_template_freeze first",
                      call, t->id);
        return -EINVAL;
    }
    if (check_data(t, call))
        return -EINVAL;
    /* Values that nobody sends, or that mean nothing, are not kept. */
    if (rank->conf.pretended_size || !orrery_runs_kernels())
        return 0;
    t->number++;
    t->submitted = true;
    start = calloc(1, sizeof(*start));
    if (!start)
        orr_rank_fail(rank, "%s: out of memory", call);
    *start = (struct start){.errand = {.run = start_one}, .t = t, .number = t->number};
    orr_outside_begin(rank->rt);
    orr_rank_hand(rank, &start->errand);
    for (unsigned e = 0; e < t->nentries; e++) {
        if (t->entries[e].handle)
            submit_datum(t, e, rank->ignores_priorities ? 0 : priority, call);
        else
            submit_value(t, e);
    }
    return 0;
}

void orr_checkpoint_print(const struct orr_checkpoint_template *t)
{
    fprintf(stderr, "checkpoint template %d, domain %d, rank %d: %zu entries%s\n", t->id,
            t->domain, t->rank->number, t->nentries, t->frozen ? "" : ", not frozen");
    for (unsigned e = 0; e < t->nentries; e++) {
        const struct orr_checkpoint_entry *entry = &t->entries[e];

        if (entry->handle) {
            const struct orr_datum *datum = orr_datum_of(entry->handle);

            fprintf(stderr, "  %u: datum, tag %lld, of rank %d, kept by rank %d\n", e,
                    datum ? (long long)datum->tag : -1, datum ? datum->owner : -1,
                    entry->backup);
        } else {
            fprintf(stderr, "  %u: value, tag %lld, %zu bytes at %p, kept by rank %d\n", e,
                    (long long)entry->tag, entry->size, entry->value,
                    entry->backup_of(t->rank->number));
        }
    }
}
