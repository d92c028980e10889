// SPDX-License-Identifier: LGPL-2.1-or-later
// E0505: data are not taken back while there are parts
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let x = rt.vector(vec![1u8; 8])?;
    let parts = x.plan(Blocks(2))?;
    drop(x.into_vec()); // wrong
    rt.task("k").run((parts.part(0).rw(),), |_| ())?;
    Ok(())
}
