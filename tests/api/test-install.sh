#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# An Orrery that was only built, one that was installed, and that one moved to another
# folder, compile and run StarPU programs in C and C++ through pkg-config and CMake, for
# real and simulated, once orrery-env was sourced; the library exports nothing but the
# interface, and nothing is left once it was uninstalled. Prints TAP.
# usage: test-install.sh BUILD_FOLDER SOURCE_ROOT WITH_PYTHON
set -u
build=$1
source=$2
with_python=$3
folder=$(mktemp -d)
stage="$folder/a stage" # paths with spaces work, too
# What a user has installed of this build is uninstalled by its log.
log=$build/meson-logs/install-log.txt
[ -f "$log" ] && cp "$log" "$folder/users-log"
version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" "$source/meson.build" | head -n 1)
ends() {
    if [ -f "$folder/users-log" ]; then
        cp "$folder/users-log" "$log"
    else
        rm -f "$log"
    fi
    rm -rf "$folder"
}
trap ends EXIT
n=0
failed=0

# claim WHAT COMMAND...: the command's status decides.
claim() {
    what=$1
    shift
    n=$((n + 1))
    if "$@" >"$folder/log" 2>&1; then
        echo "ok $n - $what"
    else
        echo "not ok $n - $what"
        sed 's/^/# /' "$folder/log"
        failed=$((failed + 1))
    fi
}

# Beside these what drivers call is in the headers that are installed for them; what a
# layer above calls (core/remote.h) is not, since that is built with the library.
exports_interface_only() {
    layer='await|insertion_.*|may_block|message_.*|memory_(un|use_)?reserved?|memory_reserve_for'
    layer="$layer|openmp_.*|outside_.*" # core/remote.h, core/omp/entries.h
    layer="$layer|count_(ready|unfinished)|handle_label|job_(acquire|message|name)|json_text"
    layer="$layer|observers_want|source_place|sources_(find|text)|tags_each_missing|waiting_.*" # debug/, watch/
    layer="orr_($layer|remote_.*|runtime_(adopt_or_end|current|fail|set_rank))"
    drivers=$prefix/include/orrery/core
    nm -D --defined-only "$library" | awk '{ print $3 }' |
        grep -vE "^(_?starpu_|fstarpu_|orrery_)|^$layer\$" >"$folder/exported"
    while read -r name; do
        grep -rqw "$name" "$drivers" || { echo "$name"; return 1; }
    done <"$folder/exported"
}

# clock.so is no module: it stands before the C library.
modules_export_their_entry() {
    for module in "$(dirname "$library")"/orrery/*.so; do
        case $module in */clock.so | */openmp.so | */openmp_record.so | */openmp_sizes.so) continue ;; esac # preloaded
        test "$(nm -D --defined-only "$module" | awk '{ print $3 }')" = \
            orr_module_entry || return 1
    done
}

# with_flags NAME COMMAND...: the command with pkg-config's words for NAME, as a shell or a
# makefile takes them: with escapes.
with_flags() {
    flags=$(pkg-config --cflags --libs "$1") || return 1
    shift
    eval "set -- \"\$@\" $flags"
    "$@"
}

# folder_of VARIABLE: of pkg-config's starpu-1.4, without escapes.
folder_of() {
    pkg-config --variable="$1" starpu-1.4 | sed 's/\\\(.\)/\1/g'
}

repeats_its_sum() {
    "$@" | grep -q '^sum 5050$'
}

cat >"$folder/rs.rs" <<'RS'
use orrery::*;
fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let sum = rt.variable(0)?;
    for i in 1..=100 {
        rt.task("add").run((sum.rw(),), move |(sum,)| *sum += i)?;
    }
    println!("sum {}", sum.into_inner());
    Ok(())
}
RS

cat >"$folder/app.c" <<'APP'
#include <stdio.h>
#include <starpu.h>

static void add(void *buffers[], void *arg)
{
    (void)arg;
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) +=
        *(int *)STARPU_VARIABLE_GET_PTR(buffers[1]);
}

static struct starpu_codelet cl = {
    .cpu_funcs = {add},
    .nbuffers = 2,
    .modes = {STARPU_RW, STARPU_R},
    .name = "add",
};

int main(void)
{
    int sum = 0, term[100];
    starpu_data_handle_t to, from;

    if (starpu_init(NULL) != 0)
        return 77;
    starpu_variable_data_register(&to, STARPU_MAIN_RAM, (uintptr_t)&sum,
                                  sizeof(sum));
    for (int i = 0; i < 100; i++) {
        term[i] = i + 1;
        starpu_variable_data_register(&from, STARPU_MAIN_RAM,
                                      (uintptr_t)&term[i], sizeof(term[i]));
        starpu_task_insert(&cl, STARPU_RW, to, STARPU_R, from, 0);
        starpu_data_unregister(from);
    }
    starpu_data_unregister(to);
    starpu_shutdown();
    printf("sum %d\n", sum);
    return 0;
}
APP
cat >"$folder/app.cpp" <<'APP'
#include <cstdio>
#include <starpu.h>

static starpu_codelet cl;

int main()
{
    int sum = 0;
    starpu_data_handle_t to;

    if (starpu_init(nullptr) != 0)
        return 77;
    starpu_codelet_init(&cl);
    cl.name = "add";
    cl.nbuffers = 1;
    cl.modes[0] = STARPU_RW;
    cl.cpu_funcs[0] = [](void *buffers[], void *arg) {
        int term;

        starpu_codelet_unpack_args(arg, &term);
        *reinterpret_cast<int *>(STARPU_VARIABLE_GET_PTR(buffers[0])) += term;
    };
    starpu_variable_data_register(&to, STARPU_MAIN_RAM,
                                  reinterpret_cast<uintptr_t>(&sum),
                                  sizeof(sum));
    for (int i = 1; i <= 100; i++)
        starpu_task_insert(&cl, STARPU_RW, to, STARPU_VALUE, &i, sizeof(i), 0);
    starpu_data_unregister(to);
    starpu_shutdown();
    std::printf("sum %d\n", sum);
    return 0;
}
APP

cat >"$folder/of.f90" <<'APP'
program app
  use, intrinsic :: iso_c_binding
  use orrery
  implicit none
  integer :: total = 0, i
  type(codelet) :: adds
  call orrery_init()
  call adds%init("add", cpu=add)
  do i = 1, 100
    call submit(adds, readwrite(total), value(i))
  end do
  call orrery_shutdown()
  print '(a, i0)', "sum ", total
contains
  recursive subroutine add(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    integer, pointer :: sum
    integer :: term
    call view(buffers, 1, sum)
    call unpack(args, term)
    sum = sum + term
  end subroutine
end program
APP
cat >"$folder/nf.f90" <<'APP'
module kernels
  use fstarpu_mod
  implicit none
contains
  recursive subroutine add(buffers, args) bind(C)
    type(c_ptr), value :: buffers, args
    integer(c_int), pointer :: sum
    integer(c_int), target :: term
    call c_f_pointer(fstarpu_variable_get_ptr(buffers, 0), sum)
    call fstarpu_unpack_arg(args, (/ c_loc(term) /))
    sum = sum + term
  end subroutine
end module
program app
  use fstarpu_mod
  use kernels
  implicit none
  integer(c_int), target :: total = 0, i
  type(c_ptr) :: cl, dh
  if (fstarpu_init(c_null_ptr) /= 0) stop 77
  cl = fstarpu_codelet_allocate()
  call fstarpu_codelet_add_cpu_func(cl, c_funloc(add))
  call fstarpu_codelet_add_buffer(cl, FSTARPU_RW)
  call fstarpu_variable_data_register(dh, 0, c_loc(total), c_sizeof(total))
  do i = 1, 100
    call fstarpu_task_insert((/ cl, FSTARPU_RW, dh, FSTARPU_VALUE, c_loc(i), FSTARPU_SZ_C_INT, &
      c_null_ptr /))
  end do
  call fstarpu_data_unregister(dh)
  call fstarpu_codelet_free(cl)
  call fstarpu_shutdown()
  print '(a, i0)', "sum ", total
end program
APP
cat >"$folder/flow.cpp" <<'APP'
#include <cstdio>
#include <cuda/experimental/stf.cuh>

using namespace cuda::experimental::stf;

int main()
{
    context ctx;
    auto sum = ctx.logical_data(shape_of<scalar_view<int>>());

    ctx.parallel_for(box<1>(101), sum.reduce(reducer::sum<int>{}))
            .set_symbol("add")
            ->*[] __device__(size_t i, int &s) { s += static_cast<int>(i); };
    std::printf("sum %d\n", ctx.wait(sum));
    ctx.finalize();
    return 0;
}
APP

sed -n '/^```c$/,/^```$/{ /^```/d; p }' "$source/docs/NEW_DRIVER.md" >"$folder/pad.c"

finds_the_command() {
    test "$(command -v orrery)" = "$1" && orrery machine list | grep -q h100
}

is_linked_below() {
    ldd "$folder/app" | grep -q "liborrery.so.0 => $1"
}

python_uses_it() {
    python3 -c '
import orrery, starpu
starpu.init()
assert starpu.task_submit()(pow, 2, 5).wait() == 32
starpu.shutdown()
assert "h100-pcie-4" in orrery.machines()'
}

# looks_there PYTHON: by itself, where the modules were installed for the build's prefix.
looks_there() {
    modules=$(find "$prefix" -path '*/orrery/_replay.*so') &&
        modules=${modules#"$stage"} && modules=${modules%/orrery/*} &&
        "$1" -c "import sys; print(*sys.path, sep='\n')" | grep -Fx "$modules"
}

# Without cargo: the crates, then the program.
rust_builds() {
    crates=$(folder_of orrery_rustdir)
    test -f "$crates/orrery-sys/build.rs" && test -f "$crates/orrery/Cargo.toml" &&
        rust_compiles --crate-type=rlib --crate-name=orrery_sys \
            "$crates/orrery-sys/src/lib.rs" &&
        rust_compiles --crate-type=rlib --crate-name=orrery --extern orrery_sys \
            "$crates/orrery/src/lib.rs" &&
        rust_compiles --extern orrery "$folder/rs.rs" -lorrery \
            -L "$(folder_of orrery_libdir)"
}

rust_compiles() {
    rustc --edition=2021 --out-dir "$folder" -L "$folder" "$@"
}
cat >"$folder/Begins.java" <<'END'
public class Begins
{
    public static void main(String[] args) throws Exception
    {
        fr.labri.hpccloud.starpu.StarPU.init();
        fr.labri.hpccloud.starpu.IntVector.allocate(3);
        fr.labri.hpccloud.starpu.StarPU.shutdown();
    }
}
END

# try PLACE COMMAND BELOW: what a user does in a shell that has sourced orrery-env.
try() {
    claim "$1: the command is found" finds_the_command "$2"
    claim "$1: a C program builds through pkg-config" with_flags starpu-1.4 gcc -Wall \
        -Werror "$folder/app.c" -o "$folder/app"
    claim "$1: a C++ program builds through pkg-config" with_flags starpu-1.4 g++ -Wall \
        -Werror "$folder/app.cpp" -o "$folder/app++"
    claim "$1: a program for CUDASTF builds through pkg-config" with_flags orrery-cudastf \
        g++ -std=c++17 -Wall -Werror "$folder/flow.cpp" -o "$folder/flow"
    claim "$1: it finds the library" is_linked_below "$3"
    for app in app app++ flow; do
        claim "$1: $app runs for real" repeats_its_sum env STARPU_NCPU=2 \
            "$folder/$app"
        claim "$1: $app runs simulated, its kernels run" repeats_its_sum env \
            ORRERY_MACHINE="$source/tests/api/gpus.xml" ORRERY_SIM_KERNELS=run \
            ORRERY_ASSUME='kernel[add] = 5us' "$folder/$app"
    done
    for name in orrery starpu-1.3 libstarpu; do
        claim "$1: $name has the same flags" test \
            "$(pkg-config --cflags --libs $name)" = \
            "$(pkg-config --cflags --libs starpu-1.4)"
    done
    claim "$1: a driver builds through pkg-config" with_flags orrery-driver gcc -Wall \
        -Werror -shared -fPIC "$folder/pad.c" -o "$folder/pad.so"
    claim "$1: a program runs on its devices" repeats_its_sum env STARPU_NCPU=0 \
        ORRERY_DRIVERS="$folder/pad.so:2" "$folder/app"
    if [ "$with_python" = true ]; then
        claim "$1: Python programs find the modules" python_uses_it
    fi
    if command -v rustc >/dev/null; then
        claim "$1: a Rust program builds on the crates' sources" rust_builds
        claim "$1: it runs" repeats_its_sum env STARPU_NCPU=2 "$folder/rs"
    fi
    if pkg-config --exists orrery-fortran && command -v gfortran >/dev/null; then
        claim "$1: a Fortran program builds through pkg-config" with_flags orrery-fortran \
            gfortran -J "$folder" "$folder/of.f90" -o "$folder/of"
        claim "$1: it runs" repeats_its_sum env STARPU_NCPU=2 "$folder/of"
        claim "$1: one with StarPU's module does" with_flags starpu-1.4 gfortran -J "$folder" \
            "$(folder_of starpu_fortrandir)/fstarpu_mod.f90" "$folder/nf.f90" -o "$folder/nf"
        claim "$1: it runs" repeats_its_sum env STARPU_NCPU=2 "$folder/nf"
    fi
    if [ "${ORRERY_JAR-}" ] && command -v javac >/dev/null; then
        claim "$1: a Java program compiles" javac -cp "$ORRERY_JAR" -d "$folder" \
            "$folder/Begins.java"
        claim "$1: it finds the library beside the jar" env -u LD_LIBRARY_PATH STARPU_NCPU=2 \
            java -cp "$ORRERY_JAR:$folder" Begins
    fi
    claim "$1: the folder of modules is right" test -f "$(folder_of pkglibdir)/sim.so"
    for name in prefix includedir libdir; do
        claim "$1: $name is a folder" test -d "$(folder_of $name)"
    done
}

# moved WHAT: of an installation that lies elsewhere, found by a shell that knows nothing
# but starpu_env.
moved() {
    case $1 in
    program)
        run='eval "cc app.c -o moved $(pkg-config --cflags --libs starpu-1.4)" && ./moved'
        ;;
    simulated) run='orrery run -m laptop-8 --assume "*=1ms" -- ./moved' ;;
    manual) run='man -w orrery-run && test -s "$(man -w orrery-run)"' ;;
    completion)
        run='. "$STARPU_ROOT/share/bash-completion/completions/orrery"
             COMP_WORDS=(orrery machine sh); COMP_CWORD=2; _orrery
             test "${COMPREPLY[*]}" = show'
        ;;
    esac
    (cd "$folder" && env -i HOME="$folder" PATH="$path" STARPU_NCPU=2 \
        bash -c "set -- -d \"$prefix\"; . \"$prefix/bin/starpu_env\"; $run")
}

# env_of_each_shell: orrery-env finds where it lies, whichever shell reads it, and by
# whichever path.
env_of_each_shell() {
    for shell in sh bash zsh; do
        command -v $shell >/dev/null || continue
        for name in "$prefix/share/orrery/orrery-env" ./orrery-env; do
            found=$(cd "$prefix/share/orrery" && env -i PATH="$path" $shell -c \
                ". '$name' && (. '$name') && command -v orrery") || return 1
            test "$found" = "$prefix/bin/orrery" || {
                echo "$shell, $name: $found"
                return 1
            }
        done
    done
}

cmake_finds_it() {
    rm -rf "$folder/cmake build"
    cmake -S "$folder/cmake" -B "$folder/cmake build" && cmake --build "$folder/cmake build" &&
        repeats_its_sum env STARPU_NCPU=2 "$folder/cmake build/app" &&
        repeats_its_sum env STARPU_NCPU=2 "$folder/cmake build/flow"
}

# A version that docs/VERSIONS.md does not promise is refused.
cmake_refuses_others() {
    sed 's/orrery 0\.[0-9]*/orrery 0.999/' "$folder/cmake/CMakeLists.txt" >"$folder/other/CMakeLists.txt"
    ! cmake -S "$folder/other" -B "$folder/other/build" >"$folder/other/said" 2>&1 &&
        grep -q 'requested version "0.999"' "$folder/other/said"
}

# each_name_works: wherever the installation lies, without any variable.
each_name_works() {
    for name in "$prefix"/bin/starpu_*; do
        said=$(cd "$folder" && env -i HOME="$folder" PATH="$path" STARPU_HOME="$folder" \
            "$name" --help) || return 1
        case $said in
        *"usage: "*"${name##*/}"*) ;;
        *) return 1 ;;
        esac
    done
    (cd "$folder" && env -i HOME="$folder" PATH="$path" STARPU_HOME="$folder" \
        ORRERY_MACHINE=laptop-8 "$prefix/bin/starpu_machine_display" -c >display &&
        grep -q "8 CPU" display &&
        env -i HOME="$folder" PATH="$path" "$prefix/bin/orrery" sched list >list &&
        grep -q dmda list && bash -c ". '$prefix/bin/starpu_env' &&
            test \"\$STARPU_ROOT\" = '$prefix'")
}

repeats_no_folder() {
    before=$PATH:$LD_LIBRARY_PATH:$PKG_CONFIG_PATH:${PYTHONPATH-}
    . "$build/orrery-env"
    test "$PATH:$LD_LIBRARY_PATH:$PKG_CONFIG_PATH:${PYTHONPATH-}" = "$before"
}

mkdir "$folder/cmake" "$folder/other"
cat >"$folder/cmake/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.16)
project(app C CXX)
find_package(orrery ${version%.*} REQUIRED)
if(NOT orrery_COMMAND)
  message(FATAL_ERROR "no command")
endif()
add_executable(app ../app.c)
target_link_libraries(app PRIVATE orrery::orrery)
add_executable(flow ../flow.cpp)
target_link_libraries(flow PRIVATE orrery::cudastf)
END

# links_lead_somewhere: those of the documents that are installed.
links_lead_somewhere() {
    (cd "$prefix/share/doc/orrery" && find . -name '*.md' | while read -r page; do
        # Not of code, nor of other places.
        sed '/^```/,/^```$/d; s/`[^`]*`//g; /^    /d' "$page" |
            grep -oE '\]\([^)#]+' | sed 's/](//' | grep -v '^https*:' |
            while read -r link; do
                test -e "${page%/*}/$link" || echo "$page: $link"
            done
    done) >"$folder/dead"
    cat "$folder/dead"
    test ! -s "$folder/dead" && test -s "$prefix/share/doc/orrery/COPYING"
}

each_program_has_a_page() {
    for program in "$prefix"/bin/*; do
        test -s "$prefix/share/man/man1/${program##*/}.1" || {
            echo "$program"
            return 1
        }
    done
}

# An example as a user who has only what is installed builds it.
example_builds() {
    (cd "$prefix/share/doc/orrery/examples" &&
        with_flags starpu-1.4 gcc dot_product.c -o "$folder/dot_product") &&
        STARPU_NCPU=2 "$folder/dot_product"
}

nothing_is_left() {
    ninja -C "$build" uninstall >"$folder/uninstall" || return 1
    find "$stage" 2>/dev/null >"$folder/left"
    grep 'Could not' "$folder/uninstall"
    sed 's/^/left: /' "$folder/left"
    test ! -s "$folder/left"
}

unset LD_LIBRARY_PATH PKG_CONFIG_PATH PYTHONPATH ORRERY_MODULE_DIR ORRERY_JAR CMAKE_PREFIX_PATH
path=$PATH
. "$build/orrery-env"
try built "$build/tools/orrery" "$build"
claim "built: orrery-env adds no folder twice" repeats_no_folder

forget() {
    PATH=$path
    unset LD_LIBRARY_PATH PKG_CONFIG_PATH PYTHONPATH ORRERY_JAR CMAKE_PREFIX_PATH
}

forget
claim "it installs" env DESTDIR="$stage" meson install -C "$build" \
    --no-rebuild --quiet
prefix=$(dirname "$(dirname "$(find "$stage" -path '*/bin/starpu_env')")")
# shellcheck source=/dev/null
. "$prefix/share/orrery/orrery-env"
try installed "$prefix/bin/orrery" "$prefix"
library=$(find "$prefix" -name 'liborrery.so')
claim "liborrery.so exports the interface only" exports_interface_only
claim "each module exports its entry only" modules_export_their_entry
case $with_python:${prefix#"$stage"} in
true:/usr | true:/usr/local)
    [ -x /usr/bin/python3 ] &&
        claim "the system's Python looks where the modules are" looks_there /usr/bin/python3
    ;;
esac
claim "links of the documents lead somewhere" links_lead_somewhere
claim "each program has a man page" each_program_has_a_page

# Moved: what was found where it lay is there no more.
forget
first=$prefix
prefix="$folder/moved to"
mv "$first" "$prefix"
# shellcheck source=/dev/null
. "$prefix/share/orrery/orrery-env"
try moved "$prefix/bin/orrery" "$prefix"
for what in program simulated manual completion; do
    claim "starpu_env of a moved installation: $what" moved $what
done
claim "StarPU's names work where the installation was moved to" each_name_works
claim "orrery-env finds where it lies, in each shell" env_of_each_shell
claim "an example that was installed builds" example_builds
if command -v cmake >/dev/null; then
    claim "a CMake project finds it and runs" cmake_finds_it
    claim "one for another version is told so" cmake_refuses_others
else
    n=$((n + 1))
    echo "ok $n - a CMake project finds it # SKIP there is no cmake"
fi

# Used programs and modules have left nothing that would stay.
mv "$prefix" "$first"
claim "nothing is left once it was uninstalled" nothing_is_left
echo "1..$n"
[ "$failed" -eq 0 ]
