# SPDX-License-Identifier: LGPL-2.1-or-later
"""For tests of the Python modules: claims as functions, on the real machine or on
a simulated one, in this process; programs of their own."""
import gc
import os
import subprocess
import sys
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "unit"))

from tools_util import Result, Tap  # noqa: E402


class Skip(Exception):
    """Why a claim cannot be tested here."""


def need(module):
    """The module, or the claim is skipped."""
    try:
        return __import__(module)
    except ImportError:
        raise Skip("there is no " + module) from None


def equal(found, expected):
    if not found == expected:
        raise AssertionError("%r instead of %r" % (found, expected))


def raises(kind, words, function, *args, **kwargs):
    """The call raises such an exception, with these words in its message."""
    try:
        value = function(*args, **kwargs)
    except kind as error:
        for word in words.split("|"):
            if word not in str(error):
                raise AssertionError("%r does not say %r" % (str(error), word))
        return error
    raise AssertionError("%r instead of %s" % (value, kind.__name__))


def test_all(functions):
    """Each function's name is its claim."""
    tap = Tap()
    for function in functions:
        claim = function.__name__.replace("_", " ")
        try:
            function()
        except Skip as why:
            tap.skip(claim, str(why))
        except BaseException:
            tap.claim(claim, False, traceback.format_exc())
        else:
            tap.claim(claim, True)
        gc.collect()
    tap.end()


def program(text, *options, env=None, timeout=100, stdin=None):
    """Runs a Python program of its own."""
    words = [sys.executable, "-B", *options]
    if stdin is None:
        words += ["-c", text]
    done = subprocess.run(words, input=stdin, capture_output=True, text=True,
                          timeout=timeout, env={**os.environ, **(env or {})},
                          check=False)
    return Result("python3", done.returncode, done.stdout, done.stderr)
