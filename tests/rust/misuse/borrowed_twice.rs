// SPDX-License-Identifier: LGPL-2.1-or-later
// E0499: a slice is lent to a scope once
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let mut v = vec![1u8; 8];
    rt.scope(|s| -> Result<()> {
        let one = s.vector(&mut v)?;
        let two = s.vector(&mut v)?; // wrong
        s.task("k").run((one.rw(),), |_| ())?;
        Ok(())
    })??;
    Ok(())
}
