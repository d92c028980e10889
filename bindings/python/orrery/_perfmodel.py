# SPDX-License-Identifier: LGPL-2.1-or-later
"""Performance models: what was measured, and what that predicts."""

import re

from ._command import Error, run, run_json

# `orrery perfmodel project --size` prints a table: model, architecture, size, µs,
# how far that may be off, and two columns that say from what.
_ROW = re.compile(r"^(\S+)\s+(\S+)\s+(\d+)\s+(\S+)\s+(\S+) %")


class Prediction:
    """The time of a task: us, and the interval low_us to high_us in which eight of
    ten lie; `measured` if it is the mean of that very size, and the interval that
    of the measures."""

    def __init__(self, architecture, size, us, low_us, high_us, measured):
        self.architecture = architecture
        self.size = size
        self.us = us
        self.low_us = low_us
        self.high_us = high_us
        self.measured = measured

    def __repr__(self):
        return (f"<orrery.Prediction on {self.architecture}: {self.us:.6g} µs, "
                f"{self.low_us:.6g} to {self.high_us:.6g}>")


# Of a normal distribution, nine of ten lie within so many deviations.
_NINE_OF_TEN = 1.6449


class PerfModel:
    """The model of a symbol on a machine's or a host's devices."""

    def __init__(self, symbol, machine=None, host=None):
        self.symbol = symbol
        self._words = []
        if machine is not None:
            self._words += ["-m", str(machine)]
        if host is not None:
            self._words += ["--host", host]
        self.report = run_json("perfmodel", "show", symbol, *self._words,
                               "--json")
        self._host = self.report["host"]

    @property
    def architectures(self):
        """The names of the devices that it knows."""
        return [one["architecture"] for one in self.report["combinations"]]

    def entries(self, architecture):
        """What was measured there: a dict for each footprint."""
        for one in self.report["combinations"]:
            if one["architecture"] == architecture:
                return [entry for implementation in one["implementations"]
                        for entry in implementation["entries"]]
        raise Error(f"perfmodel {self.symbol}: there is no architecture "
                    f"{architecture!r}: there are "
                    f"{', '.join(self.architectures)}")

    def predict(self, size, architecture=None):
        """The time of a task with so many bytes of data: a Prediction, or without an
        architecture a dict of one for each."""
        if architecture is None:
            return {one: self.predict(size, one) for one in self.architectures}
        for entry in self.entries(architecture):
            us = entry["estimate"]  # as simulations take it; None: not known
            if entry["size"] == size and us is not None:
                about = _NINE_OF_TEN * entry["deviation"]
                return Prediction(architecture, size, us, max(0.0, us - about),
                                  us + about, True)
        return self._between(size, architecture)

    def _between(self, size, architecture):
        words = self._words if "--host" in self._words else \
            [*self._words, "--host", self._host]
        text = run("perfmodel", "project", "--size", int(size), *words,
                   self.symbol)
        kind = re.match("[a-z]+", architecture).group()
        for line in text.splitlines():
            row = _ROW.match(line)
            if row and row[1] == self.symbol and row[2] in (architecture,
                                                            kind):
                us, off = float(row[4]), float(row[5]) / 100
                return Prediction(architecture, int(size), us, us / (1 + off),
                                  us * (1 + off), False)
        raise Error(f"perfmodel {self.symbol}: nothing is known of {size} bytes "
                    f"on {architecture}: {text.strip()}")

    def __repr__(self):
        return (f"<orrery.PerfModel {self.symbol} of {self._host}: "
                f"{', '.join(self.architectures)}>")


def perfmodel(symbol, machine=None, host=None):
    """The model of a symbol: of a machine that can be simulated, of another host, or
    measured here."""
    return PerfModel(symbol, machine, host)
