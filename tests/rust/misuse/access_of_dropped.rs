// SPDX-License-Identifier: LGPL-2.1-or-later
// E0505: an access does not outlive its data
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let x = rt.vector(vec![1u8; 8])?;
    let access = x.rw();
    drop(x); // wrong
    rt.task("k").run((access,), |_| ())?;
    Ok(())
}
