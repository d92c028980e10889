# SPDX-License-Identifier: LGPL-2.1-or-later
"""Orrery for Spack, from the checkout that this recipe lies in."""
import os

from spack.package import *


class Orrery(MesonPackage):
    """A task runtime with StarPU 1.4's programming interface whose machine is real or
    simulated, chosen when the program starts."""

    git = "file://" + os.path.abspath(
        os.path.join(os.path.dirname(__file__), "..", "..", "..", ".."))

    license("LGPL-2.1-or-later")

    version("0.2.0", tag="v0.2.0")
    version("main", branch="main")

    variant("simgrid", default=False, description="SimGrid as the simulated network")
    variant("hdf5", default=False, description="disks that are files of HDF5")
    variant("packed", default=True, description="machines packed in one file")
    variant("mpi", default=False, description="ranks of MPI")
    variant("python", default=False, description="Python modules, policies in Python")
    variant("aliases", default=False, description="libraries and headers as libstarpu's")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("meson@1.0:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type=("build", "run"))
    depends_on("expat")
    depends_on("glpk")
    depends_on("hwloc")
    depends_on("jansson")
    depends_on("libyaml")
    depends_on("simgrid@3.32:", when="+simgrid")
    depends_on("hdf5", when="+hdf5")
    depends_on("libarchive", when="+packed")
    depends_on("mpi", when="+mpi")
    depends_on("python@3.11", when="+python", type=("build", "link", "run"))

    conflicts("starpu", when="+aliases", msg="both have libstarpu-1.4.so")

    def meson_args(self):
        args = ["-Dtests=disabled", "-Dexamples=disabled", "-Dopencl=disabled",
                "-Dfortran=disabled", "-Djava=disabled", "-Drust=disabled",
                "-Dreport=disabled"]
        for name in ("simgrid", "hdf5", "packed", "mpi", "python"):
            state = "enabled" if self.spec.satisfies("+" + name) else "disabled"
            args.append(f"-D{name}={state}")
        aliases = "true" if self.spec.satisfies("+aliases") else "false"
        args.append(f"-Dstarpu-aliases={aliases}")
        return args
