// SPDX-License-Identifier: LGPL-2.1-or-later
// E0277: a vector has no columns
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let x = rt.vector(vec![1u8; 8])?;
    let parts = x.plan(Columns(2))?; // wrong
    rt.wait_all()?;
    Ok(())
}
