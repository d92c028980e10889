// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/submit.hpp - from a body and its data to a task of the runtime: a codelet per
// body, a performance model per symbol, what the body has captured until the task has
// ended. What does not depend on types is in functions that are no templates.
#pragma once

#include <cxxabi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <typeinfo>

#include <orrery/stf/logical_data.hpp>

namespace orrery::stf::detail
{

// --- symbols ---

// A name of tasks, and the model of their times. Never freed: tasks, codelets and the
// runtime refer to it.
struct symbol {
    explicit symbol(const std::string &text) : name(text)
    {
        model.type = STARPU_HISTORY_BASED;
        model.symbol = name.c_str();
    }
    std::string name;
    starpu_perfmodel model{};
    symbol *next = nullptr;
};

// The one of that name.
ORR_STF_COLD inline symbol *intern(const std::string &name)
{
    static lock mine;
    static symbol *known[256]; // lists, by hash
    const lock_guard guard(mine);
    symbol *&list =
        known[starpu_hash_crc32c_be_n(name.data(), name.size(), 0) % 256];

    for (symbol *one = list; one; one = one->next)
        if (one->name == name)
            return one;
    auto *made = new symbol(name);
    made->next = list;
    return list = made;
}

// Of tasks without a symbol: the function that their body is in, and its number there,
// as far as the compiler's name of the type says so.
ORR_STF_COLD inline std::string name_of_type(const char *mangled,
                                             const char *kind)
{
    int status = 0;
    char *text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    const char *full = text ? text : mangled;
    const char *lambda = std::strstr(full, "::{lambda");
    const char *number = std::strrchr(full, '#');
    const char *arguments = std::strchr(full, '(');
    char name[96];
    std::size_t n = 0;
    const auto add = [&](const char *from, const char *behind) {
        for (; from != behind && n <= 60; from++) {
            const char c = *from;
            const bool plain = (c >= '0' && c <= '9') ||
                               (c >= 'a' && c <= 'z') ||
                               (c >= 'A' && c <= 'Z') || c == '.';
            name[n++] = plain ? c : '_';
        }
    };

    if (lambda && number) {
        const char *brace = std::strchr(number, '}');
        add(full, arguments && arguments < lambda ? arguments : lambda);
        name[n++] = '.';
        add(number + 1, brace ? brace : number + std::strlen(number));
    } else {
        add(full, full + std::strlen(full));
    }
    std::free(text);
    if (n > 60)
        n = 40 +
            static_cast<std::size_t>(std::snprintf(
                name + 40, sizeof(name) - 40, ".%u",
                starpu_hash_crc32c_be_n(mangled, std::strlen(mangled), 0)));
    return std::string(kind) + "." + std::string(name, n);
}

// Index spaces of different sizes take different times, whatever their data are.
inline uint32_t shaped_footprint(starpu_task *task)
{
    return starpu_hash_crc32c_be_n(&task->hypervisor_tag,
                                   sizeof(task->hypervisor_tag),
                                   starpu_task_data_footprint(task));
}

// --- codelets ---

struct codelet {
    starpu_codelet cl{};
    const symbol *named = nullptr;
    std::vector<int> nodes; // of each use; empty: where the task is executed
    codelet *next = nullptr;
};

// What is known of a body when it is compiled; one for each type of body.
struct body_type {
    starpu_cpu_func_t host;    // NULL: processors have no code for it
    starpu_cuda_func_t device; // NULL: devices have none
    bool host_if_asked;        // but for devices, unless the place is host()
    bool shared;               // several processors may execute one together
    bool shaped;               // it is executed on an index space
    const char *type, *kind;
    void *(*copy)(const void *held); // NULL: the body cannot be copied
    void (*drop)(void *held);
    std::atomic<codelet *> codelets{nullptr};
    std::atomic<symbol *> default_symbol{nullptr};

    symbol *unnamed()
    {
        symbol *known = default_symbol.load(std::memory_order_acquire);
        return known ? known : name();
    }
    ORR_STF_COLD symbol *name()
    {
        symbol *made = intern(name_of_type(type, kind));
        default_symbol.store(made, std::memory_order_release);
        return made;
    }
};

// Never called: a simulated device whose kernels are skipped, or run on the host.
inline void never_called(void **, void *)
{
}

ORR_STF_COLD inline codelet *new_codelet(const body_type &type, symbol *named,
                                         std::vector<int> nodes)
{
    auto *made = new codelet;
    const bool simulated = machine::get().simulated;
    const auto device = type.device ? type.device
                        : simulated ? never_called
                                    : nullptr;

    made->named = named;
    made->nodes = std::move(nodes);
    made->cl.name = named->name.c_str();
    if (machine::get().uses_model(named->name))
        made->cl.model = &named->model;
    made->cl.nbuffers = STARPU_VARIABLE_NBUFFERS;
    made->cl.cpu_funcs[0] = type.host;
    made->cl.cuda_funcs[0] = device;
    made->cl.cuda_flags[0] = STARPU_CUDA_ASYNC;
    if (simulated)
        made->cl.hip_funcs[0] = device;
    if (type.shaped)
        named->model.footprint = shaped_footprint;
    if (type.shared) {
        made->cl.type = STARPU_SPMD;
        made->cl.max_parallelism = STARPU_NMAXWORKERS;
    }
    if (!made->nodes.empty()) {
        made->cl.specific_nodes = 1;
        made->cl.dyn_nodes = made->nodes.data();
    }
    return made;
}

inline codelet *codelet_of(body_type &type, symbol *named,
                           std::vector<int> nodes)
{
    codelet *known = type.codelets.load(std::memory_order_acquire);

    for (codelet *c = known; c; c = c->next)
        if (c->named == named && c->nodes.size() == nodes.size() &&
            (nodes.empty() || c->nodes == nodes))
            return c;
    codelet *made = new_codelet(type, named, std::move(nodes));
    do
        made->next = known;
    while (!type.codelets.compare_exchange_weak(known, made,
                                                std::memory_order_acq_rel));
    return made;
}

// --- one task ---

// What a task uses: pointers into the caller's.
struct use {
    datum *data;
    access_mode mode;
    data_place place;
    handle_t part = nullptr; // of the data, instead of all of them
};

struct job {
    body_type *type;
    symbol *named;
    exec_place place;
    const use *uses;
    unsigned nuses;
    void *arg = nullptr;     // of the body's function
    bool owned = false;      // that goes with the task
    bool wait = false;       // the body refers to the caller's variables
    bool gang = false;       // by all processors together
    bool checked = false;    // what it uses, when it was noted
    std::size_t indices = 0; // of its index space
    int priority = 0;
    double flops = 0.;
};

inline uint32_t writes(access_mode mode)
{
    return mode != access_mode::read;
}

inline starpu_data_access_mode mode_of(access_mode mode)
{
    switch (mode) {
    case access_mode::read:
        return STARPU_R;
    case access_mode::write:
    case access_mode::reduce:
        return STARPU_W;
    case access_mode::relaxed:
        return static_cast<starpu_data_access_mode>(STARPU_RW | STARPU_COMMUTE);
    default:
        return STARPU_RW;
    }
}

// Data that live in a scope, or were pushed to one.
ORR_STF_COLD inline void check_scope(const context_state &state,
                                     const datum &data, access_mode mode)
{
    if (data.scope && !state.is_open(data.scope))
        data.refuse(" lived in a scope that was popped: make what is "
                    "used outside by logical_data()");
    if (data.pushed && state.is_open(data.pushed) &&
        data.pushed_mode == access_mode::read && writes(mode))
        data.refuse(" was pushed to this scope to be read: push() it "
                    "with access_mode::rw to change it there");
}

// All that may be wrong with a use, and the sentence for it.
ORR_STF_COLD inline void check_unusual(const context_state &state, const use &u,
                                       bool waits)
{
    const datum *data = u.data;

    require(data != nullptr, "a task uses a logical_data that no context made");
    if (data->state.get() != &state)
        data->refuse(" belongs to another context than the task");
    require(data->handle != nullptr, "the context of the data is finalized");
    if (!data->has_value.load(std::memory_order_relaxed) &&
        u.mode != access_mode::write && u.mode != access_mode::reduce)
        data->refuse(" has no value yet: the first task that uses data "
                     "made of a shape must write() them");
    if (data->read_only && writes(u.mode))
        data->refuse(" was set read only: a task may only read() it");
    if (waits && data->frozen != access_mode::none &&
        (data->frozen == access_mode::rw || writes(u.mode)))
        data->refuse(" is frozen, and this task's body must run before "
                     "the program goes on: unfreeze() it before, or "
                     "use task_later()");
    check_scope(state, *data, u.mode);
    if (u.place.is_composite())
        data->refuse(" is used at a composite place: data lie so for "
                     "parallel_for() on its grid; name affine() here");
    if (u.place.is_replicated() && writes(u.mode))
        data->refuse(" is written at a replicated place, where data "
                     "are only read(): write it at another one before");
}

// Data that have a value, and nothing else that is to be looked at, are usual.
inline void check_use(const context_state &state, const use &u, bool waits)
{
    datum *data = u.data;
    const bool usual = data && data->state.get() == &state && data->handle &&
                       data->has_value.load(std::memory_order_relaxed) &&
                       !data->read_only && data->frozen == access_mode::none &&
                       (data->scope | data->pushed) == 0 &&
                       !u.place.get_spread();

    if (!usual)
        check_unusual(state, u, waits);
    data->used.store(true, std::memory_order_relaxed);
}

// Where a task may run: its place, as the machine and the body have it.
class target
{
  public:
    target(const context_state &state, const job &j) : type_(*j.type)
    {
        const machine &m = machine::get();
        exec_place place = j.place;

        if (place.is_current() && !state.affinity.empty())
            place = state.affinity.back();
        if (place.is_grid()) // of a task, which begins there
            place = place.get_place(0);
        if (m.places_any && !place.is_host())
            place = exec_place::any();
        if (m.simulated && m.runs_bodies &&
            (!type_.host || (type_.host_if_asked && !place.is_host())))
            refuse(j, " has no code for processors, which "
                      "ORRERY_SIM_KERNELS=run needs: make it "
                      "__host__ __device__, add on_host(), or leave the "
                      "variable unset");
        if (place.is_host())
            host(j);
        else if (place.is_any())
            any(m, j);
        else if (place.is_device()) {
            device(m, j, place.number());
            queue = place.get_queue();
        } else if (m.ndevices() > 0 && on_devices(m))
            device(m, j, 0);
        else if (type_.host && !type_.host_if_asked)
            host(j);
        else
            refuse(j, " is for devices, and this machine has none: "
                      "ORRERY_MACHINE=h100-pcie-4 simulates some");
    }
    int32_t where;
    int worker = -1;          // this one alone
    stream_t queue = nullptr; // the program's own, for what the body puts there

  private:
    [[noreturn]] ORR_STF_COLD static void refuse(const job &j, const char *why)
    {
        fail_with("the body of `%s'%s", j.named->name.c_str(), why);
    }
    bool on_devices(const machine &m) const
    {
        return type_.device || m.simulated;
    }
    void host(const job &j)
    {
        if (!type_.host)
            refuse(j, " has no code for processors: make it "
                      "__host__ __device__, or give it a device");
        worker = j.gang ? machine::get().gang : -1;
        where = worker < 0 ? static_cast<int32_t>(STARPU_CPU) : -1;
    }
    void device(const machine &m, const job &j, int number)
    {
        const machine::device &d = m.at(number);

        if (!on_devices(m))
            refuse(j, " has no code for devices: compile the program "
                      "with nvcc and make it __device__, or give it "
                      "exec_place::host()");
        worker = d.worker;
        where = -1;
    }
    void any(const machine &m, const job &j)
    {
        where = 0;
        if (type_.host && !type_.host_if_asked)
            where |= STARPU_CPU;
        if (m.ndevices() > 0 && on_devices(m))
            where |= STARPU_CUDA | STARPU_HIP;
        if (!where)
            refuse(j, " has code for nothing that this machine has");
    }

    const body_type &type_;
};

// --- copies at several places ---

// One of them, asked for in its turn among tasks.
struct copy_asked {
    static void have(handle_t handle, int node)
    {
        auto *one = new copy_asked{handle, node};
        const int err =
            starpu_data_acquire_on_node_cb(handle, node, STARPU_R, there, one);

        if (err)
            delete one;
    }
    static void there(void *arg)
    {
        const owned<copy_asked> one(static_cast<copy_asked *>(arg));
        starpu_data_release_on_node(one->handle, one->node);
    }
    handle_t handle;
    int node;
};

ORR_STF_COLD inline bool is_member(const exec_place &grid,
                                   const exec_place &place)
{
    for (std::size_t i = 0; i < grid.size(); i++)
        if (grid.get_place(i) == place)
            return true;
    return false;
}

// Data that a task reads at a replicated place come to all places of it, once for each
// value.
ORR_STF_COLD inline void replicate(const use &u, const exec_place &place)
{
    const machine &m = machine::get();
    const spread *how = u.place.get_spread();

    if (how->grid.is_current() || u.data->copied == how)
        return;
    if ((place.is_host() || place.is_device()) && !m.places_any &&
        !is_member(how->grid, place))
        u.data->refuse(" is replicated over a grid in which the place "
                       "of the task is not: name a grid that has it, "
                       "or replicated()");
    for (std::size_t i = 0; i < how->grid.size(); i++) {
        const exec_place one = how->grid.get_place(i);
        const bool device = !one.is_host() && m.ndevices() > 0;
        copy_asked::have(u.data->handle,
                         device ? static_cast<int>(m.at(one.number()).node)
                                : STARPU_MAIN_RAM);
    }
    u.data->copied = how;
}

inline std::vector<int> nodes_of(const job &j)
{
    bool any = false;

    for (unsigned i = 0; i < j.nuses; i++)
        any = any || !j.uses[i].place.is_affine();
    if (!any)
        return {};
    std::vector<int> nodes(j.nuses);
    for (unsigned i = 0; i < j.nuses; i++)
        nodes[i] = machine::get().node_of(j.uses[i].place);
    return nodes;
}

// Data that are used twice are, for the runtime, used in both ways.
inline void fill_data(starpu_task *task, const job &j)
{
    starpu_data_handle_t *handles = task->handles;
    starpu_data_access_mode *modes = task->modes;

    task->nbuffers = static_cast<int>(j.nuses);
    if (j.nuses > STARPU_NMAXBUFS) {
        handles = task->dyn_handles = static_cast<starpu_data_handle_t *>(
            std::malloc(j.nuses * sizeof(*handles)));
        modes = task->dyn_modes = static_cast<starpu_data_access_mode *>(
            std::malloc(j.nuses * sizeof(*modes)));
        if (!handles || !modes)
            throw std::bad_alloc();
    }
    for (unsigned i = 0; i < j.nuses; i++) {
        handles[i] = j.uses[i].part ? j.uses[i].part : j.uses[i].data->handle;
        modes[i] = mode_of(j.uses[i].mode);
    }
}

[[noreturn]] ORR_STF_COLD inline void refused(const job &j, int err)
{
    const char *const name = j.named->name.c_str();

    if (err == -ENODEV && machine::get().simulated)
        fail_with("no worker of this machine can execute `%s': a simulation "
                  "knows no time of it there; give one, "
                  "ORRERY_ASSUME='kernel[%s] = 10us'",
                  name, name);
    if (err == -ENODEV)
        fail_with("no worker of this machine can execute `%s': its place "
                  "leaves none that has code for it",
                  name);
    if (err == -EDEADLK)
        fail_with("`%s' was submitted in a callback, and its body must run "
                  "before the program goes on: use task_later()",
                  name);
    fail_with("the task `%s' is refused: %s", name, std::strerror(-err));
}

ORR_STF_COLD inline void draw(const dot_graph &graph, const job &j,
                              orrery_drawn_end *end)
{
    std::vector<orrery_drawn_use> uses(j.nuses);

    for (unsigned i = 0; i < j.nuses; i++)
        uses[i] = {j.uses[i].data->number, j.uses[i].data->symbol.c_str(),
                   writes(j.uses[i].mode) != 0,
                   j.uses[i].mode != access_mode::write &&
                       j.uses[i].mode != access_mode::reduce};
    orrery_drawing_add(graph.get(), j.named->name.c_str(), uses.data(), j.nuses,
                       end);
}

// --- tasks that are submitted again ---

// Of a scope that submits its tasks again, or later: stackable.hpp has it.
class recorder : public has_owners
{
  public:
    explicit recorder(recording_of mode) : mode_(mode)
    {
    }
    recording_of mode() const
    {
        return mode_;
    }
    // What was noted to be submitted later is submitted now, and what follows as well.
    virtual void begin(context_state &state) = 0;
    // Notes a task; returns whether it is not to be submitted now.
    virtual bool note(context_state &state, const job &j) = 0;
    // The scope has a task that cannot be submitted again.
    virtual void cannot_repeat(const symbol *task) = 0;

  protected:
    recording_of mode_;
};

// What follows depends on all that is before.
inline void settle(context_state &state)
{
    if (state.recording)
        state.recording->begin(state);
}

// What a task's argument begins with.
struct held_head {
    context_state *state;
    epoch *counted;           // that the task is of, NULL: it is not submitted
    stream_t queue = nullptr; // of target
};

inline void end_of_task(void *counted)
{
    static_cast<epoch *>(counted)->end();
}

// Gives it to the runtime. The caller keeps the argument if this throws.
inline void submit(context_state &state, const job &j)
{
    const machine &m = machine::get();
    const bool waits = j.wait && m.runs_bodies;
    // A body that refers to the caller's variables is called before he goes on; where it
    // takes virtual time its end is as good.
    const bool to_call = waits && !m.simulated;

    state.require_open();
    for (unsigned i = 0; i < j.nuses; i++) {
        if (!j.checked)
            check_use(state, j.uses[i], j.wait);
        if (j.uses[i].place.is_replicated())
            replicate(j.uses[i], j.place);
    }
    const target t(state, j);
    if (state.now == stage::to_launch)
        state.launch_graph();
    if (t.queue && j.arg)
        static_cast<held_head *>(j.arg)->queue = t.queue;
    codelet *c = codelet_of(*j.type, j.named, nodes_of(j));
    starpu_task *task = starpu_task_create();
    if (!task)
        throw std::bad_alloc();
    task->cl = &c->cl;
    task->where = t.where;
    task->cl_arg = j.arg;
    epoch *counted = state.present();
    counted->begin();
    task->callback_func = j.owned ? j.type->drop : end_of_task;
    task->callback_arg = j.owned ? j.arg : counted;
    if (j.owned)
        static_cast<held_head *>(j.arg)->counted = counted;
    task->synchronous = waits && !to_call;
    task->priority = j.priority;
    task->flops = j.flops;
    task->hypervisor_tag = static_cast<int>(j.indices ^ j.indices >> 32);
    if (t.worker >= 0) {
        task->execute_on_a_specific_worker = 1;
        task->workerid = static_cast<unsigned>(t.worker);
    }
    fill_data(task, j);
    orrery_drawn_end *const end =
        state.dot ? orrery_drawing_watch(state.dot->get(), task) : nullptr;
    const int err = to_call ? orrery_task_submit_and_call(task)
                    : state.now == stage::launched
                        ? orrery_task_submit_in_graph(task, state.again)
                        : starpu_task_submit(task);
    if (err) {
        task->destroy = 0;
        task->callback_func = nullptr;
        starpu_task_destroy(task);
        orrery_drawing_forget(end);
        if (j.owned)
            static_cast<held_head *>(j.arg)->counted = nullptr;
        counted->end();
        refused(j, err);
    }
    for (unsigned i = 0; i < j.nuses; i++)
        if (writes(j.uses[i].mode)) {
            j.uses[i].data->has_value.store(true, std::memory_order_relaxed);
            j.uses[i].data->copied = nullptr;
        }
    if (state.dot)
        draw(*state.dot, j, end);
    if (waits)
        state.tell();
}

// --- queues ---

// The queue of the device that executes the task.
inline stream_t local_stream()
{
    return starpu_cuda_get_local_stream();
}

// Queues that a body puts work into beside that of its worker: what it puts there is
// behind what this has, and what follows in this is behind what they have. Lives as long
// as the body's call.
class side_queues
{
  public:
    explicit side_queues(context_state &state) : state_(state)
    {
    }
    side_queues(const side_queues &) = delete;
    side_queues &operator=(const side_queues &) = delete;
    // A failure is told to the next call that waits.
    ~side_queues()
    {
        for (const side &one : sides_)
            if (orrery_queue_after(local_stream(), me_, one.queue, one.worker))
                state_.keep(std::make_exception_ptr(error(refused)));
    }
    // The queue, of the device of the worker, as one of them from now on.
    stream_t add(stream_t queue, int worker)
    {
        for (const side &one : sides_)
            if (one.queue == queue)
                return queue;
        if (queue == local_stream())
            return queue;
        if (orrery_queue_after(queue, worker, local_stream(), me_))
            throw error(refused);
        sides_.push_back({queue, worker});
        return queue;
    }

  private:
    static constexpr const char *refused =
        "orrery::stf: two queues cannot be ordered: is that of cuda_stream() "
        "one of the device that it names?";
    struct side {
        stream_t queue;
        int worker;
    };
    context_state &state_;
    const int me_ = starpu_worker_get_id();
    std::vector<side> sides_;
};

// --- bodies ---

// A body has on_host(buffers), on_device(buffers, queue), and constants that say which of
// them there are: has_host, has_device, host_if_asked, shared, shaped; and what it is
// called by: kind, and named_by, the type of the user's function.
template <class Body> struct held : held_head {
    Body body;
};

template <class Body>
ORR_STF_COLD void in_own_queue(held<Body> *what, void **buffers)
{
    side_queues sides(*what->state);

    what->body.on_device(buffers,
                         sides.add(what->queue, starpu_worker_get_id()));
}
template <class Body, bool device> void entry(void **buffers, void *arg)
{
    auto *what = static_cast<held<Body> *>(arg);

    try {
        if constexpr (!device)
            what->body.on_host(buffers);
        else if (what->queue)
            in_own_queue(what, buffers);
        else
            what->body.on_device(buffers, local_stream());
    } catch (...) {
        what->state->keep(std::current_exception());
    }
}

template <class Body> constexpr starpu_cpu_func_t host_entry()
{
    if constexpr (Body::has_host)
        return entry<Body, false>;
    else
        return nullptr;
}
template <class Body> constexpr starpu_cuda_func_t device_entry()
{
    if constexpr (Body::has_device)
        return entry<Body, true>;
    else
        return nullptr;
}

// Memory of bodies, in blocks of one size: one thread submits tasks, another one ends
// them, and what this leaves is the other's again without malloc(). As much as tasks were
// under way at once, in pieces of 16, as long as the program lives.
class body_memory
{
  public:
    static constexpr std::size_t size = 256, align = alignof(std::max_align_t);

    static void *get()
    {
        lists &all = mine();

        while (all.taken.test_and_set(std::memory_order_acquire))
            ;
        block *one = all.ready;
        if (!one)
            one = all.left.exchange(nullptr, std::memory_order_acquire);
        if (!one)
            one = more();
        if (one)
            all.ready = one->next;
        all.taken.clear(std::memory_order_release);
        if (!one)
            throw std::bad_alloc();
        return one;
    }
    static void put(void *memory)
    {
        lists &all = mine();
        auto *one =
            new (memory) block{all.left.load(std::memory_order_relaxed)};

        while (!all.left.compare_exchange_weak(one->next, one,
                                               std::memory_order_release,
                                               std::memory_order_relaxed))
            ;
    }

  private:
    struct block {
        block *next;
    };
    // Several at once, linked; NULL: there is no room.
    ORR_STF_COLD static block *more()
    {
        constexpr std::size_t n = 16;
        auto *at = static_cast<char *>(::operator new(n *size, std::nothrow));
        block *first = nullptr;

        for (std::size_t i = n; at && i-- > 0;)
            first = new (at + i * size) block{first};
        return first;
    }
    struct lists {
        std::atomic_flag taken = ATOMIC_FLAG_INIT;
        block *ready = nullptr;             // [taken]
        std::atomic<block *> left{nullptr}; // by those that end tasks
    };
    static lists &mine()
    {
        static lists one;
        return one;
    }
};

template <class Body, class... A> held<Body> *new_held(A &&...arguments)
{
    using H = held<Body>;

    if constexpr (sizeof(H) > body_memory::size ||
                  alignof(H) > body_memory::align) {
        return new H{std::forward<A>(arguments)...};
    } else {
        void *at = body_memory::get();
        try {
            return new (at) H{std::forward<A>(arguments)...};
        } catch (...) {
            body_memory::put(at);
            throw;
        }
    }
}
template <class Body> void drop_held(void *arg)
{
    using H = held<Body>;
    epoch *counted = static_cast<H *>(arg)->counted;

    if constexpr (sizeof(H) > body_memory::size ||
                  alignof(H) > body_memory::align) {
        delete static_cast<H *>(arg);
    } else {
        static_cast<H *>(arg)->~H();
        body_memory::put(arg);
    }
    if (counted)
        counted->end();
}
template <class Body> void *copy_held(const void *arg)
{
    return new_held<Body>(*static_cast<const held<Body> *>(arg));
}
template <class Body> constexpr auto copy_of() -> void *(*)(const void *)
{
    if constexpr (std::is_copy_constructible_v<Body>)
        return copy_held<Body>;
    else
        return nullptr;
}

template <class Body> body_type &type_of_body()
{
    static body_type type{host_entry<Body>(),
                          device_entry<Body>(),
                          Body::host_if_asked,
                          Body::shared,
                          Body::shaped,
                          typeid(typename Body::named_by).name(),
                          Body::kind,
                          copy_of<Body>(),
                          drop_held<Body>,
                          {},
                          {}};
    return type;
}

// What a construct says of a task: the rest of a job.
struct request {
    exec_place place;
    symbol *named = nullptr; // NULL: by the type of its body
    bool wait = false, gang = false;
    std::size_t indices = 0;
    int priority = 0;
    double flops = 0.;
};

// A body that is dropped unless its task has it.
class held_until
{
  public:
    held_until(const body_type &type, void *what) : type_(type), what_(what)
    {
    }
    held_until(const held_until &) = delete;
    held_until &operator=(const held_until &) = delete;
    ~held_until()
    {
        if (what_)
            type_.drop(what_);
    }
    void *get() const
    {
        return what_;
    }
    void release()
    {
        what_ = nullptr;
    }

  private:
    const body_type &type_;
    void *what_;
};

// `body` is moved into the task, or used where it is while the call waits.
template <class Body>
void submit_body(context_state &state, const request &r, const use *uses,
                 unsigned nuses, Body &&body)
{
    using B = std::decay_t<Body>;
    body_type &type = type_of_body<B>();
    job j{&type, r.named ? r.named : type.unnamed(), r.place, uses, nuses};

    j.wait = r.wait;
    j.gang = r.gang;
    j.indices = r.indices;
    j.priority = r.priority;
    j.flops = r.flops;
    if (state.recording && state.recording->mode() != recording_of::copies)
        j.wait = false;
    held_until what(type, machine::get().runs_bodies
                              ? new_held<B>(held_head{&state, nullptr, nullptr},
                                            std::forward<Body>(body))
                              : nullptr);
    j.arg = what.get();
    if (state.recording && !j.wait && state.recording->note(state, j))
        return;
    j.owned = !j.wait && j.arg;
    submit(state, j);
    if (j.owned)
        what.release();
}

// The body of a task that refers to the caller's: what is to be launched again is a copy.
template <class Body>
void record_body(context_state &state, const request &r, const use *uses,
                 unsigned nuses, Body &&body)
{
    using B = std::decay_t<Body>;
    body_type &type = type_of_body<B>();
    job j{&type, r.named ? r.named : type.unnamed(), r.place, uses, nuses};

    j.priority = r.priority;
    j.flops = r.flops;
    held_until what(type, new_held<B>(held_head{&state, nullptr, nullptr},
                                      std::forward<Body>(body)));
    j.arg = what.get();
    state.recording->note(state, j);
}

} // namespace orrery::stf::detail
