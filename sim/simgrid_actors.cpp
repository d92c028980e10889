/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/simgrid_actors.cpp - stacks (stacks.h) that are SimGrid's actors, in the module
 * simgrid.so.
 *
 * One actor runs at a time: whoever goes to another one gives it the turn, a
 * semaphore, and waits for its own. So the order is that of exec.c, to which SimGrid
 * is the second opinion: it makes the stacks, switches them and has the time in which
 * transfers pass. Main is the thread that opened the engine, SimGrid's maestro, on
 * whose stack the engine runs while main waits; what only the maestro may do
 * (advance) actors have done there.
 *
 * Measured: a switch 1.4 µs, against 10 ns between fibers.
 */
#include "sim/simgrid_platform.h"

#include <cerrno>
#include <cstring>
#include <cxxabi.h>
#include <new>

namespace s4u = simgrid::s4u;
using orr::clock_s;
using orr::Platform;

struct orr_stack {
    s4u::ActorPtr actor;
    s4u::SemaphorePtr turn;
    bool begun, ended;
};

namespace
{

/* The C++ state of exceptions in flight, which SimGrid leaves to the thread: each
 * stack has its own (core/device/switch.h). */
class KeepExceptions
{
    static constexpr size_t size = sizeof(void *) + sizeof(unsigned);
    char state[size];

  public:
    KeepExceptions()
    {
        memcpy(state, abi::__cxa_get_globals(), size);
        memset(static_cast<void *>(abi::__cxa_get_globals()), 0, size);
    }
    /* Not where an actor that is ended is thrown out of its wait. */
    ~KeepExceptions()
    {
        if (std::uncaught_exceptions() == 0)
            memcpy(static_cast<void *>(abi::__cxa_get_globals()), state, size);
    }
    KeepExceptions(const KeepExceptions &) = delete;
    KeepExceptions &operator=(const KeepExceptions &) = delete;
};

struct Actors {
    orr_stacks stacks = {}; /* first */
    std::shared_ptr<Platform> platform;
    orr_stack *running = nullptr; /* NULL: main */
    bool main_turn = false;
    /* What an actor wants to be done by the maestro, and which. */
    const std::function<void()> *wish = nullptr;
    orr_stack *wishes = nullptr;
};

static_assert(std::is_standard_layout<Actors>::value,
              "the table must be at its beginning");

Actors *actors_of(orr_stacks *stacks)
{
    return reinterpret_cast<Actors *>(stacks);
}

/* Lets the actors run that have the turn, at the present date. */
void run_engine(Actors *a)
{
    a->platform->engine->run_until(clock_s());
}

/* The same on any stack, for actors that begin or end: no other has the turn. */
void let_actors_run(Actors *a)
{
    if (a->running)
        s4u::this_actor::yield();
    else
        run_engine(a);
}

/* Main's stack is the maestro's until it is main's turn again. */
void serve(Actors *a)
{
    a->main_turn = false;
    for (;;) {
        run_engine(a);
        if (a->main_turn)
            return;
        if (!a->wish)
            abort(); /* no actor has the turn */
        (*a->wish)();
        a->wish = nullptr;
        a->wishes->turn->release();
    }
}

void do_in_maestro(Actors *a, const std::function<void()> &function)
{
    if (!a->running) {
        function();
        return;
    }
    a->wish = &function;
    a->wishes = a->running;
    a->running->turn->acquire();
}

int make(orr_stacks *stacks, const char *name, void (*body)(void *), void *arg,
         orr_stack **ret)
{
    Actors *a = actors_of(stacks);

    try {
        auto *stack =
            new orr_stack{nullptr, s4u::Semaphore::create(0), false, false};

        stack->actor = s4u::Actor::create(
            name ? name : "context", a->platform->engine->get_all_hosts().at(0),
            [stack, body, arg] {
                s4u::this_actor::on_exit(
                    [stack](bool) { stack->ended = true; });
                stack->begun = true;
                stack->turn->acquire();
                body(arg);
            });
        /* One that has not begun could not be ended. */
        while (!stack->begun)
            let_actors_run(a);
        *ret = stack;
    } catch (const std::exception &) {
        return -ENOMEM;
    }
    return 0;
}

void go(orr_stacks *stacks, orr_stack *from, orr_stack *to)
{
    Actors *a = actors_of(stacks);
    KeepExceptions keep;

    a->running = to;
    if (to)
        to->turn->release();
    else
        a->main_turn = true;
    if (from)
        from->turn->acquire();
    else
        serve(a);
}

/* Stacks that it makes begin as those that main makes: the calling actor waits. */
void call_on_main(orr_stacks *stacks, void (*function)(void *), void *arg)
{
    Actors *a = actors_of(stacks);
    orr_stack *caller = a->running;
    KeepExceptions keep;

    do_in_maestro(a, [a, caller, function, arg] {
        a->running = nullptr;
        function(arg);
        a->running = caller;
    });
}

/* It is thrown out of where it waits: its frames are the library's, but for those of
 * contexts that the application has left behind at the very end. */
void end_stack(orr_stacks *stacks, orr_stack *stack)
{
    Actors *a = actors_of(stacks);
    KeepExceptions keep;

    if (!stack)
        return;
    stack->actor->kill();
    while (!stack->ended)
        let_actors_run(a);
    delete stack;
}

void free_stacks(orr_stacks *stacks)
{
    Actors *a = actors_of(stacks);

    a->platform->in_maestro = nullptr;
    run_engine(a); /* SimGrid buries those that have ended */
    delete a;
}

constexpr orr_stacks_ops actor_stacks_ops = {make, go, call_on_main, end_stack, free_stacks};

} // namespace

int orr::make_stacks(const orr_machine_desc *desc, const unsigned *endpoints,
                     unsigned nendpoints, size_t stack_size, orr_stacks **ret,
                     orr_error *err)
{
    std::shared_ptr<Platform> platform;
    int rc =
        open_platform(desc, endpoints, nendpoints, stack_size, &platform, err);

    if (rc < 0)
        return rc;
    Actors *a = new (std::nothrow) Actors;
    if (!a)
        return -ENOMEM;
    a->stacks.ops = &actor_stacks_ops;
    a->platform = platform;
    platform->in_maestro = [a](const std::function<void()> &function) {
        do_in_maestro(a, function);
    };
    *ret = &a->stacks;
    return 0;
}
