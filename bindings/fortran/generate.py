#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the Fortran modules, and what C has for them, of fstarpu.txt, which says how it
is written.

usage: generate.py module DESCRIPTION TEMPLATE OUTPUT CC...   a module's source
       generate.py header DESCRIPTION MODULE OUTPUT           prototypes, and constants
       generate.py orrery TEMPLATE OUTPUT CC...               the module orrery
       generate.py names DESCRIPTION                          what there is, for tests

The template has the lines `! @CONSTANTS@` and `! @INTERFACES@`. The constants' values are those of the public headers as the compiler CC, with
its arguments, reads them.
"""
import re
import subprocess
import sys
import textwrap

FORTRAN = {
    "ptr": "type(c_ptr), value, intent(in)",
    "ptr_out": "type(c_ptr), intent(out)",
    "ptr_ref": "type(c_ptr), intent(in)",
    "ptrs": "type(c_ptr), intent(in)",
    "int": "integer(c_int), value, intent(in)",
    "int_out": "integer(c_int), intent(out)",
    "ints": "integer(c_int), intent(in)",
    "ints_out": "integer(c_int), intent(out)",
    "size": "integer(c_size_t), value, intent(in)",
    "sizes_out": "integer(c_size_t), intent(out)",
    "long": "integer(c_long), value, intent(in)",
    "tag": "integer(c_long_long), value, intent(in)",
    "tags": "integer(c_long_long), intent(in)",
    "int64": "integer(c_int64_t), value, intent(in)",
    "int64s": "integer(c_int64_t), intent(in)",
    "address": "integer(c_intptr_t), value, intent(in)",
    "double": "real(c_double), value, intent(in)",
    "float": "real(c_float), value, intent(in)",
    "fun": "type(c_funptr), value, intent(in)",
    "text": "character(c_char), intent(in)",
    "text_out": "character(c_char), intent(out)",
}
RESULTS = {
    "ptr": "type(c_ptr)", "int": "integer(c_int)", "int64": "integer(c_int64_t)",
    "address": "integer(c_intptr_t)", "double": "real(c_double)",
}
C = {
    "ptr": "void *", "ptr_out": "void **", "ptr_ref": "void *const *",
    "ptrs": "void *const *", "int": "int ", "int_out": "int *", "ints": "const int *",
    "ints_out": "int *", "size": "size_t ", "sizes_out": "size_t *", "long": "long ",
    "tag": "starpu_tag_t ", "tags": "const starpu_tag_t *", "int64": "int64_t ",
    "int64s": "const int64_t *", "address": "intptr_t ", "double": "double ",
    "float": "float ", "fun": "void *", "text": "const char *", "text_out": "char *",
}
# What a pointer points to, by the argument's name.
OBJECTS = {
    "conf": "struct starpu_conf *", "cl": "struct starpu_codelet *",
    "model": "struct starpu_perfmodel *", "cl_perfmodel": "struct starpu_perfmodel *",
    "filter": "struct starpu_data_filter *", "task": "struct starpu_task *",
    "dh": "starpu_data_handle_t ", "root_dh": "starpu_data_handle_t ",
    "handle": "starpu_data_handle_t ", "handles": "starpu_data_handle_t *",
    "descr": "struct starpu_data_descr *", "descrs": "struct starpu_data_descr *",
    "fxt_options": "struct starpu_fxt_options *", "buffers": "void **",
    # Numbers that come as type(c_ptr).
    "mode": "intptr_t ", "flags": "intptr_t ", "where": "intptr_t ", "type": "intptr_t ",
    "type_constant": "intptr_t ", "typeid": "intptr_t ", "id": "uintptr_t ",
    "nparts": "uintptr_t ", "policy": "intptr_t ",
}
ARRAYS = ("ptrs", "ints", "ints_out", "tags", "int64s", "sizes_out", "text", "text_out")


class Procedure:
    """A line of the description."""

    def __init__(self, line, header, prefix):
        found = re.fullmatch(
            r"(sub|fun) (\w+)\((.*)\)(?: -> (\w+))?(?: = (\w+))?", line)
        if not found:
            sys.exit(f"fstarpu.txt: not understood: {line}")
        kind, name, arguments, self.result, where = found.groups()
        self.header = header
        self.is_function = kind == "fun"
        self.name = name if name.startswith("fstarpug_") else prefix + name
        self.for_fortran = where in ("helper", "extra")
        self.symbol = {None: "starpu_" + name, "extra": "starpu_" + name,
                       "helper": "fstarpu_" + name}.get(where, where)
        self.arguments = [tuple(a.split()) for a in arguments.split(", ") if a]
        for argument, kind in self.arguments:
            if kind not in FORTRAN:
                sys.exit(f"fstarpu.txt: no type {kind} of {argument}: {line}")
        if self.is_function != (self.result in RESULTS):
            sys.exit(f"fstarpu.txt: the result is not understood: {line}")

    def interface(self):
        kind = "function" if self.is_function else "subroutine"
        names = ", ".join(name for name, _ in self.arguments)
        first = f'{kind} {self.name}({names}) bind(C, name="{self.symbol}")'
        lines = wrap(first) + ["  import"]
        for name, kind_of in self.arguments:
            shape = "(*)" if kind_of in ARRAYS else ""
            lines.append(f"  {FORTRAN[kind_of]} :: {name}{shape}")
        if self.is_function:
            lines.append(f"  {RESULTS[self.result]} :: {self.name}")
        return lines + [f"end {kind}"]

    def prototype(self):
        def of(name, kind):
            return OBJECTS.get(name, C[kind]) if kind == "ptr" else C[kind]

        arguments = ", ".join((of(n, k) + n) for n, k in self.arguments) or "void"
        result = C[self.result] if self.is_function else "void "
        return f"{result}{self.symbol}({arguments});"


class Constant:
    def __init__(self, line):
        found = re.fullmatch(r"(const|int|var|size) (\w+)(?: = (.*))?", line)
        if not found:
            sys.exit(f"fstarpu.txt: not understood: {line}")
        self.kind, name, value = found.groups()
        self.name = "FSTARPU_" + name
        self.value = value if self.kind == "size" else value or "STARPU_" + name

    def bits(self, number):
        """Of a constant that is a type(c_ptr)."""
        if self.kind == "size":
            return f"int(storage_size({self.value}) / 8, c_intptr_t)"
        return f"{number}_c_intptr_t"


def declare(constants, numbers):
    """The declarations of constants in Fortran. A type(c_ptr) cannot be given a value
    when it is declared (gfortran takes the words, and makes a null pointer of it), so that
    numbers are beside them, and core/fortran/constants.c puts these into the others."""
    lines = []
    for c in constants:
        if c.kind in ("int", "var"):
            kind = "parameter" if c.kind == "int" else "bind(C), target"
            lines.append(f"integer(c_int), {kind} :: {c.name} = {numbers[c.value]}_c_int")
    bits = [c for c in constants if c.kind not in ("int", "var")]
    lines += ["", "type, bind(C) :: fstarpu_constants_t"]
    lines += [f"  type(c_ptr) :: {c.name.lower()[8:]}" for c in bits]
    lines += ["end type",
              'type(fstarpu_constants_t), bind(C, name="fstarpu_constants"), target :: &',
              "    fstarpu_constants",
              "! The number of those that follow, which are the constants' bits.",
              'integer(c_intptr_t), bind(C, name="fstarpu_values") :: &',
              f"    fstarpu_values(0:{len(bits)}) = [ &",
              f"    {len(bits)}_c_intptr_t, &"]
    lines += [f"    {c.bits(numbers.get(c.value))}, &" for c in bits]
    lines[-1] = lines[-1].replace(", &", "]")
    lines += [""]
    for c in bits:
        lines += wrap(f"type(c_ptr), pointer, protected :: {c.name} => "
                      f"fstarpu_constants%{c.name.lower()[8:]}")
    return lines


def wrap(line):
    """In lines that all compilers take."""
    lines = textwrap.wrap(line, 94, break_long_words=False, break_on_hyphens=False,
                          subsequent_indent="    ")
    return [text + " &" for text in lines[:-1]] + lines[-1:]


def read(path):
    """{module: (constants, procedures)}"""
    modules, header = {}, ""
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.strip()
            if line.startswith("module "):
                here = modules[line.split()[1]] = ([], [])
            elif line.startswith("["):
                header = line.strip("[]")
            elif re.match(r"sub|fun", line):
                prefix = "starpu_" if "starpu_mod" in modules and \
                    here is modules["starpu_mod"] else "fstarpu_"
                here[1].append(Procedure(line, header, prefix))
            elif line and not line.startswith("#"):
                here[0].append(Constant(line))
    return modules


def values(constants, compiler):
    """What the C names are, by the compiler, which need not make programs for here: as
    texts in what it makes, which each assembler takes."""
    names = [c.value for c in constants if c.kind != "size"]
    source = "#include <starpu.h>\nvoid f(void);\nvoid f(void) {\n" + "".join(
        f'__asm__ volatile("\\n.ascii \\"@value {name} %c0\\"" :: "i"((long){name}));\n'
        for name in names) + "}\n"
    done = subprocess.run([*compiler, "-x", "c", "-S", "-o", "-", "-"], input=source,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(compiler)}: {done.stderr}")
    return dict(re.findall(r"@value (\w+) \$?#?(-?\d+)", done.stdout))


def write_module(description, template, output, compiler):
    with open(template, encoding="utf-8") as file:
        text = file.read()
    name = re.search(r"^module (\w+)", text, re.M)[1]
    constants, procedures = read(description)[name]
    numbers = values(constants, compiler) if constants else {}
    parts = {
        "CONSTANTS": declare(constants, numbers),
        "INTERFACES": [],
    }
    header = None
    for procedure in procedures:
        if procedure.header != header:
            header = procedure.header
            parts["INTERFACES"].append(f"  ! --- {header} ---")
        parts["INTERFACES"] += ["  " + line for line in procedure.interface()]
    for part, lines in parts.items():
        text = text.replace(f"! @{part}@\n", "".join(
            f"  {line}".rstrip() + "\n" for line in lines))
    with open(output, "w", encoding="utf-8") as file:
        file.write(f"! Made by generate.py of fstarpu.txt and {name}.f90.in.\n" + text)


def write_header(description, module, output):
    constants, procedures = read(description)[module]
    lines = ["/* Made by generate.py of fstarpu.txt. */", "#pragma once", "",
             "#include <stdint.h>", "", "#include <starpu.h>", ""]
    if constants:
        lines += ["/* X(the name in Fortran, the constant) of each. */",
                  "#define ORR_FORTRAN_CONSTANTS(X) \\"]
        lines += [f"    X({c.name}, {c.value}) \\" for c in constants
                  if c.kind != "size"] + [""]
    lines += [p.prototype() for p in procedures if p.for_fortran
              and not is_second(p, procedures)]
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def is_second(procedure, procedures):
    """Two Fortran names may be one C function, which is declared once."""
    same = [p for p in procedures if p.symbol == procedure.symbol]
    return same[0] is not procedure


# --- the module orrery: what Fortran would need generic procedures for ---

MODES = {"read": "orrery_read", "write": "orrery_write", "readwrite": "orrery_readwrite",
         "reduce": "as_reduction", "commute": "as_commuting", "scratch": "as_scratch"}
KINDS = {
    "int32": "integer(int32)", "int64": "integer(int64)", "real32": "real(real32)",
    "real64": "real(real64)", "complex32": "complex(real32)", "complex64": "complex(real64)",
}
BYTES = {"int32": 4, "int64": 8, "real32": 4, "real64": 8, "complex32": 8, "complex64": 16}
NARGUMENTS, NDIMENSIONS = 16, 4

ACCESS = """\
  function {name}(x) result(a)
    type(*), dimension(..), target :: x
    type(access) :: a
    call note(c_use(x, {mode}, a), a)
  end function

  function data_{name}(self, i, j, k, l) result(a)
    class(data), intent(in) :: self
    integer, optional, intent(in) :: i, j, k, l
    type(access) :: a
    call note(c_use_data(self%number, indices_of(i, j, k, l), {mode}, a), a)
  end function

"""
VIEW = """\
  recursive subroutine view_{kind}_{rank}(buffers, i, x, stat, errmsg)
    type(c_ptr), intent(in) :: buffers
    integer, intent(in) :: i
    {type}, pointer, intent(out) :: x{shape}
    integer, optional, intent(out) :: stat
    character(*), optional, intent(inout) :: errmsg
{all}    type(c_ptr) :: at
    integer(c_int) :: n(most_dimensions), rooms(most_dimensions), step, err
    nullify(x)
    err = c_view(buffers, int(i, c_int), {bytes}_c_size_t, {rank}_c_int, at, n, rooms, step)
    if (err == 0) then
{point}    end if
    call report(err, stat, errmsg)
  end subroutine

"""


def views():
    text = ""
    for kind, declared in KINDS.items():
        for rank in range(NDIMENSIONS + 1):
            shape = "(" + ", ".join([":"] * rank) + ")" if rank else ""
            more = "".join(f", 1:n({k})" for k in range(2, rank + 1))
            text += VIEW.format(
                kind=kind, rank=rank, type=declared, shape=shape, bytes=BYTES[kind],
                all=f"    {declared}, pointer :: all{shape}\n" if rank else "",
                point=f"      call c_f_pointer(at, all, rooms(1:{rank}))\n"
                      f"      x => all(1:n(1):step{more})\n" if rank else
                      "      call c_f_pointer(at, x)\n")
    return text


def write_orrery(template, output, compiler):
    with open(template, encoding="utf-8") as file:
        text = file.read()
    names = [f"a{i + 1}" for i in range(NARGUMENTS)]
    modes = [Constant(f"const {name}") for name in "R W RW REDUX COMMUTE SCRATCH".split()]
    numbers = values(modes, compiler)
    parts = {mode.value[7:]: f"{numbers[mode.value]}_c_int" for mode in modes}
    parts["ARGS"] = ", &\n        ".join(", ".join(names[i:i + 8]) for i in (0, 8))
    parts["COLLECT"] = "\n".join(f"    if (present({a})) call collect({a})" for a in names)
    parts["ACCESSES"] = "".join(ACCESS.format(name=name, mode=mode)
                                for name, mode in MODES.items())
    all_views = [f"view_{kind}_{rank}" for kind in KINDS for rank in range(NDIMENSIONS + 1)]
    parts["VIEWS"] = ", &\n      ".join(
        ", ".join(all_views[i:i + 5]) for i in range(0, len(all_views), 5))
    parts["VIEW_BODIES"] = views()
    for part, words in parts.items():
        text = text.replace(f"@{part}@", words)
    with open(output, "w", encoding="utf-8") as file:
        file.write("! Made by generate.py of orrery.f90.in.\n" + text)


def write_names(description):
    """A line each: module, kind, name, C symbol, types of arguments and result."""
    for module, (constants, procedures) in read(description).items():
        for c in constants:
            print(module, c.kind, c.name, c.value, sep="\t")
        for p in procedures:
            kinds = " ".join(kind for _, kind in p.arguments)
            print(module, "function" if p.is_function else "subroutine", p.name,
                  p.symbol, kinds, p.result or "", sep="\t")


def main(how, *words):
    if how == "module" and len(words) > 3:
        write_module(words[0], words[1], words[2], words[3:])
    elif how == "header" and len(words) == 3:
        write_header(*words)
    elif how == "orrery" and len(words) > 2:
        write_orrery(words[0], words[1], words[2:])
    elif how == "names" and len(words) == 1:
        write_names(*words)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
