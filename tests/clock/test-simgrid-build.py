#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program with parts for simulation alone (STARPU_SIMGRID: kernels `(void *)1', main
renamed), built with and without them by pkg-config, in C and C++. TAP.

usage: test-simgrid-build.py BUILD_FOLDER CC CXX
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "../unit"))
from tools_util import Result, Tap  # noqa: E402  pylint: disable=wrong-import-position

BUILD, CC, CXX = sys.argv[1:]
TAP = Tap()
FOLDER = tempfile.mkdtemp()
PROGRAM = r"""
#include <starpu.h>
#include <stdio.h>

#ifdef STARPU_SIMGRID
#    define KERNEL ((starpu_cpu_func_t)1)
#else
static void kernel(void **buffers, void *arg)
{
    int *counter;

    (void)buffers;
    starpu_codelet_unpack_args(arg, &counter);
    ++*counter;
}
#    define KERNEL kernel
#endif

int main(%s)
{
    static int n;
    int *counter = &n;
    struct starpu_codelet cl;

    starpu_codelet_init(&cl);
    cl.cpu_funcs[0] = KERNEL;
    cl.name = "count";
    cl.nbuffers = 0;
    if (starpu_init(NULL) != 0)
        return 1;
    for (int i = 0; i < 3; i++)
        if (starpu_task_insert(&cl, STARPU_VALUE, &counter, sizeof(counter), 0) != 0)
            return 1;
    starpu_task_wait_for_all();
    starpu_shutdown();
    printf("ran %%d\n", n);
    return 0;
}
"""
ARGUMENTS = {"c": "int argc, char **argv", "c-void": "void", "cpp": "",
             "cpp-argv": "int argc, char *argv[]"}


def run(words, **more):
    env = {key: value for key, value in os.environ.items()
           if key not in ("ORRERY_MACHINE", "ORRERY_ASSUME")}
    env.update(more, STARPU_NCPU="1",
               PKG_CONFIG_PATH=os.path.join(BUILD, "meson-uninstalled"))
    done = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", check=False)
    return Result(words, done.returncode, done.stdout, done.stderr)


def build(form, package):
    language = form.split("-")[0]
    source = os.path.join(FOLDER, form + "." + language)
    program = os.path.join(FOLDER, form + "-" + package)
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM % ARGUMENTS[form])
    flags = run(["pkg-config", "--cflags", "--libs", package])
    built = run([CC if language == "c" else CXX, source, "-o", program,
                 *flags.out.split(), "-Wl,-rpath," + BUILD])
    return program, built


def test(form):
    simulated = {"ORRERY_MACHINE": "h100-pcie-4", "ORRERY_ASSUME": "count = 5us"}
    program, built = build(form, "starpu-1.4")
    ran = run([program])
    TAP.claim("%s: as usual it runs for real" % form, ran.code == 0 and
              "ran 3" in ran.out, built, ran)
    ran = run([program], **simulated)
    TAP.claim("%s: and simulated" % form, ran.code == 0 and "ran 0" in ran.out, ran)
    program, built = build(form, "starpu-1.4-simgrid")
    ran = run([program], **simulated)
    TAP.claim("%s: for simulation alone it is simulated" % form,
              ran.code == 0 and "ran 0" in ran.out, built, ran)
    ran = run([program])
    TAP.claim("%s: for real it is refused, with a way out" % form,
              ran.code == 1 and "`count'" in ran.err and
              "ORRERY_MACHINE" in ran.err and "pkg-config starpu-1.4" in ran.err,
              ran)
    ran = run([program], ORRERY_SIM_KERNELS="run", **simulated)
    TAP.claim("%s: likewise where its kernels are to run" % form,
              ran.code == 1 and "without running kernels" in ran.err, ran)


def main():
    if not shutil.which("pkg-config"):
        TAP.skip("builds for simulation alone", "there is no pkg-config")
        return
    for form in ARGUMENTS:
        test(form)
    with open(os.path.join(FOLDER, "none.c"), "w", encoding="utf-8") as file:
        file.write("int other(void) { return 0; }\n")
    flags = run(["pkg-config", "--cflags", "--libs", "starpu-1.4-simgrid"])
    program = os.path.join(FOLDER, "none")
    built = run([CC, os.path.join(FOLDER, "none.c"), "-o", program,
                 *flags.out.split(), "-Wl,-rpath," + BUILD])
    ran = run([program]) if built.code == 0 else built
    TAP.claim("a program without main is told so", ran.code == 1 and
              "no starpu_main" in ran.err, built, ran)


try:
    main()
finally:
    shutil.rmtree(FOLDER)
TAP.end()
