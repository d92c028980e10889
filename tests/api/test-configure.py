#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What meson says where libraries are missing: pkg-config finds nothing here (CMake, and
meson itself, still find some, such as expat). Prints TAP.

    test-configure.py SOURCE
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit"))
import tools_util as util # noqa: E402

# What asks for no other compiler, which takes long to be found.
FEW = [f"-D{name}=disabled" for name in ("fortran", "rust", "java", "mpi", "python")]


def configure(source, *options):
    """Whether it went well, and the text."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "PKG_CONFIG_LIBDIR": folder}
        env.pop("PKG_CONFIG_PATH", None)
        done = subprocess.run(["meson", "setup", os.path.join(folder, "build"), source, *FEW,
                               *options], env=env, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def tests(tap, source):
    well, text = configure(source, "-Dhdf5=enabled")
    tap.claim("without hwloc it stops, and names Debian's package and how to leave it out",
              not well and "-Dhwloc needs hwloc: install it (Debian: libhwloc-dev), or leave it "
              "out (-Dhwloc=disabled)" in text, text[-1000:])
    tap.claim("what else is missing is said with it",
              "-Dhdf5 needs HDF5: install it (Debian: libhdf5-dev)" in text, text[-1000:])
    tap.claim("what nobody asked for is not", "-Dtests needs" not in text and
              "-Dcommand needs" not in text, text[-1000:])
    well, text = configure(source, "-Dhwloc=disabled", "-Dsim=disabled", "-Dcommand=enabled")
    tap.claim("the command says each thing that it needs", not well and
              "-Dcommand needs jansson: install it (Debian: libjansson-dev)" in text and
              "-Dcommand needs hwloc: install it (Debian: libhwloc-dev, and -Dhwloc)" in text,
              text[-1000:])
    well, text = configure(source, "-Dhwloc=disabled", "-Dsim=disabled", "-Dhdf5=disabled")
    tap.claim("what was left out has a line with the option, what lacks one with the package",
              well and "NO: left out by -Dhwloc=disabled" in text and
              "NO: left out by -Dhdf5=disabled" in text and
              "NO: it needs OpenBLAS and LAPACKE (libopenblas-dev)" in text, text[-3000:])


def main():
    tap = util.Tap()
    tests(tap, os.path.abspath(sys.argv[1]))
    tap.end()


if __name__ == "__main__":
    main()
