#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a file as the numbers of its bytes, for an array in C.

usage: embed.py FILE HEADER
"""
import sys

with open(sys.argv[1], "rb") as source, open(sys.argv[2], "w", encoding="ascii") as header:
    header.write(",".join(str(byte) for byte in source.read()) + "\n")
