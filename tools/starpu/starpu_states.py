# SPDX-License-Identifier: LGPL-2.1-or-later
"""What starpu_paje_state_stats, _draw_histogram and _summary share: their command
line, and the states that it selects."""
import collections
import os

from starpu_traces import Failed, Paje

Options = collections.namedtuple("Options", "paths low high names show")


def read_range(text):
    low, _, high = text.partition(":")
    try:
        limits = [None if float(limit) == -1 else float(limit) for limit in (low, high)]
    except ValueError as error:
        raise Failed(f"-r takes FROM:TO in ms, not {text}", 3) from error
    low = float("-inf") if limits[0] is None else limits[0]
    high = float("inf") if limits[1] is None else limits[1]
    if not low <= high: # nor for what is no number
        raise Failed(f"-r takes FROM:TO in ms, FROM first, not {text}", 3)
    return low, high


def read_command(words):
    paths, names, show = [], None, False
    low, high = float("-inf"), float("inf")
    words = list(words)
    while words:
        word = words.pop(0)
        if word in ("-r", "-n"):
            if not words:
                raise Failed(f"{word} takes a value; see --help", 3)
            if word == "-r":
                low, high = read_range(words.pop(0))
            else:
                names = set(words.pop(0).split(","))
        elif word == "-v":
            show = True
        elif word.startswith("-"):
            raise Failed(f"{word} is not understood; see --help", 3)
        else:
            paths.append(word)
    if not paths:
        raise Failed("which traces? See --help", 2)
    for path in paths:
        if not os.path.exists(path):
            raise Failed(f"{path} is not there", 5)
    return Options(paths, low, high, names, show)


def states_of(path, options):
    """(container, type, start, end, depth, value) of those that are selected."""
    return [state for state in Paje(path).profiled()
            if state[2] >= options.low and state[3] <= options.high and
            (options.names is None or state[5] in options.names)]


def states_of_all(options):
    """Of each trace. Names that none has are a mistake."""
    everything = [states_of(path, options._replace(names=None)) for path in options.paths]
    there = {state[5] for states in everything for state in states}
    if options.names is not None and not options.names <= there:
        raise Failed("there is no state " + ", ".join(sorted(options.names - there)) +
                     "; there are " + (", ".join(sorted(there)) or "none"))
    return [[state for state in states
             if options.names is None or state[5] in options.names]
            for states in everything]
