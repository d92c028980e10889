// SPDX-License-Identifier: LGPL-2.1-or-later
// E0277: a kernel has only what may go to another thread
use orrery::*;

fn main() -> Result<()> {
    let rt = Runtime::new()?;
    let x = rt.vector(vec![1u8; 8])?;
    let shared = std::rc::Rc::new(1u8);
    rt.task("k").run((x.rw(),), move |(x,)| x[0] = *shared)?; // wrong
    rt.wait_all()?;
    Ok(())
}
