"""Reads the tables of policy/."""
import csv
import json
import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "policy")


def table(name):
    with open(os.path.join(FOLDER, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


TREE, DISPUTED, PARTS, SUBDIVISIONS, NAMES = map(table, ["tree", "disputed", "parts", "subdivisions", "names"])
DRAWN = {id: ring for id, ring in table("drawn").items() if id != "why"}


def atolls():
    """country -> [[west, south, east, north]]"""
    out = {}
    with open(os.path.join(FOLDER, "atolls.csv"), encoding="utf-8") as file:
        for country, islands, *box in csv.reader(line for line in file if not line.startswith("#")):
            w, s, e, n = map(float, box)
            assert -180 <= w < e <= 180 and -85 < s < n < 85, (country, islands)
            out.setdefault(country, []).append([w, s, e, n])
    return out
