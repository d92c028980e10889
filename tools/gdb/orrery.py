# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commands of gdb that show a run from inside: its workers, tasks, data, tags,
transfers, and what waits for what. They read memory only, so that they work on a
stopped program and on a core file alike; nothing of the program is called.

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
    """A C string, or "" for NULL."""
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
