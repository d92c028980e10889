// SPDX-License-Identifier: LGPL-2.1-or-later
// E0277: a kernel has no runtime
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let x = rt.vector(vec![1u8; 8])?;
    rt.scope(|s| -> Result<()> {
        s.task("k").run((x.rw(),), |_| { let _ = rt.wait_all(); })?; // wrong
        Ok(())
    })??;
    Ok(())
}
