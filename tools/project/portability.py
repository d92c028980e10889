#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds as others have them, with some tests of each. Called by ./check --full.

usage: portability.py SOURCE FOLDER ROW...
       portability.py --list
Each ROW is configured and built in a folder of FOLDER of its own, with warnings as
errors, and its tests are run there. Prints TAP; what this machine lacks is skipped, with
the name of Debian's package.
  compilers       clang-O0 gcc-O3 clang-O3
  left out        without-OPTION of meson_options.txt: configured, said, built
  processors      aarch64 s390x riscv64: Debian's cross compilers, and its libraries for
                  these in a folder, without installing any; tests run by qemu-user
  surroundings    of the build in FOLDER/..: one-cpu no-home no-sys comma-locale
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Of a build for tests of the library; what is in other languages has tests of its own.
FEW = [f"-D{option}=disabled" for option in
       ("mpi", "python", "fortran", "rust", "java", "opencl", "simgrid", "hdf5")]
# What stands for the library and the commands in all rows: programs with suites of Check.
SUITES = ("test-unit", "test-unit-runtime", "test-unit-sched")
LEFT_OUT = {"sim": "simulation", "simgrid": "SimGrid as its network", "hdf5": "disks of HDF5",
            "packed": "packed machines", "bound": "bounds", "hwloc": "binding and topology by hwloc",
            "command": "orrery command", "opencl": "OpenCL programs on it",
            "examples": "examples", "mpi": "ranks of MPI", "python": "Python modules",
            "fortran": "module orrery of Fortran", "rust": "crate orrery of Rust",
            "java": "Java package", "tests": "tests", "report": "page of orrery report",
            "handbook": "handbook"}
COMPILERS = {"clang-O0": ("clang", "0"), "gcc-O3": ("gcc", "3"), "clang-O3": ("clang", "3")}
# By processor: Debian's name of it, meson's endianness, the word of compilers. riscv64 is
# no architecture of Debian 12: there are no libraries but C's.
PROCESSORS = {"aarch64": ("arm64", "little", "aarch64-linux-gnu"),
              "s390x": ("s390x", "big", "s390x-linux-gnu"),
              "riscv64": (None, "little", "riscv64-linux-gnu")}
SURROUNDINGS = {
    "one-cpu": (["taskset", "-c", "0"], {}, "taskset"),
    "no-home": (["env", "-u", "HOME", "-u", "STARPU_HOME", "-u", "XDG_CACHE_HOME"], {}, "env"),
    "no-sys": (["unshare", "--map-root-user", "--mount", "sh", "-c",
                "mount -t tmpfs none /sys && exec \"$@\"", "sh"], {}, "unshare"),
    "comma-locale": ([], {"LC_ALL": "de_DE.UTF-8"}, "locale")}
LIBRARIES = ("check", "libarchive-dev", "libc6-dev", "libexpat1-dev", "libgcc-12-dev",
             "libglpk-dev", "libhwloc-dev", "libjansson-dev", "libopenblas-dev",
             "libstdc++-12-dev", "libyaml-dev", "linux-libc-dev")


# What cannot run by qemu-user: hwloc shows this machine there, not the file that it is given.
NOT_EMULATED = {"discover"}


class Skip(Exception):
    """What is missing, in words."""


class Failed(Exception):
    """What went wrong: the last lines that were said."""


def run(words, **more):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **more)
    text = done.stdout.decode(errors="replace")
    if done.returncode:
        raise Failed(f"{' '.join(words)[:300]} ended with {done.returncode}\n" +
                     "\n".join(text.splitlines()[-40:]))
    return text


def need(program, package):
    if not shutil.which(program):
        raise Skip(f"there is no {program}: package {package}")


def configure(source, build, options, env=None):
    """What meson says; a build of another time is taken as it is."""
    if os.path.exists(os.path.join(build, "build.ninja")):
        return run(["meson", "configure", build], env=env)
    return run(["meson", "setup", build, source, "-Dwerror=true", *options], env=env)


def tests_of(build):
    """Of the suites that all rows run: names by program; and what they need beside it."""
    found, needs = {}, set()
    for test in json.loads(run(["meson", "introspect", "--tests", build])):
        program = next((word for word in test["cmd"] if os.path.basename(word) in SUITES), None)
        if program and "full" not in {suite.split(":")[-1] for suite in test["suite"]}:
            found.setdefault(os.path.relpath(program, build), []).append(test["name"])
            needs.update(test["depends"])
    made = {target["id"]: target["filename"][0] for target in targets_of(build)}
    return found, [os.path.relpath(made[name], build) for name in needs]


def targets_of(build):
    """What meson says of the targets."""
    return json.loads(run(["meson", "introspect", "--targets", build]))


def modules_of(build):
    """The shared objects that programs open."""
    return [os.path.relpath(target["filename"][0], build) for target in targets_of(build)
            if target["type"] in ("shared module", "shared library") and
            os.path.dirname(target["filename"][0]) == os.path.realpath(build)]


def build_and_test(build, timeout=4, more=(), left_out=frozenset()):
    """How many tests have passed."""
    tests, needed = tests_of(build)
    if not tests:
        raise Failed(f"{build} has no tests")
    run(["ninja", "-C", build, *modules_of(build), *tests, *needed, *more])
    names = [name for program in tests.values() for name in program if name not in left_out]
    run(["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", "-t",
         str(timeout), "--suite", "unit", *names], env={**os.environ, "CK_TIMEOUT_MULTIPLIER": str(timeout)})
    return len(names)


def compilers_row(source, folder, name):
    compiler, level = COMPILERS[name]
    need(compiler, compiler)
    build = os.path.join(folder, name)
    configure(source, build, [*FEW, f"-Doptimization={level}", "-Ddebug=false"],
              {**os.environ, "CC": compiler, "CXX": {"clang": "clang++", "gcc": "g++"}[compiler]})
    return f"{build_and_test(build)} suites"


def left_out_row(source, folder, name):
    option = name[len("without-"):]
    build = os.path.join(folder, name)
    few = [word for word in FEW if not word.startswith(f"-D{option}=")]
    text = configure(source, build, [*few, f"-D{option}=disabled"])
    said = LEFT_OUT[option]
    if "Features" in text and not re.search(rf"{re.escape(said)} *: NO: ", text):
        raise Failed(f"-D{option}=disabled: nothing says that there is no {said}\n{text[-3000:]}")
    tests, needed = tests_of(build)
    run(["ninja", "-C", build, *modules_of(build), *tests, *needed])
    return f"{len(tests)} programs of tests"


def sysroot(folder, architecture):
    """A folder with Debian's libraries for another processor."""
    root = os.path.join(folder, "root-" + architecture)
    if os.path.exists(os.path.join(root, "whole")):
        return root
    shutil.rmtree(root, ignore_errors=True)
    apt = os.path.join(root, "apt")
    for name in "lists/partial", "archives/partial":
        os.makedirs(os.path.join(apt, name))
    with open(os.path.join(apt, "status"), "wb"):
        pass
    settings = {"APT::Architecture": architecture, "APT::Architectures::": architecture,
                "APT::Install-Recommends": "0", "Debug::NoLocking": "1",
                "Dir::State::Lists": f"{apt}/lists", "Dir::State::status": f"{apt}/status",
                "Dir::Cache": apt, "Dir::Cache::archives": f"{apt}/archives",
                "APT::Sandbox::User": "root"}
    command = ["apt-get", "-qq", "-y"]
    for key, value in settings.items():
        command += ["-o", f"{key}={value}"]
    try:
        run([*command, "update"])
        run([*command, "--download-only", "install", *LIBRARIES])
    except Failed as failed:
        raise Skip(f"Debian's libraries for {architecture} cannot be had: "
                   f"{str(failed).splitlines()[-1]}") from failed
    for name in os.listdir(f"{apt}/archives"):
        if name.endswith(".deb"):
            run(["dpkg-deb", "-x", f"{apt}/archives/{name}", root])
    for where, folders, names in os.walk(root): # which lead to this machine's
        for name in folders + names:
            path = os.path.join(where, name)
            if os.path.islink(path) and os.readlink(path).startswith("/"):
                target = root + os.readlink(path)
                os.unlink(path)
                os.symlink(target, path)
    shutil.rmtree(apt)
    with open(os.path.join(root, "whole"), "wb"):
        pass
    return root


def cross_file(folder, name, root):
    """For meson: the compilers, and who runs what they make."""
    _, endian, word = PROCESSORS[name]
    libraries = f"{root}/usr/lib/{word}"
    flags = [f"--sysroot={root}"] if root else []
    lines = ["[binaries]", *(f"{language} = '{word}-{compiler}'" for language, compiler in
                             (("c", "gcc"), ("cpp", "g++"), ("ar", "ar"), ("strip", "strip"),
                              ("nm", "nm"))),
             "pkgconfig = 'pkg-config'",
             f"exe_wrapper = ['qemu-{name}', '-L', '{root or f'/usr/{word}'}']",
             "[built-in options]", f"c_args = {flags}", f"cpp_args = {flags}",
             f"c_link_args = {flags}", f"cpp_link_args = {flags}",
             "[properties]",
             f"pkg_config_libdir = ['{libraries}/pkgconfig', '{root}/usr/share/pkgconfig', "
             f"'{libraries}/openblas-pthread/pkgconfig']" if root else
             "pkg_config_libdir = ['/nonexistent']",
             *([f"sys_root = '{root}'"] if root else []),
             "[host_machine]", "system = 'linux'", f"cpu_family = '{name}'", f"cpu = '{name}'",
             f"endian = '{endian}'"]
    path = os.path.join(folder, name + ".cross")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path


def processors_row(source, folder, name):
    architecture, _, word = PROCESSORS[name]
    need(f"{word}-gcc", f"gcc-{word.replace('_', '-')}")
    need(f"{word}-g++", f"g++-{word.replace('_', '-')}")
    need(f"qemu-{name}", "qemu-user")
    root = sysroot(folder, architecture) if architecture else None
    build = os.path.join(folder, name)
    options = [*FEW, "-Doptimization=1", "-Ddebug=false",
               "--cross-file", cross_file(folder, name, root)]
    if not root:
        options += [f"-D{option}=disabled" for option in
                    ("sim", "packed", "bound", "hwloc", "command", "examples", "tests")]
    configure(source, build, options)
    if not root:
        return real_run(source, build, name)
    n = build_and_test(build, timeout=20, more=["examples/vector_scal"], left_out=NOT_EMULATED)
    env = {**os.environ, "ORRERY_MACHINE": os.path.join(source, "tests/api/gpus.xml"),
           "ORRERY_ASSUME": "* = 100us", "ORRERY_MODULE_DIR": build,
           "QEMU_LD_PREFIX": root}
    run([f"qemu-{name}", "-L", root, os.path.join(build, "examples/vector_scal")], env=env)
    return f"{n} suites and a simulation, without {' '.join(sorted(NOT_EMULATED))}"


def real_run(source, build, name):
    """A program on the workers of the processor, of the library alone."""
    library = next(target["filename"][0] for target in targets_of(build)
                   if target["name"] == "orrery" and target["type"] == "shared library")
    run(["ninja", "-C", build, os.path.relpath(library, build)])
    word = PROCESSORS[name][2]
    with tempfile.TemporaryDirectory(prefix="orrery-") as top:
        program = os.path.join(top, "program")
        run([f"{word}-gcc", "-o", program, os.path.join(source, "tests/unit/odd-tasks.c"),
             f"-I{source}/include", f"-I{build}/include", f"-L{build}", "-lorrery",
             f"-Wl,-rpath,{build}"])
        run([f"qemu-{name}", "-L", f"/usr/{word}", program, "plain", "20"],
            env={**os.environ, "STARPU_HOME": top, "STARPU_NCPU": "2"})
    return "a program with the library"


def surroundings_row(_, folder, name):
    wrapper, variables, program = SURROUNDINGS[name]
    need(program, "util-linux or locales")
    if name == "comma-locale" and run(["locale", "decimal_point"],
                                      env={**os.environ, **variables}).splitlines()[-1] != ",":
        raise Skip("there is no locale de_DE.UTF-8: package locales-all")
    if wrapper and subprocess.run([*wrapper, "true"], capture_output=True,
                                  check=False).returncode:
        raise Skip(f"{program} is not allowed here")
    build = os.path.dirname(os.path.abspath(folder))
    tests, _ = tests_of(build)
    names = [name for program in tests.values() for name in program]
    run([*wrapper, "meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", "--logbase",
         f"testlog-{name}", "--suite", "unit", *names], env={**os.environ, **variables})
    return f"{len(names)} suites"


def rows():
    kinds = {name: compilers_row for name in COMPILERS}
    kinds |= {f"without-{option}": left_out_row for option in LEFT_OUT}
    kinds |= {name: processors_row for name in PROCESSORS}
    return kinds | {name: surroundings_row for name in SURROUNDINGS}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(rows()))
        return 0
    if len(sys.argv) < 4 or not set(sys.argv[3:]) <= rows().keys():
        print(__doc__.strip())
        return 0 if "--help" in sys.argv else 2
    source, folder = map(os.path.abspath, sys.argv[1:3])
    os.makedirs(folder, exist_ok=True)
    print(f"1..{len(sys.argv) - 3}", flush=True)
    failed = False
    for number, name in enumerate(sys.argv[3:], 1):
        try:
            what = rows()[name](source, folder, name)
            print(f"ok {number} - {name}: {what}", flush=True)
        except Skip as skip:
            print(f"ok {number} - {name} # SKIP {skip}", flush=True)
        except Failed as why:
            failed = True
            print(f"not ok {number} - {name}")
            print("".join(f"# {line}\n" for line in str(why).splitlines()), end="", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
