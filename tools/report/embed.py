#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The frame of the page of `orrery report`, or `orrery watch`: its styles and programs in one
file.

usage: embed.py TO D3.js EMBED.py PAGE.html STYLE.css ... PROGRAM.js ...
"""
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    if len(sys.argv) < 7:
        sys.exit(__doc__.strip())
    to, library, _, page, *others = sys.argv[1:]
    styles = [path for path in others if path.endswith(".css")]
    programs = [path for path in others if path.endswith(".js")]
    parts = {
        "STYLE": "".join(map(read, styles)),
        "LIBRARY": read(library),
        "PROGRAMS": '"use strict";\n' + "\n".join(map(read, programs)),
    }
    for name, text in parts.items():
        if "</script" in text or "</style" in text:
            sys.exit(f"{name} would end the element that it stands in")
    text = re.sub(r"@(STYLE|LIBRARY|PROGRAMS)@", lambda m: parts[m[1]], read(page))
    with open(to, "w", encoding="utf-8") as file:
        file.write(text)


main()
