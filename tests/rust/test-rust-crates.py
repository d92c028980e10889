#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The crates as programs of others use them: the examples in their documentation, cargo
without a network, the oldest compiler that they are for. TAP.

usage: test-rust-crates.py RUSTC ORRERY_RLIB SYS_RLIB LIBRARY SOURCE_ROOT
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit"))
from tools_util import Tap  # noqa: E402  pylint: disable=wrong-import-position

TAP = Tap()
RUSTC, ORRERY, SYS, LIBRARY, SOURCE = sys.argv[1:]
ORRERY, SYS, LIBRARY = map(os.path.abspath, (ORRERY, SYS, LIBRARY))
BUILD = os.path.dirname(LIBRARY)
CRATES = os.path.join(SOURCE, "bindings", "rust")


def run(*words, folder=None, **settings):
    return subprocess.run(words, env=dict(os.environ, STARPU_SILENT="1", **settings),
                          cwd=folder, capture_output=True, text=True, check=False, timeout=550)


def documentation():
    """Each example of rustdoc's is a program: on a simulated machine, as it says."""
    sysroot = run(*RUSTC.split(), "--print", "sysroot").stdout.strip()
    rustdoc = os.path.join(sysroot, "bin", "rustdoc")
    if not os.path.exists(rustdoc):
        TAP.skip("examples in the documentation", "there is no rustdoc beside rustc")
        return
    text = ""
    for name in os.listdir(os.path.join(CRATES, "orrery", "src")):
        with open(os.path.join(CRATES, "orrery", "src", name), encoding="utf-8") as file:
            text += file.read()
    n = len(re.findall(r"^\s*//[/!] ```$", text, re.M)) // 2
    done = run(rustdoc, "--edition=2021", "--test", "--crate-name=orrery",
               os.path.join(CRATES, "orrery", "src", "lib.rs"), "--extern", "orrery=" + ORRERY,
               "--extern", "orrery_sys=" + SYS, "-L" + os.path.dirname(SYS), "-L" + BUILD,
               "-Clink-arg=-lorrery", "-Clink-arg=-Wl,-rpath," + BUILD, ORRERY_MACHINE="none")
    TAP.claim(f"{n} examples in the documentation work", done.returncode == 0 and n >= 4 and
              f"{n} passed" in done.stdout, done.stdout[-3000:], done.stderr[-3000:])


MANIFEST = """[package]
name = "uses-orrery"
version = "0.2.0"
edition = "2021"

[dependencies]
orrery = {{ path = "{}" }}
"""
MAIN = """fn main() -> orrery::Result<()> {
    let rt = orrery::Machine::simulated("laptop-8").assume("* = 5us").run_kernels(true).start()?;
    let x = rt.variable(20)?;
    rt.task("add").run((x.rw(),), |(x,)| *x += 1)?;
    println!("{}", x.into_inner() * 2);
    Ok(())
}
"""


def cargo(folder):
    if not shutil.which("cargo"):
        TAP.skip("cargo builds a program", "there is no cargo")
        return
    os.makedirs(os.path.join(folder, "src"))
    os.makedirs(os.path.join(folder, "prefix", "lib", "some-linux-gnu"))
    os.symlink(LIBRARY, os.path.join(folder, "prefix", "lib", "some-linux-gnu",
                                     "liborrery.so"))
    for name, text in (("Cargo.toml", MANIFEST.format(os.path.join(CRATES, "orrery"))),
                       ("src/main.rs", MAIN)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    prefix = {"ORRERY_PREFIX": os.path.join(folder, "prefix")}
    by_pc = {"PKG_CONFIG_PATH": os.path.join(BUILD, "meson-uninstalled")}
    for how, settings in (("ORRERY_PREFIX", prefix), ("pkg-config", by_pc)):
        if how == "pkg-config" and not shutil.which("pkg-config"):
            TAP.skip("cargo finds the library by pkg-config", "there is no pkg-config")
            continue
        done = run("cargo", "run", "--offline", "--quiet", folder=folder,
                   CARGO_TARGET_DIR=os.path.join(folder, "target"), LD_LIBRARY_PATH=BUILD,
                   **settings)
        TAP.claim(f"cargo builds and runs a program, the library found by {how}",
                  done.stdout == "42\n", done.stdout, done.stderr)
    done = run("cargo", "build", "--offline", folder=folder, ORRERY_PREFIX=folder,
               CARGO_TARGET_DIR=os.path.join(folder, "target"))
    TAP.claim("a prefix without the library is said", done.returncode != 0 and
              "there is no liborrery.so below ORRERY_PREFIX=" + folder in done.stderr,
              done.stderr)


def oldest(folder):
    """The crates with the compiler that their manifests name, if it is here."""
    for crate in ("orrery-sys", "orrery"):
        with open(os.path.join(CRATES, crate, "Cargo.toml"), encoding="utf-8") as file:
            version = re.search(r'rust-version = "([\d.]+)"', file.read())[1]
    for name in ("rustc-" + version, "rustc", "/usr/bin/rustc"):
        if shutil.which(name) and f" {version}." in run(name, "--version").stdout:
            break
    else:
        TAP.skip(f"rustc {version} compiles the crates", f"there is no rustc {version}: "
                 "Debian 12 has it")
        return
    common = (name, "--edition=2021", "--crate-type=rlib", "-Dwarnings", "--out-dir", folder)
    done = run(*common, "--crate-name=orrery_sys", os.path.join(CRATES, "orrery-sys/src/lib.rs"))
    if done.returncode == 0:
        done = run(*common, "--crate-name=orrery", os.path.join(CRATES, "orrery/src/lib.rs"),
                   "--extern", f"orrery_sys={folder}/liborrery_sys.rlib")
    TAP.claim(f"rustc {version} compiles the crates", done.returncode == 0, done.stderr)


documentation()
with tempfile.TemporaryDirectory() as scratch:
    cargo(os.path.join(scratch, "program"))
    oldest(scratch)
TAP.end()
