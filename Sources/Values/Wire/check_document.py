#!/usr/bin/env python3
"""Refuses docs/formats/wire.md when a message's type number, largest body or role differs from packhorse.proto.

usage: check_document.py        (`ops/check-proto` calls it)
"""

import re
import sys

from wire_schema import FOLDER, Schema, first

DOCUMENT = FOLDER.parents[2] / "docs" / "formats" / "wire.md"
BODIES = {"KIB_1": "1 KiB", "KIB_16": "16 KiB", "KIB_64": "64 KiB", "WORK_FRAME": "256 KiB", "CONTROL_FRAME": "4 MiB",
          "BLOB_FRAME": "1 MiB + 4 KiB"}
ROLES = {"VIEWER": "V", "OPERATOR": "operator", "ANY": "all"}


def is_described(text, name, number, body, role):
    """Whether a message has a row of its own, or is named as the answer in the row of a request."""
    row = re.search(rf"^\| {number} \|.*`{name}`.*$", text, re.M)
    if row and name != "Problem":
        cells = [cell.strip() for cell in row.group().strip("|").split("|")]
        return cells[1] == f"`{name}`" and body in cells and (role not in ROLES or ROLES[role] in cells)
    return f"`{name}` ({number}, {body})" in text or bool(row and f"`{name}` ({body})" in row.group())


def main():
    text, wrong = DOCUMENT.read_text(), 0
    for name, frame in Schema().frames.items():
        number, body, role = f"0x{int(first(frame, 'type')):02X}", BODIES[first(frame, "body")], first(frame, "role")
        if not is_described(text, name, number, body, role):
            wrong += 1
            print(f"docs/formats/wire.md:1: {name} is not described as {number}, body {body}, role {role}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
