#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/API.md and the README's sentence about it are current, and each function
that is here is called by some test. Usage: test-api-table.py SOURCE_ROOT"""
import os
import sys

root = sys.argv[1]
sys.path.insert(0, os.path.join(root, "tools", "project"))
import api_table  # noqa: E402

folder = os.path.join(os.environ.get("ORRERY_SHARED") or
                      os.path.join(root, "..", "shared"), "api")
tests = []


def claim(text, holds, remedy=""):
    tests.append(holds)
    print(f"{'ok' if holds else 'not ok'} {len(tests)} - {text}")
    if not holds and remedy:
        print("# " + remedy.replace("\n", "\n# "))


def read(path):
    return api_table.read(os.path.join(root, path))


# What needs no list of names: the script reads the sources right.
claim("a function whose body only looks at its arguments does nothing",
      api_table.is_idle("(void)x;\n /* why */ (void)orr_api_node(c, n);") and
      not api_table.is_idle("(void)x;\n work(x);"))
claim("comments declare nothing",
      api_table.without_comments("/* starpu_x(); */ y // z") == "  y ")
declared = api_table.declared(root)
claim("declared are functions and macros",
      {"starpu_task_submit", "starpu_bitmap_set", "starpu_pthread_create_on"}
      <= declared)
shown = api_table.shown_by(root)
missing = sorted(declared - set(shown) - {
    # Other names of what is there, random numbers of the system, and what is
    # compiled with vendors' headers (tests/standin/test-vendor-headers.sh).
    name for name in declared if name.startswith((
        "starpu_getenv_", "starpu_srand", "starpu_drand", "starpu_lrand",
        "starpu_erand", "starpu_seed", "starpu_bus_profiling",
        "starpu_data_malloc_pinned", "starpu_data_free_pinned",
        "starpu_per_arch_perfmodel", "starpu_print_bus", "starpu_strerror",
        "starpu_atomic_", "starpu_cuda_get_device_properties",
        "starpu_hip_get_device_properties"))})
claim("each declared function is called by a test", not missing,
      "no test calls " + " ".join(missing))
if os.path.exists(os.path.join(folder, "starpu-1.4.tsv")):
    table = api_table.Table(root, folder)
    remedy = "run `ninja api-doc`"
    claim("docs/API.md is current", read("docs/API.md") == table.write(),
          remedy)
    claim("the README says what it says",
          api_table.wrap(table.sentence()) in read("README.md"), remedy)
    # Groups of which a program finds every macro, type, field and constant.
    for group in ("data", "interface", "filter", "memory", "codelet"):
        absent = table.others.absent.get(group, [])
        claim(f"nothing of the group {group} is absent", not absent,
              " ".join(absent))
    claim("no name is counted twice",
          table.total() == sum(map(len, table.names.headers.values())))
else:
    print("ok 5 - docs/API.md is current # SKIP no list of StarPU's names "
          f"in {folder}")
    tests.append(True)
print(f"1..{len(tests)}")
sys.exit(not all(tests))
