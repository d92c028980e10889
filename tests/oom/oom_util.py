# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tests of commands without memory share: what lies in a folder, and which
allocations are refused."""
import os


def content(folder):
    """All files below a folder but locks, by name."""
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            if name != ".orrery-lock":
                path = os.path.join(where, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, folder)] = file.read()
    return found


def numbers(n, tried):
    """1 … n, or `tried` of them with the first and the last."""
    if tried is None or n <= tried:
        return range(1, n + 1)
    return sorted({1 + i * (n - 1) // (tried - 1) for i in range(tried)})
