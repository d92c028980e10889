// SPDX-License-Identifier: LGPL-2.1-or-later
//! A vector that is multiplied by a number: owned by the runtime, then borrowed from here.
use orrery::*;

fn main() -> Result<()> {
    let rt = match Runtime::new() {
        Err(Error::NoWorkers) => std::process::exit(77),
        other => other?,
    };
    let factor = 3.14f32;
    let scale = Kernel::new("vector_scal")?.model(Model::history("vector_scal_rust")?);

    let vector = rt.vector(vec![1f32; 2048])?;
    rt.task(&scale).run((vector.rw(),), move |(v,)| v.iter_mut().for_each(|x| *x *= factor))?;
    println!("{}", vector.into_vec()[2047]);

    let mut mine = vec![2f32; 2048];
    rt.scope(|s| -> Result<()> {
        let mut data = s.vector(&mut mine)?;
        for part in data.partition(Blocks(4))?.iter() {
            // `factor` is this function's: the scope ends before it does.
            s.task(&scale).run((part.rw(),), |(v,)| v.iter_mut().for_each(|x| *x *= factor))?;
        }
        Ok(())
    })??;
    println!("{}", mine[0]);
    Ok(())
}
