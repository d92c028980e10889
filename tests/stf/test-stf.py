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
                 "scopes", "names"):
        passes(f"{name}, real", [program(name)])
    passes("features, real, one worker", [program("features")],
           STARPU_NCPU="1")
    passes("snippets, real, wherever the policy says", [program("snippets")],
           **ANY)
    for name in ("features", "snippets", "allocators", "places", "scopes",
                 "names"):
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
    top = drawn("0")
    TAP.claim("at depth 0 there is one node", top.count("subgraph") == 0 and
              top.count("shape=box") == 1 and "->" not in top, top)


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


def warnings(folder):
    source = os.path.join(folder, "cxx20.cpp")
    with open(source, "w", encoding="utf-8") as file:
        file.write("#include <cudastf/cudastf.h>\n" + MODELS)
    done = run(*CXX, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I",
               os.path.join(INCLUDE, "compat"), "-I", INCLUDE, "-fsyntax-only",
               source)
    TAP.claim("C++20 has no warnings", done.code == 0, done)


# Statement, what the message says.
REFUSED = {
    "a view of other elements":
        ("ctx.task(x.read())->*[](stream_t, slice<int>) {};",
         "the queue first"),
    "a view to write of data that are read":
        ("ctx.task(x.read())->*[](stream_t, slice<double>) {};",
         "slice<const T> of what it read()s"),
    "a body without the queue":
        ("ctx.task(x.rw())->*[](slice<double>) {};", "the queue first"),
    "host_launch with a queue":
        ("ctx.host_launch(x.rw())->*[](stream_t, slice<double>) {};",
         "does not take what the task gives it"),
    "an index too many":
        ("ctx.parallel_for(x.shape(), x.rw())"
         "->*[](size_t, size_t, slice<double>) {};",
         "an index (size_t) for each dimension"),
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
    "a launch without hierarchy":
        ("ctx.launch(par(2), x.rw())->*[](slice<double>) {};",
         "a thread hierarchy"),
    "elements with pointers of their own":
        ("std::string t[2]; ctx.logical_data(t);", "trivially copyable"),
    "a wait for a slice":
        ("ctx.wait(x);", "wait() returns one value"),
    "a reduction to a slice":
        ("x.reduce(reducer::sum<double>{});", "is for single values"),
    "a wait of independent threads":
        ("ctx.launch(par(2), x.rw())->*[](auto th, auto) "
         "{ th.template sync<0>(); };", "make it con()"),
}


def refused(folder):
    for what, (statement, words) in REFUSED.items():
        source = os.path.join(folder, "refused.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write(
                "#include <memory>\n#include <orrery/stf.hpp>\n"
                "using namespace orrery::stf;\nint main()\n{\n"
                "    context ctx;\n    double a[4];\n"
                "    auto x = ctx.logical_data(a);\n"
                "    auto s = ctx.logical_data("
                "shape_of<scalar_view<double>>());\n    (void)s;\n"
                f"    {statement}\n}}\n")
        done = run(*CXX, "-std=c++17", "-isystem", INCLUDE, "-fsyntax-only",
                   source)
        lines = done.err.count("\n")
        TAP.claim(f"{what}: does not compile, and says why",
                  done.code != 0 and words in done.err, done)
        TAP.claim(f"{what}: in at most 20 lines", lines <= 20,
                  f"{lines} lines", done)


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
