#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# abidiff finds nothing that programs linked with the library of the last tag would miss in
# this one's. Builds that library, hence of the long tests. Prints TAP.
# usage: test-abidiff.sh BUILD_FOLDER SOURCE_ROOT
set -u
build=$(realpath "${1:?usage: test-abidiff.sh BUILD_FOLDER SOURCE_ROOT}")
source=$(realpath "${2:?usage: test-abidiff.sh BUILD_FOLDER SOURCE_ROOT}")
claim="nothing is missing that the last tag has promised"
echo 1..1

skip() {
    echo "ok 1 - $claim # SKIP $1"
    exit 0
}

command -v abidiff >/dev/null || skip "abidiff is not installed (abigail-tools)"
tag=$(git -C "$source" describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null) ||
    skip "there is no tag of a version, or no git"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

tagged_library() {
    mkdir "$folder/tree" && git -C "$source" archive "$tag" | tar xf - -C "$folder/tree" &&
        (cd "$folder/tree" && meson setup -Dtests=disabled build && ninja -C build "liborrery.so.${tag#v}")
}

tagged_library >"$folder/log" 2>&1 || {
    tail -n 30 "$folder/log" | sed 's/^/# /'
    echo "not ok 1 - $claim: $tag does not build"
    exit 1
}
if [ "$(cd "$build" && echo liborrery.so.[0-9])" != \
    "$(cd "$folder/tree/build" && echo liborrery.so.[0-9])" ]; then
    skip "the soname is another one than that of $tag"
fi
# Types of the public headers alone; what is new, or harmless, is not told, nor what modules
# and drivers see, which a stamp watches.
printf '[suppress_%s]\n  name_regexp = ^orr_\n' function variable >"$folder/ours"
abidiff --suppr "$folder/ours" --exported-interfaces-only --no-added-syms \
    --headers-dir1 "$folder/tree/include" --headers-dir2 "$source/include" \
    "$folder/tree/build/liborrery.so" "$build/liborrery.so" >"$folder/log" 2>&1
code=$?
if [ $code -eq 0 ]; then
    echo "ok 1 - $claim"
else
    sed 's/^/# /' "$folder/log"
    echo "not ok 1 - $claim ($tag): docs/VERSIONS.md, \"The soname\""
    exit 1
fi
