#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the published figures of derive.py as a C table, for `orrery machine
new`. Run by the build.

    parts_table.py OUT.c
"""
import importlib.util
import os
import sys

sys.dont_write_bytecode = True


def load_derive():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "derive.py")
    spec = importlib.util.spec_from_file_location("derive", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def quoted(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def main():
    derive = load_derive()
    text = ["/* Made by platforms/catalogue/parts_table.py. */\n",
            '#include "tools/machine/parts.h"\n\n',
            "const struct machine_processor machine_processors[] = {\n"]
    for name, part in derive.PROCESSORS.items():
        # Cores of machines with that processor, 0 when there is none.
        cores = max([machine["cores"] for machine in derive.MACHINES.values()
                     if machine.get("processor") == name], default=0)
        text.append("    {%s, %s, %r, %r, %r, %d},\n" % (
            quoted(name), quoted(part["model"]), float(part["clock"]),
            float(part["flops"]), float(part["memory_rate"]), cores))
    text += ["    {0},\n};\n\n",
             "const struct machine_device machine_devices[] = {\n"]
    for name, part in derive.DEVICES.items():
        text.append("    {%s, %s, %r, %d},\n" % (
            quoted(name), quoted(part["model"]), float(part["fp32"]),
            part["memory"]))
    text += ["    {0},\n};\n\n",
             "const struct machine_assumptions machine_assumptions = {\n"]
    for field, value in (("bus_efficiency", derive.BUS_EFFICIENCY),
                         ("nvlink_efficiency", derive.NVLINK_EFFICIENCY),
                         ("memory_efficiency", derive.MEMORY_EFFICIENCY),
                         ("pcie_latency", derive.PCIE_LATENCY),
                         ("nvlink_latency", derive.NVLINK_LATENCY),
                         ("nvlink_rate", derive.NVLINK4)):
        text.append("    .%s = %r,\n" % (field, float(value)))
    text.append("};\n")
    with open(sys.argv[1], "w", encoding="ascii", newline="\n") as out:
        out.write("".join(text))


if __name__ == "__main__":
    main()
