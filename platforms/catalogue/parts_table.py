#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the published figures of parts.py as a C table, for `orrery machine
new`. Run by the build.

    parts_table.py OUT.c
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import law  # noqa: E402
import parts  # noqa: E402


def quoted(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def initializer(value):
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return "{%s}" % ", ".join(map(initializer, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def rows(entries):
    """C initializers of {field: value} each, and the one that ends a table."""
    return ["    {%s},\n" % ", ".join(
        ".%s = %s" % (field, initializer(value))
        for field, value in entry.items()) for entry in entries] + [
            "    {0},\n"]


def processors():
    for name, part in parts.PROCESSORS.items():
        yield {"name": name, "model": part["model"],
               "source": part["source"], "cores": part["cores"],
               "clock": float(part["clock"]), "flops": float(part["flops"]),
               "l3_cores": part["l3_cores"],
               "memory_rate": float(part["memory_rate"]),
               "socket_rate": float(part["socket_rate"])}


def devices():
    for name, part in parts.DEVICES.items():
        yield {"name": name, "model": part["model"], "source": part["source"],
               "also": part["also"], "tflops": float(part["fp32"]),
               "tflops64": float(part["fp64"]),
               "tflops_tensor": float(part["fp32_tensor"] or 0),
               "tflops64_tensor": float(part["fp64_tensor"] or 0),
               "bandwidth": part["bandwidth"] * 1e9,
               "memory": part["memory"], "pcie": part["pcie"],
               "link_rate": float(part["link"] or 0),
               "link_efficiency": parts.link_efficiency(name),
               "has_switch": part["switch"],
               "laws": [[list(law.parameters(name, kernel, precision))
                         for kernel in ("potrf", "trsm", "syrk", "gemm")]
                        for precision in ("fp32", "fp64")]}


def main():
    efficiencies = [parts.PCIE_EFFICIENCY.get(n, 0) for n in range(7)]
    text = ["/* Made by platforms/catalogue/parts_table.py. */\n",
            '#include "tools/machine/parts.h"\n\n',
            "const struct machine_processor machine_processors[] = {\n",
            *rows(processors()), "};\n\n",
            "const struct machine_device machine_devices[] = {\n",
            *rows(devices()), "};\n\n",
            "const struct machine_assumptions machine_assumptions = {\n",
            "    .pcie_efficiency = {%s},\n" % ", ".join(
                map(repr, efficiencies))]
    for field, value in (("peer_efficiency", parts.PEER_EFFICIENCY),
                         ("link_efficiency", parts.LINK_EFFICIENCY_ELSE),
                         ("socket_efficiency", parts.SOCKET_EFFICIENCY),
                         ("memory_efficiency", parts.MEMORY_EFFICIENCY),
                         ("pcie_latency", parts.PCIE_LATENCY),
                         ("socket_latency", parts.SOCKET_LATENCY),
                         ("link_latency", parts.LINK_LATENCY),
                         ("switch_latency", parts.SWITCH_LATENCY),
                         ("core_stream", parts.CORE_STREAM)):
        text.append("    .%s = %r,\n" % (field, float(value)))
    text.append("};\n")
    with open(sys.argv[1], "w", encoding="ascii", newline="\n") as out:
        out.write("".join(text))


if __name__ == "__main__":
    main()
