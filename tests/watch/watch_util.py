# SPDX-License-Identifier: LGPL-2.1-or-later
"""A run under `orrery watch`, told step by step to go on (steps.c), and a client that reads
its stream of events. What is waited for comes, or a time limit fails the test."""
import json
import os
import re
import subprocess
import urllib.request

LIMIT = 120  # s, of all that is waited for


class Watched:
    """The command, with the program's steps; a context that ends both."""

    def __init__(self, orrery, steps, folder, *words, env=None, tty=False):
        self.folder = folder
        self.process = subprocess.Popen(
            [orrery, "watch", *words, "--", steps], env=env, cwd=folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            encoding="utf-8")
        self.address, self.said = None, ""
        if not tty:
            line = self.process.stderr.readline()
            found = re.fullmatch(r"orrery: watch: (http://127\.0\.0\.1:\d+/[0-9a-f]{32}/)\n",
                                 line)
            assert found, line + self.process.stderr.read()
            self.address = found[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hears(self, line):
        got = self.process.stdout.readline()
        assert got == line + "\n", got

    def get(self, path):
        with urllib.request.urlopen(self.address + path, timeout=LIMIT) as answer:
            return answer.read().decode()

    def ask(self, path):
        return json.loads(self.get(path))

    def end(self):
        """Its exit status, once standard input has ended; what it printed."""
        out, err = self.process.communicate(timeout=LIMIT)
        return self.process.returncode, out, err


class Stream:
    """The events, as states."""

    def __init__(self, watched):
        self.answer = urllib.request.urlopen(watched.address + "events", timeout=LIMIT)
        assert self.answer.headers["Content-Type"].startswith("text/event-stream")
        self.states = []

    def next(self):
        for line in self.answer:
            if line.startswith(b"data: "):
                self.states.append(json.loads(line[6:]))
                return self.states[-1]
        raise AssertionError("the stream has ended")

    def until(self, wanted):
        """The next state of which that is true."""
        while not wanted(self.next()):
            pass
        return self.states[-1]

    def close(self):
        self.answer.close()


def environment(folder, **more):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("STARPU_") and
           name not in ("ORRERY_MACHINE", "ORRERY_CHECK_BOUNDS", "ORRERY_PROGRESS")}
    env.update(STARPU_HOME=folder, STARPU_SILENT="1", LC_ALL="C.UTF-8", TMPDIR=folder,
               STARPU_NCPU="1", STARPU_NCUDA="0", STARPU_NOPENCL="0", STARPU_NHIP="0")
    env.update(more)
    return env
