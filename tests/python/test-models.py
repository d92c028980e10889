#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Performance models of Python functions: measured, saved, drawn. On the machine that
the environment names. usage: test-models.py"""
import contextlib
import io
import json
import os
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree

from common import Skip, equal, raises, test_all

import starpu


def measure(symbol, sizes):
    """Runs tasks of that model until it is calibrated."""
    for n in sizes:
        for _ in range(11):
            starpu.task_submit(perfmodel=symbol, ret_fut=False, where="cpu")(
                sum, bytearray(n))
    starpu.task_wait_for_all()


def sizes_of(symbol):
    said = subprocess.run(["orrery", "perfmodel", "show", symbol, "--json"],
                          capture_output=True, text=True, check=True)
    (one,) = json.loads(said.stdout)["combinations"]
    return [entry["size"] for entry in one["implementations"][0]["entries"]]


def need_real_machine():
    if starpu.is_simulated():
        raise Skip("the machine is simulated, models stay as they are")


@contextlib.contextmanager
def a_folder():
    """Pictures come into the present one."""
    if not shutil.which("gnuplot"):
        raise Skip("there is no gnuplot")
    there = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(there)


def models_are_saved():
    need_real_machine()
    measure("python_saved", [10, 20, 40])
    starpu.save_history_based_model("python_saved")
    equal(sorted(sizes_of("python_saved")), [10, 20, 40])


def unknown_models_are_refused():
    raises(starpu.error, "no task has had the model `nowhere'",
           starpu.save_history_based_model, "nowhere")
    raises(TypeError, "str", starpu.save_history_based_model, 3)
    for wrong in ("", None, 3):
        raises(starpu.error, "no symbol|perfmodel=", starpu.perfmodel_plot,
               wrong)
    for wrong in ("nowhere", "-o", "../a"):
        raises(starpu.error, "perfmodel_plot: orrery: ", starpu.perfmodel_plot,
               wrong)


def models_are_drawn():
    symbol = "python_drawn"
    if starpu.is_simulated():
        symbol = "chol_model_gemm"  # the machine has it
    else:
        measure(symbol, [10, 20])  # drawn before the run has saved it
    with a_folder():
        with contextlib.redirect_stdout(io.StringIO()) as said:
            equal(starpu.perfmodel_plot(symbol), symbol + ".svg")
            equal(starpu.perfmodel_plot(symbol, view=False), symbol + ".svg")
        xml.etree.ElementTree.parse(symbol + ".svg")
    equal(said.getvalue(), symbol + ".svg\n")


def models_of_ended_runs_are_drawn():
    need_real_machine()
    measure("python_ended", [10, 20])
    starpu.shutdown()
    try:
        with a_folder():
            starpu.perfmodel_plot("python_ended", view=False)
    finally:
        starpu.init()


if __name__ == "__main__":
    # However busy the machine is, no measure is an outlier.
    os.environ["STARPU_HISTORY_MAX_ERROR"] = "1000000000"
    starpu.init()
    test_all([models_are_saved, unknown_models_are_refused, models_are_drawn,
              models_of_ended_runs_are_drawn])
