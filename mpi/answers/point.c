/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/answers/point.c - messages from one rank to another, and requests. */
#include <errno.h>
#include <stdlib.h>

#include "mpi/answers/answers.h"

static const intptr_t first_handle = 0x5e000000;

/* What a call of the application's asks for. */
struct message {
    const char *call;
    void *buffer;
    int count;
    MPI_Datatype type;
    int peer, tag;
    MPI_Comm comm;
};

/* What a persistent request does whenever it is started. */
struct orr_answers_plan {
    struct message message;
    bool sends, synchronous;
};

/* --- beginning --- */

static void fill_letter(struct orr_letter *letter, const struct message *m)
{
    struct orr_answers_comm *comm = orr_answers_comm(m->comm, m->call);

    if (m->peer != MPI_ANY_SOURCE && (m->peer < 0 || m->peer >= comm->size))
        orr_answers_fail(m->call, "rank %d is none of the communicator, which has ranks 0 to %d",
                         m->peer, comm->size - 1);
    *letter = (struct orr_letter){
        .comm = comm->simulated,
        .realm = ORR_LETTERS_OF_USER,
        .self = comm->rank,
        .peer = m->peer == MPI_ANY_SOURCE ? ORR_ANY : m->peer,
        .tag = m->tag == MPI_ANY_TAG ? ORR_ANY : m->tag,
        .bytes = m->buffer,
        .size = orr_answers_size(m->count, m->type),
    };
}

static void begin(struct orr_answers_request *request, const struct message *m, bool sends,
                  bool synchronous)
{
    struct orr_letter *letter = &request->letter;

    *request = (struct orr_answers_request){.used = true,
                                            .buffer = m->buffer,
                                            .count = m->count,
                                            .type = m->type,
                                            .plan = request->plan};
    request->is_null = m->peer == MPI_PROC_NULL;
    if (request->is_null)
        return;
    fill_letter(letter, m);
    letter->synchronous = synchronous;
    if (letter->size > 0 && !orr_answers_is_dense(m->type)) {
        letter->bytes = request->packed = malloc(letter->size);
        if (!request->packed)
            orr_answers_fail(m->call, "no memory for %zu bytes", letter->size);
    }
    if (request->packed && sends)
        orr_answers_pack(m->buffer, m->count, m->type, request->packed);
    if (!sends)
        orr_letter_receive(letter);
    else if (orr_letter_send(letter) < 0)
        orr_answers_fail(m->call, "no memory for %zu bytes", letter->size);
    if (sends) /* nothing comes into it */
        request->buffer = NULL;
}

/* --- ending --- */

static void fill_status(const struct orr_answers_request *request, MPI_Status *status)
{
    const struct orr_letter *letter = &request->letter;

    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = request->is_null ? MPI_PROC_NULL : letter->source;
    status->MPI_TAG = request->is_null ? MPI_ANY_TAG : (int)letter->found;
    status->MPI_ERROR = MPI_SUCCESS;
    PMPI_Status_set_elements(status, MPI_BYTE, (int)letter->moved);
    PMPI_Status_set_cancelled(status, letter->error == -ECANCELED);
}

/* It has ended. */
static void finish(struct orr_answers_request *request, MPI_Status *status, const char *call)
{
    struct orr_letter *letter = &request->letter;

    if (letter->error == -EMSGSIZE)
        orr_answers_fail(call, "the message from rank %d, tag %lld, has %zu bytes, and there "
                         "is room for %zu: MPI_ERR_TRUNCATE",
                         letter->source, (long long)letter->found, letter->moved,
                         letter->size);
    if (request->packed && request->buffer && letter->error == 0)
        orr_answers_unpack(request->packed, letter->moved, request->buffer, request->count,
                           request->type);
    fill_status(request, status);
    free(request->packed);
    request->packed = NULL;
    if (request->task)
        orr_answers_task_free(request->task);
    request->task = NULL;
    request->idle = request->used = request->plan != NULL;
}

static void wait_for(struct orr_answers_request *request, MPI_Status *status, const char *call)
{
    if (!request->is_null)
        orr_letter_wait(&request->letter);
    finish(request, status, call);
}

static int transfer(const struct message *m, bool sends, bool synchronous, MPI_Status *status)
{
    struct orr_answers_request request = {.used = true};

    begin(&request, m, sends, synchronous);
    wait_for(&request, status, m->call);
    return MPI_SUCCESS;
}

/* --- requests --- */

struct orr_answers_request *orr_answers_request_new(MPI_Request *handle, const char *call)
{
    struct orr_answers *answers = orr_answers();
    size_t i = 0;

    while (i < answers->nrequests && answers->requests[i]->used)
        i++;
    if (i == answers->nrequests) {
        struct orr_answers_request **grown = realloc(
            answers->requests, (i + 1) * sizeof(struct orr_answers_request *));

        if (grown)
            answers->requests = grown;
        if (!grown || !(grown[i] = calloc(1, sizeof(**grown))))
            orr_answers_fail(call, "out of memory");
        answers->nrequests++;
    }
    *handle = (MPI_Request)(first_handle + (intptr_t)i);
    return answers->requests[i];
}

/* NULL: MPI_REQUEST_NULL. */
static struct orr_answers_request *request_of(MPI_Request native, const char *call)
{
    struct orr_answers *answers = orr_answers();
    MPI_Request handle = orr_answers_request_in(native);
    size_t place = (size_t)((intptr_t)handle - first_handle);

    if (handle == MPI_REQUEST_NULL)
        return NULL;
    if (place >= answers->nrequests || !answers->requests[place]->used)
        orr_answers_fail(call, "the request is none");
    return answers->requests[place];
}

static int start(const struct message *m, bool sends, bool synchronous, MPI_Request *handle)
{
    begin(orr_answers_request_new(handle, m->call), m, sends, synchronous);
    return MPI_SUCCESS;
}

static bool is_over(const struct orr_answers_request *request)
{
    return request->is_null || request->letter.ended;
}

static void empty_status(MPI_Status *status)
{
    struct orr_answers_request none = {.letter = {.source = MPI_ANY_SOURCE,
                                                  .found = MPI_ANY_TAG}};

    fill_status(&none, status);
}

static void end_one(MPI_Request *handle, MPI_Status *status, const char *call)
{
    struct orr_answers_request *request = request_of(*handle, call);

    if (request && !request->idle)
        wait_for(request, status, call);
    else
        empty_status(status);
    if (!request || !request->plan)
        *handle = orr_answers_request_out(MPI_REQUEST_NULL);
}

/* One that somebody may wait for; NULL: it is null, or a persistent one that is not started. */
static struct orr_answers_request *active_request(MPI_Request handle, const char *call)
{
    struct orr_answers_request *request = request_of(handle, call);

    return request && !request->idle ? request : NULL;
}

/* Which of n is over, the first one; -1: none is, -2: all are null. */
static int find_over(int n, const MPI_Request *handles, const char *call)
{
    int ret = -2;

    for (int i = 0; i < n; i++) {
        struct orr_answers_request *request = active_request(handles[i], call);

        if (request && is_over(request))
            return i;
        if (request)
            ret = -1;
    }
    return ret;
}

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* --- the calls --- */

#define MESSAGE(buf)                                                           \
    {                                                                          \
        .call = call, .buffer = (void *)(uintptr_t)(buf), .count = count,      \
        .type = type, .peer = peer, .tag = tag, .comm = comm                   \
    }

int orr_answer_Send(const void *buf, int count, MPI_Datatype type, int peer, int tag,
                    MPI_Comm comm)
{
    static const char call[] = "MPI_Send";
    struct message m = MESSAGE(buf);

    return transfer(&m, true, false, MPI_STATUS_IGNORE);
}

int orr_answer_Ssend(const void *buf, int count, MPI_Datatype type, int peer, int tag,
                     MPI_Comm comm)
{
    static const char call[] = "MPI_Ssend";
    struct message m = MESSAGE(buf);

    return transfer(&m, true, true, MPI_STATUS_IGNORE);
}

int orr_answer_Rsend(const void *buf, int count, MPI_Datatype type, int peer, int tag,
                     MPI_Comm comm)
{
    static const char call[] = "MPI_Rsend";
    struct message m = MESSAGE(buf);

    return transfer(&m, true, false, MPI_STATUS_IGNORE);
}

int orr_answer_Isend(const void *buf, int count, MPI_Datatype type, int peer, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    static const char call[] = "MPI_Isend";
    struct message m = MESSAGE(buf);

    return start(&m, true, false, request);
}

int orr_answer_Issend(const void *buf, int count, MPI_Datatype type, int peer, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    static const char call[] = "MPI_Issend";
    struct message m = MESSAGE(buf);

    return start(&m, true, true, request);
}

int orr_answer_Recv(void *buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                    MPI_Status *status)
{
    static const char call[] = "MPI_Recv";
    struct message m = MESSAGE(buf);

    return transfer(&m, false, false, status);
}

int orr_answer_Irecv(void *buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                     MPI_Request *request)
{
    static const char call[] = "MPI_Irecv";
    struct message m = MESSAGE(buf);

    return start(&m, false, false, request);
}

int orr_answer_Sendrecv(const void *sent, int nsent, MPI_Datatype sent_type, int to,
                        int sent_tag, void *buf, int count, MPI_Datatype type, int peer,
                        int tag, MPI_Comm comm, MPI_Status *status)
{
    static const char call[] = "MPI_Sendrecv";
    struct message receive = MESSAGE(buf);
    struct message send = {.call = call,
                           .buffer = (void *)(uintptr_t)sent,
                           .count = nsent,
                           .type = sent_type,
                           .peer = to,
                           .tag = sent_tag,
                           .comm = comm};
    struct orr_answers_request out = {.used = true}, in = {.used = true};

    begin(&in, &receive, false, false);
    begin(&out, &send, true, false);
    wait_for(&out, MPI_STATUS_IGNORE, call);
    wait_for(&in, status, call);
    return MPI_SUCCESS;
}

static bool probe(int peer, int tag, MPI_Comm comm, MPI_Status *status, bool waits,
                  const char *call)
{
    struct message m = {
        .call = call, .type = MPI_BYTE, .peer = peer, .tag = tag, .comm = comm};
    struct orr_answers_request like = {.is_null = peer == MPI_PROC_NULL};
    bool found = true;

    if (!like.is_null) {
        fill_letter(&like.letter, &m);
        found = orr_letter_probe(&like.letter, waits);
    }
    if (found)
        fill_status(&like, status);
    else
        orr_letters_pass_time();
    return found;
}

int orr_answer_Probe(int peer, int tag, MPI_Comm comm, MPI_Status *status)
{
    (void)probe(peer, tag, comm, status, true, "MPI_Probe");
    return MPI_SUCCESS;
}

int orr_answer_Iprobe(int peer, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    *flag = probe(peer, tag, comm, status, false, "MPI_Iprobe");
    return MPI_SUCCESS;
}

int orr_answer_Wait(MPI_Request *request, MPI_Status *status)
{
    end_one(request, status, "MPI_Wait");
    return MPI_SUCCESS;
}

int orr_answer_Waitall(int n, MPI_Request requests[], MPI_Status statuses[])
{
    for (int i = 0; i < n; i++)
        end_one(&requests[i], status_at(statuses, i), "MPI_Waitall");
    return MPI_SUCCESS;
}

int orr_answer_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status)
{
    static const char call[] = "MPI_Waitany";
    struct orr_letter **letters = calloc((size_t)n + 1, sizeof(struct orr_letter *));

    if (!letters)
        orr_answers_fail(call, "out of memory");
    *index = find_over(n, requests, call);
    for (int i = 0; i < n; i++) {
        struct orr_answers_request *request = active_request(requests[i], call);

        letters[i] = request ? &request->letter : NULL;
    }
    if (*index == -1)
        *index = orr_letters_wait_any(letters, n);
    free(letters);
    if (*index >= 0) {
        end_one(&requests[*index], status, call);
    } else {
        *index = MPI_UNDEFINED;
        empty_status(status);
    }
    return MPI_SUCCESS;
}

int orr_answer_Testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    static const char call[] = "MPI_Testany";
    int over = find_over(n, requests, call);

    *flag = over != -1;
    *index = MPI_UNDEFINED;
    if (over >= 0) {
        *index = over;
        end_one(&requests[over], status, call);
    } else if (over == -2) {
        empty_status(status);
    } else {
        orr_letters_pass_time();
    }
    return MPI_SUCCESS;
}

int orr_answer_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    int index;

    return orr_answer_Testany(1, request, &index, flag, status);
}

int orr_answer_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    static const char call[] = "MPI_Testall";

    *flag = 1;
    for (int i = 0; *flag && i < n; i++) {
        struct orr_answers_request *request = active_request(requests[i], call);

        *flag = !request || is_over(request);
    }
    for (int i = 0; *flag && i < n; i++)
        end_one(&requests[i], status_at(statuses, i), call);
    if (!*flag)
        orr_letters_pass_time();
    return MPI_SUCCESS;
}

int orr_answer_Cancel(MPI_Request *request)
{
    struct orr_answers_request *found = active_request(*request, "MPI_Cancel");

    if (found && !found->is_null)
        (void)orr_letter_cancel(&found->letter);
    return MPI_SUCCESS;
}

/* What is sent or received ends before it is freed: nobody else would end it. */
int orr_answer_Request_free(MPI_Request *request)
{
    static const char call[] = "MPI_Request_free";
    struct orr_answers_request *found = request_of(*request, call);

    end_one(request, MPI_STATUS_IGNORE, call);
    if (found && found->plan) {
        free(found->plan);
        *found = (struct orr_answers_request){.used = false};
        *request = orr_answers_request_out(MPI_REQUEST_NULL);
    }
    return MPI_SUCCESS;
}

/* --- persistent requests --- */

static int plan(const struct message *m, bool sends, bool synchronous, MPI_Request *handle)
{
    struct orr_answers_request *request = orr_answers_request_new(handle, m->call);
    struct orr_answers_plan *made = malloc(sizeof(*made));

    if (!made)
        orr_answers_fail(m->call, "out of memory");
    *made = (struct orr_answers_plan){*m, sends, synchronous};
    *request = (struct orr_answers_request){.used = true, .idle = true, .plan = made};
    return MPI_SUCCESS;
}

int orr_answer_Send_init(const void *buf, int count, MPI_Datatype type, int peer, int tag,
                         MPI_Comm comm, MPI_Request *request)
{
    static const char call[] = "MPI_Send_init";
    struct message m = MESSAGE(buf);

    return plan(&m, true, false, request);
}

int orr_answer_Ssend_init(const void *buf, int count, MPI_Datatype type, int peer, int tag,
                          MPI_Comm comm, MPI_Request *request)
{
    static const char call[] = "MPI_Ssend_init";
    struct message m = MESSAGE(buf);

    return plan(&m, true, true, request);
}

int orr_answer_Rsend_init(const void *buf, int count, MPI_Datatype type, int peer, int tag,
                          MPI_Comm comm, MPI_Request *request)
{
    static const char call[] = "MPI_Rsend_init";
    struct message m = MESSAGE(buf);

    return plan(&m, true, false, request);
}

int orr_answer_Recv_init(void *buf, int count, MPI_Datatype type, int peer, int tag,
                         MPI_Comm comm, MPI_Request *request)
{
    static const char call[] = "MPI_Recv_init";
    struct message m = MESSAGE(buf);

    return plan(&m, false, false, request);
}

static void start_again(MPI_Request handle, const char *call)
{
    struct orr_answers_request *request = request_of(handle, call);
    const struct orr_answers_plan *made = request ? request->plan : NULL;

    if (!made || !request->idle)
        orr_answers_fail(call, "the request is none that MPI_Send_init or the like has made, or "
                               "it was started and nobody has waited for it");
    begin(request, &made->message, made->sends, made->synchronous);
}

int orr_answer_Start(MPI_Request *request)
{
    start_again(*request, "MPI_Start");
    return MPI_SUCCESS;
}

int orr_answer_Startall(int n, MPI_Request requests[])
{
    for (int i = 0; i < n; i++)
        start_again(requests[i], "MPI_Startall");
    return MPI_SUCCESS;
}
