# SPDX-License-Identifier: LGPL-2.1-or-later
"""The `orrery` command, which does the work in a process of its own: a simulation
that fails ends nothing else, and as many run at once as there are processors."""

import json
import os
import subprocess


class Error(Exception):
    """What a command says was wrong."""


def run(*words, env=None, good=(0,)):
    """Runs `orrery WORDS` and returns its standard output. Error if it fails: if it
    does not end with one of the codes `good`."""
    words = [str(word) for word in words]
    try:
        done = subprocess.run(
            ["orrery", *words], capture_output=True, text=True, check=False,
            env={**os.environ, **env} if env else None,
        )
    except FileNotFoundError as missing:
        raise Error("the command orrery is not found: source orrery-env "
                    "first") from missing
    if done.returncode not in good:
        said = done.stderr.strip() or f"it ended with {done.returncode}"
        raise Error(f"orrery {words[0]}: {said}")
    return done.stdout


def run_json(*words, env=None, good=(0,)):
    """The same of a command that prints JSON."""
    text = run(*words, env=env, good=good)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Error(f"orrery {words[0]}: it printed no JSON: "
                    f"{text[:200]!r}") from error
