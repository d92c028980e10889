# SPDX-License-Identifier: LGPL-2.1-or-later
"""A worker of the pool: simulates what it reads, until its standard input ends."""

import os
import pickle
import signal
import sys

from ._command import Error
from ._simulation import play


def _answer(request):
    case, environment, folder = request
    if environment != dict(os.environ):
        os.environ.clear()
        os.environ.update(environment)
    try:
        os.chdir(folder)
        return "done", play(case)
    except (Error, OSError) as error:
        return "error", str(error)


def serve():
    """Requests and answers are pickled. What is printed goes to the standard error
    output: the other one has the answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who has started it ends it
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests = sys.stdin.buffer
    while True:
        try:
            request = pickle.load(requests)
        except EOFError:
            return
        pickle.dump(_answer(request), answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
