#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes docs/API.md: each function of StarPU's interface, whether it is here,
and which test shows it. Read are the public headers, the library's sources, the
tests, and a list of StarPU's names, which is not part of the project.

usage: api_table.py [--check] SOURCE_ROOT NAMES_FOLDER
NAMES_FOLDER has starpu-1.4.tsv and guards.tsv. With --check nothing is written;
what is not current is printed, and the exit status is 1.
"""
import csv
import glob
import os
import re
import sys

# Folders of tests, the ones that show a function best first.
TESTS = ("api", "golden", "stress", "random", "fake", "unit", "mpi/programs")
# So many names are written into a cell of the table.
MANY = 12
# Functions that exist only in builds of StarPU with these.
NEEDS = (("CUDA", "CUDA"), ("CUBLAS", "CUDA"), ("CUSOLVER", "CUDA"),
         ("NVML", "CUDA"), ("HIP", "HIP"), ("OPENCL", "OpenCL"),
         ("FPGA", "FPGAs"), ("FXT", "FxT"), ("MKL", "MKL"),
         ("SIMGRID", "SimGrid"))

# What is here and does less, or refuses, with what is different.
DIFFERENT = {
    "starpu_parallel_worker_openmp_prologue": "OpenMP's threads may run on any "
                                              "processor of the parallel worker",
    "starpu_sched_find_all_worker_combinations": "the last part of a gathered "
                                                 "part is combined, too",
    "starpu_interface_map": "main memories only; else refused with -EIO",
    "starpu_idle_hook_register": "called every 20 us, not all the time",
    "starpu_display_bindings": "prints a list, not hwloc's drawing",
}

# Why a function does nothing; a pattern says so for all that it matches.
IDLE = (
    (r"starpu_(cublas|cusolver|cusparse|hipblas)",
     "no CUDA nor HIP device is driven"),
    (r"starpu_interface_data_copy$", "copies are recorded when they are made"),
    (r"starpu_fxt_autostart_profiling$",
     "a trace has all of the run, with marks where it was started"),
    (r"starpu_perfmodel_initialize$", "models need no beginning of their own"),
    (r"starpu_perfmodel_free_sampling$", "starpu_shutdown frees it"),
    (r"starpu_profiling_set_id$", "of a trace's files, for MPI"),
    (r"starpu_worker_relax", "policies hold no lock while they wait for others"),
)

# Why one is absent, likewise.
ABSENT = (
    (r"starpu_mpi_(lb|checkpoint)_", "declared, and not defined yet"),
    (r"omp_", "OpenMP's own, which the compiler's omp.h and library have"),
    (r"starpu_sink_common_worker$",
     "for slaves, and StarPU has no definition of it"),
    (r"starpu_fxt_", "reads files of FxT; `orrery trace` and `ORRERY_TRACE` "
                     "write traces (docs/TRACES.md)"),
    (r"starpu_sched_ctx_.*(hypervisor|perf_counters|resizing)|.*pushed_task_cb",
     "for sc_hypervisor, a library of StarPU's that there is not"),
)


def reason(table, name):
    """Says the reason that a table has, as a part of a status."""
    for pattern, why in table:
        if re.match(pattern, name):
            return ": " + why
    return ""


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t",
                                   quoting=csv.QUOTE_NONE))


def guard_of(condition):
    """What a build must have, None if every usual one has it."""
    # What is there without something is not asked for here.
    if condition.startswith("!"):
        return None
    for word, name in NEEDS:
        if word in condition:
            return name
    return None


class Names:
    """The functions of StarPU by header, without what is internal."""

    def __init__(self, folder):
        guards = rows_of(os.path.join(folder, "guards.tsv"))
        by_header = {g["header"]: g["present_if"] for g in guards
                     if g["kind"] == "header"}
        by_name = {g["name"]: g["present_if"] for g in guards
                   if g["kind"] == "function"}
        self.headers = {}
        self.needs = {}
        seen = set()
        for row in rows_of(os.path.join(folder, "starpu-1.4.tsv")):
            name, header = row["name"], row["header"]
            if row["kind"] != "function" or name in seen or \
                    name.startswith("_"):
                continue
            seen.add(name)
            self.headers.setdefault(header, []).append(name)
            self.needs[name] = guard_of(by_name.get(name) or
                                        by_header.get(header, ""))


def declared(root):
    """The identifiers that the public headers have outside comments."""
    names = set()
    for path in glob.glob(os.path.join(root, "include", "*.h")):
        if path.endswith("deprecated_api.h"):
            continue  # other names of what is in the others
        text = without_comments(read(path))
        names |= set(re.findall(r"#\s*define\s+(starpu_\w+)", text))
        # What a macro calls need not be here.
        text = re.sub(r"^[ \t]*#[ \t]*define(?:[^\n]*\\\n)*[^\n]*", "", text,
                      flags=re.M)
        names |= set(re.findall(r"\b(starpu_\w+)\s*\(", text))
    return names


def undefined(root, names):
    """Those of starpu_mpi*.h that no source defines, though they are declared."""
    there = set()
    for path in glob.glob(os.path.join(root, "mpi", "**", "*.c"), recursive=True):
        there |= set(re.findall(r"^[a-z][^;{}()=]*?\b(starpu_mpi_\w+)\(",
                                without_comments(read(path)), flags=re.M))
    for path in glob.glob(os.path.join(root, "include", "starpu_mpi*.h")):
        text = without_comments(read(path))
        there |= set(re.findall(r"^static inline [^;{}()]*?(starpu_mpi_\w+)\(",
                                text, flags=re.M))
    return {name for name in names
            if name.startswith("starpu_mpi_") and
            not name.startswith("starpu_mpi_ms_")} - there


def identifiers(root):
    """All identifiers of the public headers outside comments."""
    names = set()
    for path in glob.glob(os.path.join(root, "include", "*.h")):
        names |= set(re.findall(r"\w+", without_comments(read(path))))
    return names


def is_idle(body):
    """Whether the body of a function only looks at its arguments."""
    for statement in re.split(r"[;{}]", without_comments(body)):
        statement = " ".join(statement.split())
        if statement and not re.match(
                r"\(void\)(\w+$|orr_api_\w+\(|ORR_API_RUNTIME\()", statement):
            return False
    return True


def idle_functions(root):
    """The functions that are there and do nothing."""
    found = set()
    for path in glob.glob(os.path.join(root, "core", "api", "*.c")) + \
            glob.glob(os.path.join(root, "mpi", "api", "*.c")):
        for match in re.finditer(
                r"^void (starpu_\w+)\([^{;]*\)\n\{\n(.*?)^\}",
                read(path), flags=re.S | re.M):
            if is_idle(match.group(2)):
                found.add(match.group(1))
    return found


def shows(text):
    """The functions that comments of a test say it shows: test-mutations.py found
    that a test which only calls them does not notice what they do."""
    found = []
    for comment in re.findall(r"/\* shows (.*?)\*/", text, flags=re.S):
        found += re.findall(r"starpu_\w+", comment)
    return found


def shown_by(root):
    """The test that shows each function: one that says so, else the first one
    that names it."""
    shown = {}
    for path in sorted(glob.glob(os.path.join(root, "tests", "*", "*.c"))):
        for name in shows(read(path)):
            shown.setdefault(name, os.path.relpath(
                path, os.path.join(root, "tests")))
    for folder in TESTS:
        for path in sorted(glob.glob(os.path.join(root, "tests", folder, "*"))):
            if not path.endswith((".c", ".cpp", ".py", ".sh")) or \
                    os.path.basename(path).startswith("fake") or \
                    path.endswith("test-mutations.py"):  # names, calls none
                continue
            test = folder + "/" + os.path.basename(path)
            text = without_comments(read(path)) if path[-1] != "y" \
                else read(path)
            for name in re.findall(r"\bstarpu_\w+", text):
                shown.setdefault(name, test)
    return shown


class Others:
    """The macros, types, fields and constants of StarPU by group, without what is
    internal, and which of them the headers have. That a name is there says
    less than a test that calls a function: fields and macros are shown by those."""

    def __init__(self, root, names_folder):
        there = identifiers(root)
        self.here = {}
        self.absent = {}
        for row in rows_of(os.path.join(names_folder, "starpu-1.4.tsv")):
            name, group = row["name"], row["group"]
            if row["kind"] == "function" or name.startswith("_") or \
                    group == "internal":
                continue
            # A field is there if its structure is, and the name.
            found = all(part in there for part in name.split("."))
            (self.here if found else self.absent).setdefault(
                group, []).append(name)

    def write(self):
        lines = ["## Macros, types, fields and constants", "",
                 "By group; names that the headers lack:", "",
                 "| group | here | absent | which |", "|---|---|---|---|"]
        for group in sorted(set(self.here) | set(self.absent)):
            absent = sorted(self.absent.get(group, []))
            shown = ", ".join(f"`{name}`" for name in absent[:MANY])
            if len(absent) > MANY:
                shown += f" and {len(absent) - MANY} more"
            lines.append(f"| {group} | {len(self.here.get(group, []))} | "
                         f"{len(absent)} | {shown} |")
        return lines + [""]


class Table:
    """Statuses and their counts."""

    def __init__(self, root, names_folder):
        self.names = Names(names_folder)
        self.others = Others(root, names_folder)
        self.declared = declared(root)
        self.declared -= undefined(root, self.declared)
        self.idle = idle_functions(root)
        self.shown = shown_by(root)
        self.count = {"works": 0, "differs": 0, "no effect": 0, "absent": 0,
                      "other": 0}
        self.untested = []
        for names in self.names.headers.values():
            for name in names:
                status = self.status(name).split(":")[0]
                self.count[status if status in self.count else "other"] += 1
                if name in self.declared and name not in self.shown:
                    self.untested.append(name)

    def status(self, name):
        if name in self.declared and name in DIFFERENT:
            return "differs: " + DIFFERENT[name]
        if name in self.declared:
            return "no effect" + reason(IDLE, name) if name in self.idle \
                else "works"
        if self.names.needs[name]:
            return "only with " + self.names.needs[name]
        return "absent" + reason(ABSENT, name)

    def total(self):
        return sum(self.count.values())

    def sentence(self):
        """For the README."""
        usual = self.total() - self.count["other"]
        here = usual - self.count["absent"]
        return (f"Of the {usual:,} functions that StarPU 1.4 has on every "
                f"machine or with MPI, {here:,} are here, "
                f"{self.count['works']:,} of which do what they do there, "
                f"{self.count['differs']:,} less or with a difference, and "
                f"{self.count['no effect']:,} nothing, as hints and the "
                f"libraries of devices. The remaining "
                f"{self.count['absent']:,} are absent, so that programs "
                f"which call them do not compile: [docs/API.md](docs/API.md).")

    def write(self):
        lines = [
            "# What works of StarPU's interface", "",
            "Written by `tools/project/api_table.py` from the headers, the "
            "tests and the names",
            "of StarPU 1.4's functions (`ninja api-doc`); do not edit.", "",
            "| status | functions | meaning |", "|---|---|---|",
            f"| works | {self.count['works']} | does what it does in StarPU, "
            "on the real and the simulated machine, where there is one rank |",
            f"| differs | {self.count['differs']} | does less, or refuses "
            "with a message: as written there |",
            f"| no effect | {self.count['no effect']} | accepted: a hint, or "
            "about devices that are not there |",
            f"| absent | {self.count['absent']} | not declared, or, of "
            "starpu_mpi*.h, not defined: a program that calls it does not compile "
            "or link |",
            f"| only with … | {self.count['other']} | absent, as in a StarPU "
            "built without it |",
            f"| all | {self.total()} | |", "",
            "The test is one that fails if the function does nothing, as far as",
            "tests/api/test-mutations.py could tell; " +
            (f"{len(self.untested)} functions have none."
             if self.untested else "each function has one."), ""]
        for header in sorted(self.names.headers):
            lines += [f"## {header}", "", "| function | status | test |",
                      "|---|---|---|"]
            for name in sorted(self.names.headers[header]):
                here = name in self.declared
                test = self.shown.get(name, "none") if here else ""
                lines.append(f"| `{name}` | {self.status(name)} | {test} |")
            lines.append("")
        return "\n".join(lines + self.others.write())


def wrap(text, width=80):
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(lines)


def with_sentence(readme, sentence):
    """The README whose paragraph about the interface is this sentence."""
    return re.sub(r"^Of the [\d,]+ functions that StarPU.*?(?=\n\n)",
                  lambda _: wrap(sentence), readme, flags=re.S | re.M)


def main(argv):
    check = "--check" in argv
    args = [a for a in argv[1:] if a != "--check"]
    if len(args) != 2:
        sys.exit(__doc__)
    root, names_folder = args
    table = Table(root, names_folder)
    wrong = 0
    for path, text in (
            ("docs/API.md", table.write()),
            ("README.md", with_sentence(read(os.path.join(root, "README.md")),
                                        table.sentence()))):
        full = os.path.join(root, path)
        if os.path.exists(full) and read(full) == text:
            continue
        if check:
            print(f"{path} is old: run `ninja api-doc`")
            wrong = 1
        else:
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
    if check and table.sentence().split()[0] not in read(
            os.path.join(root, "README.md")):
        wrong = 1
    for name in table.untested:
        print(f"no test calls {name}")
    return wrong or (1 if check and table.untested else 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
