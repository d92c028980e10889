# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a notebook shows of a graph of tasks."""

import os
import re
import shutil
import subprocess
import tempfile

from ._command import run
from ._result import _COLOURS, table_of

_DRAWN = 150  # tasks: a picture of more cannot be read

_NODE = re.compile(r'^"[^"]*" \[style=filled, label="((?:[^"\\]|\\.)*)", '
                   r'fillcolor="([^"]*)"', re.M)


def _as_dot(path):
    """The tasks of a record and what each waited for, as Graphviz has them. They are of
    no length: any machine with processors will do."""
    with tempfile.TemporaryDirectory(prefix="orrery-") as folder:
        file = os.path.join(folder, "graph.dot")
        run("trace", "-m", "laptop-8", "--devices", "all", "--assume",
            "kernel[*] on cpu = 1us", "-o", file, path)
        with open(file, encoding="utf-8") as dot:
            return dot.read()


def _coloured(dot, kernels):
    """With a colour for each kernel, in the place of one for each worker."""
    colours = {kernel: _COLOURS[i % len(_COLOURS)] + "80"
               for i, kernel in enumerate(kernels)}
    return _NODE.sub(
        lambda node: node[0].replace(node[2], colours[node[1]]), dot)


def _picture(dot):
    svg = subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True,
                         text=True, check=True).stdout
    return svg[svg.index("<svg"):].replace(
        "<svg ", '<svg style="max-width:100%;height:auto" ', 1)


def html_of(path):
    """A picture, where there are few tasks and Graphviz, and how many tasks each kernel
    has."""
    dot = _as_dot(path)
    counts = {}
    for label, _ in _NODE.findall(dot):
        counts[label] = counts.get(label, 0) + 1
    table = table_of([{"kernel": re.sub(r"\\(.)", r"\1", kernel), "tasks": n}
                      for kernel, n in counts.items()], ["kernel", "tasks"])
    if sum(counts.values()) > _DRAWN or not shutil.which("dot"):
        return table
    return _picture(_coloured(dot, counts)) + table
