#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Links in a build folder, so that it has the folders of an installation that pkg-config's
files name: INCLUDEDIR/starpu/1.4 is the sources' include/, LIBDIR the build folder itself.
Called when that is configured.

usage: build_layout.py BUILD_FOLDER SOURCE_ROOT INCLUDEDIR LIBDIR
"""
import os
import sys


def link(path, target):
    """A symbolic link at path, made anew where it leads elsewhere."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.islink(path):
        if os.readlink(path) == target:
            return
        os.remove(path)
    if not os.path.lexists(path):
        os.symlink(target, path)


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__.strip())
    build, source, includedir, libdir = sys.argv[1:]
    if not os.path.isabs(includedir):
        link(os.path.join(build, includedir, "starpu", "1.4"),
             os.path.join(source, "include"))
    if not os.path.isabs(libdir):
        path = os.path.join(build, libdir)
        link(path, os.path.relpath(build, os.path.dirname(path)))


if __name__ == "__main__":
    main()
