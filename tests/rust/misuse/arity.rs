// SPDX-License-Identifier: LGPL-2.1-or-later
// E0308: a kernel takes what the task has
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let x = rt.vector(vec![1u8; 8])?;
    rt.task("k").run((x.read(),), |(a, b)| ())?; // wrong
    rt.wait_all()?;
    Ok(())
}
