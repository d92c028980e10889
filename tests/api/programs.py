# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs programs as processes and reports in TAP; for tests in Python.

ORRERY_TEST_WRAPPER may hold a command to put before each program, for instance
"valgrind -q --error-exitcode=99 --suppressions=…/tests/sanitizers/valgrind.supp".
"""

import concurrent.futures
import os
import shlex
import signal
import subprocess
import tempfile
import traceback

TESTS = []


class Skip(Exception):
    """The test cannot be made here; the text says what is missing."""


def test(function):
    """Registers a test; its name, a claim, is what TAP shows."""
    TESTS.append(function)
    return function


def outcome(function):
    """"ok" or "not ok", and what follows the claim in TAP."""
    try:
        function()
    except Skip as reason:
        return "ok", f" # SKIP {reason}"
    except Exception:  # pylint: disable=broad-except
        lines = traceback.format_exc().splitlines()
        return "not ok", "".join("\n# " + line for line in lines)
    return "ok", ""


def run_all(at_once=1):
    """Runs the tests, some `at_once`, and returns the exit status."""
    failed = 0
    print(f"1..{len(TESTS)}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(at_once) as threads:
        for number, (function, (word, more)) in enumerate(
                zip(TESTS, threads.map(outcome, TESTS)), 1):
            failed += word != "ok"
            print(f"{word} {number} - {function.__name__}{more}", flush=True)
    return failed != 0


class Ended:
    """How a program ended: status (negative: by that signal), out, err, and
    what it left in its folder."""

    def __init__(self, status, out, err, folder):
        self.status, self.out, self.err = status, out, err
        self.folder = folder

    def left(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def says(self, *words):
        for word in words:
            assert word in self.err, f"{word!r} is not in:\n{self.err}"

    def has_status(self, status):
        assert self.status == status, (
            f"status {self.status}, not {status}\n{self.out}{self.err}")

    def saved(self, how):
        """Report and trace are there and whole."""
        report, trace = self.left("report.json"), self.left("trace")
        assert report and f'"exit": "{how}"' in report, report
        assert trace and trace.endswith("\n"), "no trace, or half of one"
        # Paje: the containers are destroyed on the last lines.
        last = trace.splitlines()[-1]
        assert last.startswith("8\t"), f"the trace ends with {last!r}"


class Programs:
    """Starts programs in an environment without the user's settings."""

    def __init__(self, machine):
        self.machine = machine
        self.top = tempfile.TemporaryDirectory(prefix="orrery-test-")
        self.folders = 0
        self.wrapper = shlex.split(os.environ.get("ORRERY_TEST_WRAPPER", ""))
        self.limit_s = 300 if self.wrapper else 30

    def folder(self):
        self.folders += 1
        path = os.path.join(self.top.name, str(self.folders))
        os.mkdir(path)
        return path

    def environment(self, folder, settings):
        kept = ("ORRERY_MODULE_DIR", "ORRERY_PLATFORM_DIR")
        env = {name: value for name, value in os.environ.items()
               if name in kept or not name.startswith(("ORRERY_", "STARPU_"))}
        env.update(
            ORRERY_MACHINE=self.machine,
            ORRERY_REPORT=os.path.join(folder, "report.json"),
            ORRERY_TRACE=os.path.join(folder, "trace"),
            ORRERY_ASSUME="kernel[k] = 50us",
            STARPU_PERF_MODEL_DIR=os.path.join(folder, "sampling"),
            STARPU_HOME=folder,
            # The leak checker knows no stack but the one that exit was called
            # on, and programs that end early free nothing.
            ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "")
            + ":detect_leaks=0")
        if self.wrapper:
            env["HWLOC_COMPONENTS"] = "-x86" # it says that valgrind is there
        for name, value in settings.items():
            env.pop(name, None)
            if value is not None:
                env[name] = value
        return env

    def start(self, command, folder=None, **settings):
        """A Popen on pipes, with its folder as an attribute."""
        folder = folder or self.folder()
        process = subprocess.Popen(
            self.wrapper + command, env=self.environment(folder, settings),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace",
            # A shell in the background may have these ignored.
            preexec_fn=lambda: [signal.signal(number, signal.SIG_DFL) for
                                number in (signal.SIGINT, signal.SIGTERM)])
        process.folder = folder
        return process

    def finish(self, process):
        try:
            out, err = process.communicate(timeout=self.limit_s)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(
                f"{process.args[-1]} hangs\n{out}{err}") from None
        return Ended(process.returncode, out, err, process.folder)

    def run(self, command, folder=None, **settings):
        return self.finish(self.start(command, folder, **settings))
