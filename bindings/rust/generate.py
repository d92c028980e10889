#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the files of orrery-sys that are made of the headers.

usage: generate.py INCLUDE_FOLDER SYS_SRC_FOLDER
           writes bindings.rs (by bindgen) and accessors.rs there
       generate.py --layout-tests INCLUDE_FOLDER FILE
           writes bindgen's tests of sizes and offsets, for a program that uses orrery_sys

bindgen is Debian 12's (0.60); what it says is printed an item a line, so that it needs no
rustfmt and a difference is easy to read.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VERSION = "0.60.1"
HEADER = """// SPDX-License-Identifier: LGPL-2.1-or-later
// Made by bindings/rust/generate.py of the headers in include/: do not edit.
"""
TOKEN = re.compile(r'b?"(?:[^"\\]|\\.)*"|\w+|::|->|=>|&&|\|\||\.\.|[=!<>]=|.', re.S)
# Blocked: what is both a macro and an enumerator. Opaque: what has unions of the system's.
OPTIONS = ["--no-rustfmt-bindings", "--no-doc-comments", "--size_t-is-usize",
           "--no-recursive-allowlist", "--blocklist-item", "STARPU_TASK_INIT",
           "--opaque-type", "starpu_(pthread|sem)_.*", "--default-enum-style=consts",
           "--no-prepend-enum-name", "--with-derive-default"]


def version():
    """Of bindgen; None without."""
    if not shutil.which("bindgen"):
        return None
    said = subprocess.run(["bindgen", "--version"], capture_output=True, text=True,
                          check=False).stdout
    return said.split()[-1] if said.split() else None


def clang_folders():
    """Where a libclang lies beside the headers of its own version; None: where bindgen
    looks by itself. One of another version than the headers fails in these."""
    if "LIBCLANG_PATH" in os.environ:
        return [None]
    found = [folder for folder in glob.glob("/usr/lib/llvm-*/lib")
             if glob.glob(folder + "/libclang*.so*") and
             glob.glob(folder + "/clang/*/include/stddef.h")]
    return sorted(found, key=lambda name: int(re.search(r"llvm-(\d+)", name)[1])) + [None]


def bindgen(include):
    """What it says of our headers, as one text. SystemExit: with its message."""
    include = os.path.abspath(include)
    words = ["bindgen", os.path.join(HERE, "wrapper.h"), *OPTIONS,
             "--allowlist-file", re.escape(include) + "/.*",
             "--allowlist-file", re.escape(os.path.join(HERE, "opaque")) + "/.*",
             "--", "-I" + os.path.join(HERE, "opaque"), "-I" + include, "-D_ORR_LEAN",
             "-DSTARPU_HAVE_HWLOC", "-DSTARPU_PARALLEL_WORKER"]
    for folder in clang_folders():
        env = dict(os.environ, **({"LIBCLANG_PATH": folder} if folder else {}))
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout
    sys.exit("bindgen: " + done.stderr)


def items(text):
    """The items at the top, each a list of tokens."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r":: std :: (os :: raw|option) :: ", "", text)
    item, depth = [], 0
    for token in TOKEN.findall(text):
        if token.isspace():
            continue
        item.append(token)
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token, 0)
        if depth == 0 and token in (";", "}"):
            yield item
            item = []


def spaced(tokens):
    """A line of Rust. Every < is of a type: what compares is our own (platform.rs)."""
    line, before = "", ""
    for token in tokens:
        tight = (not line or token in (",", ";", ")", "]", ".", ":", ">", "?", "(", "[")
                 or token == "<" or before in ("(", "[", ".", "&", "!", "#", "<", "*")
                 or (token == "::" and before not in ("->", ":", "=", "as", ",", "{", "*", "for"))
                 or before == "::" or (token == "!" and before not in ("=",)))
        if token == "(" and before in ("->", "=", ":", ",", "=>", "{", "as"):
            tight = False
        if token == "[" and before in ("->", "=", ":", ",", "{"):
            tight = False
        line += token if tight else " " + token
        before = token
    return line.replace(", }", " }").replace(",)", ")")


def body_of(item):
    """What stands before the outer braces, and what stands in them."""
    start = item.index("{")
    return item[:start], item[start + 1:-1]


def split(tokens, separator):
    part, depth = [], 0
    for token in tokens:
        depth += {"(": 1, "[": 1, "{": 1, "<": 1, ")": -1, "]": -1, "}": -1,
                  ">": -1}.get(token, 0)
        if token == separator and depth == 0:
            yield part
            part = []
        else:
            part.append(token)
    if part:
        yield part


def is_test(item):
    return item[:4] == ["#", "[", "test", "]"]


def is_helper(item):
    """bindgen's own types, of which platform.rs has what is needed."""
    at = item.index("impl" if item[0] == "impl" else "struct") if "struct" in item or \
        item[0] == "impl" else len(item)
    names = item[at:item.index("{", at)] if "{" in item[at:] else item[at:]
    return any(name.startswith("__Bindgen") or name.startswith("__Incomplete")
               for name in names)


def attributes(item):
    """Its attributes, a list, and the rest."""
    found = []
    while item[0] == "#":
        end = item.index("]") + 1
        found.append(spaced(item[:end]))
        item = item[end:]
    return found, item


def print_item(item, out):
    found, item = attributes(item)
    out += found
    if "struct" in item[:2] and item[-1] == "}":
        head, fields = body_of(item)
        out.append(spaced(head) + " {")
        out += ["    " + spaced(field) + "," for field in split(fields, ",")]
        out.append("}")
    elif item[0] == "impl":
        head, methods = body_of(item)
        out.append(spaced(head) + " {")
        method, depth = [], 0
        for token in methods:
            method.append(token)
            depth += {"{": 1, "}": -1}.get(token, 0)
            if token == "}" and depth == 0:
                its, rest = attributes(method) if method[0] == "#" else ([], method)
                out += ["    " + text for text in its]
                out.append("    " + spaced(rest))
                method = []
        out.append("}")
    else:
        out.append(spaced(item))


def print_bindings(text):
    out, functions, statics = [], [], []
    for item in items(text):
        if is_test(item) or is_helper(item):
            continue
        if item[0] == "extern":
            inside = body_of(item)[1]
            if "__va_list_tag" not in inside:
                (statics if "static" in inside else functions).append(spaced(inside))
        else:
            print_item(item, out)
    return HEADER + "use super::platform::*;\nuse std::os::raw::*;\n\n" + \
        "\n".join(out + ['extern "C" {'] +
                              ["    " + line for line in statics + functions] +
                              ["}"]) + "\n"


def layout_tests(include):
    """bindgen's tests of our structures: those of others are in platform.rs."""
    out = [HEADER + "#![allow(deref_nullptr, non_snake_case, dead_code)]", "use orrery_sys::*;"]
    for item in items(bindgen(include)):
        if is_test(item):
            out.append(" ".join(item).replace("= =", "=="))
    return "\n".join(out) + "\n"


ACCESSOR = re.compile(
    r"^#define (STARPU_[A-Z0-9_]+_GET_[A-Z0-9_]+)\((?:interface|id)\)[\s\\]*"
    r"\(*\((?:struct )?(starpu_\w+_interface) \*\)\(?(?:interface|id)\)*->\s*(\w+)\)?\s*$", re.M)


def accessors(include, bindings):
    """A function for each macro that reads a field of an interface."""
    types = dict()
    for struct, fields in re.findall(r"pub struct (\w+) \{\n(.*?)\n\}", bindings, re.S):
        for field, what in re.findall(r"pub (\w+): (.*),", fields):
            types[struct, field] = what
    out = [HEADER + "use super::bindings::*;\nuse std::os::raw::c_void;\n"]
    with open(os.path.join(include, "starpu_data_interfaces.h"), encoding="utf-8") as file:
        text = file.read().replace("\\\n", " ")
    for name, struct, field in ACCESSOR.findall(re.sub(r"[ \t]+", " ", text)):
        field = field + "_" if field in ("type", "where") else field
        what = types[struct, field]
        out.append(f"""/// `{field}` of a `{struct}`.
///
/// # Safety
/// `interface` points to one.
#[inline]
pub unsafe fn {name}(interface: *const c_void) -> {what} {{
    (*(interface as *const {struct})).{field}
}}
""")
    return "\n".join(out)


def main():
    if sys.argv[1] == "--layout-tests":
        with open(sys.argv[3], "w", encoding="utf-8") as file:
            file.write(layout_tests(sys.argv[2]))
        return
    include, folder = sys.argv[1:]
    if version() != VERSION:
        sys.exit(f"bindgen {VERSION} is needed (Debian 12's), here is {version()}")
    bindings = print_bindings(bindgen(include))
    for name, text in (("bindings.rs", bindings), ("accessors.rs", accessors(include, bindings))):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
