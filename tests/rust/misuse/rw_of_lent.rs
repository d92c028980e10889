// SPDX-License-Identifier: LGPL-2.1-or-later
// E0599: what is lent to be read is not written
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let v = vec![1u8; 8];
    rt.scope(|s| -> Result<()> {
        let data = s.lend(&v)?;
        s.task("k").run((data.rw(),), |_| ())?; // wrong
        s.task("k").run((data.read(),), |_| ())?;
        Ok(())
    })??;
    Ok(())
}
