// SPDX-License-Identifier: LGPL-2.1-or-later
// E0505: a part does not outlive its parts
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let x = rt.vector(vec![1u8; 8])?;
    let parts = x.plan(Blocks(2))?;
    let part = parts.part(0);
    drop(parts); // wrong
    rt.task("k").run((part.rw(),), |_| ())?;
    Ok(())
}
