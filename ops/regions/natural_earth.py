"""Pieces (countries and country regions) out of Debian qgis-common's world_map.gpkg: Natural Earth 10m admin-1 v4.1.0, public domain,
generalised by QGIS. Keyed by ISO 3166 id, or by the name a policy table gives a disputed piece."""
import collections
import os
import re
import sqlite3
import unicodedata

import numpy as np
import shapely
from shapely import wkb
from shapely.geometry import Polygon, box

import cldr
from policy import DISPUTED, DRAWN, PARTS, SUBDIVISIONS, TREE

GPKG = os.environ["PACKHORSE_REGIONS_ROOT"] + "/qgis-common/usr/share/qgis/resources/data/world_map.gpkg"
NOISE = re.compile(
    r"\b(oblast|krai|kray|republic|respublika|of|autonomous|okrug|departement|de|du|des|la|le|les|d|l|provincia|province|land|freistaat"
    r"|city|autonomous community)\b"
)
ENVELOPE_BYTES = {0: 0, 1: 32, 2: 48, 3: 48, 4: 64}


def states():
    """(attributes, geometry) of every admin-1 feature, in file order"""
    connection = sqlite3.connect(GPKG)
    connection.row_factory = sqlite3.Row
    for row in connection.execute("select * from states_provinces order by rowid"):
        attributes = dict(row)
        blob = attributes.pop("geom")
        yield attributes, wkb.loads(blob[8 + ENVELOPE_BYTES[(blob[3] >> 1) & 7] :])


def snapped(geometry):
    """QGIS cut the map at +-179.9 and -89.9: put the cuts back on the antimeridian and the pole."""

    def move(points):
        points = points.copy()
        x, y = points[:, 0], points[:, 1]
        points[:, 0] = np.where(x > 179.8995, 180, np.where(x < -179.8995, -180, x))
        points[:, 1] = np.where(y < -89.8995, -90, y)
        return points

    return shapely.transform(geometry, move)


def plain(text):
    """A name with case, accents and words like 'oblast' taken away, to compare names across sources."""
    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub("[^a-z]", "", NOISE.sub(" ", text.replace("'", " ")))


def codes_by_name():
    """country -> plain name -> {region codes}; a department counts for its region"""
    parents = cldr.subdivision_parents()
    out = collections.defaultdict(lambda: collections.defaultdict(set))
    for names in cldr.SUBDIVISIONS.values():
        for id, text in names.items():
            country, top = id[:2].upper(), id
            if country not in TREE["split"]:
                continue
            while top in parents:
                top = parents[top]
            if plain(text):
                out[country][plain(text)].add(top[2:].upper())
    return out


def region_of(attributes, codes):
    country = attributes["iso_a2"]
    fixed = SUBDIVISIONS.get(country, {}).get(attributes["name"] or "")
    if fixed:
        return f"{country}-{fixed}"
    for key in ("name", "gn_name", "woe_name"):
        found = codes[country].get(plain(attributes[key] or ""), set())
        if found:
            if len(found) == 1:
                return f"{country}-{next(iter(found))}"
            break
    raise SystemExit(f"cannot tell the region of {country} {attributes['name']!r}: add it to policy/subdivisions.json")


def piece_of(attributes, codes):
    """The id of the piece a feature belongs to, or None for one that is left out."""
    country, sovereign_part = attributes["iso_a2"] or "", attributes["gu_a3"]
    for rule in DISPUTED["pieces"]:
        if rule["adm0_a3"] == attributes["adm0_a3"]:
            return rule.get("piece") or (rule["to"][0] if rule["to"] else None)
    if sovereign_part in PARTS["gu_a3"] and PARTS["gu_a3_only_in"].get(sovereign_part, country) == country:
        return PARTS["gu_a3"][sovereign_part]
    for rule in PARTS["names"]:
        if attributes["name"] == rule["name"] and country in rule["iso_a2"]:
            return rule["to"]
    for rule in DISPUTED["states"]:
        if country == rule["iso_a2"] and attributes["name"] in rule["names"]:
            return rule["to"]
    if country in TREE["split"]:
        return region_of(attributes, codes)
    if len(country) == 2 and country != "-1":
        return country
    raise SystemExit(f"feature {attributes['name']!r} ({attributes['adm0_a3']}) has no country: add it to a policy table")


def pieces():
    """piece id -> geometry in degrees. Pieces do not overlap, except those drawn by hand."""
    codes, features = codes_by_name(), collections.defaultdict(list)
    for attributes, geometry in states():
        geometry, id = snapped(geometry), piece_of(attributes, codes)
        for cut in PARTS["cuts"]:
            if attributes["iso_a2"] == cut["iso_a2"] and attributes["name"] == cut["name"]:
                features[cut["to"]].append(geometry.intersection(box(*cut["box"])))
                geometry = geometry.difference(box(*cut["box"]))
        if id:
            features[id].append(geometry if geometry.is_valid else geometry.buffer(0))
    out = {id: shapely.union_all(np.array(parts)) for id, parts in features.items()}
    for cut in DISPUTED["cuts"]:
        whole, area = out[cut["from"]], box(*cut["box"])
        out[cut["piece"]], out[cut["from"]] = whole.intersection(area), whole.difference(area)
        ends = shapely.MultiPoint(out[cut["piece"]].boundary.intersection(area.boundary).boundary.geoms)
        for neighbour in cut["node_with"]:
            out[neighbour] = shapely.snap(out[neighbour], ends, 1e-9)
    out.update({id: Polygon(ring) for id, ring in DRAWN.items()})
    return out
