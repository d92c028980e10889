/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * debug/event.h - what a run can be stopped at: the events that core tells of
 * (core/exec/tell.h), those that a person wants to see, numbered from 1. One thread.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

struct orr_handle;
struct orr_job;
struct orr_runtime;
struct orr_told;
struct orr_worker;

/* Their names, in messages and in the protocol, are in event.c. */
enum debug_kind {
    DEBUG_BEGIN,    /* starpu_init is about to return */
    DEBUG_SUBMIT,   /* a task, of which is known what it waits for */
    DEBUG_READY,    /* it waits for nothing any more, and goes to its policy */
    DEBUG_TAKE,     /* a worker has it, and asks for its data */
    DEBUG_START,    /* its kernel begins */
    DEBUG_END,      /* its kernel has ended */
    DEBUG_PASS,     /* it is ready and has no kernel */
    DEBUG_RETURN,   /* it could not be executed, and is pushed once more */
    DEBUG_TRANSFER, /* a copy begins */
    DEBUG_ARRIVAL,  /* it has ended */
    DEBUG_EVICT,    /* a datum has left a memory node */
    DEBUG_STEAL,    /* a worker has a task of another one's */
    DEBUG_SEND,     /* a datum has gone to another rank */
    DEBUG_RECEIVE,  /* a datum has come from another rank */
    DEBUG_WAIT,     /* the application waits in a call */
    DEBUG_GO_ON,    /* it does not any more */
    DEBUG_MARK,     /* of the application's own */
    DEBUG_DEADLOCK, /* nothing can go on */
    DEBUG_FINISH,   /* the workers have ended */
    DEBUG_NKINDS
};

/* Lanes that are no workers. */
enum { DEBUG_LANE_NONE = -2, DEBUG_LANE_APPLICATION = -1 };

struct debug_event {
    uint64_t number;
    enum debug_kind kind;
    double date; /* µs of virtual time … */
    double before; /* … and that of the event before it, -1: there was none */
    int lane;    /* whose step it is: a worker, or one of those */
    /* What it is about, each NULL without; borrowed, until the next event. */
    const struct orr_job *job;
    const struct orr_worker *worker;
    const struct orr_handle *handle;
    const char *text;         /* the call that waits, the mark */
    int src, dst;             /* memory nodes, -1 */
    const struct orr_job *by; /* inside of which the application is */
    uint64_t stolen;          /* number of the task */
    int rank;                 /* of the run, among several; -1: it is alone */
    int peer;                 /* SEND, RECEIVE: the other rank, … */
    long long tag;            /* … the message's tag … */
    size_t bytes;             /* … and size */
    double length;            /* END: µs */
};

/* A bit for each kind that a word names ("start", "evict"); 0: none. */
uint32_t debug_kinds_named(const char *word);

/* The number of the run's rank, -1: it is alone. */
int debug_rank_of(const struct orr_runtime *rt);

/* Fills in all but the number. Returns whether it is one to be seen. */
int debug_event_make(const struct orr_runtime *rt, const struct orr_told *told,
                     struct debug_event *ret);

/* One sentence without a full stop. */
void debug_event_say(const struct orr_runtime *rt, const struct debug_event *event,
                     FILE *to);

/* Its members as JSON, without braces. */
void debug_event_write(const struct orr_runtime *rt, const struct debug_event *event,
                       FILE *to);

/* "12.345 ms", as all dates are said here. */
void debug_say_date(FILE *to, double us);

/* What a task is called here: "gemm #12". */
void debug_say_job(FILE *to, const struct orr_job *job);
