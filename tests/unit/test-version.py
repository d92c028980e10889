#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The version of meson.build is that of all who cannot read it there. TAP.

usage: test-version.py SOURCE_ROOT VERSION
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "api"))
from programs import run_all, test  # noqa: E402

if len(sys.argv) != 3:
    sys.exit(__doc__.strip())
SOURCE, VERSION = sys.argv[1:]
# Files, and what stands around the version there.
PLACES = (
    ("CITATION.cff", r'^version: "(.*)"$'),
    ("bindings/python/pyproject.toml", r'^version = "(.*)"$'),
    ("bindings/rust/orrery/Cargo.toml", r'^version = "(.*)"$'),
    ("bindings/rust/orrery-sys/Cargo.toml", r'^version = "(.*)"$'),
    ("debian/changelog", r"^orrery \((.*)\) "),
)


@test
def every_file_that_has_a_version_has_the_builds():
    wrong = []
    for name, pattern in PLACES:
        with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
            found = re.search(pattern, file.read(), re.M)
        if not found or found[1] != VERSION:
            wrong.append(f"{name}: {found and found[1]}")
    assert not wrong, f"{VERSION} in meson.build, but {', '.join(wrong)}"


@test
def the_changelog_has_a_section_of_it_and_the_versions_page_its_tag():
    with open(os.path.join(SOURCE, "CHANGELOG.md"), encoding="utf-8") as file:
        assert re.search(rf"^## {re.escape(VERSION)}\b", file.read(), re.M)
    with open(os.path.join(SOURCE, "docs", "VERSIONS.md"), encoding="utf-8") as file:
        assert f"| v{VERSION} |" in file.read()


run_all()
