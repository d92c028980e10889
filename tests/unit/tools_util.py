# SPDX-License-Identifier: LGPL-2.1-or-later
"""For tests in Python: claims as TAP, programs and what they say, the models of
make-models.py, model files as numbers, data that are not in the tree."""
import importlib.util
import math
import os
import pty
import subprocess
import sys

sys.dont_write_bytecode = True


def load_models():
    """make-models.py as a module; the dash keeps `import` from it."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "make-models.py")
    spec = importlib.util.spec_from_file_location("make_models", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Result:
    """What a program said and how it ended."""

    def __init__(self, words, code, out, err):
        self.words, self.code, self.out, self.err = words, code, out, err

    def __str__(self):
        return "%s ended with %d\n%s%s" % (self.words, self.code, self.out,
                                           self.err)


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def claim(self, text, passed, *details):
        """What a failure says: a Result, or anything that can be printed."""
        self.n += 1
        print("%s %d - %s" % ("ok" if passed else "not ok", self.n, text))
        if not passed:
            self.failed += 1
            for line in "\n".join(map(str, details)).splitlines()[:40]:
                print("# " + line)
        sys.stdout.flush()

    def skip(self, text, why):
        self.n += 1
        print("ok %d - %s # SKIP %s" % (self.n, text, why))

    def end(self):
        print("1..%d" % self.n)
        sys.exit(1 if self.failed else 0)


def clean_environment(sampling, host, **more):
    """This process's, without what would lead to other models."""
    keep = {key: value for key, value in os.environ.items()
            if not key.startswith("STARPU_") and key != "ORRERY_MACHINE"}
    home = os.path.join(sampling, "home")
    keep.update(STARPU_PERF_MODEL_DIR=sampling, STARPU_HOME=home,
                STARPU_HOSTNAME=host, **more)
    return keep


def run(program, *arguments, env=None, timeout=100):
    words = [program, *map(str, arguments)]
    done = subprocess.run(words, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=timeout, encoding="utf-8", check=False)
    return Result(words, done.returncode, done.stdout, done.stderr)


def on_terminal(words, cwd, env=None):
    """The exit code of a command whose output is a terminal, and what it shows there."""
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=theirs,
                              stderr=theirs, cwd=cwd, env=env, check=False)
        os.set_blocking(ours, False)
        try:
            return done.returncode, os.read(ours, 1 << 16).decode()
        except BlockingIOError:
            return done.returncode, ""
    finally:
        os.close(ours)
        os.close(theirs)


def numbers(path):
    """All numbers of a model file in order, comments left out; NaN as "nan",
    so that lists compare."""
    found = []
    with open(path, encoding="ascii") as file:
        for line in file:
            for word in line.split("#")[0].split():
                try:
                    value = float(word)
                except ValueError:
                    value = float(int(word, 16))
                found.append("nan" if math.isnan(value) else value)
    return found


def shared_folder():
    """Where data are that are not part of the project; it may be missing."""
    tree = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    return os.path.abspath(os.environ.get("ORRERY_SHARED") or
                           os.path.join(tree, "..", "shared"))


def shared_models(shared):
    """Paths of the shared model files, [] without them."""
    folder = os.path.join(shared, "sampling", "codelets", "45")
    if not os.path.isdir(folder):
        return []
    return sorted(os.path.join(folder, name) for name in os.listdir(folder))
