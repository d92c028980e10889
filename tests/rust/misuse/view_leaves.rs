// SPDX-License-Identifier: LGPL-2.1-or-later
// E0521: what a kernel sees does not leave it
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let x = rt.vector(vec![1u8; 8])?;
    let kept = std::sync::Mutex::new(None::<&[u8]>);
    rt.scope(|s| -> Result<()> {
        s.task("k").run((x.read(),), |(x,)| *kept.lock().unwrap() = Some(x))?; // wrong
        Ok(())
    })??;
    drop(kept);
    Ok(())
}
