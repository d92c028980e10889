# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines of the catalogue that others have measured and published.

Carried over are figures: mean and spread of kernels on square tiles, bandwidths
and latencies, memories. The sources' files are not; what is written from these
figures is in this project's own form, with the source and its licence in the
zone's properties orrery-origin and orrery-licence. tests/unit/test-measured.py
compares each figure with the source where that is at hand.

Left out, as their sources' rows are no kernel times: gemm and syrk on the GPUs of
sirocco-a100 at 800 (double precision above the peak), potrf of gemini-1 (a
fallback of 20 to 200 ms), products and trsm at 960 on CUDA2 to CUDA7 of gemini-1
(the first calls). Of machines with devices that are alike, rows of two are kept;
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

The sources do not name the processors; `processor` is a guess that the number
of cores and the rates allow, and gives the peak that `machine check` compares
with.
"""
import files
import law
import parts

SYMBOLS = {"fp32": "chol_model_%s", "fp64": "d%s"}
BYTES = {"fp32": 4, "fp64": 8}
CECILL = "CeCILL-C"

# devices: the part and how many. memories: main memories, which are the first
# nodes of the matrices, the devices follow. bandwidth in MB/s and latency in us
# from row to column. host: MB/s of each main memory's own link, as the source has
# it. nvlink: pairs above so many MB/s are joined directly.
# switches: devices behind one PCIe switch. rows: {(precision, kernel, side):
# {place: (us, standard deviation in %, samples)}}. derived: kernels and sides
# whose rows, where there are none above, are law.py's.
MACHINES = {
    "sirocco-v100": {
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
        "rows": {
            ("fp32", "potrf", 1600): {
                "cpu0": (17320, 15, 847)},
            ("fp32", "trsm", 1600): {
                "cpu0": (42250, 10, 48180), "cuda0": (1049, 15, 9534),
                "cuda1": (1049, 15, 9536)},
            ("fp32", "syrk", 1600): {
                "cpu0": (45460, 7.3, 21167), "cuda0": (604.7, 7.2, 2174),
                "cuda1": (607.9, 7.1, 2276)},
            ("fp32", "gemm", 1600): {
                "cpu0": (79300, 5.3, 241438), "cuda0": (664.8, 6.2, 999469),
                "cuda1": (670.3, 6, 1001901)},
            ("fp64", "potrf", 1600): {
                "cpu0": (32100, 20, 846)},
            ("fp64", "trsm", 1600): {
                "cpu0": (85620, 12, 46263), "cuda0": (1968, 12, 10690),
                "cuda1": (1975, 12, 10618)},
            ("fp64", "syrk", 1600): {
                "cpu0": (89270, 12, 17800), "cuda0": (1094, 15, 3992),
                "cuda1": (1091, 15, 3838)},
            ("fp64", "gemm", 1600): {
                "cpu0": (184400, 13, 219486), "cuda0": (1241, 5.1, 1022167),
                "cuda1": (1242, 4.8, 1017542)},
        },
    },
    "sirocco-p100": {
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
        "rows": {
            ("fp32", "potrf", 1240): {
                "cpu0": (15960, 10, 673)},
            ("fp32", "trsm", 1240): {
                "cpu0": (45940, 21, 6363), "cuda0": (908.1, 11, 4016),
                "cuda1": (937.6, 11, 3917)},
            ("fp32", "syrk", 1240): {
                "cpu0": (60230, 20, 2358), "cuda0": (380.4, 8.3, 6660),
                "cuda1": (381, 8.3, 6101)},
            ("fp32", "gemm", 1240): {
                "cpu0": (123500, 14, 16817), "cuda0": (492.3, 9.9, 223919),
                "cuda1": (502.6, 8.3, 170040)},
            ("fp64", "potrf", 1240): {
                "cpu0": (26820, 11, 642)},
            ("fp64", "trsm", 1240): {
                "cpu0": (124900, 20, 2957), "cuda0": (1795, 10, 8755),
                "cuda1": (1842, 10, 7424)},
            ("fp64", "syrk", 1240): {
                "cpu0": (109400, 22, 3964), "cuda0": (584.8, 14, 5650),
                "cuda1": (584.7, 14, 5343)},
            ("fp64", "gemm", 1240): {
                "cpu0": (254800, 12, 14720), "cuda0": (959.7, 9.3, 275723),
                "cuda1": (984.9, 8.8, 226307)},
        },
    },
    "sirocco-rtx8000": {
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
        "rows": {
            ("fp32", "potrf", 1600): {
                "cpu0": (25890, 0.8, 218)},
            ("fp32", "trsm", 1600): {
                "cpu0": (69200, 1.2, 10), "cuda0": (1265, 16, 1939),
                "cuda1": (1248, 16, 1914)},
            ("fp32", "syrk", 1600): {
                "cpu0": (68410, 1.1, 15), "cuda0": (586.3, 17, 598),
                "cuda1": (568.2, 13, 747)},
            ("fp32", "gemm", 1600): {
                "cpu0": (167700, 18, 108), "cuda0": (730.8, 12, 10570),
                "cuda1": (730.3, 12, 9847)},
            ("fp64", "potrf", 1600): {
                "cpu0": (48470, 1.7, 219)},
            ("fp64", "trsm", 1600): {
                "cpu0": (137700, 7.8, 2307), "cuda0": (15490, 13, 853),
                "cuda1": (15570, 13, 797)},
            ("fp64", "syrk", 1600): {
                "cpu0": (136500, 0.62, 588), "cuda0": (11320, 11, 448),
                "cuda1": (11370, 9.8, 446)},
            ("fp64", "gemm", 1600): {
                "cpu0": (310400, 5.7, 5605), "cuda0": (18560, 5.1, 5682),
                "cuda1": (18580, 5.4, 5705)},
        },
    },
    "sirocco-a100": {
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
        "rows": {
            ("fp32", "potrf", 800): {
                "cpu0": (6154, 2.7, 1225), "cuda0": (1006, 12, 114),
                "cuda1": (976.4, 3.9, 157)},
            ("fp32", "potrf", 1600): {
                "cpu0": (34150, 2.6, 419), "cuda0": (2220, 5, 362),
                "cuda1": (2222, 6, 444)},
            ("fp32", "trsm", 800): {
                "cpu0": (13920, 4.3, 50375), "cuda0": (250.6, 12, 4413),
                "cuda1": (246.6, 10, 4720)},
            ("fp32", "trsm", 1600): {
                "cpu0": (94630, 8.7, 7536), "cuda0": (716.8, 5.5, 10252),
                "cuda1": (710.1, 5.3, 10594)},
            ("fp32", "syrk", 800): {
                "cpu0": (10730, 2.8, 53997)},
            ("fp32", "syrk", 1600): {
                "cpu0": (76890, 3.2, 9192), "cuda0": (466.4, 5.6, 9497),
                "cuda1": (461.1, 5.5, 9726)},
            ("fp32", "gemm", 800): {
                "cpu0": (19140, 8.7, 140124)},
            ("fp32", "gemm", 1600): {
                "cpu0": (148000, 9.9, 2925), "cuda0": (566.7, 4.1, 215429),
                "cuda1": (561.7, 4, 217118)},
            ("fp64", "potrf", 800): {
                "cpu0": (9360, 4.7, 1117), "cuda0": (1210, 7.1, 223),
                "cuda1": (1188, 7.6, 148)},
            ("fp64", "potrf", 1600): {
                "cpu0": (49750, 5.1, 289), "cuda0": (2866, 11, 104),
                "cuda1": (2814, 10, 177)},
            ("fp64", "trsm", 800): {
                "cpu0": (20110, 4.2, 43323), "cuda0": (326.7, 14, 8666),
                "cuda1": (340.9, 14, 6887)},
            ("fp64", "trsm", 1600): {
                "cpu0": (134800, 3.7, 3461), "cuda0": (1116, 6.6, 4863),
                "cuda1": (1107, 6.4, 3991)},
            ("fp64", "syrk", 800): {
                "cpu0": (21360, 6.6, 43876)},
            ("fp64", "syrk", 1600): {
                "cpu0": (173300, 17, 123), "cuda0": (311, 12, 6265),
                "cuda1": (308.5, 12, 5668)},
            ("fp64", "gemm", 800): {
                "cpu0": (31660, 5.7, 60045)},
            ("fp64", "gemm", 1600): {
                "cpu0": (227600, 4.2, 613), "cuda0": (517.8, 5.2, 91869),
                "cuda1": (513.8, 4.8, 96341)},
        },
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
        "rows": {
            ("fp32", "gemm", 960): {
                "cuda0": (139.1, 8.2, 4257), "cuda1": (136.9, 9.1, 1933)},
            ("fp32", "gemm", 1920): {
                "cuda0": (1015, 3.9, 827), "cuda1": (1018, 4.4, 820)},
            ("fp32", "trsm", 960): {
                "cuda0": (626.6, 20, 1307), "cuda1": (495.9, 11, 390)},
            ("fp32", "trsm", 1920): {
                "cuda0": (1520, 6.9, 154), "cuda1": (1513, 7.6, 134)},
            ("fp64", "gemm", 1920): {
                "cuda0": (2068, 2.8, 25298), "cuda1": (2075, 2.9, 27199)},
            ("fp64", "gemm", 2880): {
                "cuda0": (6719, 1.5, 37739), "cuda1": (6744, 1.5, 37865)},
            ("fp64", "trsm", 1920): {
                "cuda0": (2119, 5.5, 720), "cuda1": (2124, 7.8, 787)},
            ("fp64", "trsm", 2880): {
                "cuda0": (5840, 4.7, 1129), "cuda1": (5841, 4.5, 1241)},
        },
    },
}

ABOUT = "Figures of %s,"
LICENCE = "licence %s; written by platforms/catalogue/measured.py."
DERIVED = "Derived by law.py, not measured: %s."
MEASURED = "# origin: measured\n"  # before a row of a file that has both

# ------------------------------------------------------------ kernel models


def sides(machine, precision, kernel):
    """The sides of tiles that there are rows for, or are to be."""
    found = {n for p, k, n in machine["rows"] if (p, k) == (precision, kernel)}
    return sorted(found | set(machine.get("derived", {}).get(precision, ())))


def measured_row(figures, precision, kernel, n):
    us, spread, samples = figures
    operands = law.KERNELS[kernel]["operands"]
    return files.row(files.footprint(n, operands),
                     operands * n * n * BYTES[precision], law.flops(kernel, n),
                     us, spread / 100 * us, samples)


def rows_of(machine, precision, kernel, place, tile_rows):
    """Rows of "cpu0" or "cuda<i>", and the sides of those that are derived."""
    rows, derived = [], []
    for n in sides(machine, precision, kernel):
        figures = machine["rows"].get((precision, kernel, n), {}).get(place)
        if figures:
            row = measured_row(figures, precision, kernel, n)
            rows.append(MEASURED + row if "derived" in machine else row)
        elif n in machine.get("derived", {}).get(precision, ()):
            device = None if place == "cpu0" else machine["devices"][0]
            processor = machine["processor"][0] if place == "cpu0" else None
            rows += tile_rows(processor, device, kernel, precision, (n,))
            derived.append(n)
    return rows, derived


def models(machine, tile_rows):
    texts = {}
    for precision, symbol in SYMBOLS.items():
        for kernel in law.KERNELS:
            places, notes = [], []
            for place, device in (("cpu0", None), ("cuda0", 0), ("cuda1", 1)):
                rows, derived = rows_of(machine, precision, kernel, place,
                                        tile_rows)
                if rows:
                    places.append((device, rows))
                if derived:
                    notes.append("%s %s" % (place, " ".join(map(str,
                                                                derived))))
            about = [ABOUT % machine["origin"], LICENCE % machine["licence"]]
            if notes:
                about.append(DERIVED % ", ".join(notes))
            texts[symbol % kernel] = files.model_file(about, places)
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
                    models(machine, tile_rows))
