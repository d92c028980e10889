#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests with Check that lack something are reported as skipped, tests/suite.h.
# Prints TAP. usage: test-suite.sh SKIPPING
set -u
skipping=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
n=0
failed=0

# claim TEXT COMMAND...
claim() {
    text=$1
    shift
    n=$((n + 1))
    if "$@"; then
        echo "ok $n - $text"
    else
        echo "not ok $n - $text"
        sed 's/^/# | /' "$log"
        failed=$((failed + 1))
    fi
}

# has PATTERN: some line is exactly that.
has() {
    grep -qxE "$1" "$log"
}

# results: the lines of TAP, without the names.
results() {
    sed -nE 's/^((not )?ok [0-9]+) .*:all:([a-z_]+)/\1 \3/p' "$log"
}

runs() {
    "$skipping" "$@" >"$log"
}

claim "a suite of passed and skipped tests ends with 0" runs
claim "a skipped test is a SKIP with the reason" \
    has 'ok 2 - .*:all:lacks_something # SKIP no gold here, #0'
claim "in a loop each has its own" \
    has 'ok 3 - .*:all:lacks_something # SKIP no gold here, #1'
claim "the next test has passed" has 'ok 4 - .*:all:passes: Passed'
claim "a helper can skip the test that it helps" \
    has 'ok 5 - .*:has_a_helper_that_lacks_something # SKIP a helper found none'
claim "all results are there, once" [ "$(results | wc -l)" -eq 6 ]
claim "the plan counts them" has '1\.\.6'

runs fail
claim "a suite with failures ends with 1" [ $? -eq 1 ]
claim "a test that fails is not skipped" has 'not ok 6 - .*:fails_after_all: .*'
claim "nor is one that crashes" has 'not ok 7 - .*:crashes_after_all: .*'
claim "the next one has nothing of it" has 'ok 8 - .*:all:passes: Passed'
CK_FORK=no runs
claim "without processes of their own they are skipped as well" \
    has 'ok 2 - .*:all:lacks_something # SKIP no gold here, #0'
echo "1..$n"
[ "$failed" -eq 0 ]
