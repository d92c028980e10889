#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Packed machines and the module packed.so: what opens it, and the messages
without it. Prints TAP.

    test-packed-module.py ORRERY DISPLAY PACKED

PACKED is 1 if the module was built. DISPLAY, starpu_machine_display, stands
for any simulated program: it does nothing but start the library.
"""
import os
import shutil
import sys
import tempfile

import tools_util as util

MACHINE = "gtx1650-4gb"
REMEDY = "-Dpacked=enabled"


def list_files(folder):
    return sorted(os.path.join(where, name)
                  for where, _, names in os.walk(folder) for name in names)


class Bench:
    def __init__(self, orrery, display, folder):
        self.orrery, self.display, self.folder = orrery, display, folder
        self.sampling = os.path.join(folder, "sampling")
        self.env = util.clean_environment(self.sampling, "box")
        del self.env["STARPU_HOSTNAME"]
        self.file = os.path.join(folder, "box.orrery")

    def command(self, *words, **more):
        return util.run(self.orrery, "machine", *words,
                        env=dict(self.env, **more))

    def simulate(self, machine, **more):
        return util.run(self.display, "-c",
                        env=dict(self.env, ORRERY_MACHINE=machine, **more))

    def hide_modules(self):
        """The command and the simulator, but no packed.so beside them. Returns
        the variable that leads there."""
        hidden = os.path.join(self.folder, "hidden")
        os.mkdir(hidden)
        shutil.copy(os.path.join(self.env["ORRERY_MODULE_DIR"], "sim.so"),
                    hidden)
        shutil.copy(self.orrery, hidden)
        self.orrery = os.path.join(hidden, os.path.basename(self.orrery))
        return {"ORRERY_MODULE_DIR": hidden}


def test_with(tap, bench):
    """Returns whether there is a packed file now."""
    result = bench.command("export", MACHINE, "-o", bench.file)
    tap.claim("a machine is packed", result.code == 0, result)
    result = bench.simulate(MACHINE, LD_DEBUG="files")
    loaded = result.err
    result.err = ""
    tap.claim("simulating a machine of the catalogue loads sim.so, and neither "
              "packed.so nor libarchive", result.code == 0 and
              "sim.so" in loaded and "packed.so" not in loaded and
              "libarchive" not in loaded, result)
    result = bench.simulate(bench.file, LD_DEBUG="files")
    loaded = result.err
    result.err = ""
    tap.claim("simulating a packed machine loads both", result.code == 0 and
              "packed.so" in loaded and "libarchive" in loaded and
              "1 CUDA worker" in result.out, result)
    without = dict(bench.env)
    del without["ORRERY_MODULE_DIR"]
    result = util.run(bench.orrery, "machine", "show", bench.file, env=without)
    tap.claim("the command finds the module where it was built",
              result.code == 0, result)
    result = util.run(bench.display, "-c",
                      env=dict(without, ORRERY_MACHINE=bench.file))
    tap.claim("the simulator finds the module beside itself",
              result.code == 0, result)


def says_what_to_do(result, what):
    return what in result.err and "packed.so" in result.err and \
        REMEDY in result.err


def test_without(tap, bench):
    if not os.path.exists(bench.file):
        with open(bench.file, "wb") as file:
            file.write(b"\x1f\x8b")
    hidden = bench.hide_modules()
    result = bench.simulate(MACHINE, **hidden)
    tap.claim("without the module machines of the catalogue are simulated",
              result.code == 0 and "1 CUDA worker" in result.out, result)
    before = list_files(bench.folder)
    result = bench.simulate(bench.file, **hidden)
    tap.claim("a packed one is refused by its name, with the remedy",
              result.code != 0 and says_what_to_do(result, bench.file) and
              "tar -xzf" in result.err, result)
    for verb in ("show", "import"):
        result = bench.command(verb, bench.file, **hidden)
        tap.claim(f"so it is by {verb}", result.code == 1 and
                  says_what_to_do(result, bench.file), result)
    result = bench.command("export", MACHINE, "-o", bench.file + "2.orrery",
                           **hidden)
    tap.claim("export says what it lacks", result.code == 1 and
              says_what_to_do(result, MACHINE), result)
    tap.claim("nothing was written", before == list_files(bench.folder))
    result = bench.command("show", MACHINE, **hidden)
    tap.claim("show of other machines needs no module", result.code == 0,
              result)


def main():
    orrery, display, packed = sys.argv[1:]
    tap = util.Tap()
    with tempfile.TemporaryDirectory(prefix="packed-module") as folder:
        bench = Bench(orrery, display, folder)
        if packed == "1":
            test_with(tap, bench)
        else:
            tap.skip("packed machines are simulated and shown",
                     "built without libarchive")
        test_without(tap, bench)
    tap.end()


if __name__ == "__main__":
    main()
