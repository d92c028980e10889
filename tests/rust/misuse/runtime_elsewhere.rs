// SPDX-License-Identifier: LGPL-2.1-or-later
// E0277: a runtime stays in its thread
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    std::thread::scope(|s| { s.spawn(|| rt.wait_all()); }); // wrong
    rt.wait_all()?;
    Ok(())
}
