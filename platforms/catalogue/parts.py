# SPDX-License-Identifier: LGPL-2.1-or-later
"""Published figures of devices, processors and links, each with its source.

Of each source the text beside it says whether we have seen the figures in it or
in a document that quotes it (seen), or wrote them from memory (unseen).
"""

# ---------------------------------------------------------------- devices
# Rates in TFLOP/s. fp32, fp64: of vector units. fp32_tensor: operands in single
# precision on tensor cores (NVIDIA rounds them to TF32, AMD does not);
# fp64_tensor: the same in double precision. None: there is no such unit.
# bandwidth: of its memory, GB/s. memory: bytes, as the device reports where we
# know that. sms: multiprocessors, AMD: compute units. link: bytes per second in
# one direction of all its links to other devices together, None without; switch:
# those links may go to a switch that connects all devices. also: what nvidia-smi
# calls it, where that does not have the part's name.
#
# Parameters of the law (law.py): gemm is (best, half), trsm and potrf us per
# row in single precision, trsm64 and potrf64 in double precision; "as" names
# the device whose measured parameters are taken where there are none of its
# own.


def device(model, fp32, fp64, fp32_tensor, fp64_tensor, bandwidth, memory, sms,
           pcie, source, link=None, switch=False, also="", **law):
    return {"model": model, "fp32": fp32, "fp64": fp64,
            "fp32_tensor": fp32_tensor, "fp64_tensor": fp64_tensor,
            "bandwidth": bandwidth, "memory": memory, "sms": sms,
            "pcie": pcie, "source": source, "link": link, "switch": switch,
            "also": also, "law": law}


H100 = "NVIDIA H100 Datasheet"
H200 = "NVIDIA H200 Datasheet"
A100 = "NVIDIA A100 Datasheet"
V100 = "NVIDIA V100 Datasheet"
ADA = "NVIDIA Ada GPU Architecture whitepaper"

# The gemm parameters of A100, H100 SXM, V100, P100, L4, T4 and P4 are fitted to
# the products "linear" of NeuSight (github.com/sitar-lab/NeuSight, 2025-06,
# MIT), float32 without TF32; those called bmm judge them (judge.py). V100 and
# P100 also to StarPU's own measures, see measured.py, which the others' figures
# per row come from. RTX 4090: mli/transformers-benchmarks, issue 4 (22.1 TFLOP/s
# at 512, 51.6 at 2048, 50.2 at 8192). MI200, MI300: rocBLAS b520bc83f, Tensile
# logic (32, 64, 88 % at 512, 1024, 2048; 50, 88.5 % at 1030, 2048). L40S potrf:
# ml-explore/mlx, pull request 4262 (186, 951, 2366 us at 512, 2048, 4096).
DEVICES = {
    # FP32 51, FP64 26, FP64 tensor 51, TF32 756 with sparsity (378 without),
    # 80 GB, 2 TB/s, PCIe Gen5, 114 multiprocessors (14,592 cores); pairs may
    # have an NVLink bridge of 600 GB/s (both directions). Seen.
    "H100 PCIe": device("NVIDIA H100 PCIe 80GB", 51.0, 25.6, 378.0, 51.2, 2000,
                        80 * 2**30, 114, 5, H100, link=300e9,
                        **{"as": "H100 SXM"}),
    # FP32 67, FP64 34, FP64 tensor 67, TF32 989 with sparsity (495 without),
    # 80 GB, 3.35 TB/s, NVLink 900 GB/s (both directions), PCIe Gen5, 132
    # multiprocessors. nvidia-smi reports 81559 MiB. Seen.
    "H100 SXM": device("NVIDIA H100 SXM5 80GB", 67.0, 33.5, 494.7, 67.0, 3350,
                       81559 * 2**20, 132, 5, H100, link=450e9, switch=True,
                       also="NVIDIA H100 80GB HBM3", gemm=(0.76, 50),
                       **{"as": "A100 PCIe 40GB"}),
    # The same, 141 GB, 4.8 TB/s. Seen, but for the bytes that it reports
    # (143771 MiB).
    "H200 SXM": device("NVIDIA H200 SXM5 141GB", 67.0, 33.5, 494.7, 67.0, 4800,
                       143771 * 2**20, 132, 5, H200, link=450e9, switch=True,
                       also="NVIDIA H200", **{"as": "H100 SXM"}),
    # HGX B200: FP32 75, FP64 and FP64 tensor 37, TF32 2200 with sparsity, 180
    # GB, 7.7 TB/s, NVLink 1.8 TB/s (both directions), PCIe Gen5, 148
    # multiprocessors. Seen in copies of the table.
    "B200 SXM": device("NVIDIA B200 SXM6 180GB", 75.0, 37.0, 1100.0, 37.0, 7700,
                       180 * 10**9, 148, 5, "NVIDIA Blackwell Datasheet",
                       link=900e9, switch=True, also="NVIDIA B200",
                       **{"as": "H100 SXM"}),
    # FP32 82.6, TF32 82.6, 24 GB, 1008 GB/s, PCIe Gen 4 x16, no NVLink, 128
    # multiprocessors; FP64 is 1/64. Seen. Reports 24564 MiB.
    "RTX 4090": device("NVIDIA GeForce RTX 4090", 82.6, 1.29, 82.6, None, 1008,
                       24564 * 2**20, 128, 4, ADA, gemm=(0.64, 100),
                       **{"as": "L40S"}),
    # FP32 91.6, TF32 183, 48 GB, 864 GB/s, PCIe Gen4 x16, no NVLink, 142
    # multiprocessors; FP64 1.431. Seen.
    "L40S": device("NVIDIA L40S 48GB", 91.6, 1.431, 183.0, None, 864,
                   48 * 2**30, 142, 4, "NVIDIA L40S Datasheet",
                   gemm=(0.64, 100), potrf=0.33, **{"as": "A100 PCIe 40GB"}),
    # FP32 30.3, TF32 120 with sparsity, 24 GB, 300 GB/s, 72 W. Seen; 58
    # multiprocessors, FP64 1/64: unseen. The limit of 72 W halves its rate.
    "L4": device("NVIDIA L4 24GB", 30.3, 0.474, 60.0, None, 300, 24 * 2**30,
                 58, 4, "NVIDIA L4 Datasheet", gemm=(0.32, 250),
                 **{"as": "L40S"}),
    # FP32 19.5, FP64 9.7, FP64 tensor 19.5, TF32 156, 40 GB, 1555 GB/s, PCIe
    # Gen4 x16, 108 multiprocessors; a bridge of 600 GB/s joins pairs. Seen
    # (PB-10137-001 and datasheet). Reports 42297786368 bytes (Chameleon).
    "A100 PCIe 40GB": device("NVIDIA A100 PCIe 40GB", 19.5, 9.7, 156.0, 19.5,
                             1555, 42297786368, 108, 4,
                             "NVIDIA PB-10137-001, A100 Datasheet", link=300e9,
                             gemm=(0.84, 150), trsm=0.27, trsm64=0.35,
                             potrf=1.19, potrf64=1.35),
    # The same, 80 GB, 1935 GB/s. Seen.
    "A100 PCIe 80GB": device("NVIDIA A100 PCIe 80GB", 19.5, 9.7, 156.0, 19.5,
                             1935, 80 * 2**30, 108, 4, A100, link=300e9,
                             gemm=(0.92, 50), **{"as": "A100 PCIe 40GB"}),
    # The same, NVLink 600 GB/s (both directions), 400 W. Seen. Reports
    # 42405855232 bytes (PC2, Paderborn).
    "A100 SXM 40GB": device("NVIDIA A100 SXM4 40GB", 19.5, 9.7, 156.0, 19.5,
                            1555, 42405855232, 108, 4, A100, link=300e9,
                            switch=True, gemm=(0.92, 50),
                            **{"as": "A100 PCIe 40GB"}),
    # 80 GB, 2039 GB/s. Seen.
    "A100 SXM 80GB": device("NVIDIA A100 SXM4 80GB", 19.5, 9.7, 156.0, 19.5,
                            2039, 80 * 2**30, 108, 4, A100, link=300e9,
                            switch=True, gemm=(0.92, 50),
                            **{"as": "A100 PCIe 40GB"}),
    # FP32 14, FP64 7, 16 GB, 900 GB/s, PCI Express 3.0 x16, 80
    # multiprocessors; tensor cores take half precision only. Seen
    # (PB-08744-001). Reports 16945709056 bytes (Chameleon).
    "V100 PCIe": device("NVIDIA Tesla V100 PCIe 16GB", 14.0, 7.0, None, None,
                        900, 16945709056, 80, 3, "NVIDIA PB-08744-001",
                        gemm=(1.0, 250), trsm=0.50, trsm64=0.65,
                        **{"as": "A100 PCIe 40GB"}),
    # FP32 15.7, FP64 7.8, 900 GB/s, NVLink 300 GB/s (both directions), 16 or
    # 32 GB. Seen. The second reports 34089730048 bytes (StarPU).
    "V100 SXM2 16GB": device("NVIDIA Tesla V100 SXM2 16GB", 15.7, 7.8, None,
                             None, 900, 16945709056, 80, 3, V100, link=150e9,
                             **{"as": "V100 PCIe"}),
    "V100 SXM2 32GB": device("NVIDIA Tesla V100 SXM2 32GB", 15.7, 7.8, None,
                             None, 900, 34089730048, 80, 3, V100, link=150e9,
                             **{"as": "V100 PCIe"}),
    # FP32 9.3, FP64 4.7, 16 GB, 732 GB/s, PCI Express 3.0 x16, 56
    # multiprocessors. Unseen but for the multiprocessors. Reports 17071800320
    # bytes (Chameleon).
    "P100 PCIe": device("NVIDIA Tesla P100 PCIe 16GB", 9.3, 4.7, None, None,
                        732, 17071800320, 56, 3, "NVIDIA P100 Datasheet",
                        gemm=(0.82, 50), trsm=0.53, trsm64=1.05,
                        **{"as": "A100 PCIe 40GB"}),
    # FP32 8.1, FP64 1/32, 16 GB, 320 GB/s, 40 multiprocessors. Seen. Its 70 W
    # halve its rate.
    "T4": device("NVIDIA Tesla T4 16GB", 8.1, 0.254, None, None, 320,
                 16 * 2**30, 40, 3, "NVIDIA T4 Datasheet", gemm=(0.48, 0),
                 **{"as": "RTX 8000"}),
    # FP32 5.5, FP64 1/32, 8 GB, 192 GB/s, 20 multiprocessors. Unseen.
    "P4": device("NVIDIA Tesla P4 8GB", 5.5, 0.172, None, None, 192, 8 * 2**30,
                 20, 3, "NVIDIA P4 Datasheet", gemm=(0.84, 100),
                 **{"as": "P100 PCIe"}),
    # FP32 16.3, FP64 1/32, 48 GB, 672 GB/s, 72 multiprocessors, NVLink bridge
    # of 100 GB/s (both directions). Unseen. Reports 47769059328 bytes
    # (Chameleon).
    "RTX 8000": device("NVIDIA Quadro RTX 8000", 16.3, 0.51, None, None, 672,
                       47769059328, 72, 3, "NVIDIA Quadro RTX 8000 Datasheet",
                       link=50e9, gemm=(0.75, 150), trsm=0.59, trsm64=3.4,
                       **{"as": "A100 PCIe 40GB"}),
    # FP32 29.8, 10 GB, 68 multiprocessors (8704 cores). Seen. 760 GB/s, FP64
    # 1/64: unseen. Same multiprocessors as Ada's, so its gemm is taken.
    "RTX 3080": device("NVIDIA GeForce RTX 3080", 29.8, 0.466, 29.8, None, 760,
                       10 * 2**30, 68, 4, "NVIDIA GeForce RTX 3080 page",
                       gemm=(0.64, 100), **{"as": "A100 PCIe 40GB"}),
    # GDDR5 variant: 896 cores at 1665 MHz boost, FP32 2.98, 4 GB, PCI Express
    # 3.0 x16, 14 multiprocessors. Seen. 128 GB/s, FP64 1/32: unseen.
    "GTX 1650": device("NVIDIA GeForce GTX 1650", 2.984, 0.093, None, None, 128,
                       4 * 2**30, 14, 3, "NVIDIA GeForce GTX 1650 page",
                       **{"as": "RTX 8000"}),
    # FP64 and FP32 22.6, matrix 45.3 each, 64 GB, 1.6 TB/s, 104 compute units,
    # three Infinity Fabric links of 50 GB/s in each direction, PCIe 4. Seen but
    # for 22.6 and 45.3, half of the MI250's.
    "MI210": device("AMD Instinct MI210 64GB", 22.6, 22.6, 45.3, 45.3, 1638,
                    64 * 2**30, 104, 4, "AMD Instinct MI210 brochure",
                    link=150e9, gemm=(1.0, 350), **{"as": "A100 PCIe 40GB"}),
    # One of the two dies, which is a device of its own to programs: half of
    # FP64 and FP32 47.9, matrix 95.7, 128 GB, 3.2 TB/s, 220 compute units.
    # Links of a die to others: four of 50 GB/s in the other package and
    # outside, two between the dies of a package. Seen (links: unseen).
    "MI250X": device("AMD Instinct MI250X die 64GB", 23.95, 23.95, 47.85, 47.85,
                     1638, 64 * 2**30, 110, 4,
                     "AMD Instinct MI250X brochure", link=200e9,
                     **{"as": "MI210"}),
    # FP64 81.7, FP32 163.4, matrix 163.4 each, 192 GB, 5.3 TB/s, 304 compute
    # units, seven Infinity Fabric links of 64 GB/s in each direction, PCIe 5.
    # Seen (128 GB/s of a link in both directions, 448 GB/s of seven).
    "MI300X": device("AMD Instinct MI300X 192GB", 163.4, 81.7, 163.4, 163.4,
                     5300, 192 * 2**30, 304, 5,
                     "AMD Instinct MI300X data sheet", link=448e9,
                     gemm=(1.0, 500), **{"as": "MI210"}),
}

# ------------------------------------------------------------- processors
# Of one socket. clock: base GHz. flops: single precision per cycle and core,
# double precision is half: two 512-bit FMA units give 2 * 16 * 2 = 64, two
# 256-bit ones (or one 512-bit) 32. memory_rate: all channels, bytes per second.
# socket_rate: between two sockets, all links, one direction, bytes per second;
# 0: one socket only. UPI carries 2 bytes a transfer and direction (10.4 GT/s =
# 20.8 GB/s, seen), xGMI 16 lanes a link. l3_cores: how many cores share a
# third-level cache, all where nothing is said: four on Zen 2 (three in parts of
# six cores), eight since. Unseen.
#
# Processors run long AVX-512 loops below their base clock, so the figures of
# Xeons flatter them; law.py's efficiencies are of loaded cores.


def processor(model, cores, clock, flops, channels, transfers, socket_rate,
              source, l3_cores=None):
    return {"model": model, "cores": cores, "clock": clock, "flops": flops,
            "memory_rate": channels * transfers * 1e6 * 8,
            "socket_rate": socket_rate, "source": source,
            "l3_cores": l3_cores or cores}


def place(core, cores, packages, shared):
    """Package and third-level cache of a core, whole caches on each package."""
    package = core * packages // cores
    first = -(-package * cores // packages)
    caches = -(-cores // packages // shared)
    return package, package * caches + (core - first) // shared


def upi(links, gigatransfers):
    return links * gigatransfers * 1e9 * 2


def xgmi(links, gigatransfers):
    return links * gigatransfers * 1e9 * 16 / 8


PROCESSORS = {
    # 12 cores, 2.40 GHz, 8 channels of DDR5-4400. Seen (copies of Intel ARK).
    # Two UPI links of 16 GT/s: unseen.
    "Xeon Silver 4510": processor("Intel Xeon Silver 4510", 12, 2.4, 64, 8,
                                  4400, upi(2, 16),
                                  "Intel ARK Xeon Silver 4510"),
    # Sapphire Rapids: 56 cores, 2.00 GHz, 8 channels of DDR5-4800 (seen: text
    # of the DGX H100), 2 AVX-512 FMA units (seen: Chips and Cheese), UPI of 16
    # GT/s (seen), four links (unseen).
    "Xeon 8480C": processor("Intel Xeon Platinum 8480C", 56, 2.0, 64, 8, 4800,
                            upi(4, 16), "NVIDIA DGX H100 Datasheet"),
    "Xeon 8480+": processor("Intel Xeon Platinum 8480+", 56, 2.0, 64, 8, 4800,
                            upi(4, 16), "Intel ARK Xeon Platinum 8480+"),
    # Emerald Rapids: 64 cores, 1.9 GHz, 8 channels of DDR5-5600, four UPI links
    # of 20 GT/s. Unseen.
    "Xeon 8592+": processor("Intel Xeon Platinum 8592+", 64, 1.9, 64, 8, 5600,
                            upi(4, 20), "Intel ARK Xeon Platinum 8592+"),
    # Granite Rapids: 128 cores, 2.0 GHz (seen), 12 channels of DDR5-6400, up to
    # six UPI links (seen) of 24 GT/s (unseen).
    "Xeon 6980P": processor("Intel Xeon 6980P", 128, 2.0, 64, 12, 6400,
                            upi(6, 24), "Intel ARK Xeon 6980P"),
    # Ice Lake: 40 cores, 2.3 GHz, 8 channels of DDR4-3200, three UPI links of
    # 11.2 GT/s. Unseen.
    "Xeon 8380": processor("Intel Xeon Platinum 8380", 40, 2.3, 64, 8, 3200,
                           upi(3, 11.2), "Intel ARK Xeon Platinum 8380"),
    # Skylake: 28 cores, 2.50 GHz, 6 channels of DDR4-2666, 3 UPI links of 10.4
    # GT/s, 2 AVX-512 FMA units. Seen.
    "Xeon 8180": processor("Intel Xeon Platinum 8180", 28, 2.5, 64, 6, 2666,
                           upi(3, 10.4), "Intel ARK Xeon Platinum 8180"),
    # 20 cores, 2.4 GHz. Unseen.
    "Xeon Gold 6148": processor("Intel Xeon Gold 6148", 20, 2.4, 64, 6, 2666,
                                upi(3, 10.4), "Intel ARK Xeon Gold 6148"),
    # Broadwell, of the DGX-1: 20 cores, 2.2 GHz, two 256-bit FMA units, 4
    # channels of DDR4-2400, two QPI links of 9.6 GT/s. Unseen.
    "Xeon E5-2698 v4": processor("Intel Xeon E5-2698 v4", 20, 2.2, 32, 4, 2400,
                                 upi(2, 9.6), "Intel ARK Xeon E5-2698 v4"),
    # Zen 5: 128 cores, 2.7 GHz, 12 channels of DDR5-6400, four xGMI links of 32
    # GT/s, 512-bit FMA units. Unseen but for the channels.
    "EPYC 9755": processor("AMD EPYC 9755", 128, 2.7, 64, 12, 6400, xgmi(4, 32),
                           "AMD EPYC 9755 page", 8),
    # Zen 4: 96 cores, 2.40 GHz, 12 channels of DDR5-4800, up to four links of
    # 32 GT/s. Seen (hpctech.co.jp). 2 FMA pipes of 256 bits. Seen.
    "EPYC 9654": processor("AMD EPYC 9654", 96, 2.4, 32, 12, 4800, xgmi(4, 32),
                           "AMD EPYC 9654 page", 8),
    # Zen 3: 64 cores, 2.45 GHz, 8 channels of DDR4-3200 (204.8 GB/s), 2 FMA
    # pipes of 256 bits. Seen. Three links of 18 GT/s (seen: ROCm's page on
    # the MI100).
    "EPYC 7763": processor("AMD EPYC 7763", 64, 2.45, 32, 8, 3200, xgmi(3, 18),
                           "AMD EPYC 7763 page", 8),
    # Zen 2: 64 cores, 2.25 GHz. Unseen; two 256-bit FMA pipes: seen.
    "EPYC 7742": processor("AMD EPYC 7742", 64, 2.25, 32, 8, 3200, xgmi(3, 18),
                           "AMD EPYC 7742 page", 4),
    # 16 cores, 4.5 GHz, 2 channels. Seen. DDR5-5200: unseen.
    "Ryzen 7950X": processor("AMD Ryzen 9 7950X", 16, 4.5, 32, 2, 5200, 0,
                             "AMD Ryzen 9 7950X page", 8),
    # 8 Zen 3 cores, 1.9 GHz, 2 channels of DDR4-3200. Seen.
    "Ryzen 5800U": processor("AMD Ryzen 7 5800U", 8, 1.9, 32, 2, 3200, 0,
                             "AMD Ryzen 7 5800U page", 8),
    # 6 Zen 2 cores, 3.6 GHz, 2 channels of DDR4-3200. Seen.
    "Ryzen 3600": processor("AMD Ryzen 5 3600", 6, 3.6, 32, 2, 3200, 0,
                            "AMD Ryzen 5 3600 page", 3),
    # 4 cores, 2.8 GHz at 28 W, LPDDR4x-4267 on 128 bits. Seen. One 512-bit FMA
    # unit, as Ice Lake has (seen).
    "Core 1165G7": processor("Intel Core i7-1165G7", 4, 2.8, 32, 2, 4267, 0,
                             "Intel ARK Core i7-1165G7"),
}

# ------------------------------------------------------------------ links
# Bytes per second, one direction.


def pcie(generation, lanes=16):
    """PCI-SIG, PCI Express Base Specification: 8 GT/s a lane (3.0) and twice
    as many in each generation after it, 128b/130b encoding."""
    return 8e9 * 2**(generation - 3) * lanes / 8 * 128 / 130


# Of the published rate a large copy between host and device reaches:
#   3.0  12.35 of 15.75 GB/s (te42kyfo/gpu-benches), 12.2 (StarPU, V100 PCIe)
#   4.0  25.5 of 31.5 (StarPU, A100 PCIe, near node), 26.0 (nvbandwidth, A100)
#   5.0  55.1 of 63.0 (stas00/ml-engineering, H200), 51.5 (Azure ND H100 v5)
PCIE_EFFICIENCY = {3: 0.78, 4: 0.81, 5: 0.86, 6: 0.86}
# Between two devices over PCIe: 9.7 to 10.2 of 15.75 GB/s (StarPU, V100 and RTX
# 8000), 19.5 to 20.9 of 31.5 (A100), 21.8 to 26.3 (nvbandwidth issue 50), 36 to
# 37 of 63.0 (nccl issue 1264).
PEER_EFFICIENCY = 0.64
# NVLink: V100 24.09 of 25 (StarPU, DGX-1), A100 276 of 300 (nvbandwidth), H100
# 371 to 396 of 450 (nccl issue 1264, ml-engineering). Others: as H100, assumed.
LINK_EFFICIENCY = {"V100": 0.96, "A100": 0.92}
LINK_EFFICIENCY_ELSE = 0.85
# Thunderbolt 3 and 4 carry PCIe at 32 Gbit/s at most; users measure 19 to 22
# Gbit/s from host to device. The upper of the two. Seen.
THUNDERBOLT = 22e9 / 8
# UPI and xGMI: no figure seen; as PCIe 3 and 4, assumed.
SOCKET_EFFICIENCY = 0.80
# Assumed.
MEMORY_EFFICIENCY = 0.70

# One way, software included, seconds. Between host and device 6.1 to 8.3 us
# (StarPU on V100, P100, RTX 8000), 8.5 to 9.7 (A100): a link's. Between devices
# over PCIe two links are passed: 8.2 to 9.5 us (V100, RTX 8000), 10.7 to 13.1
# (A100), across sockets 14.2 to 18.3 (P100, DGX-1); NVLink 8.0 to 10.0 (DGX-1,
# direct), 12 to 14 (8 A100 behind NVSwitch, starpu issue 33).
PCIE_LATENCY = 6.5e-6
SOCKET_LATENCY = 2e-6
LINK_LATENCY = 9e-6
SWITCH_LATENCY = 13e-6
THUNDERBOLT_LATENCY = 15e-6  # assumed

# One core's share of a memory that others also use, assumed.
CORE_STREAM = 10e9


def link_efficiency(name):
    return next((value for part, value in LINK_EFFICIENCY.items()
                 if part in name), LINK_EFFICIENCY_ELSE)
