// SPDX-License-Identifier: LGPL-2.1-or-later
// E0373: outside of a scope a kernel borrows nothing
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let x = rt.vector(vec![1u8; 8])?;
    let factor = 2u8;
    rt.task("k").run((x.rw(),), |(x,)| x[0] *= factor)?; // wrong
    rt.wait_all()?;
    println!("{factor}");
    Ok(())
}
