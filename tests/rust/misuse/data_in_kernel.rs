// SPDX-License-Identifier: LGPL-2.1-or-later
// E0277: a kernel has no data but those it is given
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let x = rt.vector(vec![1u8; 8])?;
    rt.scope(|s| -> Result<()> {
        s.task("k").run((), |()| { let _ = x.with(|x| x[0]); })?; // wrong
        Ok(())
    })??;
    Ok(())
}
