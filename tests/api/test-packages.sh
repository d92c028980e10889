#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Debian's packages: they are built from the files that git has, lintian says nothing of
# them, and in a Debian of their own (debootstrap) they install, do the main job and leave
# nothing when they go. Prints TAP. What is not there is a reason to skip: devscripts'
# lintian, debootstrap, the rights of root, a network.
# usage: test-packages.sh SOURCE_ROOT   KEEP=FOLDER keeps packages and root there
set -u
source=$(realpath "${1:?usage: test-packages.sh SOURCE_ROOT}")
if [ "${KEEP-}" ]; then
    mkdir -p "$KEEP" && folder=$(realpath "$KEEP") || exit 1
else
    folder=$(mktemp -d) || exit 1
fi
root=$folder/root
n=0
failed=0
trap 'umount "$root/proc" 2>/dev/null; [ "${KEEP-}" ] || rm -rf "$folder"' EXIT

# claim WHAT COMMAND...: the command's status decides.
claim() {
    what=$1
    shift
    n=$((n + 1))
    if "$@" >"$folder/log" 2>&1; then
        echo "ok $n - $what"
    else
        echo "not ok $n - $what"
        tail -n 60 "$folder/log" | sed 's/^/# /'
        failed=$((failed + 1))
        return 1
    fi
}

# skip WHAT REASON
skip() {
    n=$((n + 1))
    echo "ok $n - $1 # SKIP $2"
}

ends() {
    echo "1..$n"
    [ "$failed" -eq 0 ]
    exit
}

builds() {
    rm -rf "$folder/tree" && mkdir "$folder/tree" &&
        (cd "$source" && git ls-files -z | tar --null -T - -cf - 2>/dev/null) |
        tar xf - -C "$folder/tree" &&
        (cd "$folder/tree" && dpkg-buildpackage -us -uc -b)
}

has_them_all() {
    for name in liborrery0 liborrery-dev orrery python3-orrery orrery-doc; do
        ls "$folder/$name"_*.deb || return 1
    done
}

lintian_is_silent() {
    lintian --allow-root --fail-on error,warning "$folder"/*.changes
}

# in_root WORDS: a shell's, in the other Debian.
in_root() {
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C \
        DEBIAN_FRONTEND=noninteractive HOME=/root sh -c "$1"
}

bootstraps() {
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    debootstrap --variant=minbase "$suite" "$root" "$(mirror)" && mount -t proc proc "$root/proc"
}

# What this machine gets its packages from.
mirror() {
    sed -nE 's/^URIs: *([^ ]+).*/\1/p; s/^deb (\[[^]]*\] )?([^ ]+) .*/\2/p' \
        /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1
}

# files_of_root: all, but what apt and dpkg keep of their own doings.
files_of_root() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./var/lib/apt -o -path ./var/lib/dpkg \
        -o -path ./var/cache -o -path ./var/log -o -path ./tmp \) -prune -o -print | sort)
}

installs() {
    mkdir -p "$root/packages" && cp "$folder"/*.deb "$root/packages" &&
        rm -f "$root"/packages/*-dbgsym_*.deb &&
        in_root 'apt-get install -y --no-install-recommends gcc libc6-dev pkg-config python3'
}

installs_ours() {
    in_root 'apt-get install -y --no-install-recommends /packages/*.deb'
}

# What the autopkgtests run, as they do.
does_the_main_job() {
    cp "$source/debian/tests/main-job" "$root/packages/" &&
        in_root /packages/main-job
}

# As programs do that know StarPU's files and no pkg-config.
finds_the_aliases() {
    for name in 1.3 1.4; do
        in_root "cd /packages && gcc -I/usr/include/starpu/$name -o alias \
            /usr/share/doc/orrery/examples/dot_product.c -lstarpu-$name &&
            STARPU_HOME=/packages STARPU_NCPU=1 ./alias" || return 1
    done
}

python_does() {
    command=$(sed -n 's/^Test-Command: //p' "$source/debian/tests/control")
    in_root "cd /packages && $command"
}

leaves_nothing() {
    in_root 'apt-get purge -y liborrery0 liborrery-dev orrery python3-orrery orrery-doc &&
        apt-get autoremove --purge -y' || return 1
    files_of_root | comm -13 "$folder/before" - | grep -v '^./root' >"$folder/left"
    grep -iE 'orrery|starpu|socl' "$folder/left" && return 1
    in_root 'dpkg-query -W' | grep -i orrery && return 1
    test ! -s "$folder/left" || sed 's/^/left by others: /' "$folder/left"
}

for program in dpkg-buildpackage dh dh_python3; do
    if ! command -v $program >/dev/null; then
        skip "the packages build" "$program is not installed (dpkg-dev, debhelper, dh-python)"
        ends
    fi
done
if ! git -C "$source" ls-files --error-unmatch debian/control >/dev/null 2>&1; then
    skip "the packages build" "the sources are not in git"
    ends
fi
claim "the packages build" builds || ends
claim "all of them are there" has_them_all || ends
if command -v lintian >/dev/null; then
    claim "lintian says nothing" lintian_is_silent
else
    skip "lintian says nothing" "lintian is not installed"
fi
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
    skip "they work in a Debian of their own" "that takes root and debootstrap"
    ends
fi
if ! bootstraps >"$folder/log" 2>&1; then
    tail -n 3 "$folder/log" | sed 's/^/# /'
    skip "they work in a Debian of their own" "debootstrap gets none here"
    ends
fi
claim "compilers install there" installs || ends
files_of_root >"$folder/before"
claim "the packages install" installs_ours || ends
claim "a program is compiled, runs and is predicted" does_the_main_job
claim "programs that look for StarPU 1.3 or 1.4 find it" finds_the_aliases
claim "Python's modules work" python_does
claim "nothing is left of them once they were purged" leaves_nothing
ends
