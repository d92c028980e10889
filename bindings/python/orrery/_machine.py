# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines that can be simulated."""

import os

from ._command import Error, run, run_json


class Machine:
    """A machine by its name, of `orrery machine list`, or the path of its
    description, and edits that make it differ (docs/WHAT_IF.md)."""

    def __init__(self, name, set=None):  # the option's name
        self.name = os.fspath(name)
        if set is None:
            edits = ()
        elif isinstance(set, str):
            edits = (set,)
        else:
            edits = tuple(set)
        self.edits = edits

    def words(self):
        """The options that name it."""
        words = ["-m", self.name]
        for edit in self.edits:
            words += ["--set", edit]
        return words

    def describe(self):
        """All that is known of it: what `orrery machine show --json` prints."""
        return run_json("machine", "show", *self.words(), "--json")

    def __str__(self):
        return "; ".join((self.name, *self.edits))

    def __repr__(self):
        edits = f", set={list(self.edits)!r}" if self.edits else ""
        return f"orrery.machine({self.name!r}{edits})"

    def __eq__(self, other):
        return (isinstance(other, Machine) and self.name == other.name
                and self.edits == other.edits)

    def __hash__(self):
        return hash((self.name, self.edits))

    def _repr_svg_(self):
        return run("machine", "show", *self.words(), "--svg", "-")


def machine(name, set=None):  # the option's name
    """A machine; Error if there is none of that name, or an edit is wrong."""
    found = name if isinstance(name, Machine) else Machine(name, set)
    if found is name and set is not None:
        raise Error("machine: it is one already: give edits with its name")
    found.describe()
    return found


def as_machine(given):
    """The machine that is given, or named."""
    if not isinstance(given, (Machine, str, os.PathLike)):
        raise Error(f"{given!r} is no machine: use a name of "
                    "orrery.machines(), or the path of a description")
    return given if isinstance(given, Machine) else Machine(given)


def assumed(assume):
    """The options that give times of kernels: a text, or several."""
    words = []
    for text in ((assume,) if isinstance(assume, str) else assume or ()):
        words += ["--assume", text]
    return words


def machines():
    """The names of the machines that are known."""
    return [one["name"] for one in run_json("machine", "list", "--json")
            if "cluster" not in one]
