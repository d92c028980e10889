#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The example that is a notebook, executed from top to bottom in a folder of its own.

usage: test-notebook.py NOTEBOOK CHOLESKY     CHOLESKY is the program that it records
"""
import io
import os
import shutil
import sys
import tempfile
import xml.etree.ElementTree

from common import Skip, equal, need, test_all

NOTEBOOK, CHOLESKY = map(os.path.abspath, sys.argv[1:3])

cells = {}  # by name, once they are executed


def it_runs_from_top_to_bottom():
    nbformat, nbclient = need("nbformat"), need("nbclient")
    need("ipykernel")
    need("pandas")
    if not shutil.which("gnuplot"):
        raise Skip("there is no gnuplot")
    from jupyter_client.manager import AsyncKernelManager

    notebook = nbformat.read(NOTEBOOK, 4)
    for cell in notebook.cells:
        equal(cell.get("outputs", []), [])  # as it is kept: nothing to go stale
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(HOME=folder, CHOLESKY=CHOLESKY,
                          PYDEVD_DISABLE_FILE_VALIDATION="1")
        os.chdir(folder)
        # Sockets in the folder: other machines need not be kept away.
        manager = AsyncKernelManager(kernel_name="python3", transport="ipc")
        try:
            nbclient.NotebookClient(notebook, km=manager, timeout=100).execute()
        finally:
            os.chdir("/")
    cells.update((cell.id, cell) for cell in notebook.cells
                 if cell.cell_type == "code")


def output(name, kind):
    """What a cell shows, of that type."""
    if not cells:
        raise Skip("the notebook was not executed")
    for one in cells[name].outputs:
        if kind in one.get("data", {}):
            return one["data"][kind]
    raise AssertionError("%s shows no %s" % (name, kind))


def frames(html):
    """The tables of a text in HTML: a list of rows of texts for each."""
    root = xml.etree.ElementTree.fromstring("<div>%s</div>" % html.replace(
        "<style scoped>", "<style>"))
    return [[["".join(cell.itertext()).strip() for cell in row]
             for row in table.iter("tr")] for table in root.iter("table")]


def pictures_are_shown():
    for name in ("sweep-plot", "gpus", "compare"):
        picture = output(name, "image/svg+xml")
        xml.etree.ElementTree.parse(io.StringIO(picture))
        equal("dmdas" in picture, True)
    run = output("simulate", "text/html")
    equal(("<svg" in run, "chol_model_gemm" in run), (True, True))


def every_scheduler_has_a_row():
    (table,) = frames(output("sweep", "text/html"))
    equal(sorted({row[1] for row in table[1:]}),
          ["dmda", "dmdas", "eager", "lws"])
    equal(len(table), 9)


def its_own_scheduler_is_compared():
    (swept,) = frames(output("sweep", "text/html"))
    (ours,) = frames(output("table", "text/html"))
    equal(ours[0], ["scheduler", "./first_end.py", "dmda", "dmdas"])
    times = {(row[0], name): float(value)
             for row in ours[2:] for name, value in zip(ours[0][1:], row[1:])}
    for row in swept[1:]:
        if row[1] in ("dmda", "dmdas"):  # equal seeds, equal times
            found = times[row[0], row[1]]
            equal(abs(found - float(row[2])) < 1e-4 * found, True)
    for machine in ("h100-pcie-4", "rtx4090-2"):
        equal(0.5 < times[machine, "./first_end.py"]
              / times[machine, "dmdas"] < 2, True)


def the_bound_is_below():
    if not cells:
        raise Skip("the notebook was not executed")
    said = cells["why"].outputs[0]["text"]
    equal(1 <= float(said.split()[0]) < 10, True)


if __name__ == "__main__":
    test_all([it_runs_from_top_to_bottom, pictures_are_shown,
              every_scheduler_has_a_row, its_own_scheduler_is_compared,
              the_bound_is_below])
