# SPDX-License-Identifier: LGPL-2.1-or-later
"""Performance models, through the command that knows them."""

import subprocess

from .starpupy import error


def perfmodel_plot(perfmodel, view=True):
    """Draws the performance model of a symbol: PERFMODEL.svg in the present folder,
    by `orrery perfmodel plot`. Returns the file's name, and prints it unless view
    is false."""
    picture = f"{perfmodel}.svg"
    try:
        done = subprocess.run(
            ["orrery", "perfmodel", "plot", perfmodel, "-o", picture],
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
