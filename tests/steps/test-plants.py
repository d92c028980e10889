#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plants faults in copies of core's sources, one at a time, and expects
test-steps to find each. Prints TAP.

usage: test-plants.py BUILD SOURCE NINJA
       test-plants.py --texts SOURCE

Where a text is not in the source any more, the plant is to be adapted: the test
fails and says so. --texts looks for that alone, which takes no time."""
import os
import subprocess
import sys
import tempfile

TARGET = 'tests/steps/test-steps'
OBJECTS = 'tests/steps/libpointed.a.p' # of core

# name, file, what is there, what is planted, cases
PLANTS = [
    ('who gives a claim back serves nobody', 'data/order.c',
     'more = orr_access_give_back_locked(handle, access) ||',
     'more = (orr_access_give_back_locked(handle, access), false) ||',
     ['give-back', 'philosophers']),
    ('a job that is between two states is taken for one that claims',
     'data/claim.c', 'ORR_SPIN_WHILE((state = atomic_load(&job->claims.state)) ==\n'
     '                   ORR_CLAIM_DECIDING);',
     'state = atomic_load(&job->claims.state);', ['decide', 'mixed']),
    ('a claimant is unlocked before it is in the queue', 'data/claim.c',
     'wait_here_locked(refuser->handle, job, refuser);',
     'orr_unlock(&refuser->handle->lock), orr_lock(&refuser->handle->lock), '
     'wait_here_locked(refuser->handle, job, refuser);',
     ['give-back', 'philosophers', 'serve']),
    ('locks are taken in the order of buffers', 'data/order.c',
     'if (a->handle != b->handle)\n        return a->handle->id', 'if (false)\n'
     '        return a->handle->id', ['opposite-order']),
    ('predecessors are counted down without atomicity', 'data/release.c',
     'if (!orr_count_off(&job->waiting, 1) ||',
     'if ((atomic_store(&job->waiting, atomic_load(&job->waiting) - 1), '
     'job->waiting != 0) ||', ['opposite-order', 'same-order', 'readers']),
    ('references are counted down without atomicity', 'job/job.c',
     'atomic_fetch_sub_explicit(&job->refs, n, memory_order_acq_rel) != n',
     '(atomic_store(&job->refs, atomic_load(&job->refs) - n), job->refs != 0)',
     ['add-dep', 'job-wait']),
    ('whether a job is done is looked up without its lock', 'job/job.c',
     'orr_lock(&before->lock);\n'
     '    if (orr_job_state(before) == ORR_JOB_DONE) {\n'
     '        orr_unlock(&before->lock);',
     'if (orr_job_state(before) != ORR_JOB_DONE) {\n'
     '        orr_lock(&before->lock);\n    } else {', ['add-dep']),
    ('who waits for a job looks before it locks', 'job/job.c',
     'orr_lock(&job->lock);\n    if (job->ended) {\n'
     '        orr_unlock(&job->lock);\n        return;\n    }',
     'if (job->ended)\n        return;\n    orr_lock(&job->lock);',
     ['job-wait', 'add-dep']),
    ('the run of a task is looked at while another takes its place',
     'task/again.c', 'orr_lock(&rt->tasks->agains->lock);\n    job = orr_job_of(task);\n'
     '    if (job) {\n        orr_lock(&job->lock);',
     'job = orr_job_of(task);\n    orr_lock(&rt->tasks->agains->lock);\n'
     '    if (job) {\n        orr_lock(&job->lock);', ['ask-again']),
    ('who waits for all tasks adds them up before it says where to look',
     'job/count.c', 'atomic_store(&counter->looks_at, 0);\n', '',
     ['push', 'push-local', 'push-two']),
    ('who looks too late when a waiter may go', 'job/count.c',
     '(more - 1) / rt->tasks->ncounters + 1', 'more + 1',
     ['push', 'push-local', 'push-two']),
    ('a tag is looked at before the table is locked', 'task/tag.c',
     'tag = tag_get_locked(rt->tasks->tags, id);\n    reached = tag && tag->reached;',
     'tag = tag_get_locked(rt->tasks->tags, id);\n    reached = tag && tag->reached;\n'
     '    orr_unlock(&rt->tasks->tags->lock);\n    orr_lock(&rt->tasks->tags->lock);',
     ['tags']),
    ('who ends a wait wakes before it says so', 'base/wait.c',
     'atomic_store_explicit(&waiter->over, true, memory_order_release);\n'
     '    /* The', 'if (context != orr_self)\n        orr_context_wake(context);\n'
     '    atomic_store_explicit(&waiter->over, true, memory_order_release);\n'
     '    return; /* The',
     ['acquire-unregister', 'bring-back', 'job-wait']),
    ('a waiter is read after it may have gone', 'base/wait.c',
     '    if (context != orr_self || context->awaited)\n'
     '        orr_context_wake(context);',
     '    if (waiter->context != orr_self || context->awaited)\n'
     '        orr_context_wake(waiter->context);',
     ['job-wait', 'acquire-unregister', 'bring-back', 'tags']),
    ('a worker falls asleep without a second look', 'loop/loop.c',
     'announced = true;\n            continue;', 'announced = true;',
     ['push', 'push-two', 'kick', 'kick-sleepers']),
    ('a worker that is joined may be woken', 'loop/workers.c',
     'while (atomic_load_explicit(&rt->workers->nactive, memory_order_acquire))\n'
     '        if (!orr_nodes_serve_posts(rt))\n'
     '            orr_context_park(&awaited, ORR_FOREVER);', '',
     ['kick-sleepers', 'device', 'whole-tasks']),
    ('a copy of an old value counts', 'data/request.c',
     'request->src != ORR_NO_NODE && !request->stale && !request->failed) {\n'
     '        orr_handle_set_valid',
     'request->src != ORR_NO_NODE && !request->failed) {\n'
     '        orr_handle_set_valid',
     ['overwrite', 'overwrite-there', 'bring-back']),
    ('what is being written is prefetched', 'data/request.c',
     '(replicate->writers || handle->writing)', 'replicate->writers',
     ['bring-back', 'between-memories']),
    ('a request is queued before it is counted, and the count is not looked at',
     'data/request.c', 'atomic_fetch_add(&node->nqueued, 1); /* see '
     'pick_progress_worker */', 'atomic_store(&node->nqueued, '
     'atomic_load(&node->nqueued) + 1);', ['crowd', 'device', 'kick', 'join']),
    ('a writer does not wait for the threads that copy', 'data/fetch.c',
     'handle_await_copies(handle);\n        if (begins', 'if (begins',
     ['between-memories']),
    ('an overwriter does not wait for the copy that comes', 'data/request.c',
     '!supersede_locked(handle, request)', '!(void *)NULL',
     ['overwrite-there']),
    ('who lacks memory is not told that a job has ended', 'data/node.c',
     'if (needless)\n        node_retry(node, deferred);\n    else\n'
     '        node_retry_jobs(node, deferred);', '(void)needless;', ['peer']),
    ('what changes on a node is not counted', 'data/node.c',
     'orr_node_changed(node);\n    deferred->kick', 'deferred->kick',
     ['crowd', 'crowd-starpu', 'make-room']),
    ('who lacks memory is not told that a datum is gone', 'data/end.c',
     'orr_node_freed(rt, node);', ';', ['make-room']),
    ('a handle that is locked is no reason to try again', 'data/evict.c',
     'err == -EINPROGRESS || /* its', 'true || /* its',
     ['evict', 'evict-lru', 'unregister']),
    ('the last user is counted down after the look', 'data/end.c',
     'idle = handle->nusers == 0;',
     'idle = handle->nusers == 0;\n    orr_unlock(&handle->lock);\n'
     '    orr_lock(&handle->lock);',
     ['unregister', 'kick-sleepers', 'make-room']),
    ('who frees the memory of data tells no job', 'data/node.c',
     '    orr_admit_retry(rt, node);', '', ['full-unregister']),
    ('who calls while a node is served is forgotten', 'data/admit.c',
     'if (calls == n)\n            break;', 'break;',
     ['beside']),
    ('a job that waits for memory keeps what it has', 'data/admit.c',
     'else\n        admission_let_go(rt, job, node->id);\n    return done;',
     'return done;', ['whole', 'whole-tasks']),
    ('a job that is admitted is not counted', 'data/admit.c',
     'atomic_fetch_add(&node->admission.nadmitted, 1);\n', '',
     ['whole', 'whole-tasks', 'beside']),
    ('a handle is locked again after its last user may have left',
     'data/end.c',
     '        dropped = orr_requests_cancel_locked(handle, &deferred);\n    }\n'
     '    orr_unlock(&handle->lock);\n    orr_waiters_release',
     '        orr_unlock(&handle->lock), orr_lock(&handle->lock);\n    }\n'
     '    orr_unlock(&handle->lock);\n    orr_waiters_release', ['copy-is-last']),
]


def commands(build, ninja):
    """The command of each object of test-steps, and the one that links it."""
    lines = subprocess.run([ninja, '-C', build, '-t', 'commands', TARGET],
                           check=True, capture_output=True,
                           text=True).stdout.splitlines()
    return lines[:-1], next(line for line in reversed(lines)
                            if f'-o {TARGET} ' in line)


def plant(source, path, changes):
    with open(os.path.join(source, 'core', path), encoding='utf-8') as file:
        text = file.read()
    for old, new in changes:
        if text.count(old) != 1:
            return None
        text = text.replace(old, new)
    return text


def build_with(build, compiles, link, path, text, folder):
    """The program with that text instead of core/path; None: not compiled."""
    mangled = f"{OBJECTS}/.._.._core_{path.replace('/', '_')}.o"
    compile_line = next(line for line in compiles if f' -o {mangled} ' in line)
    name = os.path.join(folder, os.path.basename(path))
    with open(name, 'w', encoding='utf-8') as file:
        file.write(text)
    head, _ = compile_line.split(' -MD ', 1)
    words = head.replace('-Werror', '')
    subprocess.run(f'{words} -w -c {name} -o {name}.o', shell=True, check=True,
                   cwd=build)
    line = link.replace(f' {mangled} ', f' {name}.o ').replace(
        f'-o {TARGET} ', f'-o {folder}/test-steps ')
    subprocess.run(line, shell=True, check=True, cwd=build)
    return f'{folder}/test-steps'


def failing_case(program, cases):
    """The first case that fails, with what it says."""
    for case in cases:
        run = subprocess.run([program, case], capture_output=True, text=True,
                             errors='replace', check=False)
        if run.returncode:
            lines = run.stdout.splitlines()
            return case, lines[2].lstrip('# ') if len(lines) > 2 else ''
    return None


def lacks(path):
    return f'the text is not in core/{path} any more: adapt the plant'


def check_texts(source):
    lost = [(name, path) for name, path, old, new, _, *more in PLANTS
            if plant(source, path, [(old, new)] + more) is None]
    print(f"1..1\n{'not ok' if lost else 'ok'} 1 - what plants replace is there")
    for name, path in lost:
        print(f'# {name}: {lacks(path)}')
    return 1 if lost else 0


def main():
    if sys.argv[1] == '--texts':
        return check_texts(sys.argv[2])
    build, source, ninja = sys.argv[1:4]
    compiles, link = commands(build, ninja)
    failed = 0
    print(f'1..{len(PLANTS)}')
    for number, (name, path, old, new, cases, *more) in enumerate(PLANTS, 1):
        text = plant(source, path, [(old, new)] + more)
        found = None
        if text is None:
            why = lacks(path)
        else:
            why = f'not found by {", ".join(cases)}'
            with tempfile.TemporaryDirectory() as folder:
                program = build_with(build, compiles, link, path, text, folder)
                found = failing_case(program, cases)
        if found:
            print(f'ok {number} - {name} # {found[0]}: {found[1]}')
        else:
            failed += 1
            print(f'not ok {number} - {name}\n# {why}')
        sys.stdout.flush()
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
