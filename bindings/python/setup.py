# SPDX-License-Identifier: LGPL-2.1-or-later
"""For pip: builds the extension modules against the Orrery that pkg-config finds, one
that is installed or, with orrery-env sourced, in its build folder. What the library
itself needs (its modules, the catalogue, the command) stays where that is."""

import glob
import subprocess
import sys

from setuptools import Extension, setup


def pkg_config(*options):
    """What pkg-config says of orrery, as words."""
    try:
        done = subprocess.run(["pkg-config", *options, "orrery"], check=True,
                              capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        sys.exit("orrery is not found by pkg-config: source orrery-env first, "
                 "that of the build folder or of the installation")
    return done.stdout.split()


def extension(name, sources, depends=()):
    return Extension(
        name, sources=sorted(sources), depends=sorted(depends),
        extra_compile_args=[*pkg_config("--cflags"), "-D_GNU_SOURCE",
                            "-std=gnu11", "-Wno-discarded-qualifiers",
                            "-fvisibility=hidden"],
        extra_link_args=pkg_config("--libs"),
        runtime_library_dirs=pkg_config("--variable=orrery_libdir"),
    )


setup(ext_modules=[
    extension("starpu.starpupy", glob.glob("starpupy/*.c"),
              glob.glob("starpupy/*.h")),
    extension("orrery._replay", ["orrery/_replay.c"]),
])
