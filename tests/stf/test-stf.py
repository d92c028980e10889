#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs on orrery/stf.hpp, real and simulated; or what must compile, and what must
not. TAP.

usage: test-stf.py run|compile BUILD_FOLDER SOURCE_ROOT CXX
"""
import glob
import os
import re
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "../unit"))
from tools_util import Tap, run  # noqa: E402  pylint: disable=wrong-import-position

WHAT = sys.argv[1]
BUILD, SOURCE = map(os.path.abspath, sys.argv[2:4])
CXX = sys.argv[4].split()
INCLUDE = os.path.join(SOURCE, "include")
HERE = os.path.join(SOURCE, "tests", "stf")
TAP = Tap()

ANY = {"ORRERY_STF_PLACE": "any"}
SIMULATED = {"ORRERY_MACHINE": "h100-pcie-4",
             "ORRERY_ASSUME": "kernel[*] = 10us"}
RUN = dict(SIMULATED, ORRERY_SIM_KERNELS="run")
SKIP = dict(SIMULATED, KERNELS_ARE_SKIPPED="1")


def program(name):
    return os.path.join(BUILD, "tests", "stf", "stf-" + name)


def environment(**more):
    keep = {key: value for key, value in os.environ.items()
            if not key.startswith("ORRERY_STF") and key != "CUDASTF_DOT_FILE"}
    keep.update(more)
    return keep


def passes(claim, words, **env):
    done = run(*words, env=environment(**env))
    TAP.claim(claim, done.code == 0, done)
    return done


def gpus(n):
    return {"ORRERY_SET": f"cuda.count = {n}"} if n < 4 else {}


# --- programs ---

def programs():
    for name in ("features", "memory", "errors", "allocators", "places",
                 "scopes", "names", "algorithms"):
        passes(f"{name}, real", [program(name)])
    passes("features, real, one worker", [program("features")],
           STARPU_NCPU="1")
    passes("snippets, real, wherever the policy says", [program("snippets")],
           **ANY)
    for name in ("features", "snippets", "allocators", "places", "scopes",
                 "names", "algorithms"):
        for n in (1, 2, 4):
            more = ANY if n == 1 and name in ("features", "snippets") else {}
            passes(f"{name} on {n} virtual GPUs", [program(name)],
                   **RUN, **gpus(n), **more)
        # Where memory is, is what two of them are about.
        if name not in ("allocators", "places"):
            passes(f"{name}, placed by dmda", [program(name)],
                   STARPU_SCHED="dmda", **RUN, **ANY)
        passes(f"{name} with kernels skipped", [program(name)], **SKIP)
    passes("errors on virtual GPUs", [program("errors")], **RUN)
    passes("scopes, with kernels shorter than their handing over",
           [program("scopes")], **dict(SKIP, ORRERY_ASSUME="kernel[*] = 10us; "
                                       "kernel[short] = 1us"),
           SHORT_KERNELS="1")
    passes("scopes, where a launch takes no time", [program("scopes")], **SKIP,
           STARPU_SIMGRID_CUDA_QUEUE_COST="0")
    for limit in ("1000", "4"):
        passes(f"memory on a virtual GPU with {limit} MiB", [program("memory")],
               **RUN, **gpus(1), STARPU_LIMIT_CUDA_MEM=limit)
    done = run(program("memory"), env=environment(ORRERY_STF_PLACE="moon"))
    TAP.claim("an unknown place for all tasks is refused",
              done.code != 0 and "ORRERY_STF_PLACE=moon" in done.err, done)
    done = run(program("snippets"), env=environment())
    TAP.claim("a device that is not there is named, with a remedy",
              done.code != 0 and "ORRERY_STF_PLACE=any" in done.err, done)


def variables():
    """Of CUDASTF's: nothing is said of those that are looked at; others have a line."""
    done = run(program("memory"), env=environment(
        CUDASTF_DOT_MAX_DEPTH="1", CUDASTF_DOT_TIMING="1",
        CUDASTF_DEFAULT_ALLOCATOR="cached"))
    TAP.claim("variables that have an effect are not told of",
              done.code == 0 and "CUDASTF" not in done.err, done)
    for name, words in (("CUDASTF_DOT_TIMIN", "it is unknown"),
                        ("CUDASTF_SCHEDULE", "STARPU_SCHED"),
                        ("CUDASTF_TASK_STATISTICS", "orrery report"),
                        ("CUDASTF_DUMP_GRAPHS", "ORRERY_STF_DOT")):
        done = run(program("memory"), env=environment(**{name: "heft"}))
        lines = [line for line in done.err.splitlines() if name in line]
        TAP.claim(f"{name} has a line with what to use instead",
                  done.code == 0 and len(lines) == 1 and
                  "no effect" in lines[0] and words in lines[0], done)
    with open(os.path.join(SOURCE, "docs", "STF.md"), encoding="utf-8") as file:
        page = file.read()
    with open(os.path.join(INCLUDE, "orrery/stf/environment.hpp"),
              encoding="utf-8") as file:
        known = re.findall(r'^ +\{"([A-Z_]+)"', file.read(), re.M)
    TAP.claim("the page names all variables that are known",
              len(known) > 20 and all(
                  f"CUDASTF_{name}" in page or f"`_{name}`" in page
                  for name in known),
              [name for name in known if f"_{name}`" not in page])


def table():
    """Each test that README.md names for a feature is there."""
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| [^|]+ \| (`[^|]+) \| [^|]+ \|$",
                          file.read(), re.M)
    missing = []
    for cell in rows:
        text = ""
        for word in re.findall(r"`?[\w.-]+`?", cell):
            if word.startswith("`"):
                name = word.strip("`")
                name += "" if "." in name else ".cpp"
                path = os.path.join(HERE, name)
                if not os.path.isfile(path):
                    missing.append(word)
                    continue
                with open(path, encoding="utf-8") as file:
                    text = file.read()
            elif not re.search(rf"(?:void|def) {word}\(", text):
                missing.append(f"{word} in {cell}")
    TAP.claim("the tests of the table of features are there",
              len(rows) > 30 and not missing, missing)


def example(name):
    return os.path.join(BUILD, "examples", "stf", "stf-" + name)


def examples():
    for name in ("axpy", "dot", "stencil", "cholesky"):
        done = passes(f"example {name}, real", [example(name)])
        TAP.claim(f"example {name} is right", "right" in done.out, done)
        done = passes(f"example {name} on 4 virtual GPUs", [example(name)],
                      **RUN)
        TAP.claim(f"example {name} is right there", "right" in done.out, done)


def milliseconds(words):
    """What a Cholesky of 40 tiles a side is predicted to take."""
    env = environment(ORRERY_MACHINE="h100-pcie-4", STARPU_SCHED="dmdas")
    done = run(*words, env=env)
    found = re.search(r"^38400\s+([\d.]+)", done.out, re.M)
    TAP.claim("%s is simulated" % os.path.basename(words[0]), found, done)
    return float(found.group(1)) if found else 0.


def cholesky():
    flow = milliseconds([example("cholesky"), "38400", "40"])
    hand = milliseconds([os.path.join(BUILD, "examples/cholesky/cholesky"),
                         "-size", "38400", "-nblocks", "40"])
    TAP.claim("40 tiles a side take as long as those of the program in C, "
              "within 5 %", abs(flow - hand) <= 0.05 * hand,
              f"{flow} ms, {hand} ms")


# --- graphs and models ---

def graphs(folder):
    path = os.path.join(folder, "snippets.dot")

    def drawn(depth, **more):
        if depth:
            more["CUDASTF_DOT_MAX_DEPTH"] = depth
        done = passes(f"a graph of depth {depth or 'all'} is written",
                      [program("snippets")], ORRERY_STF_DOT=path, **RUN, **ANY,
                      **more)
        del done
        with open(path, encoding="utf-8") as file:
            return file.read()

    whole = drawn("")
    # The last context is that of the sections: foo, two bar, four baz.
    TAP.claim("sections are boxes in each other, tasks are in them",
              len(re.findall(r"subgraph", whole)) == 7 and
              whole.count("t1") and len(re.findall(r"label=\"t[123]", whole)) == 10,
              whole)
    middle = drawn("2")
    TAP.claim("below the depth a section is one node",
              middle.count("subgraph") == 3 and
              middle.count("shape=box") == 4, middle)
    timed = drawn("", CUDASTF_DOT_TIMING="1")
    TAP.claim("tasks have their times, the longest is red",
              len(re.findall(r'label="t[123]\n10\.000 us\n', timed)) == 10 and
              timed.count('fillcolor="0.000 1.000 1.000"') == 10, timed)
    sums = drawn("1", CUDASTF_DOT_TIMING="1")
    TAP.claim("a section that is one node has those of its tasks",
              sums.count('label="bar\n50.000 us"') == 2, sums)
    coloured = drawn("", CUDASTF_DOT_COLOR_BY_DEVICE="1",
                     CUDASTF_DOT_REMOVE_DATA_DEPS="1")
    TAP.claim("tasks have the colour of their device, and no data",
              len(re.findall(r'label="t[123]", style=filled, '
                             "(?:colorscheme=set312, fillcolor=[1-4]|"
                             "fillcolor=lightgrey)]", coloured)) == 10,
              coloured)
    path = os.path.join(folder, "copies.dot")
    out, done = compile_program(folder, "copies", COPIES)
    TAP.claim("a program of copies compiles", done.code == 0, done)
    for ignored in ("0", "1"):
        passes("it is drawn", [out], **SKIP, ORRERY_STF_DOT=path,
               CUDASTF_DOT_IGNORE_PREREQS=ignored)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        labels = re.findall(r'c\d+ \[style=dotted, label="(.*)\n(.*)"\]', text)
        TAP.claim(f"copies are {'drawn' if ignored == '0' else 'left out'}",
                  labels == (ignored == "0") * [
                      ("copy x", "main memory to device 0"),
                      ("copy x", "device 0 to device 1"),
                      ("copy x", "device 0 to main memory")], text)
        edges = re.findall(r"(\w+ -> \w+)$", text, re.M)
        TAP.claim("they are between the tasks",
                  ignored == "1" or {"c0 -> t0", "t0 -> c1", "c1 -> t1",
                                     "t0 -> c2", "c2 -> t3"} <= set(edges),
                  text)
    top = drawn("0")
    TAP.claim("at depth 0 there is one node", top.count("subgraph") == 0 and
              top.count("shape=box") == 1 and "->" not in top, top)


COPIES = """
#include <orrery/stf.hpp>
using namespace orrery::stf;
int main()
{
    context ctx;
    double a[10] = {};
    auto x = ctx.logical_data(a).set_symbol("x");
    auto y = ctx.logical_data(x.shape()).set_symbol("y");
    ctx.parallel_for(exec_place::device(0), x.shape(), x.rw())
            ->*[](std::size_t, auto) {};
    ctx.parallel_for(exec_place::device(1), x.shape(), x.read(), y.write())
            ->*[](std::size_t, auto, auto) {};
    ctx.parallel_for(exec_place::device(1), x.shape(), x.read(), y.rw())
            ->*[](std::size_t, auto, auto) {};
    ctx.host_launch(x.read())->*[](auto) {};
    ctx.finalize();
}
"""

MODELS = """
#include <orrery/stf.hpp>
using namespace orrery::stf;
int main()
{
    context ctx;
    auto sum = ctx.logical_data(shape_of<scalar_view<double>>());
    for (int i = 0; i < 20; i++)
        for (std::size_t n : {100u, 200u})
            ctx.parallel_for(box<1>(n), sum.reduce(reducer::sum<double>{}))
                    .set_symbol("by_shape")
                    ->*[](std::size_t i, double &s) { s += i; };
    ctx.finalize();
}
"""


def compile_program(folder, name, text, *flags):
    source = os.path.join(folder, name + ".cpp")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    out = os.path.join(folder, name)
    done = run(*CXX, "-std=c++17", "-I", INCLUDE, *flags, source, "-o", out,
               "-L", BUILD, "-lorrery", "-Wl,-rpath," + BUILD)
    return out, done


def models(folder):
    out, done = compile_program(folder, "models", MODELS)
    TAP.claim("a program compiles with one include", done.code == 0, done)
    home = os.path.join(folder, "home")
    passes("it calibrates", [out], STARPU_CALIBRATE="1", STARPU_HOME=home,
           STARPU_HOSTNAME="here", STARPU_NCPU="1")
    text = ""
    for place, _, names in os.walk(home):
        if place.endswith("/45") and "by_shape.here" in names:
            with open(os.path.join(place, "by_shape.here"),
                      encoding="ascii") as file:
                text = file.read()
    rows = re.findall(r"^[0-9a-f]{8}\s", text, re.M)
    TAP.claim("its model has the symbol, and a row for each size of the shape",
              len(set(rows)) == 2, text or "no model")


PARTS = """
#include <orrery/stf.hpp>
#include <cstdio>
using namespace orrery::stf;
int main(int argc, char **argv)
{
    context ctx;
    std::vector<double> x(1 << 18, 1.), y(1 << 18, 0.);
    auto lx = ctx.logical_data(x), ly = ctx.logical_data(y);
    const double start = starpu_timing_now();
    for (int round = 0; round < 10; round++) {
        auto from = lx.read();
        auto to = ly.rw();
        if (argc > 1 && *argv[1] == 'p')
            from = from.in_parts(), to = to.in_parts();
        else if (argc > 1)
            to = ly.rw(data_place::composite(tiled_partition<1 << 16>(),
                                             exec_place::all_devices()));
        ctx.parallel_for(exec_place::all_devices(), lx.shape(), from, to)
                ->*[](std::size_t i, auto a, auto b) { b(i) += a(i); };
    }
    ctx.fence().wait();
    std::printf("%.3f\\n", (starpu_timing_now() - start) / 1000);
    ctx.finalize();
    for (const double value : y)
        if (value != 10.)
            return 1;
    return 0;
}
"""


def parts(folder):
    out, done = compile_program(folder, "parts", PARTS)
    TAP.claim("a program with parts compiles", done.code == 0, done)
    env = dict(RUN, ORRERY_ASSUME="kernel[*] = 1ms")
    whole = passes("four GPUs use the same data in turn", [out], **env)
    apart = passes("four GPUs use their parts", [out, "parts"], **env)
    spread = passes("four GPUs use composite data", [out, "composite"], **env)
    # 40 kernels after each other, or 10.
    TAP.claim("parts are written side by side",
              float(whole.out) > 40. and 10. < float(apart.out) < 15. and
              10. < float(spread.out) < 15., whole, apart, spread)


MEMORY = """
#include <orrery/stf.hpp>
#include <cstdio>
using namespace orrery::stf;
int main()
{
    context ctx;
    const double start = starpu_timing_now();
    for (int round = 0; round < 50; round++) {
        auto x = ctx.logical_data<double>(1000000 + round % 3);
        ctx.parallel_for(exec_place::device(0), x.shape(), x.write())
                ->*[](std::size_t i, auto a) { a(i) = i; };
        ctx.fence().wait();
    }
    std::printf("%.3f\\n", starpu_timing_now() - start);
    ctx.finalize();
    return 0;
}
"""


def memory(folder):
    out, done = compile_program(folder, "memory", MEMORY)
    TAP.claim("a program of temporary data compiles", done.code == 0, done)
    took = {}
    for name in ("uncached", "cached", "cached_fifo", "pooled", "buddy"):
        done = passes(f"memory is {name}", [out], **SKIP,
                      ORRERY_STF_ALLOCATOR=name)
        took[name] = float(done.out or 0)
    # 50 allocations of the device, or one for each length.
    TAP.claim("what is kept is not allocated again, and takes no time",
              took["uncached"] > 2 * max(took[name] for name in took
                                         if name != "uncached"), took)


# --- what compiles, and what does not ---

def headers(folder):
    # Two include the rest; those alone are what a program could begin with.
    names = sorted(os.path.relpath(path, INCLUDE) for path in
                   glob.glob(os.path.join(INCLUDE, "orrery", "stf", "*.hpp")))
    for compilers in ("cuda.hpp", "clang.hpp"):  # of CUDA alone
        names.remove(os.path.join("orrery", "stf", compilers))
    for name in names:
        source = os.path.join(folder, "alone.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write(f"#include <{name}>\n#include <{name}>\n")
        done = run(*CXX, "-std=c++17", "-isystem", INCLUDE, "-fsyntax-only",
                   source)
        TAP.claim(f"{name} compiles alone", done.code == 0, done)


TRUSTED = """
#define ORR_STF_TRUST_CAPTURES
#include <orrery/stf.hpp>
using namespace orrery::stf;
int main()
{
    context ctx;
    double a[4] = {}, summand = 1.;
    auto x = ctx.logical_data(a);
    ctx.parallel_for(x.shape(), x.rw())
            ->*[&](std::size_t i, auto v) { v(i) += summand; };
    ctx.finalize();
}
"""


def warnings(folder):
    source = os.path.join(folder, "cxx20.cpp")
    with open(source, "w", encoding="utf-8") as file:
        file.write("#include <cudastf/cudastf.h>\n" + MODELS)
    done = run(*CXX, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I",
               os.path.join(INCLUDE, "compat"), "-I", INCLUDE, "-fsyntax-only",
               source)
    TAP.claim("C++20 has no warnings", done.code == 0, done)
    source = os.path.join(folder, "trusted.cpp")
    with open(source, "w", encoding="utf-8") as file:
        file.write(TRUSTED)
    done = run(*CXX, "-std=c++17", "-I", INCLUDE, "-fsyntax-only", source)
    TAP.claim("captured references compile where the program says that they "
              "are there", done.code == 0, done)


# Statement, what the message says.
TASK_USES = "what a task uses is said as x.read()"
LOOP_USES = "what a parallel_for() uses is said as x.read()"
REDUCER = "init_op(T &) and apply_op(T &, const T &)"
# The compilers' own words for what is read only: g++'s, clang's, nvcc's.
READ_ONLY = ("assignment of read-only location", "cannot assign to",
             "expression must be a modifiable lvalue")
REFUSED = {
    "a view of other elements":
        ("ctx.task(x.read())->*[](stream_t, slice<int>) {};",
         "the queue first"),
    "a view to write of data that are read":
        ("ctx.task(x.read())->*[](stream_t, slice<double>) {};",
         "slice<const T> of what it read()s"),
    "the same beside a view of any kind":
        ("ctx.task(x.rw(), x.read())->*[](stream_t, auto, slice<double>) {};",
         "slice<const T> of what it read()s"),
    "the same in a loop":
        ("ctx.parallel_for(x.shape(), x.read())"
         "->*[](size_t, slice<double>) {};",
         "an index (size_t) for each dimension"),
    "a body without the queue":
        ("ctx.task(x.rw())->*[](slice<double>) {};", "the queue first"),
    "a body of a task that takes too little":
        ("ctx.task(x.read(), s.read())->*[](stream_t, auto) {};",
         "for each data a view"),
    "a body of a loop that takes too little":
        ("ctx.parallel_for(x.shape(), x.read(), s.read())"
         "->*[](size_t, auto) {};", "then for each data a view"),
    "a body of host_launch that takes too little":
        ("ctx.host_launch(x.read(), s.read())->*[](auto) {};",
         "does not take what the task gives it"),
    "a body of a launch that takes too much":
        ("ctx.launch(par(2), x.rw())->*[](auto, auto, auto) {};",
         "a thread hierarchy"),
    "host_launch with a queue":
        ("ctx.host_launch(x.rw())->*[](stream_t, slice<double>) {};",
         "does not take what the task gives it"),
    "an index too many":
        ("ctx.parallel_for(x.shape(), x.rw())"
         "->*[](size_t, size_t, slice<double>) {};",
         "an index (size_t) for each dimension"),
    "an index too many of a view":
        ("ctx.parallel_for(x.shape(), x.rw())"
         "->*[](size_t i, auto v) { v(i, i) = 1.; };",
         "an index for each dimension"),
    "a value for a reduction's reference":
        ("ctx.parallel_for(x.shape(), s.reduce(reducer::sum<double>{}))"
         "->*[](size_t, int &) {};", "T& for what it reduce()s"),
    "a body that cannot be copied":
        ("ctx.parallel_for(x.shape(), x.rw())"
         "->*[p = std::make_unique<int>()](size_t, auto) {};",
         "must be copyable"),
    "data that are const, written":
        ("const double c[4] = {}; auto lc = ctx.logical_data(c); lc.rw();",
         "are read only"),
    "a loop that captures references":
        ("double d = 1; ctx.parallel_for(x.shape(), x.rw())"
         "->*[&](size_t i, auto v) { v(i) = d; };",
         "captures references"),
    "a launch that captures a reference beside a value":
        ("double d = 1; int k = 2; ctx.launch(par(2), x.rw())"
         "->*[&d, k](auto, auto v) { v(k) = d; };",
         "captures references"),
    "a launch without hierarchy":
        ("ctx.launch(par(2), x.rw())->*[](slice<double>) {};",
         "a thread hierarchy"),
    "elements with pointers of their own":
        ("std::string t[2]; ctx.logical_data(t);", "trivially copyable"),
    "a container of such":
        ("std::vector<std::string> t(2); ctx.logical_data(t);",
         "trivially copyable"),
    "data of nothing that is known":
        ("struct own {}; ctx.logical_data(own{});",
         "logical_data() is made of an array"),
    "data of a container that goes":
        ("ctx.logical_data(std::vector<double>(4));",
         "a container that is a variable"),
    "a wait for a slice":
        ("ctx.wait(x);", "wait() returns one value"),
    "a reduction to a slice":
        ("x.reduce(reducer::sum<double>{});", "is for single values"),
    "a reduction by a function":
        ("ctx.parallel_for(x.shape(), s.reduce(std::plus<double>{}))"
         "->*[](size_t, double &) {};", REDUCER),
    "a reduction of other values":
        ("ctx.parallel_for(x.shape(), s.reduce(reducer::sum<int>{}))"
         "->*[](size_t, double &) {};", REDUCER),
    "a reduction by a task":
        ("ctx.task(s.reduce(reducer::sum<double>{}))"
         "->*[](stream_t, auto) {};", TASK_USES),
    "a reduction by host_launch":
        ("ctx.host_launch(s.reduce(reducer::sum<double>{}))->*[](auto) {};",
         TASK_USES),
    "a wait of independent threads":
        ("ctx.launch(par(2), x.rw())->*[](auto th, auto) "
         "{ th.template sync<0>(); };", "make it con()"),
    "a task that does not say how":
        ("ctx.task(x)->*[](stream_t, auto) {};", TASK_USES),
    "the same with a place":
        ("ctx.task(exec_place::host(), x)->*[](stream_t, auto) {};",
         TASK_USES),
    "a place that is a number":
        ("ctx.task(0, x.read())->*[](stream_t, auto) {};", TASK_USES),
    "a host_launch that does not say how":
        ("ctx.host_launch(x)->*[](auto) {};", TASK_USES),
    "a loop that does not say how":
        ("ctx.parallel_for(x.shape(), x).set_symbol(\"a\")"
         "->*[](size_t, auto) {};", LOOP_USES),
    "a loop over data that are none":
        ("ctx.parallel_for(x.shape(), 5)->*[](size_t, auto) {};", LOOP_USES),
    "a loop without shape":
        ("ctx.parallel_for(x.rw())->*[](size_t, auto) {};",
         "takes a shape before the data"),
    "a launch that does not say how":
        ("ctx.launch(par(2), x)->*[](auto, auto) {};", TASK_USES),
    "a part of a device as a place":
        ("exec_place::green_ctx(0);", "parts of a device are no places"),
    "a condition that is none":
        ("stackable_ctx c; auto w = c.while_graph_scope(); "
         "w.update_cond(s.read())->*[](auto) { return std::string(); };",
         "returns a bool"),
}
# Writing to a view of what is read is an error in the body itself, of which a compiler
# tells in its own words, and nobody says after it that the body does not fit either.
CONST_VIEWS = {
    "a loop that writes what it reads":
        "ctx.parallel_for(x.shape(), x.read())"
        "->*[](size_t i, auto v) { v(i) = 1.; };",
    "a host_launch that writes what it reads":
        "ctx.host_launch(x.read())->*[](auto v) { v(0) = 1.; };",
    "a task that writes what it reads":
        "ctx.task(x.read())->*[](stream_t, auto v) { v(0) = 1.; };",
    "one of two bodies that writes what it reads":
        "ctx.task(x.read())->*on_host([](stream_t, auto v) { v(0) = 1.; })"
        ".on_device([](stream_t, auto) {});",
    "a launch that adds to what it reads":
        "ctx.launch(par(2), x.read())"
        "->*[](auto th, auto v) { v[th.rank()] += 1.; };",
    "a loop that writes the value it reads":
        "ctx.parallel_for(x.shape(), s.read())"
        "->*[](size_t, auto v) { *v = 1.; };",
    "a condition that writes what it reads":
        "stackable_ctx c; auto w = c.while_graph_scope(); "
        "w.update_cond(s.read())->*[](auto v) { *v = 2.; return true; };",
}
# nvcc takes long, and has no precompiled headers: one of each kind.
WITH_NVCC = (
    "a body of a task that takes too little", "an index too many of a view",
    "data of nothing that is known", "a reduction of other values",
    "a task that does not say how", "a loop without shape",
    "a condition that is none", "a loop that writes what it reads",
)


def prelude(folder):
    """What all of them include, precompiled for compilers that can."""
    path = os.path.join(folder, "prelude.hpp")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#include <functional>\n#include <memory>\n"
                   "#include <string>\n#include <orrery/stf.hpp>\n"
                   "using namespace orrery::stf;\n")
    return path


class Compiler:
    """What says of a statement why it does not compile."""

    def __init__(self, name, words, header, precompiled):
        self.name = name
        if precompiled:
            run(*words, "-x", "c++-header", header, "-o", header + precompiled)
        self.words = [*words, "-fsyntax-only"] if precompiled else words
        self.words += ["-include", header]

    def errors(self, folder, statement):
        source = os.path.join(folder, "refused.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write(
                "int main()\n{\n    context ctx;\n    double a[4];\n"
                "    auto x = ctx.logical_data(a);\n"
                "    auto s = ctx.logical_data("
                "shape_of<scalar_view<double>>());\n    (void)s;\n"
                f"    {statement}\n}}\n")
        return run(*self.words, source, timeout=300)


def check_refused(folder, compiler, what, statement, words):
    done = compiler.errors(folder, statement)
    said = done.err + done.out
    TAP.claim(f"{what}: {compiler.name} does not compile it, and says why",
              done.code != 0 and any(word in said for word in words), done)
    lines = said.count("\n")
    TAP.claim(f"{what}: {compiler.name} says so in at most 20 lines",
              lines <= 20, f"{lines} lines", done)
    return said


def refused(folder):
    header = prelude(folder)
    plain = [word for word in CXX if os.path.basename(word) != "ccache"]
    flags = ["-std=c++17", "-isystem", INCLUDE]
    compilers = [Compiler("the compiler", plain + flags, header, ".gch")]
    found = shutil.which("clang++") or shutil.which("clang++-14")
    if found:
        compilers.append(Compiler("clang", [found, *flags], header, ".pch"))
    else:
        TAP.skip("what clang refuses", "no clang++ in PATH")
    for compiler in compilers:
        for what, (statement, words) in REFUSED.items():
            check_refused(folder, compiler, what, statement, (words,))
        for what, statement in CONST_VIEWS.items():
            said = check_refused(folder, compiler, what, statement, READ_ONLY)
            TAP.claim(f"{what}: {compiler.name} has one error to tell",
                      said.count("error:") == 1, said)
    found = shutil.which("nvcc")
    if not found:
        TAP.skip("what nvcc refuses", "no nvcc in PATH")
        return
    nvidia = Compiler("nvcc", [
        found, "-std=c++17", "--extended-lambda", "--expt-relaxed-constexpr",
        "-I", INCLUDE, "-x", "cu", "-c", "-o", os.path.join(folder, "none.o")],
        header, None)
    for what in WITH_NVCC:
        statement, words = REFUSED.get(what) or (CONST_VIEWS[what], None)
        check_refused(folder, nvidia, what, statement,
                      (words,) if words else READ_ONLY)


# --- compilers of CUDA ---

def nvcc(folder):
    found = shutil.which("nvcc")
    if not found:
        TAP.skip("kernels.cu with nvcc", "no nvcc in PATH")
        return
    text = os.path.join(folder, "all.cu")
    with open(text, "w", encoding="utf-8") as file:
        file.write("#include <orrery/stf.hpp>\n")
    done = run(found, "-std=c++17", "-I", INCLUDE, "-E", text, "-o",
               text + ".ii")
    with open(text + ".ii", encoding="utf-8") as file:
        TAP.claim("no header of a library of algorithms is included",
                  done.code == 0 and "/cusparse.h" not in file.read(), done)
    out = os.path.join(folder, "kernels")
    done = run(found, "-std=c++17", "--expt-relaxed-constexpr",
               "--extended-lambda", "-Werror", "all-warnings", "-I",
               os.path.join(INCLUDE, "compat"), "-I", INCLUDE,
               os.path.join(HERE, "kernels.cu"), "-o", out, "-L", BUILD,
               "-lorrery", "-Xlinker", "-rpath=" + BUILD, timeout=300)
    TAP.claim("kernels.cu compiles with nvcc, without warnings",
              done.code == 0, done)
    if done.code:
        return
    for n in (1, 2, 4):
        passes(f"kernels.cu on {n} simulated GPUs", [out], **SKIP, **gpus(n))
    done = run(out, env=environment(**RUN))
    TAP.claim("kernels.cu: what has no code for processors is named when "
              "kernels are to be run there",
              done.code != 0 and "add on_host()" in done.err, done)


def events(words, folder, **env):
    """The trace's lines but counters, of which tasks that have ended on different
    sides of an equal date are counted differently."""
    path = os.path.join(folder, "trace")
    done = passes("%s is traced" % os.path.basename(words[0]), words,
                  **env, ORRERY_TRACE=path)
    if done.code:
        return None
    with open(path, encoding="utf-8") as file:
        return [line for line in file if not line.startswith("13\t")]


def replayed(folder):
    """Graphs are launched, and their tasks submitted and handed over, in a replay as in
    the program: kernels begin and end at the same dates."""
    record = os.path.join(folder, "record")
    env = dict(SKIP, ORRERY_ASSUME="kernel[*] = 10us; kernel[short] = 1us")
    ran = events([program("scopes")], folder, **env, ORRERY_RECORD=record)
    played = events([os.path.join(BUILD, "replay", "play-record"), record],
                    folder, **env)
    TAP.claim("the replay's events are the program's", ran and ran == played,
              [pair for pair in zip(ran or (), played or ())
               if pair[0] != pair[1]][:1])
    with open(record, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for words in ("graph-launch", "graph=1", "graph=2"):
        TAP.claim(f"the record has {words}",
                  any(words in line.split() for line in lines), record)


def clang(folder):
    """Both sides of kernels.cu without a toolkit: the host's code, and PTX."""
    found = shutil.which("clang++") or shutil.which("clang++-14")
    if not found:
        TAP.skip("kernels.cu with clang", "no clang++ in PATH")
        return
    for side in ("host", "device"):
        out = os.path.join(folder, side + ".s")
        done = run(found, "-x", "cuda", f"--cuda-{side}-only", "-std=c++17",
                   "--cuda-gpu-arch=sm_70", "-nocudainc", "-nocudalib", "-I",
                   os.path.join(INCLUDE, "compat"), "-I", INCLUDE, "-include",
                   "orrery/stf/clang.hpp", "-S", "-o", out,
                   os.path.join(HERE, "kernels.cu"), timeout=300)
        TAP.claim(f"kernels.cu compiles with clang, for the {side}",
                  done.code == 0, done)
    if done.code == 0:
        with open(out, encoding="utf-8") as file:
            kernels = file.read().count(".entry")
        TAP.claim("each construct has a kernel", kernels >= 8, kernels)


with tempfile.TemporaryDirectory() as scratch:
    if WHAT == "run":
        programs()
        variables()
        table()
        examples()
        cholesky()
        graphs(scratch)
        models(scratch)
        parts(scratch)
        memory(scratch)
        replayed(scratch)
    else:
        headers(scratch)
        warnings(scratch)
        refused(scratch)
        nvcc(scratch)
        clang(scratch)
TAP.end()
