# SPDX-License-Identifier: LGPL-2.1-or-later
"""The program of busy.c under the orrery command, on models written by hand, so
that nothing depends on how long anything takes. For tests in Python.
"""

import json
import os
import re

from programs import Programs

KERNELS = ("busy_alpha", "busy_beta", "busy_gamma", "busy_delta")
CPU, CUDA = 0, 1
SIZES = (100, 200, 400, 1600, 3200, 6400)


def linear(*sizes, scale=1.0):
    return {size: scale * (5 + 0.1 * size) for size in sizes}


class Busy:
    """The command, the program, and a machine of four cores and three devices
    (gpus.xml)."""

    def __init__(self, command, program, machine):
        self.command, self.program = command, program
        self.machine = machine
        self.programs = Programs(None)
        self.programs.limit_s = 120
        self.footprints = {}

    def orrery(self, *words, folder=None, **settings):
        """The command, on models of its own: those of `folder`."""
        for name in ("ORRERY_MACHINE", "ORRERY_ASSUME", "ORRERY_REPORT",
                     "ORRERY_TRACE"):
            settings.setdefault(name, None)
        return self.programs.run([self.command, *words], folder, **settings)

    def simulate(self, *words, folder=None, size=1000, program=(), **settings):
        return self.orrery("run", "-m", self.machine, *words, "--", self.program,
                           "-size", str(size), *program, folder=folder,
                           **settings)

    def report(self, *words, **more):
        ended = self.simulate("--json", *words, **more)
        ended.has_status(0)
        return json.loads(ended.out)

    def footprint(self, size):
        """As the library names it when it has no time for it."""
        if size not in self.footprints:
            self.footprints[size] = re.search(
                r"footprint ([0-9a-f]{8})", self.simulate(size=size).err).group(1)
        return self.footprints[size]

    def model_text(self, devices):
        """A model file: {(type, number): {elements: µs}}, ten samples a row."""
        lines = ["45", str(len(devices))]
        for (kind, number), times in devices.items():
            lines += ["1", str(kind), str(number), "1", "1", str(len(times)),
                      "0 0 0 0 nan nan 0 0 0", "nan nan nan", "0"]
            for size, us in times.items():
                lines.append("%s %d 0 %.9e %.9e %.9e %.9e 10" % (
                    self.footprint(size), 4 * size, us, us / 100, 10 * us,
                    10 * us * us * 1.0001))
        return "\n".join(lines) + "\n"

    def models(self, devices, folder=None, names=KERNELS, host="gpus"):
        """Writes the same model for several kernels; returns the folder."""
        folder = folder or self.programs.folder()
        path = os.path.join(folder, "sampling", "codelets", "45")
        os.makedirs(path, exist_ok=True)
        for name in names:
            with open(os.path.join(path, "%s.%s" % (name, host)), "w",
                      encoding="ascii") as file:
                file.write(self.model_text(devices))
        return folder
