# SPDX-License-Identifier: LGPL-2.1-or-later
"""Performance models, through the command that knows them."""

import os
import subprocess

from . import starpupy
from .starpupy import error


def _machine():
    """The options that say whose models are meant."""
    if starpupy.is_simulated():
        return ["-m", os.environ["ORRERY_MACHINE"]]
    return []


def perfmodel_plot(perfmodel, view=True):
    """Draws the performance model of a symbol: PERFMODEL.svg in the present folder,
    by `orrery perfmodel plot`, with what this run has measured so far; simulated,
    that of the machine. Returns the file's name, and prints it unless view is
    false."""
    if not isinstance(perfmodel, str) or not perfmodel:
        raise error(f"perfmodel_plot: {perfmodel!r} is no symbol of a "
                    "performance model: name one that was given as perfmodel=")
    if starpupy._is_open() and not starpupy.is_simulated():
        starpupy._save_model(perfmodel)
    picture = f"{perfmodel}.svg"
    try:
        done = subprocess.run(
            ["orrery", "perfmodel", "plot", *_machine(), "-o", picture, "--",
             perfmodel],
            capture_output=True, text=True, check=False,
        )
    except FileNotFoundError as missing:
        raise error("perfmodel_plot: the command orrery is not found: source "
                    "orrery-env first") from missing
    if done.returncode != 0:
        raise error(f"perfmodel_plot: {done.stderr.strip()}")
    if view:
        print(picture)
    return picture
