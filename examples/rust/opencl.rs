// SPDX-License-Identifier: LGPL-2.1-or-later
//! A kernel for processors, and the same in OpenCL C: tasks go where they end first.
use orrery::*;

const SOURCE: &str = "
kernel void axpy(global const float *x, ulong x0, ulong nx,
                 global float *y, ulong y0, ulong ny, float a)
{
    size_t i = get_global_id(0);
    y[y0 + i] += a * x[x0 + i];
}";

fn main() -> Result<()> {
    let rt = match Runtime::new() {
        Err(Error::NoWorkers) => std::process::exit(77),
        other => other?,
    };
    // The kernel in the source uses its data as the accesses below say.
    let axpy = unsafe { Kernel::new("axpy")?.opencl(OpenCl::new(SOURCE, "axpy")?) };
    let x = rt.vector((0..1 << 14).map(|i| i as f32).collect())?;
    let mut y = rt.vector(vec![1f32; 1 << 14])?;
    let (x_parts, y_parts) = (x.plan(Blocks(8))?, y.partition(Blocks(8))?);
    let mut by_device = 0;
    let devices = rt.workers_of(Device::OpenCl);
    for i in 0..8 {
        let a = 2f32;
        let used = (x_parts.part(i).read(), y_parts.part(i).rw());
        let task = rt.task(&axpy).argument(a);
        // Every second part goes to a device, if there is one; the scheduler knows better.
        let task = match rt.workers() - devices {
            first if devices > 0 && i % 2 == 1 => {
                by_device += 1;
                task.worker(first + i % devices)
            }
            _ => task,
        };
        task.run(used, move |(x, y)| {
            for (y, x) in y.iter_mut().zip(x) {
                *y += a * x;
            }
        })?;
    }
    rt.wait_all()?;
    drop(y_parts);
    if by_device > 0 {
        eprintln!("{by_device} of 8 parts by OpenCL");
    }
    println!("{:?}", y.with(|y| [y[0], y[1], y[(1 << 14) - 1]])?);
    Ok(())
}
