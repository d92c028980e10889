# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commands of gdb that show a run from inside: its workers, tasks, data, tags,
transfers, and what waits for what. They read memory only, so that they work on a
stopped program and on a core file alike; nothing of the program is called. Only
orrery-break writes, into the mask of events that the library tells of.

    (gdb) source tools/gdb/orrery.py
    (gdb) orrery-waits

`help orrery` lists the commands. Each has a second name that begins with starpu-,
as StarPU's users know it.
"""
import gdb

NO_NODE = 0xffffffff


class Missing(gdb.GdbError):
    """There is nothing to show."""


# --- what is read from the program ---

def field_offset(type_name, field):
    return next(f.bitpos // 8 for f in gdb.lookup_type(type_name).fields()
                if f.name == field)


def at(address, type_name):
    """The object of that type."""
    return gdb.Value(int(address)).cast(
        gdb.lookup_type(type_name).pointer()).dereference()


def in_list(head, type_name, field):
    """The elements of a struct orr_list that are linked by `field`."""
    offset, end = field_offset(type_name, field), int(head.address)
    link = int(head["next"])
    while link and link != end:
        yield at(link - offset, type_name)
        link = int(at(link, "struct orr_list")["next"])


def text(pointer):
    """A C string, or "" for NULL; an array is one, too."""
    if pointer.type.strip_typedefs().code == gdb.TYPE_CODE_ARRAY:
        return pointer.string(errors="replace")
    return pointer.string(errors="replace") if int(pointer) else ""


def word(value, type_name, prefix):
    """The name of a constant of the enumeration, without its prefix."""
    name = str(value.cast(gdb.lookup_type(type_name)))
    return name[len(prefix):].lower() if name.startswith(prefix) else name


def bits(mask):
    mask = int(mask)
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def numbers(mask):
    return " ".join(map(str, bits(mask))) or "-"


def mib(size):
    return f"{int(size) / 2 ** 20:.1f}"


class Run:
    """The run of the program."""

    def __init__(self):
        symbol = gdb.lookup_static_symbol("real_runtime")
        if symbol is None:
            raise Missing("no symbols of liborrery: is it loaded, and built "
                          "with -g?")
        pointer = symbol.value()
        if not int(pointer):
            raise Missing("there is no run: starpu_init has not returned yet, "
                          "or starpu_shutdown was called")
        self.runtime = at(pointer, "struct orr_runtime")

    def workers(self):
        for i in range(int(self.runtime["workers"]["n"])):
            yield self.runtime["workers"]["at"][i]

    def nodes(self):
        for i in range(int(self.runtime["nodes"]["n"])):
            yield self.runtime["nodes"]["at"][i]

    def handles(self):
        return in_list(self.runtime["data"]["handles"], "struct orr_handle", "all")

    def jobs(self):
        """Those that were submitted and have not ended, by number. Those with
        more than four buffers are not in a slab: they are found by their data."""
        found = {}
        for i in range(4):
            for address in slab_objects(self.runtime["slabs"]["jobs"][i]):
                job = at(address, "struct orr_job")
                if lives(job):
                    found[address] = job
        for handle in self.handles():
            for access in in_turns(handle):
                found.setdefault(int(access["job"]),
                                 access["job"].dereference())
        return sorted(found.values(), key=lambda job: int(job["id"]))

    def unsubmitted(self):
        """Jobs of tasks that others depend on, and that were not submitted."""
        for i in range(4):
            for address in slab_objects(self.runtime["slabs"]["jobs"][i]):
                job = at(address, "struct orr_job")
                if int(job["refs"]) > 0 and state(job) == "new":
                    yield job

    def tags(self):
        tags = self.runtime["tasks"]["tags"]
        for i in range(int(tags["nbuckets"])):
            tag = tags["buckets"][i]
            while int(tag):
                yield tag.dereference()
                tag = tag["next"]

    def count(self, what):
        """The tasks counted so far in all scheduling contexts."""
        which = int(gdb.parse_and_eval(what))
        total = 0
        counts = self.runtime["tasks"]["counts"]
        for i in range(counts.type.range()[1] + 1):
            counters = counts[i]["counters"]
            if int(counters):
                total += sum(int(counters[n]["n"][which]) for n in
                             range(int(self.runtime["tasks"]["ncounters"])))
        return total


def slab_objects(slab):
    """The addresses of all that a slab has made: they begin with the first line of the
    cache behind the block's header; in the newest block there is room for more."""
    size, line = int(slab["size"]), 64
    block = slab["blocks"]
    while int(block):
        here = int(block) + block.dereference().type.sizeof
        here += -here % line
        end = int(slab["fresh"]) if block == slab["blocks"] else \
            int(block) + int(block["bytes"])
        while here + size <= end:
            yield here
            here += size
        block = block["next"]


def lives(job):
    return int(job["refs"]) > 0 and int(job["id"]) > 0 and \
        state(job) not in ("new", "done")


def state(job):
    return word(job["state"], "enum orr_job_state", "ORR_JOB_")


# --- how it is called ---

def job_name(job):
    task = job["task"]
    if not int(task):
        return f"acquisition #{int(job['id'])}"
    names = [text(task["name"])]
    codelet = task["cl"]
    if int(codelet):
        names.append(text(codelet["name"]))
        if int(codelet["model"]):
            names.append(text(codelet["model"]["symbol"]))
    name = next(filter(None, names), "task")
    return f"{name} #{int(job['id'])}"


def handle_name(handle):
    name = text(handle["name"])
    if int(handle["ncoordinates"]):
        name += "(" + ",".join(str(int(handle["coordinates"][i])) for i in
                               range(int(handle["ncoordinates"]))) + ")"
    return f"{name or 'data'} #{int(handle['id'])}"


def mode_name(mode):
    mode = int(mode)
    name = {1: "R", 2: "W", 3: "RW"}.get(mode & 3, "")
    for value, extra in ((4, "SCRATCH"), (8, "REDUX"), (16, "COMMUTE")):
        if mode & value:
            name += ("|" if name else "") + extra
    return name or "NONE"


def worker_name(worker):
    desc = worker["desc"]
    kind = word(desc["type"], "enum starpu_worker_archtype", "STARPU_")
    return f"{kind.removesuffix('_worker')} {int(desc['devid'])}"


def full_name(worker):
    """As messages call it."""
    return text(worker["desc"]["name"])


def table(head, rows):
    rows = [head] + [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width)
                        for cell, width in zip(row, widths)).rstrip())


# --- what is printed ---

def in_turns(handle):
    """The accesses to the handle, in their order."""
    return in_list(handle["turns"]["order"], "struct orr_access", "link")


def accesses(job):
    for i in range(int(job["naccesses"])):
        yield job["accesses"][i]


def successors(job):
    edge = job["successors"]
    while int(edge):
        yield edge["job"].dereference()
        edge = edge["next"]


def reasons(job, before):
    """What a job waits for, a line each. `before`: jobs by their addresses that
    hold it back explicitly."""
    lines = [f"{job_name(b)}, which is {state(b)}" for b in
             before.get(int(job.address), ())]
    for access in accesses(job):
        handle = access["handle"].dereference()
        if int(access["ordered"]) and not int(access["granted"]):
            others = [other["job"].dereference() for other in
                      in_turns(handle)
                      if int(other["granted"]) and
                      int(other["job"]) != int(job.address)]
            lines.append(f"{handle_name(handle)} ({mode_name(access['mode'])})"
                         + "".join(f", in use by {job_name(o)}"
                                   for o in others[:3])
                         + (" and others" if len(others) > 3 else ""))
        elif state(job) == "claiming" and not int(access["claimed"]) and \
                int(handle["claims"]["n"]):
            lines.append(f"a claim on {handle_name(handle)}")
    if state(job) == "fetching":
        if int(job["data"]["wants_memory"]):
            lines.append("memory for its data")
        elif int(job["data"]["pending"]):
            lines.append(f"{int(job['data']['pending'])} of its data to arrive")
    elif state(job) == "ready":
        lines.append("a worker")
    elif state(job) == "running" and int(job["task"]):
        lines.append(f"the kernel on worker {int(job['worker'])}")
    elif state(job) == "running":
        lines.append("the application to release it")
    return lines


def predecessors(jobs):
    """By address, the jobs that hold it back explicitly."""
    before = {}
    for job in jobs:
        for after in successors(job):
            before.setdefault(int(after.address), []).append(job)
    return before


def print_job(job):
    task = job["task"]
    print(f"{job_name(job)}: {state(job)}")
    print(f"  job {int(job.address):#x}, task {int(task):#x}, priority "
          f"{int(job['priority'])}, scheduling context {int(job['sched_ctx'])}")
    if int(task) and int(task["cl"]):
        print(f"  codelet {int(task['cl']):#x}, implementation "
              f"{int(job['implementation'])}, argument {int(task['cl_arg']):#x}")
    if int(task) and int(task["use_tag"]):
        print(f"  tag {int(task['tag_id'])}")
    if int(job["worker"]) >= 0:
        print(f"  worker {int(job['worker'])}")
    print(f"  predecessors left {int(job['waiting'])}, data to come "
          f"{int(job['data']['pending'])}, references {int(job['refs'])}")
    for access in accesses(job):
        print(f"  buffer {int(access['index'])}: {mode_name(access['mode'])} "
              f"{handle_name(access['handle'])}"
              + ("" if not int(access["ordered"]) else
                 ", granted" if int(access["granted"]) else ", waits its turn"))


def print_handle(handle):
    print(f"{handle_name(handle)}: handle {int(handle.address):#x}, "
          f"{int(handle['size'])} bytes, home node {int(handle['home_node'])}")
    print(f"  users {int(handle['nusers'])}, claims {int(handle['claims']['n'])}"
          + (f", part {int(handle['child_index'])} of "
             f"{handle_name(handle['parent'])}" if int(handle["parent"]) else "")
          + (f", {int(handle['nchildren'])} parts"
             if int(handle["partitioned"]) else ""))
    print(f"  valid on {numbers(handle['valid'])}, coming to "
          f"{numbers(handle['loading'])}, allocated on "
          f"{numbers(handle['allocated'])}")
    for node in range(int(handle["nnodes"])):
        replicate = handle["replicates"][node]
        if int(replicate["refs"]) or int(replicate["promised"]):
            print(f"  node {node}: references {int(replicate['refs'])}, "
                  f"promised to {int(replicate['promised'])} queued tasks")
    for access in in_turns(handle):
        print(f"  {'in use by' if int(access['granted']) else 'awaited by'} "
              f"{job_name(access['job'])} ({mode_name(access['mode'])})")


def requests_of(handle):
    for node in range(int(handle["nnodes"])):
        request = handle["replicates"][node]["request"]
        while int(request):
            yield request.dereference()
            request = request["next_hop"]


def print_request(request):
    src = int(request["src"])
    where = word(request["state"], "enum orr_request_state", "ORR_REQUEST_")
    level = word(request["level"], "enum orr_fetch_level", "ORR_")
    print(f"{handle_name(request['handle'])}: {level} to node "
          f"{int(request['dst'])}"
          + (", memory only" if src == NO_NODE else f" from node {src}")
          + f", {where}" + (", found no memory" if int(request["starves"])
                            else ""))


def print_requests(levels):
    run = Run()
    for handle in run.handles():
        for request in requests_of(handle):
            if int(request["level"]) in levels:
                print_request(request)


def print_tag(tag, run):
    held = tag["held"]
    print(f"tag {int(tag['id'])}: "
          + ("reached" if int(tag["reached"]) else
             f"waits for {int(tag['missing'])} of {int(tag['npreds'])} tags")
          + (f", holds {job_name(held)} back" if int(held) else ""))
    edge = tag["successors"]
    while int(edge):
        print(f"  before tag {int(edge['tag']['id'])}")
        edge = edge["next"]


# --- why, along the chain: the sentences of core/observe/waiting.c ---

MOST_CHAINS, MOST_LINKS = 5, 12


def data_words(handle):
    """As messages call a datum: core/data/label.h."""
    name = text(handle["name"])
    if not name:
        return f"data number {int(handle['id'])}"
    count = int(handle["ncoordinates"])
    if count:
        name += "(" + ",".join(str(int(handle["coordinates"][i]))
                               for i in range(count)) + ")"
    return f"data `{name}'"


def job_words(job):
    if int(job["task"]):
        name = job_name(job).rpartition(" #")[0]
        number = f" (number {int(job['id'])})" if int(job["id"]) else ""
        return f"task `{name}'{number}"
    if int(job["naccesses"]):
        return f"the acquisition of {data_words(job['accesses'][0]['handle'])}"
    return "a request of the library"


def source_words(job):
    """"FILE:LINE: ", if the program has said where it submitted the task."""
    task = job["task"]
    if not int(task) or not int(task["file"]):
        return ""
    return f"{text(task['file'])}:{int(task['line'])}: "


def uses(mode):
    """What a task does with a datum."""
    return {1: "reads", 2: "writes", 3: "reads and writes"}.get(int(mode) & 3, "uses")


class Waits:
    """Which job holds which one back, looked up once."""

    def __init__(self, run, jobs):
        self.declared = predecessors([*jobs, *run.unsubmitted()])
        self.turns = {}   # by handle: by access, the one before that keeps it waiting
        self.holders = {}  # by job

    def turn_before(self, access):
        """The last access to the datum that keeps that one waiting, or None."""
        handle = int(access["handle"])
        if handle not in self.turns:
            found = self.turns[handle] = {}
            last = last_change = None
            for other in in_turns(access["handle"].dereference()):
                reads = int(other["mode"]) & 3 == 1
                found[int(other.address)] = last_change if reads else last
                last = other
                last_change = last_change if reads else other
        return self.turns[handle].get(int(access.address))

    def look(self, job):
        for other in self.declared.get(int(job.address), ()):
            return other, ": the program has declared that"
        for access in accesses(job):
            other = None
            if int(access["ordered"]) and not int(access["granted"]):
                other = self.turn_before(access)
            if other is None or int(other["job"]) == int(job.address):
                continue
            first = other["job"].dereference()
            used = data_words(access["handle"])
            return first, f": it {uses(access['mode'])} {used}, which that one " \
                f"{uses(other['mode'])}"
        return None

    def holder(self, job):
        """A job that holds it back, and the reason; None: none does."""
        address = int(job.address)
        if address not in self.holders:
            self.holders[address] = self.look(job)
        return self.holders[address]


def wait_sentence(job, other, because):
    if not int(other["task"]) and state(other) == "running" and int(other["naccesses"]):
        return (f"{job_words(job)} waits for {data_words(other['accesses'][0]['handle'])}, "
                "which the application has acquired and not released "
                "(starpu_data_release)")
    if state(other) == "new":
        because = ", which was never submitted"
    return f"{job_words(job)} waits for {job_words(other)}{because}"


def alone_sentence(run, job):
    """Why a job that no other one holds back is not over."""
    name, is_now = job_words(job), state(job)
    worker = int(job["worker"])
    where = full_name(run.runtime["workers"]["at"][worker]) if worker >= 0 else ""
    if is_now == "suspended":
        return f"{name} waits in its kernel, on {where}"
    if is_now == "running" and not int(job["task"]):
        return f"{data_words(job['accesses'][0]['handle'])} is acquired by the " \
            "application, and not released (starpu_data_release)"
    if is_now == "running":
        return f"{name} is executed on {where}"
    if is_now == "ready":
        paused = ": starpu_pause was called and not starpu_resume" \
            if int(run.runtime["workers"]["paused"]) else ""
        return f"{name} is ready, but no worker takes it{paused}"
    if is_now == "fetching" and int(job["data"]["wants_memory"]):
        return f"{name} waits for memory for its data on {where}"
    if is_now == "fetching":
        return f"{name} waits for its data" + (f" on {where}" if where else "")
    for tag in run.tags():
        if int(tag["held"]) == int(job.address):
            return f"{name} waits for tags before its own, {int(tag['id'])}, of which " \
                f"{int(tag['missing'])} are missing (orrery-tags)"
    if is_now == "claiming":
        return f"{name} waits for data that others have claimed"
    return f"{name} waits for {int(job['waiting'])} things that are not known here"


def chain_from(job, waits_of):
    """The jobs from this one to the one that holds all of them back, each with the
    reason why it waits; and whether they wait in a circle."""
    links, seen = [], set()
    while int(job.address) not in seen:
        seen.add(int(job.address))
        found = waits_of.holder(job)
        links.append((job, found))
        if found is None:
            return links, False
        job = found[0]
    return links, True


def chains(jobs, waits_of):
    """The longest chain to each job that no other one holds back, or to a circle, how many
    jobs wait there, and whether it is a circle."""
    steps = {}  # by job: how many are between it and its end, and that end
    ends = {}
    for job in jobs:
        way, circle = [], False
        while int(job.address) not in steps:
            address = int(job.address)
            if address in way:
                circle = True
                break
            way.append(address)
            found = waits_of.holder(job)
            if found is None:
                break
            job = found[0]
        here = int(job.address)
        length, end = steps.get(here, (-1, here))
        ends.setdefault(end, [-1, None, 0, False])
        ends[end][3] |= circle
        for address in reversed(way):
            length += 1
            steps[address] = length, end
            ends[end][2] += 1
            if length > ends[end][0]:
                ends[end][:2] = length, address
    return sorted(ends.values(), key=lambda one: -one[2])


def say_main(run):
    main = run.runtime["main"]
    if not int(main["awaited"]):
        print("the application is in code of its own")
        return
    awaited = main["awaited"].dereference()
    number = int(awaited["number"])
    print(f"the application waits for {text(awaited['noun'])}"
          f"{f' {number}' if number else ''}")


def is_said(job):
    """Whether who waits for it has said why it is not over."""
    return state(job) == "new" or not int(job["task"]) and state(job) == "running"


def say_chain(run, links, circle):
    if len(links) > 1 and is_said(links[-1][0]):
        links = links[:-1]
    for job, found in links[:MOST_LINKS]:
        print(source_words(job) + (wait_sentence(job, *found) if found else
                                   alone_sentence(run, job)))
    if len(links) > MOST_LINKS:
        left = len(links) - MOST_LINKS
        print(f"... {left} more, up to:")
        job, found = links[-1]
        print(source_words(job) + (wait_sentence(job, *found) if found else
                                   alone_sentence(run, job)))
    if circle:
        print("They wait for each other in a circle, which no order of them can satisfy: "
              "leave one of these dependencies out")


# --- breakpoints on events: core/observe/debugger.h ---

# As `orrery debug` calls them (debug/event.c), and what core tells then.
EVENTS = {"submit": ("TASK_WAITS",), "ready": ("TASK_READY",), "take": ("TASK_FETCHES",),
          "start": ("KERNEL_BEGINS",), "end": ("TASK_EXECUTED",), "pass": ("TASK_SKIPPED",),
          "return": ("TASK_RETURNED",), "transfer": ("COPY_BEGINS",),
          "arrival": ("COPY_ENDED",), "steal": ("STOLEN",), "mark": ("MARK",)}
OF_COPIES, OF_NO_TASK = ("transfer", "arrival"), ("transfer", "arrival", "steal", "mark")


class Where:
    """What is written behind orrery-break: [EVENT] [KERNEL] [#TASK] [data NAME]
    [on WORKER|NODE]."""

    def __init__(self, argument):
        self.event = self.kernel = self.task = self.data = self.place = None
        words = gdb.string_to_argv(argument)
        while words:
            word = words.pop(0)
            if word in ("data", "on"):
                if not words:
                    raise gdb.GdbError(f"`{word}' what? A name goes behind it")
                setattr(self, "data" if word == "data" else "place", words.pop(0))
            elif word.startswith("#"):
                if not word[1:].isdigit():
                    raise gdb.GdbError(f"`{word}': a task is # and its number")
                self.task = int(word[1:])
            elif word in EVENTS and self.event is None:
                self.event = word
            elif self.kernel is None:
                self.kernel = word
            else:
                raise gdb.GdbError(
                    f"`{word}' is too much: [EVENT] [KERNEL] [#TASK] [data NAME] "
                    f"[on WORKER|NODE]; events are {', '.join(EVENTS)}")
        if self.event is None:
            self.event = "start"
        if self.event in OF_NO_TASK and (self.kernel or self.task):
            raise gdb.GdbError(f"`{self.event}' is an event of no task: no kernel or number")
        if self.data and self.event in ("steal", "mark"):
            raise gdb.GdbError(f"`{self.event}' is an event of no datum")

    def kinds(self):
        return [int(gdb.parse_and_eval(f"ORR_TOLD_{kind}")) for kind in EVENTS[self.event]]

    def names_data(self, handle):
        return handle_name(handle).rpartition(" #")[0] == self.data or \
            data_words(handle) == self.data

    def is_job(self, job):
        if self.kernel and job_name(job).rpartition(" #")[0] != self.kernel:
            return False
        return (self.task is None or int(job["id"]) == self.task) and (
            not self.data or any(self.names_data(access["handle"].dereference())
                                 for access in accesses(job)))

    def is_worker(self, worker):
        return self.place in (str(int(worker["id"])), worker_name(worker),
                              full_name(worker))


def told_worker(runtime, told):
    """The worker of an event, or None."""
    if int(told["worker"]):
        return told["worker"].dereference()
    job = told["job"]
    number = int(job["worker"]) if int(job) else -1
    return runtime["workers"]["at"][number] if number >= 0 else None


def node_name(runtime, number):
    return "" if number == NO_NODE else text(runtime["machine"]["nodes"][number]["name"])


def told_sentence(where, runtime, told):
    """What has happened; None: it is not where the breakpoint is."""
    if where.event in OF_COPIES:
        request = told["request"].dereference()
        src, dst = (node_name(runtime, int(request[end])) for end in ("src", "dst"))
        if not src or where.data and not where.names_data(request["handle"].dereference()) \
                or where.place and where.place not in (src, dst):
            return None
        verb = "sets out" if where.event == "transfer" else "arrives"
        return f"{handle_name(request['handle'])} {verb}, from {src} to {dst}"
    if where.event == "mark":
        return f"mark: {text(told['text'])}"
    if where.event == "steal":
        thief, victim = (runtime["workers"]["at"][int(told["stolen"][end])]
                         for end in ("thief", "victim"))
        if where.place and not where.is_worker(thief):
            return None
        return f"{full_name(thief)} takes task #{int(told['stolen']['job'])} from the " \
            f"queue of {full_name(victim)}"
    job, worker = told["job"].dereference(), told_worker(runtime, told)
    if not where.is_job(job) or where.place and (
            worker is None or not where.is_worker(worker)):
        return None
    return source_words(job) + f"{where.event} {job_name(job)}" + (
        f" on {full_name(worker)}" if worker is not None else "")


def want(runtime, kinds):
    """Has core tell the function of orr_debugger_native of these kinds."""
    observers = runtime["observers"]
    native = int(gdb.parse_and_eval("&orr_debugger_native"))
    number = next(i for i in range(int(observers["n"]))
                  if int(observers["list"][i]) == native)
    for kind in kinds:
        gdb.execute(f"set var ((struct orr_runtime *){int(runtime.address)})"
                    f"->observers.want[{kind}] |= {1 << number}", to_string=True)


class EventBreakpoint(gdb.Breakpoint):
    """Of orrery-break; `delete`, `disable`, `ignore` and `commands` of gdb are for it,
    too."""

    everyone = []

    def __init__(self, argument):
        self.where = Where(argument)
        super().__init__("orr_debugger_event", internal=False)
        self.everyone.append(self)
        self.say = argument or "start"

    def stop(self):
        frame = gdb.newest_frame()
        told = frame.read_var("told").dereference()
        if int(told["kind"]) not in self.where.kinds():
            return False
        said = told_sentence(self.where, frame.read_var("rt").dereference(), told)
        if said:
            print(said)
        return said is not None


class Opened(gdb.Breakpoint):
    """A run opens: it is to tell of the events at which there are breakpoints."""

    def stop(self):
        runtime = gdb.newest_frame().read_var("rt").dereference()
        for one in EventBreakpoint.everyone:
            if one.is_valid():
                want(runtime, one.where.kinds())
        return False


# --- commands ---

COMMANDS = []


def command(*names):
    """The function is a command by these names, and by the same with starpu- in
    the place of orrery-. Its argument is what was typed behind."""
    def register(function):
        first = names[0]
        COMMANDS.append((first, function.__doc__))
        for name in names:
            for full in (name, name.replace("orrery-", "starpu-", 1)):
                type("Command", (gdb.Command,), {
                    "__doc__": function.__doc__,
                    "__init__": lambda self, full=full: super(
                        type(self), self).__init__(full, gdb.COMMAND_DATA),
                    "invoke": lambda self, argument, tty: function(argument),
                })()
        return function
    return register


def argument_of(argument, type_name, what):
    if not argument.strip():
        raise gdb.GdbError(f"which {what}? An address or an expression is "
                           "expected")
    value = gdb.parse_and_eval(argument)
    if not int(value):
        raise gdb.GdbError(f"the {what} is NULL")
    return at(value, type_name)


@command("orrery-workers")
def workers(_argument):
    """Workers: device, memory node, processor, state, what they execute."""
    run = Run()
    running = {}
    for job in run.jobs():
        if state(job) == "running" and int(job["task"]):
            running.setdefault(int(job["worker"]), []).append(job_name(job))
    rows = []
    for worker in run.workers():
        number, fetching = int(worker["id"]), worker["fetching"]
        rows.append([
            number, worker_name(worker), int(worker["desc"]["node"]),
            int(worker["desc"]["cpu"]),
            word(worker["state"], "enum orr_worker_state", "ORR_WORKER_"),
            ", ".join(running.get(number, [])) or "-",
            job_name(fetching) if int(fetching) else "-",
            int(worker["ntasks"])])
    table(["id", "device", "node", "processor", "state", "executes",
           "fetches for", "completed"], rows)


@command("orrery-tasks")
def tasks(_argument):
    """Numbers of tasks, and those that each worker executes."""
    run = Run()
    jobs = run.jobs()
    print(f"{run.count('ORR_SUBMITTED')} tasks submitted, "
          f"{run.count('ORR_ENDED')} ended, of the others:")
    by_state = {}
    for job in jobs:
        if int(job["task"]):
            by_state[state(job)] = by_state.get(state(job), 0) + 1
    for name, number in sorted(by_state.items()):
        print(f"  {number} {name}")
    for job in jobs:
        if state(job) == "running" and int(job["task"]):
            print(f"worker {int(job['worker'])} executes {job_name(job)}")


@command("orrery-all-tasks")
def all_tasks(_argument):
    """Every task that has not ended, a line each."""
    table(["task", "job", "state", "name"],
          [[f"{int(job['task']):#x}", f"{int(job.address):#x}", state(job),
            job_name(job)] for job in Run().jobs()])


@command("orrery-print-all-tasks")
def print_all_tasks(_argument):
    """Every task that has not ended, in full."""
    for job in Run().jobs():
        print_job(job)


@command("orrery-print-task")
def print_task(argument):
    """A task in full. Its argument: a struct starpu_task *."""
    task = argument_of(argument, "struct starpu_task", "task")
    if not int(task["starpu_private"]):
        raise gdb.GdbError("the task was not submitted")
    print_job(at(task["starpu_private"], "struct orr_job"))


@command("orrery-print-job")
def print_one_job(argument):
    """A job, the runtime's side of a task. Its argument: a struct orr_job *."""
    print_job(argument_of(argument, "struct orr_job", "job"))


@command("orrery-print-task-and-successors", "orrery-print-task-and-successor")
def print_task_and_successors(argument):
    """A task in full, and those that wait for its end."""
    task = argument_of(argument, "struct starpu_task", "task")
    if not int(task["starpu_private"]):
        raise gdb.GdbError("the task was not submitted")
    job = at(task["starpu_private"], "struct orr_job")
    print_job(job)
    for after in successors(job):
        print_job(after)


@command("orrery-tasks-on-workers", "orrery-tasks-on-worker")
def tasks_on_workers(argument):
    """Tasks for one worker alone that it has not taken yet: of the worker with
    the number that is given, else of all. What policies queue is not in there:
    orrery-all-tasks has it as ready."""
    wanted = int(gdb.parse_and_eval(argument)) if argument.strip() else None
    for worker in Run().workers():
        if wanted is not None and int(worker["id"]) != wanted:
            continue
        print(f"worker {int(worker['id'])}:")
        for field in ("local", "ordered"):
            for job in in_list(worker[field], "struct orr_job", "queue"):
                print(f"  {job_name(job)}"
                      + (", its turn has not come" if field == "ordered"
                         else ""))


@command("orrery-waits")
def waits(_argument):
    """What every task that has not ended waits for, and the application's first
    thread: the way to the reason why nothing goes on."""
    run = Run()
    jobs = run.jobs()
    before = predecessors(jobs)
    for job in jobs:
        lines = reasons(job, before)
        print(f"{job_name(job)}, {state(job)}, waits for "
              + ("; ".join(lines) if lines else
                 f"{int(job['waiting'])} predecessors"))
    for tag in run.tags():
        if int(tag["held"]) and not int(tag["reached"]):
            print_tag(tag, run)
    main = run.runtime["main"]
    if int(main["awaited"]):
        awaited = main["awaited"].dereference()
        number = int(awaited["number"])
        print("the application's first thread is in a call that waits for "
              f"{text(awaited['noun'])}{f' {number}' if number else ''}")
    if int(run.runtime["workers"]["paused"]):
        print("workers are paused: starpu_resume has to be called "
              f"{int(run.runtime['workers']['paused'])} times")


@command("orrery-why")
def why(argument):
    """Who waits for what, a sentence each along the chain: of the task with the number
    that is given, else of the application and what all unfinished tasks wait for."""
    run = Run()
    jobs = run.jobs()
    waits_of = Waits(run, jobs)
    number = argument.strip().lstrip("#")
    if number:
        found = [job for job in jobs if str(int(job["id"])) == number]
        if not found:
            raise gdb.GdbError(f"no task that is not over has the number {number}")
        say_chain(run, *chain_from(found[0], waits_of))
        return
    say_main(run)
    if not jobs:
        print("no task is open")
    found = chains(jobs, waits_of)
    for _, first, waiting, _ in found[:MOST_CHAINS]:
        links, circle = chain_from(at(first, "struct orr_job"), waits_of)
        say_chain(run, links, circle)
        if waiting > len(links):
            print(f"{waiting - len(links)} more wait behind them")
    if len(found) > MOST_CHAINS:
        print(f"and {len(found) - MOST_CHAINS} more chains")


@command("orrery-break")
def break_at(argument):
    """Stops at an event, before the run or in it: [EVENT] [KERNEL] [#TASK] [data NAME]
    [on WORKER|NODE], where all of that holds. Events are submit, ready, take, start (where
    there is none), end, pass, return, transfer, arrival, steal, mark. What it stops at is
    gdb's breakpoint: delete, disable, ignore and commands are for it."""
    if gdb.lookup_static_symbol("real_runtime") is None:
        raise gdb.GdbError("no symbols of liborrery: `start' the program first, and use a "
                           "library that was built with -g")
    one = EventBreakpoint(argument)
    if not OPENED:
        OPENED.append(Opened("orr_debugger_opened", internal=True))
    try:
        want(Run().runtime, one.where.kinds())
    except (Missing, gdb.MemoryError):
        pass  # the run is to come


OPENED = []


@command("orrery-tags")
def tags(_argument):
    """All tags: whether they are reached, what they wait for."""
    run = Run()
    for tag in sorted(run.tags(), key=lambda tag: int(tag["id"])):
        print_tag(tag, run)


@command("orrery-print-tag")
def print_one_tag(argument):
    """One tag. Its argument: the number."""
    if not argument.strip():
        raise gdb.GdbError("which tag? Its number is expected")
    number = int(gdb.parse_and_eval(argument))
    run = Run()
    found = [tag for tag in run.tags() if int(tag["id"]) == number]
    if not found:
        raise gdb.GdbError(f"nothing was said about tag {number}")
    print_tag(found[0], run)


@command("orrery-print-data")
def print_data(argument):
    """A datum in full. Its argument: a starpu_data_handle_t."""
    print_handle(argument_of(argument, "struct orr_handle", "data handle"))


@command("orrery-print-datas")
def print_datas(_argument):
    """All data in full."""
    for handle in Run().handles():
        print_handle(handle)


@command("orrery-print-datas-summary")
def print_datas_summary(_argument):
    """How many data there are, and how many are valid and allocated on each
    node."""
    run = Run()
    handles = list(run.handles())
    print(f"{len(handles)} data, "
          f"{sum(int(h['partitioned']) for h in handles)} partitioned, "
          f"{sum(1 for h in handles if int(h['nusers']))} in use")
    table(["node", "valid", "allocated", "MiB valid"],
          [[n, sum(1 for h in handles if int(h["valid"]) >> n & 1),
            sum(1 for h in handles if int(h["allocated"]) >> n & 1),
            mib(sum(int(h["size"]) for h in handles
                    if int(h["valid"]) >> n & 1))]
           for n in range(int(run.runtime["nodes"]["n"]))])


@command("orrery-print-replicate")
def print_replicate(argument):
    """A datum's place on one node. Its argument: a struct orr_replicate *."""
    replicate = argument_of(argument, "struct orr_replicate", "replicate")
    handle, node = replicate["handle"], int(replicate["node"])
    print(f"{handle_name(handle)} on node {node}: "
          f"{'valid' if int(handle['valid']) >> node & 1 else 'not valid'}, "
          f"{'allocated' if int(replicate['allocated']) else 'no memory'}, "
          f"references {int(replicate['refs'])}, promised to "
          f"{int(replicate['promised'])} queued tasks")


@command("orrery-print-request")
def print_one_request(argument):
    """A transfer that was asked for. Its argument: a struct orr_request *."""
    print_request(argument_of(argument, "struct orr_request", "request"))


@command("orrery-print-requests")
def print_all_requests(_argument):
    """All transfers that were asked for and have not ended."""
    print_requests({0, 1, 2})


@command("orrery-print-frequests")
def print_fetches(_argument):
    """Those that tasks or the application wait for."""
    print_requests({0})


@command("orrery-print-prequests")
def print_prefetches(_argument):
    """Those for tasks that will run."""
    print_requests({1})


@command("orrery-print-irequests")
def print_idle_prefetches(_argument):
    """Those that are made when nothing else is to be done."""
    print_requests({2})


@command("orrery-memusage")
def memusage(_argument):
    """Each memory node: bytes in use, its limit, the data there, jobs that wait
    for memory."""
    run = Run()
    handles = list(run.handles())
    rows = []
    for node in run.nodes():
        number = int(node["id"])
        there = [h for h in handles if int(h["allocated"]) >> number & 1]
        valid = [h for h in there if int(h["valid"]) >> number & 1]
        sole = [h for h in valid if int(h["valid"]) == 1 << number]
        used = [h for h in there
                if int(h["replicates"][number]["refs"])]
        rows.append([number, mib(node["used"]),
                     mib(node["capacity"]) if int(node["capacity"]) else "-",
                     len(there), len(sole), len(valid) - len(sole),
                     len(there) - len(valid), len(used),
                     int(node["admission"]["nwaiting"])])
    table(["node", "MiB used", "limit", "data", "only copy", "shared",
           "not valid", "in use", "tasks that wait"], rows)


@command("orrery-sched-data")
def sched_data(argument):
    """A scheduling context: policy, members, tasks that nobody there can run. Its
    argument: the number, 0 without."""
    number = int(gdb.parse_and_eval(argument)) if argument.strip() else 0
    run = Run()
    sched = run.runtime["sched_ctxs"]["at"][number]
    if not int(sched):
        raise gdb.GdbError(f"there is no scheduling context {number}")
    members = [int(w["id"]) for w in run.workers()
               if int(w["sched_ctxs"]) >> number & 1]
    print(f"scheduling context {number}: policy {text(sched['ops']['name'])}, "
          f"priorities {int(sched['min_priority'])} to "
          f"{int(sched['max_priority'])}, workers "
          f"{' '.join(map(str, members))}")
    for job in in_list(sched["parked"], "struct orr_job", "queue"):
        print(f"  nobody can run {job_name(job)}")


class Help(gdb.Command):
    """The commands of tools/gdb/orrery.py; each exists with starpu- as well."""

    def invoke(self, _argument, _tty):
        width = max(len(name) for name, _ in COMMANDS)
        for name, what in COMMANDS:
            print(f"{name.ljust(width)}  {' '.join(what.split())}")


Help.__doc__ += "\n\n" + "\n".join(
    f"{name} -- {' '.join(what.split())}" for name, what in COMMANDS)
Help("orrery", gdb.COMMAND_DATA)
Help("starpu", gdb.COMMAND_DATA)
