# SPDX-License-Identifier: LGPL-2.1-or-later
# tools/project/setup.sh - installs what is missing and builds: with tests where the
# caller has set $with_tests. Sourced by ./quickstart and ./check from the root of the
# tree; the list of packages is here alone.
# shellcheck shell=sh

# Debian 12's names. One a line, sorted.
packages='
check
coinor-cbc
g++
gcc
glpk-utils
gnuplot-nox
graphviz
libarchive-dev
libglpk-dev
libhdf5-dev
libexpat1-dev
libhwloc-dev
libjansson-dev
libopenblas-dev
libsimgrid-dev
libyaml-dev
lp-solve
meson
ninja-build
node-d3
pkg-config
python3
python3-dev
'

# What only tests use, which are skipped without: a debugger, pj_dump, which comes
# with R, OpenCL devices that are processors, of two platforms, programs for OpenCL, gv2gxl,
# which reads graphs in DOT, GNU parallel, two MPIs, a Fortran compiler, a JDK, Rust's
# compiler, with cargo and what makes bindings of headers, spin, which checks a model of wakes, callgrind, groff and
# two shells more, for man pages and completions, and what Python programs use with ours,
# notebooks among them, CMake; for the long ones a browser, pip, what makes Debian's packages and
# looks at them, and what tests/portability and tests/analysis take.
if [ "${with_tests-}" ]; then
    packages="$packages bindgen cargo clinfo clpeak cmake fish gdb gfortran groff-base libclblast-dev
        libmpich-dev libopenmpi-dev mpich ocl-icd-opencl-dev oclgrind opencl-headers openmpi-bin
        openjdk-17-jdk-headless pajeng parallel pocl-opencl-icd rustc python3-ipykernel python3-joblib python3-markdown
        python3-nbclient python3-networkx python3-numpy python3-pandas python3-pyopencl spin
        valgrind zsh"
fi
if [ "${full-no}" = yes ]; then
    packages="$packages abigail-tools chromium clang clang-format clang-tidy cppcheck debhelper debootstrap
        dh-python dpkg-dev fakeroot gcovr g++-aarch64-linux-gnu g++-riscv64-linux-gnu
        g++-s390x-linux-gnu libclang-rt-dev lintian locales-all python3-pip python3-setuptools python3-venv
        python3-wheel qemu-user"
fi

# say TEXT: one line for one step.
say()
{
    printf '== %s\n' "$*"
}

# Prints those of $packages that are not installed.
missing_packages()
{
    for package in $packages; do
        case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
        installed) ;;
        *) printf '%s ' "$package" ;;
        esac
    done
}

# Installs what is missing, or says how and ends with 1.
install_packages()
{
    if ! command -v dpkg-query >/dev/null; then
        say "no dpkg here: taking what Debian names so for granted:" $packages
        return 0
    fi
    missing=$(missing_packages)
    if [ -z "$missing" ]; then
        say "all packages are installed"
        return 0
    fi
    if [ "$(id -u)" -eq 0 ]; then
        as_root='env'
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        as_root='sudo -n env'
    else
        say "some packages are missing; install them and try again:"
        echo "sudo apt-get install --no-install-recommends $missing"
        exit 1
    fi
    say "installing $missing"
    # A fresh container has no list of packages at all, hence the update.
    # shellcheck disable=SC2086 # words on purpose
    output=$({
        $as_root apt-get -qq update &&
            $as_root DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
                --no-install-recommends $missing
    } </dev/null 2>&1) || {
        echo "$output"
        say "the packages could not be installed"
        exit 1
    }
}

# Configures $build once, with what is in $setup_options: without tests and without what
# debuggers want where nobody has asked for tests, which takes a third less time, and anew
# once somebody does.
configure()
{
    if [ -z "${with_tests-}" ]; then
        setup_options="-Dtests=disabled -Ddebug=false ${setup_options-}"
    elif [ -f "$build/without-tests" ]; then
        say "configuring $build/ with tests"
        output=$(meson configure "$build" -Dtests=auto -Ddebug=true 2>&1) || {
            echo "$output"
            exit 1
        }
        rm "$build/without-tests"
    fi
    [ -f "$build/build.ninja" ] && return 0
    say "configuring in $build/"
    # shellcheck disable=SC2086 # words on purpose
    output=$(meson setup "$build" ${CI:+-Dwerror=true} ${setup_options-} 2>&1) || {
        echo "$output"
        exit 1
    }
    [ "${with_tests-}" ] || : >"$build/without-tests"
}

# Prints what ninja is to build in $build: what the tour runs, what tests do, or, for the long
# ones, all, and programs of benchmarks, so that they still compile.
wanted_targets()
{
    if [ -z "${with_tests-}" ]; then
        python3 tools/project/targets.py tour "$build"
    elif [ "${full-no}" = no ]; then
        python3 tools/project/targets.py tests "$build"
    elif grep -q '^build bench-programs:' "$build/build.ninja"; then
        echo all bench-programs
    else
        echo all
    fi
}

# Builds what has changed of that.
build_wanted()
{
    targets=$(wanted_targets) || exit 1
    # shellcheck disable=SC2086 # words on purpose
    if ninja -C "$build" -n $targets 2>/dev/null | grep -q 'no work to do'; then
        say "everything is built"
        say_warnings
        return 0
    fi
    say "building"
    # shellcheck disable=SC2086 # words on purpose
    ninja -C "$build" $targets >"$build/build.log" 2>&1 || {
        grep -vE '^\[[0-9]+/[0-9]+\]' "$build/build.log" | tail -n 60
        say "the build failed; all of it is in $build/build.log"
        exit 1
    }
    say_warnings
}

# Of what is built for tests: ./check says it again where it ends.
say_warnings()
{
    [ "${with_tests-}" ] && [ -f "$build/build.log" ] || return 0
    python3 tools/project/build_warnings.py "$build"
}

build=${ORRERY_BUILD:-build}
install_packages
configure
[ "${builds_later-}" ] || build_wanted
