#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compiles programs for the Java package into a jar.

    programs.py JAVAC ORRERY_JAR JAR SOURCE...
"""
import os
import subprocess
import sys
import tempfile

JAVAC, ORRERY_JAR, JAR, *SOURCES = sys.argv[1:]
with tempfile.TemporaryDirectory() as classes:
    subprocess.run([JAVAC, "--release", "11", "-encoding", "UTF-8", "-Xlint:all", "-Werror",
                    "-g", "-cp", ORRERY_JAR, "-d", classes, *SOURCES], check=True)
    subprocess.run([os.path.join(os.path.dirname(os.path.realpath(JAVAC)), "jar"),
                    "--create", "--file", JAR, "-C", classes, "."], check=True)
