#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs of a sweep, which share processes (tools/common/server.h), are those of processes
of their own: traces byte for byte, reports but for the time that they took; and what
fails, crashes or is interrupted among them. Prints TAP.

usage: test-sweeps.py ORRERY PLAYER CHOLESKY LU
"""
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "unit"))
sys.dont_write_bytecode = True
from tools_util import Tap   # pylint: disable=wrong-import-position

ASSUME = "kernel[*] on cpu = 2ms; kernel[*] = 100us"
MACHINES = ("h100-pcie-4", "laptop-8", "mixed-a100-v100", "r940xa-4")
EDITS = "cuda.count = 2; pcie.bandwidth *= 0.3; kernel[gemm] on cuda[0] *= 0.7"


def clean_environment(**more):
    kept = ("ORRERY_MODULE_DIR", "ORRERY_PLATFORM_DIR", "ORRERY_CHECK_BOUNDS")
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("STARPU_", "ORRERY_")) or name in kept}
    return dict(env, STARPU_SILENT="1", STARPU_PERF_MODEL_DIR="/nonexistent",
                ORRERY_ASSUME=ASSUME, LC_ALL="C", **more)


def run(words, **more):
    return subprocess.run(words, env=clean_environment(**more), timeout=200,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", check=False)


def content(path):
    """Of a file that a run has written; None: there is none. Then it is removed."""
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        found = file.read()
    os.remove(path)
    return found


class Player:
    """A process that plays one record after the other."""

    def __init__(self, player):
        ours, theirs = socket.socketpair()
        self.socket = ours
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [player, "--jobs=%d" % theirs.fileno()], pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=clean_environment())
        theirs.close()
        os.set_blocking(self.process.stdout.fileno(), False)

    def play(self, record, settings):
        """Exit status, what it said."""
        job = b"".join(text.encode() + b"\0" for text in [record, *settings])
        self.socket.sendall(struct.pack("=I", len(job)) + job)
        found = self.socket.recv(4)
        status = struct.unpack("=i", found)[0] if found else self.process.wait(100)
        return status, self.process.stdout.read() or b""

    def close(self):
        self.socket.close()
        return self.process.wait(100)


def alone(player, record, settings):
    env = clean_environment()
    for text in settings:
        name, equal, value = text.partition("=")
        if equal:
            env[name] = value
        else:
            env.pop(name, None)
    done = subprocess.run([player, record], env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=100, check=False)
    return done.returncode, done.stdout


def settings_of_jobs(modelled):
    """Names and settings, as different from each other as one after the other can be.
    Without models of the record's kernels times are assumed in all of them."""
    policies = ("eager", "prio", "random", "lws", "ws", "dm", "dmda", "dmdar", "dmdas",
                "pheft", "peager", "heteroprio", "graph_test", "modular-heft",
                "modular-ws", "modular-eager-prefetching", "memaware")
    yield "noise", ["ORRERY_MACHINE=" + MACHINES[0], "STARPU_SCHED=lws",
                    "ORRERY_SIM_NOISE=measured", "ORRERY_SIM_SEED=7"]
    for number, policy in enumerate(policies):
        machine = MACHINES[number % len(MACHINES)]
        yield (policy + " on " + machine,
               ["ORRERY_MACHINE=" + machine, "STARPU_SCHED=" + policy])
    gpus = ["ORRERY_MACHINE=" + MACHINES[0], "STARPU_SCHED=dmda"]
    yield "edits", gpus + ["ORRERY_SET=" + EDITS]
    yield "the same without edits", gpus
    if modelled:
        yield "a draw", gpus + ["ORRERY_SIM_DRAW=3", "ORRERY_ASSUME"]
        yield "no assumed times", gpus + ["ORRERY_ASSUME"]
    yield "other assumed times", gpus + ["ORRERY_ASSUME=kernel[*] = 1ms"]
    yield "memory that is too small", [
        "ORRERY_MACHINE=gtx1650-4gb", "STARPU_SCHED=dmdas", "STARPU_NCPU=1",
        "STARPU_LIMIT_CUDA_MEM=16"]
    yield "NUMA", ["ORRERY_MACHINE=r940xa-4", "STARPU_SCHED=lws", "STARPU_USE_NUMA=1"]
    yield "warnings", gpus + ["STARPU_LIMIT_MAX_SUBMITTED_TASKS=50", "STARPU_SILENT"]


def jobs_are_runs_of_their_own(tap, player, folder, records):
    trace = os.path.join(folder, "trace")
    for name, record in records.items():
        one = Player(player)
        jobs = list(settings_of_jobs(name == "cholesky"))
        for number, (what, settings) in enumerate(jobs[::1 if name == "cholesky" else 3]):
            settings = settings + ["ORRERY_TRACE=" + trace]
            job = one.play(record, settings), content(trace)
            own = alone(player, record, settings), content(trace)
            tap.claim("%s, job %d, %s: the trace and the messages of a process of its own"
                      % (name, number, what), job == own and own[1] and own[0][0] == 0,
                      job[0], own[0])
        status = one.close()
        tap.claim(name + ": the process ends when there is nothing more to do",
                  status == 0, status)


def a_failed_job_ends_its_process(tap, player, folder, records):
    """As the process that plays this record alone."""
    report = os.path.join(folder, "report")
    record = records["cholesky"]
    other = os.path.join(folder, "wrong.rec")
    with open(record, encoding="utf-8") as file:
        lines = file.readlines()
    with open(other, "w", encoding="utf-8") as file:
        file.writelines(lines[:50] + ["nonsense\n"] + lines[50:])
    machine = "ORRERY_MACHINE=" + MACHINES[0]
    for what, path, settings in (
            ("a machine that there is not", record, ["ORRERY_MACHINE=nowhere"]),
            ("a kernel without time", record,
             [machine, "ORRERY_ASSUME", "ORRERY_SET=kernel[*] = none"]),
            ("a line that is wrong", other, [machine]),
            ("a record that there is not", other + "x", [machine]),
            ("an end at a date", record, [machine, "ORRERY_BREAK_AT=1ms"])):
        settings = settings + ["ORRERY_REPORT=" + report]
        one = Player(player)
        first = one.play(record, [machine, "ORRERY_REPORT=" + report])
        found = content(report)
        job = one.play(path, settings), without_time(content(report))
        own = alone(player, path, settings), without_time(content(report))
        one.close()
        tap.claim(what + ": status, messages and report of a process of its own",
                  first[0] == 0 and found and job == own, first, job, own)


def without_time(report):
    if not report:
        return report
    found = json.loads(report)
    found.pop("wall_s", None)
    return found


def defaults_are_those_of_a_new_process(tap, player, folder):
    """A default that one record has set is none of the next one's."""
    def write(name, *lines):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("orrery-record 1\nrun\n")
            file.writelines(line + "\n" for line in lines)
            file.write("end value=%d\n" % (len(lines) + 1))
        return path

    task = " codelet=1 times=100"
    tasks = ("data 1 kind=\"variable\" shape=8 home=0",
             "model 1 kind=\"per-arch\" symbol=\"k\" flags=4",
             "codelet 1 name=\"k\" cpu=1 buffers=-1 model=1",
             "submit 1" + task + " kept=1", "depend 2 before=1",
             "submit 2" + task + " data=1:rw", "submit 3" + task + " data=1:r",
             "wait-all", "unregister 1")
    setting = write("setting", "sequential 0 value=0", *tasks)
    plain = write("plain", *tasks)
    trace = os.path.join(folder, "trace")
    settings = ["ORRERY_MACHINE=laptop-8", "STARPU_SCHED=eager", "ORRERY_TRACE=" + trace]
    one = Player(player)
    set_it = one.play(setting, settings), content(trace)
    after = one.play(plain, settings), content(trace)
    one.close()
    own = alone(player, plain, settings), content(trace)
    tap.claim("a default that a record sets is not the next one's",
              set_it[0][0] == 0 and after == own and set_it[1] != own[1],
              set_it, after, own)


def rows_are_runs_of_their_own(tap, orrery, records):
    """Each report in a table, with several machines, edits, noise, and two at a time."""
    words = ["-m", ",".join(MACHINES[:2]), "-s", "eager,lws,dmda,modular-heft",
             "--set", "cuda.count = 1..2", "--json"]
    for name, record in records.items():
        for noise, jobs in ((["--noise", "3%"], "2"), ([], "1")):
            done = run([orrery, "compare", *words, *noise, "-j", jobs, "--", record])
            rows = json.loads(done.stdout)
            wrong = []
            for row in rows:
                own = run([orrery, "replay", record, "-m", row["machine"], "-s",
                           row["scheduler"], "--set",
                           "cuda.count = " + row["settings"]["cuda.count"], "--json"],
                          **({"ORRERY_SIM_NOISE": "3%"} if noise else {}))
                expected = without_time(own.stdout) if own.returncode == 0 else {}
                expected.pop("without_edits", None)
                if own.returncode != (1 if "error" in row else 0) or any(
                        row.get(key) != value for key, value in expected.items()):
                    wrong.append((row["machine"], row["scheduler"], row.get("error"),
                                  own.stderr[-300:],
                                  [key for key, value in expected.items()
                                   if row.get(key) != value]))
            ran = [row for row in rows if "error" not in row]
            tap.claim("%s%s, %s at a time: rows of a table are runs of their own" %
                      (name, " with noise" if noise else "", jobs),
                      len(rows) == 16 and len(ran) >= 8 and not wrong, *wrong)


# In the place of play-record: what it is given it does with that, but for policies that
# it takes as orders. Each process leaves a line.
PRETENDER = r"""#!%(python)s
import os, signal, socket, struct, subprocess, sys, time
with open(%(starts)r, "a") as file:
    file.write(str(os.getpid()) + "\n")
def play(record, env):
    order = env.get("STARPU_SCHED")
    if order == "prio":
        os.kill(os.getpid(), signal.SIGSEGV)
    if order == "random" and os.path.exists(%(hang)r):
        open(%(hang)r + "s", "w").close()
        time.sleep(100)
    return subprocess.run([%(player)r, record], env=env, stdin=subprocess.DEVNULL).returncode
if not sys.argv[1].startswith("--jobs="):
    sys.exit(play(sys.argv[1], dict(os.environ)))
jobs = socket.socket(fileno=int(sys.argv[1][len("--jobs="):]))
while True:
    size = jobs.recv(4, socket.MSG_WAITALL)
    if not size:
        sys.exit(0)
    texts = jobs.recv(struct.unpack("=I", size)[0], socket.MSG_WAITALL).split(b"\0")
    texts = [text.decode() for text in texts[:-1]]
    env = dict(os.environ)
    env.update(text.split("=", 1) for text in texts[1:] if "=" in text)
    status = play(texts[0], env)
    if status:
        sys.exit(status)
    if env["STARPU_SCHED"] == "dm":    # ends while the command does not look
        os.kill(os.getppid(), signal.SIGSTOP)
        waiting = "import os, signal, time\nwhile os.getppid() == %%d: time.sleep(0.01)\n"
        waiting = (waiting + "os.kill(%%d, signal.SIGCONT)") %% (os.getpid(), os.getppid())
        subprocess.Popen([sys.executable, "-c", waiting], stdin=subprocess.DEVNULL)
    jobs.send(struct.pack("=i", 0))
    if env["STARPU_SCHED"] == "dm":
        sys.exit(5)
"""


class Pretended:
    """The command with a player of its own, in a folder."""

    def __init__(self, orrery, player, folder):
        self.folder = tempfile.mkdtemp(dir=folder)
        for name in ("tools", "replay"):
            os.mkdir(self.path(name))
        self.orrery = shutil.copy(orrery, self.path("tools"))
        shutil.copymode(orrery, self.orrery)
        with open(self.path("replay/play-record"), "w", encoding="utf-8") as file:
            file.write(PRETENDER % {
                "python": sys.executable, "player": os.path.abspath(player),
                "starts": self.path("starts"), "hang": self.path("hang")})
        os.chmod(file.name, 0o755)

    def path(self, name):
        return os.path.join(self.folder, name)

    def starts(self):
        with open(self.path("starts"), encoding="utf-8") as file:
            return [int(line) for line in file]


def processes_are_shared_and_replaced(tap, orrery, player, folder, record):
    machine = ["-m", MACHINES[0], "-s"]
    one = Pretended(orrery, player, folder)
    done = run([one.orrery, "compare", *machine, "eager,lws,ws,dmda", "--repeat", "5",
                "-j", "2", "--json", "--", record])
    tap.claim("two at a time: two processes do all",
              done.returncode == 0 and len(one.starts()) <= 2, done, one.starts())
    one = Pretended(orrery, player, folder)
    done = run([one.orrery, "compare", *machine, "eager,prio,lws,dm,dmda", "--repeat", "3",
                "-j", "1", "--json", "--", record])
    rows = {row["scheduler"]: row for row in json.loads(done.stdout)}
    tap.claim("a run that crashes is a row, the others go on",
              done.returncode == 1 and "signal 11" in rows["prio"].get("error", "") and
              all("error" not in rows[name] for name in ("eager", "lws", "dm", "dmda")),
              done)
    tap.claim("another process goes on behind each of three that crash, and of three that "
              "end while they wait", len(one.starts()) == 7, one.starts())
    one = Pretended(orrery, player, folder)
    done = run([one.orrery, "compare", *machine, "eager,lws", "--json", "--", record],
               STARPU_SCHED_LIB="/nonexistent/library.so")
    tap.claim("a library of policies has a process for each run",
              len(one.starts()) == 2, done, one.starts())


def alive(pid):
    try:
        os.kill(pid, 0)
        return True
    except ProcessLookupError:
        return False


def an_interrupt_ends_all(tap, orrery, player, folder, record):
    one = Pretended(orrery, player, folder)
    with open(one.path("hang"), "w", encoding="utf-8"):
        pass
    words = [one.orrery, "compare", "-m", MACHINES[0], "-s", "eager,lws,random,dmda",
             "-j", "2", "--", record]
    with subprocess.Popen(words, env=clean_environment(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        while not os.path.exists(one.path("hangs")):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=100)
    left = [pid for pid in one.starts() if alive(pid)]
    tap.claim("interrupted: what has ended is printed, and no process is left",
              process.returncode == 130 and "have ended" in out + err and not left,
              process.returncode, out, err, left)


def main():
    orrery, player, cholesky, lu = sys.argv[1:]
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="orrery-test-") as folder:
        records = {}
        for name, program in (("cholesky", cholesky), ("lu", lu)):
            records[name] = os.path.join(folder, name + ".rec")
            run([program, "-size", "4800", "-nblocks", "5"], ORRERY_MACHINE=MACHINES[0],
                STARPU_SCHED="lws",
                ORRERY_RECORD=records[name]).check_returncode()
        jobs_are_runs_of_their_own(tap, player, folder, records)
        a_failed_job_ends_its_process(tap, player, folder, records)
        defaults_are_those_of_a_new_process(tap, player, folder)
        rows_are_runs_of_their_own(tap, orrery, records)
        processes_are_shared_and_replaced(tap, orrery, player, folder,
                                          records["cholesky"])
        an_interrupt_ends_all(tap, orrery, player, folder, records["cholesky"])
    tap.end()


if __name__ == "__main__":
    main()
