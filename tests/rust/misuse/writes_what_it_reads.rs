// SPDX-License-Identifier: LGPL-2.1-or-later
// E0594: a kernel does not write what it reads
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let x = rt.vector(vec![1u8; 8])?;
    rt.task("k").run((x.read(),), |(x,)| x[0] = 1)?; // wrong
    rt.wait_all()?;
    Ok(())
}
