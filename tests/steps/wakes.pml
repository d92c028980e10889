/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/steps/wakes.pml - how workers sleep and are woken (core/loop/loop.c,
 * core/worker/asleep.h), for spin: in every order of their steps no job is left while
 * all workers sleep. test-wakes-model.py checks that, and that each of these, which
 * leaves out one thing, is found:
 *
 * NO_SECOND_LOOK  a worker that has said that it is about to sleep parks at once
 * WAKES_FIRST     jobs are made visible after it was looked which workers sleep
 * NO_TOKEN        a wake is lost on a worker that has not parked yet
 * NO_LOOK_AFTER   a worker that was woken parks once more where it finds no bit
 * NO_AGAIN        a worker that has made work for itself behind the part of its step
 *                 that would take it says so to nobody
 */
#define WORKERS 2
#define GIVERS  2
#define JOBS    1 /* of each of these */

byte queue;             /* jobs that all workers see */
byte own[WORKERS];      /* those that the worker alone sees */
byte late[WORKERS];     /* those that it may yet make for itself */
bool asleep[WORKERS];   /* its bit: it sleeps, or is about to */
bool token[WORKERS];    /* it was woken */
bool parked[WORKERS];

/* A lock makes it one step. */
inline take_job(w, any)
{
    atomic {
        if
        :: own[w] > 0 -> own[w]--; any = true
        :: own[w] == 0 && queue > 0 -> queue--; any = true
        :: else
        fi
    }
}

inline make_late_job(w, any)
{
    if
    :: late[w] > 0 ->
        late[w]--;
        own[w]++;
#ifndef NO_AGAIN
        any = true
#endif
    :: true
    fi
}

inline wake(w)
{
#ifdef NO_TOKEN
    atomic {
        if
        :: parked[w] -> token[w] = true
        :: else
        fi
    }
#else
    token[w] = true
#endif
}

/* Wakes one worker that sleeps; its bit says to others that this was done. */
inline wake_one(w, found)
{
    w = 0;
    do
    :: w == WORKERS -> break
    :: w < WORKERS && !asleep[w] -> w++
    :: w < WORKERS && asleep[w] ->
        atomic {
            found = asleep[w];
            asleep[w] = false
        };
        if
        :: found -> wake(w); break
        :: else -> w++
        fi
    od
}

proctype worker(byte w)
{
    bool any, announced;

look:
    any = false;
    take_job(w, any);
    make_late_job(w, any);
    if
    :: any ->
        if
        :: announced -> asleep[w] = false
        :: else
        fi;
        announced = false;
        goto look
    :: !any && !announced ->
        asleep[w] = true;
        announced = true;
#ifndef NO_SECOND_LOOK
        goto look
#endif
    :: else
    fi;
    parked[w] = true;
end_park:
    atomic {
        token[w];
        token[w] = false;
        parked[w] = false
    };
#ifdef NO_LOOK_AFTER
    if
    :: !asleep[w] -> asleep[w] = true; parked[w] = true; goto end_park
    :: else
    fi;
#endif
    asleep[w] = false;
    announced = false;
    goto look
}

proctype giver()
{
    byte n = JOBS, w;
    bool found;

    do
    :: n == 0 -> break
    :: n > 0 ->
        n--;
#ifdef WAKES_FIRST
        wake_one(w, found);
        queue++
#else
        queue++;
        wake_one(w, found)
#endif
    od
}

init
{
    byte i;

    atomic {
        i = 0;
        do
        :: i == WORKERS -> break
        :: i < WORKERS -> late[i] = 1; run worker(i); i++
        od;
        i = 0;
        do
        :: i == GIVERS -> break
        :: i < GIVERS -> run giver(); i++
        od
    };
    /* Nothing goes on any more. */
    timeout;
    assert(queue == 0 && own[0] == 0 && own[1] == 0)
}
