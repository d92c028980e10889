#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""orrery-sys is what bindgen makes of the headers, lacks no function of the library, and a
crate of other people's that calls bindgen as starpu-sys does builds against an installed
prefix. TAP.

usage: test-rust-bindings.py GENERATE SYS_SRC INCLUDE LIBRARY RUSTC SYS_RLIB BUILD
"""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

TAP = Tap()
GENERATE, SYS_SRC, INCLUDE, LIBRARY, RUSTC, SYS_RLIB, BUILD = sys.argv[1:]
LIBRARY = os.path.abspath(LIBRARY)
SPEC = importlib.util.spec_from_file_location("generate", GENERATE)
generate = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(generate)


def read(*names):
    with open(os.path.join(*names), encoding="utf-8") as file:
        return file.read()


def run(*words, **settings):
    return subprocess.run(words, env=dict(os.environ, STARPU_SILENT="1", **settings),
                          capture_output=True, text=True, check=False, timeout=300)


def compile_rust(source, out, *words):
    return run(*RUSTC.split(), "--edition=2021", "-Awarnings", "-o", out, *words, source)


def functions_are_there():
    """Of what the library exports, and of what the headers have as macros."""
    bindings = read(SYS_SRC, "bindings.rs")
    have = set(re.findall(r"^    pub fn ((?:starpu|orrery)_\w+)\(", bindings, re.M))
    out = run("nm", "-D", "--defined-only", LIBRARY).stdout
    exported = set(re.findall(r" T ((?:starpu|orrery)_\w+)", out))
    # va_list is nothing in Rust; a few have types of CUDA's libraries, and are declared with
    # their headers alone.
    variable = set(re.findall(r"\b(starpu_\w+)\((?:[^;{}()]|\([^()]*\))*\bva_list\b",
                              "".join(read(INCLUDE, name) for name in os.listdir(INCLUDE)
                                      if name.endswith(".h"))))
    declared = set(re.findall(r"\b((?:starpu|orrery)_\w+)\s*\(",
                              "".join(read(INCLUDE, name) for name in os.listdir(INCLUDE)
                                      if name.endswith(".h") and "mpi" not in name)))
    cuda = {name for name in declared if re.match("starpu_cu(blas|solver)", name)}
    missing = (exported & declared) - have - variable - cuda
    TAP.claim(f"the bindings have the {len(exported & declared)} functions that are declared "
              "and exported, but those with va_list or CUDA's types", not missing and len(have) > 1000,
              *sorted(missing))
    # What a library with a policy of its own defines.
    unknown = {name for name in have - exported
               if not name.startswith("starpu_get_sched_lib_polic")}
    TAP.claim("the library has what the bindings declare", not unknown, *sorted(unknown))
    macros = set(re.findall(r"#define (STARPU_[A-Z0-9_]+_GET_[A-Z0-9_]+)\(",
                            read(INCLUDE, "starpu_data_interfaces.h")))
    accessors = set(re.findall(r"pub unsafe fn (\w+)\(", read(SYS_SRC, "accessors.rs")))
    TAP.claim(f"each of {len(macros)} macros that read an interface is a function",
              macros == accessors, *sorted(macros ^ accessors))
    masks = re.findall(r"#define (STARPU_\w+)\s+STARPU_WORKER_TO_MASK", read(INCLUDE,
                                                                           "starpu_task.h"))
    TAP.claim("masks are constants", len(masks) == 7 and
              all(f"pub const {mask}:" in bindings for mask in masks), *masks)


def are_current():
    bindings = generate.print_bindings(generate.bindgen(INCLUDE))
    remedy = "run bindings/rust/generate.py include bindings/rust/orrery-sys/src"
    here = read(SYS_SRC, "bindings.rs")
    TAP.claim("bindings.rs is what bindgen says", bindings == here, remedy,
              *[line for line in bindings.splitlines() if line not in here][:5])
    TAP.claim("accessors.rs is what the headers say",
              generate.accessors(INCLUDE, bindings) == read(SYS_SRC, "accessors.rs"), remedy)


def layouts(folder):
    source, program = os.path.join(folder, "layout.rs"), os.path.join(folder, "layout")
    tests = generate.layout_tests(INCLUDE)
    with open(source, "w", encoding="utf-8") as file:
        file.write(tests)
    done = compile_rust(source, program, "--test", "--extern", "orrery_sys=" + SYS_RLIB)
    if done.returncode == 0:
        done = run(program)
    n = tests.count("# [ test ]")
    TAP.claim(f"{n} structures lie as in C", done.returncode == 0 and n > 60 and
              f"{n} passed" in done.stdout, done.stdout[-2000:], done.stderr[-2000:])


def other_crate(folder):
    """As the build script of starpu-sys does it: the library by pkg-config, headers in a
    folder called starpu, bindgen's options."""
    done = run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--tags", "devel",
               "--destdir", folder)
    places = [parent for parent, _, names in os.walk(folder) if "libstarpu.pc" in names]
    if not places:
        TAP.claim("the headers are installed", False, done.stdout, done.stderr)
        return
    flags = run("pkg-config", "--cflags-only-I", "libstarpu", PKG_CONFIG_LIBDIR=places[0])
    TAP.claim("headers are in a folder called starpu", "/starpu/" in flags.stdout,
              flags.stdout, flags.stderr)
    sys_rs = os.path.join(folder, "sys.rs")
    with open(os.path.join(folder, "wrapper.h"), "w", encoding="utf-8") as file:
        file.write("#include <starpu.h>\n")
    # Types of others, which are crates' there, are made with ours, as no crates are here.
    words = ["bindgen", os.path.join(folder, "wrapper.h"), "--size_t-is-usize",
             "--allowlist-file", ".*/starpu/.*", "--blocklist-item", "STARPU_TASK_INIT",
             "--default-enum-style=consts", "--no-prepend-enum-name",
             "--use-array-pointers-in-arguments", "--with-derive-default", "-o", sys_rs, "--",
             *flags.stdout.split()]
    for place in generate.clang_folders():
        done = run(*words, **({"LIBCLANG_PATH": place} if place else {}))
        if done.returncode == 0:
            break
    TAP.claim("bindgen reads installed headers", done.returncode == 0, done.stderr[-3000:])
    with open(os.path.join(folder, "vector_scal.rs"), "w", encoding="utf-8") as file:
        file.write("#![allow(warnings)]\nmod sys { include!(\"sys.rs\"); }\n" +
                   read(HERE, "vector_scal_sys.rs").replace("use sys::*", "use crate::sys::*")
                   .replace("//!", "//"))
    program = os.path.join(folder, "vector_scal")
    done = compile_rust(os.path.join(folder, "vector_scal.rs"), program,
                        "-L" + os.path.dirname(LIBRARY), "-lorrery",
                        "-Clink-arg=-Wl,-rpath," + os.path.dirname(LIBRARY))
    if done.returncode == 0:
        done = run(program, STARPU_NCPU="1")
    TAP.claim("its program computes", done.stdout == "3.5\n", done.returncode, done.stdout,
              done.stderr[-3000:])
    done = run(program, ORRERY_MACHINE="h100-pcie-4", ORRERY_SIM_KERNELS="run",
               ORRERY_ASSUME="* = 5us")
    TAP.claim("simulated, too", done.stdout == "3.5\n", done.returncode, done.stderr[-3000:])


functions_are_there()
if generate.version() == generate.VERSION:
    are_current()
    with tempfile.TemporaryDirectory() as scratch:
        layouts(scratch)
        if shutil.which("pkg-config"):
            other_crate(scratch)
else:
    TAP.skip("bindings against bindgen's", f"bindgen {generate.VERSION} is not here: install "
             f"Debian 12's bindgen (here is {generate.version()})")
TAP.end()
