#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes files as C string constants: embed.py OUTPUT NAME=FILE..."""
import sys


def constant(name, path):
    with open(path) as f:
        lines = f.read().splitlines()
    lines = [line for line in lines if not line.startswith('#pragma once') and
             not line.startswith('#include "')]
    quoted = ('    "' + line.replace('\\', '\\\\').replace('"', '\\"') + '\\n"'
              for line in lines)
    return 'static const char %s[] =\n%s;\n' % (name, '\n'.join(quoted))


with open(sys.argv[1], 'w') as out:
    for argument in sys.argv[2:]:
        out.write(constant(*argument.split('=', 1)))
