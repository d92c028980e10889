// SPDX-License-Identifier: LGPL-2.1-or-later
// E0502: a whole is not used while it is cut
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let mut x = rt.vector(vec![1u8; 8])?;
    let parts = x.partition(Blocks(2))?;
    rt.task("k").run((x.rw(),), |_| ())?; // wrong
    rt.task("k").run((parts.part(0).rw(),), |_| ())?;
    Ok(())
}
