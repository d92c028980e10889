# SPDX-License-Identifier: LGPL-2.1-or-later
"""For tests of `orrery machine`: the command in a folder of its own, a small
machine, and what runs a file of such tests."""
import json
import os
import shutil
import tempfile

import tools_util as util


class Bench:
    """The command, in a folder and with sampling directories of its own."""

    def __init__(self, orrery, folder):
        self.orrery, self.folder = orrery, folder
        self.sampling = os.path.join(folder, "sampling")
        self.env = util.clean_environment(self.sampling, "box")
        del self.env["STARPU_HOSTNAME"]

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run(self, *words, **more):
        return util.run(self.orrery, "machine", *words,
                        env=dict(self.env, **more), timeout=300)

    def show(self, name):
        """All that is known of a machine, without its name and places."""
        result = self.run("show", name, "--json")
        root = json.loads(result.out)
        for key in ("name", "file", "models_host", "models_dir", "models"):
            del root[key]
        return root

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def files(self):
        """All files below the sampling directory, and what they hold."""
        found = {}
        for folder, _, names in os.walk(self.sampling):
            for name in names:
                path = os.path.join(folder, name)
                if "/packed/" not in path:
                    with open(path, "rb") as file:
                        found[os.path.relpath(path, self.sampling)] = \
                            file.read()
        return found


def platform(ngpus, prop="", name_host=""):
    """A small platform file."""
    model = prop.replace("model=", "value=") or 'value="toy"'
    hosts = "".join(
        f'<host id="CUDA{i}" speed="2Gf"><prop id="model" {model}/>'
        f'<prop id="memsize" value="{2**30}"/></host>' for i in range(ngpus))
    links = "".join(f'<link id="L{i}" bandwidth="1GBps" latency="1us"/>'
                    for i in range(ngpus))
    routes = "".join(f'<route src="RAM" dst="CUDA{i}"><link_ctn id="L{i}"/>'
                     "</route>" for i in range(ngpus))
    return ('<?xml version="1.0"?>\n<platform version="4.1">'
            '<zone id="AS0" routing="Full"><host id="MAIN" speed="1f">'
            f'<prop id="orrery-cost-submit" value="1.5"/>{name_host}</host>'
            '<host id="CPU0" speed="2Gf"/><host id="CPU1" speed="2Gf"/>'
            f'{hosts}<host id="RAM" speed="1f"/>{links}{routes}</zone>'
            "</platform>\n")


def run_all(orrery, *tests):
    """Tests are (name, function, more arguments). Prints TAP."""
    tap = util.Tap()
    for name, function, *more in tests:
        folder = tempfile.mkdtemp(prefix="machine-tools-" + name)
        try:
            function(tap, Bench(orrery, folder), *more)
        finally:
            shutil.rmtree(folder)
    tap.end()
