# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines of the catalogue that others have measured and published.

Carried over are figures: mean and spread of kernels on square tiles, bandwidths
and latencies, memories. The sources' files are not; what is written from these
figures is in this project's own form, with the source and its licence in the
zone's properties orrery-origin and orrery-licence. tests/unit/test-measured.py
compares each figure with the source where that is at hand.

The kernels are in measured.tsv. Left out, as their sources' rows are no kernel times:
gemm and syrk on the GPUs of sirocco-a100 at 800 (double precision above the peak),
potrf of gemini-1 (a fallback of 20 to 200 ms), products and trsm at 960 on CUDA2 to
CUDA7 of gemini-1 (the first calls). Also left out: the kernels of sirocco-* on one column
instead of a tile. They have fewer bytes than those on tiles and take a hundredth of the
time; smaller tiles would be interpolated between both. Of machines with devices that are alike, rows of two are kept;
the others use those of CUDA0.

What is not measured and needed to simulate the machine:

 * a copy passes its own link, with the measured rate and latency, and the PCIe
   links of the devices at its ends, which other copies share. Main memory's own
   link is as fast as the sources' platform files have it: their tool writes the
   fastest copy's rate there, and for gemini-1 its authors put in 36.36 GB/s by
   hand. The link is marked as assumed, and results say so. Which devices share a
   switch is what the source's PCI addresses say.
 * gemini-1 has rows of law.py where nothing was measured (`derived`), so that it
   can run the examples. Its files say so, and which rows are measured; it is
   "partly measured".
 * a sirocco-* runs the kernels of all of RATIO_SOURCES. Where it has no time of a kernel
   on tiles, on a core or a device where others have one, it gets a derived row: as long,
   beside its own potrf on a core, its own gemm on a device, as on the others (geometric
   mean of these ratios; in double precision without the devices of sirocco-rtx8000, which
   have few units of it). Judged on the kernels that two or three of them have measured, each from
   the others: on a core the median error is a factor of 1.25, nine of ten are within 1.81
   (RATIO_RANGE); on a device 1.10 and 1.42. All of sirocco-a100 but gemm, potrf, syrk and
   trsm is so, dgeqrt of sirocco-v100 and -rtx8000, stpqrt and sormqr of sirocco-p100.

The sources do not name the processors; `processor` is a guess that the number
of cores and the rates allow, and gives the peak that `machine check` compares
with.
"""
import math
import os

import files
import law
import parts

BYTES = {"s": 4, "d": 8}
PRECISIONS = {"s": "fp32", "d": "fp64"}
CECILL = "CeCILL-C"

# devices: the part and how many. memories: main memories, which are the first
# nodes of the matrices, the devices follow. bandwidth in MB/s and latency in us
# from row to column. host: MB/s of each main memory's own link, as the source has
# it. nvlink: pairs above so many MB/s are joined directly.
# switches: devices behind one PCIe switch. derived: precisions and sides of tiles whose
# rows, where none was measured, are law.py's. side: of the tiles of which it has the kernels
# of RATIO_SOURCES, too.
MACHINES = {
    "sirocco-v100": {
        "side": 1600,
        "title": "two V100 PCIe and 40 cores, tiles of 1600",
        "origin": "Chameleon, github.com/miniskar/chameleon 8d2fdd45 "
                  "(2024-04), simucore/perfmodels", "licence": CECILL,
        "processor": ("Xeon Gold 6148", 2), "cores": 40,
        "devices": ("V100 PCIe", 2), "memories": 1,
        "host": (12958,),
        "bandwidth": (
            (0, 12205, 12191),
            (12958, 0, 9713),
            (12601, 10199, 0),
        ),
        "latency": (
            (0, 7.69, 8.00),
            (7.76, 0, 9.34),
            (7.89, 9.50, 0),
        ),
    },
    "sirocco-p100": {
        "side": 1240,
        "title": "two P100 PCIe and 32 cores, tiles of 1240",
        "origin": "Chameleon, github.com/miniskar/chameleon 8d2fdd45 "
                  "(2024-04), simucore/perfmodels", "licence": CECILL,
        "processor": None, "cores": 32,
        "devices": ("P100 PCIe", 2), "memories": 1,
        "host": (13180,),
        "bandwidth": (
            (0, 12260, 12270),
            (13180, 0, 11514),
            (13172, 11399, 0),
        ),
        "latency": (
            (0, 7.77, 8.28),
            (7.55, 0, 14.44),
            (7.78, 14.22, 0),
        ),
    },
    "sirocco-rtx8000": {
        "side": 1600,
        "title": "two Quadro RTX 8000 and 40 cores, tiles of 1600",
        "origin": "Chameleon, github.com/miniskar/chameleon 8d2fdd45 "
                  "(2024-04), simucore/perfmodels", "licence": CECILL,
        "processor": None, "cores": 40,
        "devices": ("RTX 8000", 2), "memories": 1,
        "host": (12982,),
        "bandwidth": (
            (0, 12196, 12189),
            (12982, 0, 9732),
            (12971, 10213, 0),
        ),
        "latency": (
            (0, 7.36, 7.62),
            (7.28, 0, 8.23),
            (7.81, 8.66, 0),
        ),
    },
    "sirocco-a100": {
        "side": 1600,
        "title": "two A100 PCIe and 48 cores on two sockets, tiles of 1600",
        "origin": "Chameleon, github.com/matregnago/chameleon 13960d0d and "
                  "9516bf0b (sirocco-a100-ctest)", "licence": CECILL,
        "processor": None, "cores": 48,
        "devices": ("A100 PCIe 40GB", 2), "memories": 2, "near": (1, 1),
        "host": (20493, 25922),
        "bandwidth": (
            (0, 13995, 20493, 19127),
            (11436, 0, 25484, 25749),
            (18269, 19178, 0, 20863),
            (17299, 25922, 19461, 0),
        ),
        "latency": (
            (0, 0.0013, 9.64, 8.72),
            (0.0072, 0, 9.64, 8.72),
            (9.71, 9.43, 0, 11.61),
            (9.50, 8.47, 10.70, 0),
        ),
    },
    "gemini-1": {
        "title": "eight V100 SXM2 with NVLink and 40 cores, tiles of 960 "
                 "and 1920",
        "origin": "StarPU, tag papers/ICPP2023, 673878e0 (gemini-1-fgcs, "
                  "double precision: gemini-1-lu_sans_cusolver)",
        "licence": "LGPL-2.1-or-later",
        "processor": ("Xeon E5-2698 v4", 2), "cores": 40,
        "devices": ("V100 SXM2 32GB", 8), "memories": 1, "nvlink": 20000,
        "switches": ((0, 1), (2, 3), (4, 5), (6, 7)),
        "derived": {"fp32": (960, 1920), "fp64": (1920, 2880)},
        "host": (36360,),
        "bandwidth": (
            (0, 10797, 10789, 10817, 10812, 9867, 9919, 9989, 9871),
            (12339, 0, 24091, 24093, 47817, 47819, 9236, 9468, 9692),
            (12329, 24095, 0, 47812, 24082, 9473, 47807, 9423, 9630),
            (12362, 24101, 47846, 0, 47853, 9631, 9312, 24106, 9602),
            (12334, 47675, 24099, 47842, 0, 9532, 9503, 9560, 24106),
            (10675, 47739, 9054, 9104, 9126, 0, 24094, 24094, 47817),
            (10704, 9378, 47824, 9110, 9101, 24092, 0, 47828, 24094),
            (10636, 9396, 9100, 24106, 9112, 24106, 47869, 0, 47869),
            (10626, 9403, 9108, 9131, 24104, 47881, 24102, 47822, 0),
        ),
        "latency": (
            (0, 6.52, 6.90, 6.35, 6.20, 6.86, 6.90, 6.47, 6.41),
            (6.92, 0, 9.16, 8.90, 9.58, 9.68, 18.37, 17.01, 16.19),
            (6.73, 8.83, 0, 9.66, 10.05, 18.30, 9.34, 16.34, 16.57),
            (6.59, 8.40, 9.00, 0, 8.85, 17.50, 17.11, 9.36, 15.97),
            (6.45, 8.89, 8.51, 8.88, 0, 17.45, 18.91, 16.26, 8.24),
            (7.20, 9.40, 17.15, 15.55, 15.79, 0, 9.33, 9.27, 9.40),
            (7.21, 17.12, 9.43, 15.85, 15.77, 9.38, 0, 9.47, 9.45),
            (6.66, 16.92, 16.81, 8.61, 15.58, 8.57, 8.73, 0, 8.65),
            (6.68, 16.93, 16.88, 15.51, 8.59, 8.57, 8.68, 9.88, 0),
        ),
    },
}

ABOUT = "Figures of %s,"
LICENCE = "licence %s; written by platforms/catalogue/measured.py."
DERIVED = "Derived by law.py, not measured: %s."
MEASURED = "# origin: measured\n"  # before a row of a file that has both
BY_RATIO = "# origin: derived ranged\n"  # before one whose range is RATIO_RANGE
PLACES = (("cpu0", None), ("cuda0", 0), ("cuda1", 1))

# What a kernel works on: A a tile, T the factors of reflectors (INNER rows), W memory for
# its own use (bytes, three times as many as T).
OPERANDS = {
    "gemm": "AAA", "geqrt": "ATW", "getrf_nopiv": "A", "lacpy": "AA", "laset": "A",
    "lauum": "A", "ormqr": "ATAW", "plgsy": "A", "plrnt": "A", "potrf": "A",
    "symm": "AAA", "syrk": "AA", "tpmqrt": "ATAAW", "tpqrt": "AATW", "trmm": "AA",
    "trsm": "AA", "trtri": "A",
}
INNER = 48

# Where the ratios of derived rows are from, the kernel to which they are on a core and on a
# device, and the factor within which nine of ten such rows are.
RATIO_SOURCES = ("sirocco-v100", "sirocco-p100", "sirocco-rtx8000")
RATIO_TO = {"cpu0": "potrf", "cuda0": "gemm", "cuda1": "gemm"}
RATIO_RANGE = {"cpu0": 1.81, "cuda0": 1.42, "cuda1": 1.42}

# ------------------------------------------------------------ kernel models


def read_rows():
    """{machine: {(kernel, side): {place: (us, spread in %, samples)}}}"""
    found = {name: {} for name in MACHINES}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "measured.tsv")
    with open(path, encoding="ascii") as table:
        for line in table:
            if line.startswith("#"):
                continue
            machine, kernel, n, *places = line.rstrip("\n").split("\t")
            found[machine][kernel, int(n)] = {
                place: (float(us), float(spread), int(samples))
                for place, us, spread, samples in map(str.split, places)}
    return found


ROWS = read_rows()


def task(kernel, n):
    """The footprint and the bytes of a task."""
    size = BYTES[kernel[0]]
    shapes = {"A": (n, n, size), "T": (INNER, n, size),
              "W": (3 * INNER * n * size, 1, 1)}
    operands = [shapes[o] for o in OPERANDS[kernel[1:]]]
    return (files.matrices_footprint(operands),
            sum(nx * ny * each for nx, ny, each in operands))


def ratio(name, kernel, place):
    """How long a kernel takes on a machine beside the one to which others are set in
    proportion, both on tiles. None: the machine has not measured one of both."""
    side = MACHINES[name]["side"]
    times = [ROWS[name].get((one, side), {}).get(place)
             for one in (kernel, kernel[0] + RATIO_TO[place])]
    return times[0][0] / times[1][0] if all(times) else None


def ratio_elsewhere(name, kernel, place):
    """The geometric mean of the ratios of the other machines, None without one."""
    found = [ratio(other, kernel, place) for other in RATIO_SOURCES
             if other != name and (kernel[0] == "s" or place == "cpu0" or
                                   other != "sirocco-rtx8000")]
    found = [one for one in found if one]
    return math.prod(found)**(1 / len(found)) if found else None


def figures_by_ratio(name, kernel, place):
    """Of a kernel on tiles that others have measured there, None without."""
    side = MACHINES[name]["side"]
    reference = ROWS[name].get((kernel[0] + RATIO_TO[place], side), {}).get(place)
    proportion = ratio_elsewhere(name, kernel, place)
    if not reference or not proportion:
        return None
    return (float("%.4g" % (reference[0] * proportion)),
            100 * (RATIO_RANGE[place] - 1) / 2, files.CALIBRATED)


def rows_of(name, kernel, place, tile_rows):
    """Rows of a place, and the sides of those that are law.py's."""
    machine, rows, by_law = MACHINES[name], [], []
    precision = PRECISIONS[kernel[0]]
    lawful = machine.get("derived", {}).get(precision, ())
    sides = {n for one, n in ROWS[name] if one == kernel} | set(lawful)
    if "side" in machine:
        sides.add(machine["side"])
    for n in sorted(sides):
        figures, origin = ROWS[name].get((kernel, n), {}).get(place), ""
        if figures and lawful:
            origin = MEASURED
        elif not figures and n in lawful:
            device = None if place == "cpu0" else machine["devices"][0]
            processor = machine["processor"][0] if place == "cpu0" else None
            rows += tile_rows(processor, device, kernel[1:], precision, (n,))
            by_law.append(n)
        elif not figures and n == machine.get("side"):
            figures, origin = figures_by_ratio(name, kernel, place), BY_RATIO
        if figures:
            us, spread, samples = figures
            flops = law.flops(kernel[1:], n) if kernel[1:] in law.KERNELS else 0
            rows.append(origin + files.row(*task(kernel, n), flops, us,
                                           spread / 100 * us, samples))
    return rows, by_law


def kernels_of(name):
    """Those that it, or a machine that it is compared with, has measured, and law.py's."""
    found = {kernel for other in (RATIO_SOURCES if "side" in MACHINES[name] else ())
             for kernel, _ in ROWS[other]}
    found |= {kernel for kernel, _ in ROWS[name]}
    return sorted(found | {precision + kernel for kernel in law.KERNELS
                           for precision in PRECISIONS})


def models(name, tile_rows):
    texts = {}
    for kernel in kernels_of(name):
        places, notes = [], []
        for place, device in PLACES:
            rows, by_law = rows_of(name, kernel, place, tile_rows)
            if rows:
                places.append((device, rows))
            if by_law:
                notes.append("%s %s" % (place, " ".join(map(str, by_law))))
        about = [ABOUT % MACHINES[name]["origin"], LICENCE % MACHINES[name]["licence"]]
        if notes:
            about.append(DERIVED % ", ".join(notes))
        for symbol in files.symbols(kernel):
            texts[symbol] = files.model_file(about, places)
    return texts


# --------------------------------------------------------- platform files


def nodes(machine):
    """Hosts of the matrices' rows."""
    count = machine["memories"]
    return (["RAM%d" % i for i in range(count)] if count > 1 else ["RAM"]) + [
        "CUDA%d" % i for i in range(machine["devices"][1])]


def hosts(machine):
    count = machine["memories"]
    name, ndevices = machine["devices"]
    device, cores = parts.DEVICES[name], machine["cores"]
    text = [("orrery-provenance",
             "partly measured" if "derived" in machine else "measured")]
    if machine["processor"]:
        part = parts.PROCESSORS[machine["processor"][0]]
        text += [("model", "%d x %s (a guess)" % (machine["processor"][1],
                                                  part["model"]))]
        text += files.core_rates(part)
    text = files.host("MAIN", "1f", text)
    for i in range(cores):
        text += files.host("CPU%d" % i, "2Gf", [
            ("numa", i * count // cores if count > 1 else None)])
    for i in range(ndevices):
        text += files.host("CUDA%d" % i, "2Gf", [
            ("numa", machine["near"][i] if count > 1 else None),
            ("model", device["model"]), ("memsize", device["memory"]),
            ("memcpy_peer", 1),
            ("orrery-models-of", "CUDA0" if i > 1 else None)] +
            files.device_rates(device))
    text += files.host("RAM", "1f", [])
    for i in range(count if count > 1 else 0):
        text += files.host("RAM%d" % i, "1f", [])
    return text


def is_nvlink(machine, i, j):
    limit = machine.get("nvlink")
    return bool(limit and i >= machine["memories"] and
                j >= machine["memories"] and
                machine["bandwidth"][i][j] > limit)


def own_link(machine, i, j):
    """The link of copies from a node to another."""
    names = nodes(machine)
    return "%s%s-%s" % ("NVLink-" if is_nvlink(machine, i, j) else "",
                        names[i], names[j])


def shared_links(machine):
    """Main memories, PCIe switches and the PCIe links of devices; the latter two no
    slower than any copy over them alone."""
    rates, count = machine["bandwidth"], machine["memories"]
    total = len(rates)

    def fastest(device):
        return max([max(rates[device][j], rates[j][device])
                    for j in range(total) if j != device and
                    not is_nvlink(machine, device, j)]) * 1e6

    text = ""
    for i in range(count):
        text += files.link("Host%s" % (i or ""), machine["host"][i] * 1e6, 0,
                           False, [("orrery-provenance", "assumed")])
    for s, switch in enumerate(machine.get("switches", ())):
        text += files.link("PCIe-switch%d" % s, max(
            fastest(count + i) for i in switch), 0, True)
    for i in range(count, total):
        text += files.link("PCIe-CUDA%d" % (i - count), fastest(i), 0, True)
    return text


def switch_of(machine, device):
    return next((s for s, switch in enumerate(machine.get("switches", ()))
                 if device in switch), None)


def bus_hops(machine, node, other, direction):
    """What a copy passes at its end `node`: the upper one for copies away."""
    count = machine["memories"]
    if node < count:
        return [("Host%s" % (node or ""), None)]
    hops, device = [("PCIe-CUDA%d" % (node - count), direction)], node - count
    switch = switch_of(machine, device)
    if switch is not None and (other < count or switch_of(
            machine, other - count) != switch):
        hops.append(("PCIe-switch%d" % switch, direction))
    return hops if direction == "UP" else hops[::-1]


def copy_hops(machine, i, j):
    own = [(own_link(machine, i, j), None)]
    if is_nvlink(machine, i, j):
        return own
    return (bus_hops(machine, i, j, "UP") + own +
            bus_hops(machine, j, i, "DOWN"))


def links_and_routes(machine):
    names, count = nodes(machine), machine["memories"]
    links, routes = shared_links(machine), ""
    for i, source in enumerate(names):
        for j, target in enumerate(names):
            if i == j:
                continue
            hops = copy_hops(machine, i, j)
            links += files.link(own_link(machine, i, j),
                                machine["bandwidth"][i][j] * 1e6,
                                round(machine["latency"][i][j] * 1e-6, 11),
                                False)
            routes += files.route(source, target, hops, False)
            # All memory is at the first node to those who know no others.
            if count > 1 and i == 0 and j >= count:
                routes += files.route("RAM", target, hops, False)
            if count > 1 and j == 0 and i >= count:
                routes += files.route(source, "RAM", hops, False)
    return links + routes


def platform(name, machine):
    about = ("%s: %s. Figures measured and published by others: %s, licence "
             "%s. Written by platforms/catalogue/measured.py, which says what "
             "was left out and what is not measured." % (
                 name, machine["title"], machine["origin"],
                 machine["licence"]))
    return files.platform_file(about, [
        ("description", machine["title"]),
        ("orrery-origin", machine["origin"]),
        ("orrery-licence", machine["licence"]),
    ], hosts(machine) + links_and_routes(machine))


def write_all(folder, tile_rows):
    """`tile_rows`: derive.py's, for rows that are derived."""
    for name, machine in MACHINES.items():
        files.write(folder, name, platform(name, machine),
                    models(name, tile_rows))
