// SPDX-License-Identifier: LGPL-2.1-or-later
//! Where liborrery.so is: in ORRERY_PREFIX, an installation; else where pkg-config says.
use std::env;
use std::path::{Path, PathBuf};
use std::process::{exit, Command};

fn main() {
    println!("cargo:rerun-if-env-changed=ORRERY_PREFIX");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let found = match env::var_os("ORRERY_PREFIX") {
        Some(prefix) => in_prefix(Path::new(&prefix)),
        None => by_pkg_config(),
    };
    match found {
        Ok(folder) => {
            println!("cargo:rustc-link-search=native={}", folder.display());
            println!("cargo:rustc-link-lib=dylib=orrery");
            // For crates that want an rpath: DEP_STARPU_LIBDIR in their build.rs.
            println!("cargo:libdir={}", folder.display());
        }
        Err(message) => {
            eprintln!("{message}");
            exit(1);
        }
    }
}

fn in_prefix(prefix: &Path) -> Result<PathBuf, String> {
    let lib = prefix.join("lib");
    let mut folders = vec![lib.clone()];
    // Debian's lib/x86_64-linux-gnu and its kin.
    if let Ok(entries) = lib.read_dir() {
        folders.extend(entries.flatten().map(|entry| entry.path()));
    }
    folders.into_iter().find(|folder| folder.join("liborrery.so").exists()).ok_or(format!(
        "there is no liborrery.so below ORRERY_PREFIX={}: give the folder that \
             Orrery is installed in",
        prefix.display()
    ))
}

fn by_pkg_config() -> Result<PathBuf, String> {
    const REMEDY: &str = "source share/orrery/orrery-env of an installation (build/orrery-env \
                          of a build), or set ORRERY_PREFIX";
    let done = Command::new("pkg-config")
        .args(["--variable=orrery_libdir", "orrery"])
        .output()
        .map_err(|error| format!("pkg-config: {error}: {REMEDY}"))?;
    let folder = String::from_utf8_lossy(&done.stdout).trim().to_string();
    if !done.status.success() || folder.is_empty() {
        return Err(format!("pkg-config does not know orrery: {REMEDY}"));
    }
    Ok(folder.into())
}
