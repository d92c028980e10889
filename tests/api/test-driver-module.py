#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The driver of docs/NEW_DRIVER.md, compiled as its users would: programs run on its
devices, and what cannot be used is refused with what to do about it. TAP.

usage: test-driver-module.py CC BUILD PAGE MACHINE LOOPBACK TESTS SUITE ...

CC is the words of a compiler, BUILD the folder of the build, PAGE docs/NEW_DRIVER.md,
MACHINE gpus.xml, LOOPBACK another driver, TESTS the program that has the SUITEs of
tests/api.
"""

import atexit
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from programs import Programs, run_all, test

if len(sys.argv) < 8:
    sys.exit(__doc__.strip())
CC, BUILD, PAGE, MACHINE, LOOPBACK, TESTS = sys.argv[1:7]
PROGRAMS = Programs(MACHINE)
FOLDER = tempfile.mkdtemp(prefix="driver-module")
atexit.register(shutil.rmtree, FOLDER)

with open(PAGE, encoding="utf-8") as page:
    PAD = re.search(r"^```c\n(.*?)^```$", page.read(), re.M | re.S)[1]

APPLICATION = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <starpu.h>

static void add(void *buffers[], void *arg)
{
    (void)arg;
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) += 1;
    printf("%s ", starpu_worker_get_type_as_string(
                      starpu_worker_get_type(starpu_worker_get_id())));
}

int main(int argc, char **argv)
{
    struct starpu_codelet cl = {.cpu_funcs = {add},
                                .nbuffers = 1,
                                .modes = {STARPU_RW},
                                .name = "add",
                                .where = argc > 1 ? 1U << atoi(argv[1]) : 0};
    int sum = 0;
    starpu_data_handle_t handle;

    if (starpu_init(NULL) != 0)
        return 77;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&sum,
                                  sizeof(sum));
    for (int i = 0; i < 20; i++)
        if (starpu_task_insert(&cl, STARPU_RW, handle, 0) != 0)
            return 2;
    starpu_data_unregister(handle);
    for (unsigned n = 0; n < starpu_memory_nodes_get_count(); n++)
        printf("(%d) ", (int)starpu_node_get_kind(n));
    starpu_shutdown();
    printf("sum %d\n", sum);
    return 0;
}
"""


def flags(package, option):
    env = dict(os.environ, PKG_CONFIG_PATH=os.path.join(BUILD, "meson-uninstalled"))
    done = subprocess.run(["pkg-config", option, package], env=env, check=True,
                          capture_output=True, text=True)
    return shlex.split(done.stdout)


def compile_c(name, text, package, *options):
    """Returns the path of what becomes of a source that is warned of nowhere."""
    source, output = os.path.join(FOLDER, name + ".c"), os.path.join(FOLDER, name)
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run(
        [*shlex.split(CC), "-Wall", "-Wextra", "-Werror", *options, source, "-o", output,
         *flags(package, "--cflags"), *flags(package, "--libs"),
         "-Wl,-rpath," + BUILD], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return output


def driver(name, text=PAD, *options):
    return compile_c(name + ".so", text, "orrery-driver", *options, "-shared", "-fPIC")


PROGRAM = compile_c("application", APPLICATION, "orrery")
DRIVER = driver("pad")


def run(drivers, *arguments, program=PROGRAM, ncpu=0, **env):
    env = {"ORRERY_MACHINE": None, "ORRERY_ASSUME": None, **env}
    return PROGRAMS.run([program, *arguments], None, STARPU_NCPU=str(ncpu),
                        STARPU_SILENT="0", ORRERY_DRIVERS=drivers, **env)


def refused(drivers, *words):
    ended = run(drivers)
    ended.has_status(77)
    ended.says("starpu_init: ", *words)


@test
def a_program_runs_on_its_devices_unchanged():
    ended = run(DRIVER + ":2")
    ended.has_status(0)
    assert ended.out == "Pad " * 20 + "(1) (20) (20) sum 20\n", ended.out


@test
def it_may_be_one_of_several():
    ended = run(f" {DRIVER}; {LOOPBACK}:1 seed=3;", ncpu=1)
    ended.has_status(0)
    assert ended.out.endswith("(1) (20) (24) sum 20\n"), ended.out


@test
def with_a_bit_of_its_own_it_gets_the_tasks_that_name_it():
    own = driver("own", PAD.replace(".where = STARPU_CPU",
                                    ".where = STARPU_WORKER_TO_MASK(20)"))
    for bit, kind in ((1, "CPU"), (21, "Pad")):
        ended = run(own, str(bit), ncpu=1)
        ended.has_status(0)
        assert ended.out.startswith(f"{kind} " * 20 + "("), ended.out


@test
def programs_of_tests_have_the_right_values_there():
    for suite in sys.argv[7:]:
        run(DRIVER + ":2", suite, program=TESTS, TEST_MACHINES="real",
            TEST_NCPU="0").has_status(0)


@test
def what_is_no_driver_is_refused():
    refused("/absent/driver.so:2", "/absent/driver.so", "ORRERY_DRIVERS names shared")
    refused(os.path.join(BUILD, "liborrery.so"), "is no module of Orrery")
    refused(os.path.join(BUILD, "sim.so"), 'module "sim"', 'not "driver"')


@test
def one_that_was_compiled_with_other_headers_is_refused():
    folder = os.path.join(FOLDER, "other")
    os.mkdir(folder)
    with open(os.path.join(folder, "driver_stamp.h"), "w", encoding="utf-8") as file:
        file.write('#define ORR_DRIVER_STAMP "orrery-driver-0"\n')
    refused(driver("other", PAD, "-I" + folder), "other.so is of another build",
            "orrery-driver-0", "pkg-config --cflags orrery-driver")


@test
def a_kind_that_is_not_as_it_must_be_is_refused():
    for name, old, new, words in (
            ("low", "worker_archtype)20", "worker_archtype)8", "not from 16 to 30"),
            ("apart", "node_kind)20", "node_kind)21", "another number than its type"),
            ("nowhere", ".where = STARPU_CPU,", "", "`where'"),
            ("without", "cpu_funcs)", "max_fpga_funcs)", "no field of a codelet")):
        assert old in PAD
        refused(driver(name, PAD.replace(old, new)), f"{name}.so", words)


@test
def two_kinds_have_two_numbers():
    same = driver("same", PAD.replace(")20", ")24"))
    refused(f"{LOOPBACK}:1;{same}", "same.so (Pad) have the number 24", "Loopback")


@test
def a_driver_is_named_once():
    refused(f"{DRIVER};{DRIVER}:2", "pad.so twice")


@test
def settings_that_it_refuses_are_said():
    refused(DRIVER + ":nine", 'pad.so: "nine" is no number from 1 to 8')
    silent = driver("silent", PAD.replace(
        "if (n < 1 || n > 8)", "if (n > 8)\n        return -ENODEV;\n    if (n < 1)"))
    refused(silent + ":9", "silent.so cannot be opened: No such device")


@test
def simulated_machines_have_the_devices_of_their_description():
    ended = PROGRAMS.run([PROGRAM], STARPU_SILENT="0", ORRERY_DRIVERS=DRIVER,
                         ORRERY_SIM_KERNELS="run", ORRERY_ASSUME="* = 5us")
    ended.has_status(0)
    ended.says("ORRERY_DRIVERS has no effect", "is simulated")
    assert "(20)" not in ended.out, ended.out


sys.exit(run_all())
