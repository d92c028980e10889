#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who may need whose symbols in core, by the object files of a build: what a folder
needs of those above it is named, function by function, so that the list can but become
shorter. And that the product has no function that it does not call. Prints TAP.

    test-layers.py BUILD [--update]

--update writes the list as the objects have it into this file; look at what became
longer before it is committed.
"""
import collections
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tools" / "project")]
import structure   # noqa: E402, pylint: disable=wrong-import-position
import tools_util as util   # noqa: E402, pylint: disable=wrong-import-position

# The folders of core, bottom up, are structure.LAYERS; "run" is core's own files.
# A folder, one above it, and what of this it needs.
UP = """
api policies: orr_sched_builtin
base exec: orr_log_rank orr_log_was_said
data layouts: orr_dense_disown orr_dense_own orr_is_multiformat orr_job_conversion_us
    orr_job_convert orr_multiformat_sent
data task: orr_job_after orr_job_complete orr_job_skip orr_task_free orr_task_new orr_task_submit_own
job data: orr_nodes_find_mailbox
job task: orr_job_empty
loop layouts: orr_job_conversion_us orr_job_convert
sched policies: orr_sched_builtin orr_sched_static
sched task: orr_job_let_end
"""
# Folders that call public functions as an application would: layouts of data and
# policies, which users could have written, OpenMP's constructs, and who calls what users
# have written.
PUBLIC = "data device sched"

# Called in builds for the thread sanitizer only; by a layer above, core/remote.h.
ELSEWHERE = {"orr_plans_repeat"}
REMOTE = {"orr_insertion_drop", "orr_memory_reserve", "orr_memory_unreserve",
          "orr_memory_use_reserved", "orr_message_cancel", "orr_message_end",
          "orr_message_end_here", "orr_message_start", "orr_outside_begin",
          "orr_outside_end", "orr_outside_wait", "orr_remote_register",
          "orr_runtime_set_rank"}
# By entries of compilers, core/omp/entries.h.
OPENMP = {"orr_openmp_begin_in_place", "orr_openmp_begin_serial", "orr_openmp_cancel",
          "orr_openmp_change", "orr_openmp_copy_begin", "orr_openmp_copy_publish",
          "orr_openmp_create", "orr_openmp_end_in_place", "orr_openmp_end_serial",
          "orr_openmp_hold_end", "orr_openmp_inherited", "orr_openmp_is_cancelled",
          "orr_openmp_is_task", "orr_openmp_kept", "orr_openmp_leave",
          "orr_openmp_leave_loop", "orr_openmp_release_end", "orr_openmp_share",
          "orr_openmp_wait_for", "orr_openmp_wait_until", "orr_openmp_yield"}
# The network between nodes, of clusters that the simulator is to have.
CLUSTER = {"orr_cluster_machine", "orr_context_work", "orr_messages_bytes", "orr_messages_cancel",
           "orr_messages_looks", "orr_messages_new"}


def is_public(name):
    return name.startswith(("starpu_", "_starpu_", "orrery_"))


def find_upward(build):
    """{(folder, folder above it): symbols}, and the folders that need public ones."""
    symbols = structure.Symbols(build, "core")
    place = {folder: i for i, folder in enumerate(structure.LAYERS)}
    up, public = collections.defaultdict(set), set()
    for source, name, home in symbols.uses():
        at, above = structure.folder_of(source), structure.folder_of(home)
        if place.get(above, -1) <= place.get(at, len(place)):
            continue
        if is_public(name):
            public.add(at)
        else:
            up[at, above].add(name)
    unknown = {structure.folder_of(s) for s in symbols.needs} - set(place)
    return up, public, unknown


def update(up, public):
    lines = []
    for (at, above), names in sorted(up.items()):
        line = f"{at} {above}:"
        for name in sorted(names):
            if len(line) + len(name) > 88:
                lines.append(line)
                line = "   "
            line += " " + name
        lines.append(line)
    text = pathlib.Path(__file__).read_text()
    text = re.sub(r'(?<=^UP = """\n).*?(?=^""")', "\n".join(lines) + "\n", text,
                  count=1, flags=re.M | re.S)
    text = re.sub(r'(?<=^PUBLIC = ").*?(?=")', " ".join(sorted(public)), text, count=1,
                  flags=re.M)
    pathlib.Path(__file__).write_text(text)


def allowed():
    up, pair = collections.defaultdict(set), None
    for line in UP.strip().splitlines():
        if not line.startswith(" "):
            head, line = line.split(":")
            pair = tuple(head.split())
        up[pair] |= set(line.split())
    return up


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    up, public, unknown = find_upward(build)
    if sys.argv[2:] == ["--update"]:
        update(up, public)
        return
    tap = util.Tap()
    may = allowed()
    asserts = "-DNDEBUG" not in (build / "compile_commands.json").read_text()
    tap.claim("every folder of core has its place among the layers", not unknown,
              *sorted(unknown))
    for pair in sorted(set(up) | set(may)):
        tap.claim("%s needs of %s, above it, what is listed alone" % pair,
                  up[pair] <= may[pair], *sorted(up[pair] - may[pair]))
        # What assertions alone need is not in every build.
        if not asserts:
            continue
        tap.claim("%s needs of %s, above it, all that is listed" % pair,
                  may[pair] <= up[pair], *sorted(may[pair] - up[pair]))
    tap.claim("public functions are called by those folders which may",
              public == set(PUBLIC.split()), *sorted(public ^ set(PUBLIC.split())))
    found, missing = structure.unused_functions(build)
    unused = [f"{source}: {name}" for source, name, own in found
              if not own and name not in ELSEWHERE | REMOTE | OPENMP | CLUSTER
              and not name.startswith(("Java_", "JNI_"))]  # the virtual machine's
    if missing:
        tap.skip("every function of the product has a caller",
                 "not everything is built, such as " + missing[0])
    else:
        tap.claim("every function of the product has a caller", not unused, *unused)
    tap.end()


if __name__ == "__main__":
    main()
