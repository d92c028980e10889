# SPDX-License-Identifier: LGPL-2.1-or-later
"""A simulated run that stops at events, says why, and goes back: `orrery debug` by its
lines of JSON (docs/DEBUG.md)."""

import json
import os
import subprocess
import tempfile

from ._command import Error
from ._graph import Graph
from ._machine import as_machine, assumed


class Event:
    """Where a run stands: `number`, `date_us`, `kind` ("submit", "start", "transfer" …),
    `text`, a sentence, and where there are such `task` (its number), `name` (of its
    kernel), `worker`, `data`, `node`, `source` ("FILE:LINE"), `stop` (the breakpoint) and
    `reason`; else they are None."""

    _fields = {"number": "event", "date_us": "date"}
    _names = ("kind", "text", "task", "name", "worker", "data", "node", "source",
              "stop", "reason")

    def __init__(self, said):
        for name in self._names:
            setattr(self, name, said.get(name))
        for name, key in self._fields.items():
            setattr(self, name, said.get(key))

    def __repr__(self):
        return f"<Event {self.number}: {self.text}>"


class Debugger:
    """What `orrery.debug` returns: an iterator of events. With breakpoints it goes from
    one to the next, without from event to event; it ends with the run. Between two events
    it may be asked, and go elsewhere."""

    def __init__(self, words, program, stops, env):
        self.event = None      # where it stands; None: the run has ended
        self.exit_code = None  # of the program, once it has ended
        self.output = ""       # what the program has printed
        self._stops = set()
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        try:
            self._process = subprocess.Popen(
                ["orrery", "debug", *words, "--json", "--", *program],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
                text=True, env={**os.environ, **env} if env else None)
        except FileNotFoundError as missing:
            self._said.close()
            raise Error("the command orrery is not found: source orrery-env "
                        "first") from missing
        self._arrive(self._read())
        for stop in stops:
            self.break_at(stop)

    # --- the command ---

    def _read(self):
        """The next answer. Error: the command has ended without one."""
        for line in self._process.stdout:
            said = json.loads(line)
            if "output" not in said:
                return said
            self.output += said["output"]
        self._said.seek(0)
        text = self._said.read().strip().removeprefix("orrery: debug: ")
        self.close()
        # What the program has printed may have the reason.
        raise Error(f"orrery debug: {text or 'it has ended'}"
                    + (f"\n{self.output.rstrip()}" if self.output else ""))

    def do(self, command):
        """Any command of `orrery debug`, as it is typed: what it answers, as a dict.
        Mistakes are Errors."""
        if self._process is None:
            raise Error("debug: it was closed")
        if "\n" in command:
            raise Error(f"debug: one command, on one line: {command!r}")
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        said = self._read()
        if "error" in said:
            raise Error(f"orrery debug: {said['error']}")
        if "event" in said or "exited" in said:
            self._arrive(said)
        return said

    def _arrive(self, said):
        if "error" in said:
            self.close()
            raise Error(f"orrery debug: {said['error']}")
        self.exit_code = said.get("exited")
        self.event = Event(said) if "event" in said else None

    def close(self):
        """Ends the program, if it has not ended. Called when the iterator is dropped."""
        process, self._process = self._process, None
        if process is None:
            return
        process.stdin.close()  # the command ends the program then, and itself
        process.stdout.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._said.close()

    _process = None

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    def __del__(self):
        self.close()

    # --- forward and back: each returns the event, or None where the run has ended ---

    def _go(self, command):
        self.do(command)
        return self.event

    def __iter__(self):
        return self

    def __next__(self):
        if self._process is None or self.event is None or \
                self._go("continue" if self._stops else "step") is None:
            raise StopIteration
        return self.event

    def step(self, times=1):
        """To the next event."""
        return self._go(f"step {times}")

    def proceed(self):
        """To the next breakpoint."""
        return self._go("continue")

    def finish(self, task=None):
        """To the end of the task, of the present one without."""
        return self._go("finish" if task is None else f"finish #{task}")

    def until(self, date_us):
        """To that virtual time."""
        return self._go(f"until {date_us!r}us")

    def back(self, times=1):
        """To the event before."""
        return self._go(f"reverse-step {times}")

    def back_to_stop(self):
        """To the last breakpoint before."""
        return self._go("reverse-continue")

    def goto(self, number):
        """To the event of that number, forward or back."""
        return self._go(f"goto {number}")

    # --- breakpoints: each returns its number ---

    def _stop(self, command):
        number = self.do(command)["breakpoint"]
        self._stops.add(number)
        return number

    def break_at(self, where):
        """Stops there; written as behind `break`: "evict", "start gemm on CUDA", "file.c:12",
        "submit if unfinished > 100"."""
        return self._stop(f"break {where}")

    def watch(self, datum):
        """Stops where the value of that datum, or where it is, changes."""
        return self._stop(f'watch "{datum}"')

    def delete(self, number=None):
        """Takes a breakpoint away, or all."""
        self.do("delete" if number is None else f"delete {number}")
        if number is None:
            self._stops.clear()
        else:
            self._stops.discard(number)

    # --- questions: lists of dicts, each with a sentence, "text" ---

    def _ask(self, command):
        return self.do(command).get("answer", [])

    def why(self, task=None):
        """What the task waits for, along the chain; the present one without."""
        return self._ask("why" if task is None else f"why #{task}")

    def why_idle(self, worker):
        """Why the worker has nothing to do."""
        return self._ask(f'why idle "{worker}"')

    def choice(self, task):
        """How long it takes on each kind of worker, and which of its data are not there."""
        return self._ask(f"choice #{task}")

    def where(self):
        """The event, the application, what each worker does."""
        return self._ask("where")

    def tasks(self, state=None):
        """Those that are not over, in that state or in any."""
        return self._ask("info tasks" if state is None else f"info tasks {state}")

    def task(self, number):
        """One, with its data and those that wait for it."""
        return self._ask(f"info task #{number}")

    def workers(self):
        """What each worker does, and has done."""
        return self._ask("info workers")

    def data(self, name=None):
        """All data; or one, with its copies, who has it and who is next."""
        return self._ask("info data" if name is None else f'info data "{name}"')

    def nodes(self):
        """Memory nodes."""
        return self._ask("info nodes")


def debug(program, machine, scheduler=None, assume=None, stops=(), input=None, env=None):
    """Starts a program on a simulated machine and stops it where its run begins: a
    Debugger, an iterator of events. `program` is a list of words, or a Graph, or the path
    of a record; `stops` are breakpoints; `input` is the file that the program reads from
    standard input, else nothing; `env` are more variables of the environment."""
    if isinstance(program, (list, tuple)):
        kept = None
        program = [os.fspath(word) for word in program]
    else:
        kept = program if isinstance(program, Graph) else Graph.from_record(program)
        program = [kept.path()]
    words = as_machine(machine).words()
    if scheduler is not None:
        words += ["-s", scheduler]
    words += assumed(assume)
    if input is not None:
        words += ["--input", os.fspath(input)]
    stops = [stops] if isinstance(stops, str) else list(stops)
    debugger = Debugger(words, program, stops, env)
    debugger.graph = kept  # its file stays as long as the run
    return debugger
