#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A .cu file as C++ for the host: kernel<<<…>>>(…) becomes a call of host/.

usage: on_host.py INPUT.cu OUTPUT.cpp
"""
import re
import sys

if len(sys.argv) != 3:
    sys.exit(__doc__.strip())
with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
text, n = re.subn(r"(\w+)<<<(.*?)>>>\(", r"standin_kernel(\1, \2, ", text,
                  flags=re.DOTALL)
if n != text.count("standin_kernel("):
    sys.exit(f"{sys.argv[1]}: a call that is none of a kernel")
with open(sys.argv[2], "w", encoding="utf-8") as file:
    file.write(f'#include "cuda_runtime.h"\n#line 1 "{sys.argv[1]}"\n{text}')
