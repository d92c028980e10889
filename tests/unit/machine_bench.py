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


SVG = "{http://www.w3.org/2000/svg}"


def boxes_apart(root):
    """Whether no two of the boxes that carry text cross each other, nor two of
    the panels behind them, and no box an edge of a panel."""
    boxes = [tuple(float(e.get(k)) for k in ("x", "y", "width", "height"))
             + (e.get("fill") == "#f8f9fb",)
             for e in root.iter(SVG + "rect") if e.get("stroke") and
             e.get("stroke") != "none"]

    def holds(a, b):
        return (a[4] and not b[4] and a[0] <= b[0] and a[1] <= b[1] and
                b[0] + b[2] <= a[0] + a[2] and b[1] + b[3] <= a[1] + a[3])
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            if a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and \
                    a[1] < b[1] + b[3] and b[1] < a[1] + a[3] and \
                    not holds(a, b) and not holds(b, a):
                return False
    return True


def inside(root):
    width, height = float(root.get("width")), float(root.get("height"))
    for e in root.iter(SVG + "rect"):
        if e.get("x") and not (
                0 <= float(e.get("x")) and
                float(e.get("x")) + float(e.get("width")) <= width and
                0 <= float(e.get("y")) and
                float(e.get("y")) + float(e.get("height")) <= height):
            return False
    return all(0 <= float(e.get("x")) <= width and
               0 <= float(e.get("y")) <= height
               for e in root.iter(SVG + "text"))


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
