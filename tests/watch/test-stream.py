#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`orrery watch` as a program reads it: updates arrive, numbers add up, the graph is that of
the tasks, nobody else gets in, the report is there at the end; --tty; mistakes. TAP.

usage: test-stream.py ORRERY STEPS
"""
import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "api")]
from programs import run_all, test  # noqa: E402
from watch_util import LIMIT, Stream, Watched, environment  # noqa: E402

if len(sys.argv) != 3:
    sys.exit(__doc__.strip())
ORRERY, STEPS = map(os.path.abspath, sys.argv[1:3])
TOP = tempfile.TemporaryDirectory(prefix="orrery-test-")
ENV = environment(TOP.name)
MACHINE = "h100-pcie-4"


def watch(*words, **more):
    return Watched(ORRERY, STEPS, TOP.name, *words, env=ENV, **more)


def orrery(*words, steps=""):
    return subprocess.run([ORRERY, *words], env=ENV, cwd=TOP.name, input=steps, timeout=LIMIT,
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8")


def adds_up(state):
    tasks = state["tasks"]
    assert tasks["submitted"] == sum(tasks[name] for name in
                                     ("waiting", "ready", "running", "ended")), tasks


def check_end(run, stream, ntasks, page):
    """The run is told to end: what is seen last, and what is left."""
    run.process.stdin.close()
    last = stream.until(lambda state: state["phase"] in ("reported", "over"))
    adds_up(last)
    assert last["tasks"]["ended"] == ntasks, last["tasks"]
    served = run.get("report") if page else None
    stream.close()
    run.process.stdin = None
    status, _, err = run.end()
    assert status == 0, err
    if page:
        with open(os.path.join(TOP.name, page), encoding="utf-8") as file:
            assert file.read() == served
        assert re.search('<script type="application/json" id="data">', served)
    return last


@test
def a_real_run_is_seen_while_it_stands_and_goes_on():
    with watch("-o", "real.html", "--plain") as run:
        stream = Stream(run)
        first = stream.next()
        assert first["phase"] in ("waiting", "running"), first["phase"]
        assert first["program"] == "watch-steps"
        run.tell("run 100")
        state = stream.until(lambda s: s["tasks"]["ended"] == 100)
        assert state["phase"] == "running" and not state["virtual"]
        one = state["runs"][0]
        assert [w["tasks"] for w in one["workers"]] == [100], one["workers"]
        assert [(k["name"], k["tasks"]) for k in one["kernels"]] == [("work", 100)]
        run.hears("done run 100")
        before = len(stream.states)
        run.tell("run 50")
        stream.until(lambda s: s["tasks"]["ended"] == 150)
        assert len(stream.states) > before
        for seen in stream.states:
            assert seen["tasks"]["ended"] <= seen["tasks"]["submitted"], seen["tasks"]
        check_end(run, stream, 150, "real.html")


@test
def what_waits_what_is_ready_and_the_graph_of_it_are_seen():
    with watch("--no-report") as run:
        stream = Stream(run)
        run.tell("gate 5")
        run.hears("gate")
        state = stream.until(lambda s: s["tasks"]["running"] == 1 and
                             s["tasks"]["submitted"] == 7)
        assert state["tasks"] == {"submitted": 7, "waiting": 6, "ready": 0, "running": 1,
                                  "ended": 0}, state["tasks"]
        worker = state["runs"][0]["workers"][0]
        assert (worker["state"], worker["kernel"], worker["task"]) == ("executing", "gate", 1)
        graph = run.ask("graph")
        assert graph["whole"] and not graph["cut"], graph
        nodes = {task["task"]: task for task in graph["tasks"]}
        assert [nodes[n]["state"] for n in range(1, 8)] == ["running"] + 6 * ["waiting"], nodes
        assert all(nodes[n]["before"] == [1] for n in range(2, 7)), nodes
        assert nodes[7]["kernel"] == "last" and nodes[7]["before"] == [6], nodes[7]
        around = run.ask("graph?task=7&depth=1")
        assert sorted(t["task"] for t in around["tasks"]) == [6, 7] and around["cut"], around
        waiting = run.ask("tasks?state=waiting&find=AFT&max=2")
        assert waiting["count"] == 5 and [t["task"] for t in waiting["tasks"]] == [2, 3]
        assert run.ask("tasks?find=7")["count"] == 1
        assert run.ask("tasks?state=running")["tasks"][0]["worker"] == worker["name"]
        run.tell("on")
        run.hears("done gate 5")
        state = stream.until(lambda s: s["tasks"]["ended"] == 7)
        assert {t["state"] for t in run.ask("graph")["tasks"]} == {"ended"}
        check_end(run, stream, 7, None)


@test
def where_tasks_were_submitted_is_seen():
    with open(os.path.join(HERE, "steps.c"), encoding="utf-8") as file:
        number = 1 + file.read().split("\n").index("    if (starpu_task_submit(task) != 0)")
    said = "/no folder/last & least.c:7"
    with watch("--no-report", "--links", "edit:{line}:{file}") as run:
        stream = Stream(run)
        run.tell("gate 5")
        run.hears("gate")
        state = stream.until(lambda s: s["tasks"]["submitted"] == 7)
        nodes = {task["task"]: task for task in run.ask("graph")["tasks"]}
        assert nodes[7]["source"] == said, nodes[7]
        assert nodes[7]["link"] == "edit:7:/no%20folder/last%20%26%20least.c", nodes[7]
        asked = run.ask("tasks?find=LEAST.c%3A7")
        assert asked["count"] == 1 and asked["tasks"][0]["task"] == 7, asked
        lines = {line["source"]: line["tasks"] for line in state["runs"][0]["lines"]}
        assert lines.pop(said) == 1, lines
        if shutil.which("addr2line"):
            called = nodes[1]["source"]
            # The folder is the one where it was compiled, or where a cache of the
            # compiler's got it from.
            assert called.endswith(f"/tests/watch/steps.c:{number}"), called
            assert {nodes[n]["source"] for n in range(1, 7)} == {called}, nodes
            assert nodes[1]["link"] == f"edit:{number}:{called.rpartition(':')[0]}", nodes[1]
            assert lines == {called: 6}, lines
        run.tell("on")
        check_end(run, stream, 7, None)
    with watch("-m", MACHINE, "-s", "lws", "--no-report") as run:
        stream = Stream(run)
        run.tell("run 32")
        state = stream.until(lambda s: s["tasks"]["ended"] == 32)
        assert not any("link" in line for line in state["runs"][0]["lines"])
        if shutil.which("addr2line"):
            assert [(line["source"], line["tasks"]) for line in state["runs"][0]["lines"]] == \
                [(called, 32)], state["runs"][0]["lines"]
        check_end(run, stream, 32, None)


@test
def a_simulated_run_is_seen_with_its_virtual_time():
    with watch("-m", MACHINE, "-s", "lws", "-o", "simulated.html", "--plain") as run:
        stream = Stream(run)
        run.tell("run 3200")
        state = stream.until(lambda s: s["tasks"]["ended"] == 3200)
        assert state["virtual"] and state["runs"][0]["machine"] == MACHINE, state
        # 200 tasks of a chain, 100 µs each
        assert state["date_us"] > 20000, state["date_us"]
        adds_up(check_end(run, stream, 3200, "simulated.html"))


@test
def a_hundred_thousand_tasks_are_counted_and_the_last_can_be_asked_for():
    with watch("-m", MACHINE, "-s", "eager", "--no-report") as run:
        stream = Stream(run)
        run.tell("run 100000")
        state = stream.until(lambda s: s["tasks"]["ended"] == 100000)
        assert state["runs"][0]["graph"]["tasks"] >= 100000 or state["missed"], state["missed"]
        # A simulation may be faster than who reads; a few more tasks are seen with all.
        run.tell("run 64")
        stream.until(lambda s: s["tasks"]["ended"] == 100064)
        graph = run.ask("graph?task=100064&depth=2&max=300")
        assert not graph["whole"] and len(graph["tasks"]) == 3, graph
        assert len(run.get("graph?max=300")) < 100000
        ended = run.ask("tasks?state=ended&max=10")
        assert ended["tasks"][0]["task"] == 100064, ended
        assert ended["count"] == 100064 or state["missed"], ended
        check_end(run, stream, 100064, None)


@test
def a_program_with_two_runs_has_the_tasks_of_both():
    with watch("--no-report") as run:
        stream = Stream(run)
        run.tell("run 10")
        run.hears("done run 10")
        run.tell("again")
        run.hears("done again")
        run.tell("run 5")
        state = stream.until(lambda s: s["tasks"]["ended"] == 15)
        assert state["nruns"] == 2 and state["runs"][0]["tasks"]["ended"] == 5, state
        check_end(run, stream, 15, None)


@test
def nobody_else_gets_in():
    with watch("--no-report") as run:
        url = urllib.parse.urlsplit(run.address)

        def status(path, host=url.netloc, method="GET"):
            request = urllib.request.Request(f"http://{url.netloc}{path}", method=method,
                                             headers={"Host": host})
            try:
                with urllib.request.urlopen(request, timeout=LIMIT) as answer:
                    return answer.status
            except urllib.error.HTTPError as error:
                return error.code
        assert status(url.path) == 200 and status(url.path + "state") == 200
        assert status(url.path, host=f"localhost:{url.port}") == 200
        wrong = "/" + "0" * 32 + "/"
        for path in ("/", wrong, wrong + "state", url.path[:-1], url.path + "no-such",
                     url.path + "report", url.path[:-3] + "zz/state"):
            assert status(path) == 404, path
        assert status(url.path, host=f"example.org:{url.port}") == 404
        assert status(url.path, method="POST") == 405
        with socket.create_connection((url.hostname, url.port), LIMIT) as long:
            long.sendall(b"GET /" + b"x" * 9000)
            assert long.recv(100).startswith(b"HTTP/1.1 431"), "too long"
        with socket.socket() as other:  # of another address of this machine
            try:
                other.connect(("127.0.0.2", url.port))
                raise AssertionError("it listens on more than 127.0.0.1")
            except ConnectionRefusedError:
                pass


@test
def the_program_may_wait_for_its_first_reader():
    with watch("--wait", "--no-report") as run:
        state = run.ask("state")
        assert state["phase"] == "waiting" and state["runs"] == [], state
        run.tell("run 3")
        assert run.ask("state")["tasks"]["submitted"] == 0
        stream = Stream(run)
        stream.until(lambda s: s["tasks"]["ended"] == 3)
        check_end(run, stream, 3, None)


@test
def a_crash_is_told_and_the_exit_code_is_the_programs():
    with watch("--no-report") as run:
        stream = Stream(run)
        run.tell("run 8")
        stream.until(lambda s: s["tasks"]["ended"] == 8)
        run.tell("crash")
        last = stream.until(lambda s: s["phase"] == "over")
        stream.close()
        assert last["tasks"]["ended"] == 8 and last["exit"] == 128 + signal.SIGABRT, last
        status, _, err = run.end()
        assert status == 128 + signal.SIGABRT, (status, err)
        assert "signal 6" in err, err


@test
def a_deadlock_is_shown():
    with watch("-m", MACHINE, "-s", "lws", "--no-report") as run:
        stream = Stream(run)
        run.tell("run 16")
        run.tell("stuck")
        last = stream.until(lambda s: s["phase"] == "over")
        stream.close()
        assert last["runs"][0]["deadlock"] and last["exit"] == 3, last
        assert last["tasks"]["waiting"] == 1 and last["tasks"]["ended"] == 16, last["tasks"]
        status, _, err = run.end()
        assert status == 3 and "deadlock" in err, (status, err)


@test
def an_interrupt_ends_the_program_and_the_command():
    with watch("--no-report") as run:
        stream = Stream(run)
        run.tell("gate 2")
        run.hears("gate")
        pid = stream.until(lambda s: s["tasks"]["running"] == 1) and run.process.pid
        os.kill(pid, signal.SIGTERM)
        run.process.stdin.close()
        run.process.stdin = None
        status, _, err = run.end()
        assert status == 128 + signal.SIGTERM, (status, err)
        assert "interrupted: " in err and "was ended" in err, err


@test
def without_a_page_it_writes_lines():
    done = orrery("watch", "--tty", "--no-report", "--", STEPS, steps="run 20\nrun 10\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done run 20\ndone run 10\n", done.stdout
    last = done.stderr.splitlines()[-1]
    assert re.match(r"orrery: watch: [\d.]+ s: 30 submitted, 0 waiting, 0 ready, 0 running, "
                    r"30 ended; workers \d+ % busy, work 100 % of that$", last), last


@test
def on_a_terminal_it_draws_and_gives_the_output_at_the_end():
    ours, theirs = pty.openpty()
    with open(os.path.join(TOP.name, "lines"), "w+", encoding="utf-8") as lines:
        lines.write("run 20\n")
        lines.seek(0)
        process = subprocess.Popen([ORRERY, "watch", "--tty", "--no-report", "--", STEPS],
                                   env=dict(ENV, TERM="xterm"), cwd=TOP.name, stdin=lines,
                                   stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 4096):
            shown += chunk
    except OSError:  # the other side is gone
        pass
    os.close(ours)
    text = shown.decode()
    assert process.wait(LIMIT) == 0, text
    begin, _, rest = text.partition("\033[?1049l")
    assert begin.startswith("\033[?1049h") and "done run 20" not in begin, text
    assert "done run 20" in rest and "20 ended" in rest, text


@test
def the_last_state_is_printed_as_json():
    done = orrery("watch", "--tty", "--json", "--plain", "-o", "json.html", "--", STEPS,
                  steps="run 20\n")
    assert done.returncode == 0, done.stderr
    state = json.loads(done.stdout)
    assert state["tasks"]["ended"] == 20 and state["page"] == "json.html", state
    assert os.path.exists(os.path.join(TOP.name, "json.html"))


@test
def what_has_no_tasks_or_no_run_is_said():
    done = orrery("watch", "--tty", "-o", "none.html", "--", STEPS)
    assert done.returncode == 0 and "no task ran: there is no report" in done.stderr, \
        done.stderr
    assert not os.path.exists(os.path.join(TOP.name, "none.html"))
    done = orrery("watch", "--tty", "--", "true")
    assert done.returncode == 0 and "never started liborrery" in done.stderr, done.stderr


@test
def mistakes_are_named():
    for words, said in ((["--tty", "--port", "8000"], "leave --port out"),
                        (["--port", "eighty"], "--port eighty: a number from 1 to 65535"),
                        (["--port", "70000"], "a number from 1 to 65535"),
                        (["-o", "-"], "name a file"),
                        (["--links", "ed"], "--links ed: no scheme: there are vscode,"),
                        (["--no-report", "--plain"], "--plain is of the report")):
        done = orrery("watch", *words, "--", STEPS)
        assert done.returncode == 2 and said in done.stderr, (words, done.stderr)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = orrery("watch", "--port", port, "--", STEPS)
        assert done.returncode == 1 and f"--port {port}: Address already in use" in \
            done.stderr, done.stderr
    done = orrery("watch")
    assert done.returncode == 2 and "which program?" in done.stderr


sys.exit(run_all())
