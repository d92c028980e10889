#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# pip installs the Python modules against the Orrery of a build folder, without a
# network. Prints TAP. usage: test-pip.sh PYTHON BUILD_FOLDER SOURCE_ROOT
set -u
python=$1
build=$2
source=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
n=0
failed=0

if ! "$python" -c 'import setuptools, ensurepip, pip, wheel' 2>/dev/null; then
    echo "1..0 # SKIP there is no python3-pip, -setuptools, -venv or -wheel"
    exit 0
fi

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

pip_install() {
    "$folder/venv/bin/pip" install --no-build-isolation --no-index --no-deps \
        "$folder/python"
}

says_what_is_missing() {
    ! PKG_CONFIG_PATH=/nowhere PKG_CONFIG_LIBDIR=/nowhere pip_install \
        >"$folder/said" 2>&1 && grep -q 'source orrery-env first' "$folder/said"
}

runs() {
    "$folder/venv/bin/python" -B -c '
import orrery, starpu
starpu.init()
assert starpu.task_submit()(pow, 2, 5).wait() == 32
starpu.shutdown()
assert "h100-pcie-4" in orrery.machines()
graph = orrery.Graph()
graph.add_task("kernel", times={"cpu": 100})
assert len(orrery.simulate(graph, "h100-pcie-4", "eager").tasks) == 1
assert len(orrery.compare(graph, "h100-pcie-4", ["eager", "dmda"], jobs=2)) == 2'
}

unset PYTHONPATH
claim "an environment is made" "$python" -m venv --system-site-packages \
    "$folder/venv"
cp -r "$source/bindings/python" "$folder/python"
claim "without a library it says what to do" says_what_is_missing
. "$build/orrery-env"
unset PYTHONPATH
claim "pip installs" pip_install
claim "what was installed runs" runs
echo "1..$n"
[ "$failed" -eq 0 ]
