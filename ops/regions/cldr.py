"""Names and containment out of Unicode CLDR (Debian unicode-cldr-core; Unicode-DFS-2016 licence)."""
import os
import re
import xml.etree.ElementTree as ET

from policy import NAMES, TREE

FOLDER = os.environ["PACKHORSE_REGIONS_ROOT"] + "/unicode-cldr-core/usr/share/unicode/cldr/common/"
LANGUAGES = ["en", "de", "fr", "it", "zh", "es", "ru", "et"]


def root(path):
    return ET.parse(FOLDER + path).getroot()


def plain_names(path, element):
    """type -> name, without the short, variant and stand-alone forms."""
    return {x.get("type"): x.text for x in root(path).iter(element) if x.get("type") and not x.get("alt") and x.text}


TERRITORIES = {l: plain_names(f"main/{l}.xml", "territory") for l in LANGUAGES}
SUBDIVISIONS = {l: plain_names(f"subdivisions/{l}.xml", "subdivision") for l in LANGUAGES}


def subdivision_parents():
    """subdivision -> the subdivision that contains it (ES and FR have two levels)"""
    contains = {}
    for group in root("supplemental/subdivisions.xml").iter("subgroup"):
        contains.setdefault(group.get("type"), []).extend(group.get("contains").split())
    return {child: top for top, children in contains.items() if not top.isupper() for child in children}


def codes(kind):
    """ISO 3166-1 alpha-2 -> its code of another kind: alpha3, numeric"""
    codes = root("supplemental/supplementalData.xml").find("codeMappings")
    return {c.get("type"): c.get(kind) for c in codes.iter("territoryCodes") if c.get(kind)}


def groups():
    """(M.49 group, status) -> members"""
    out = {}
    for g in root("supplemental/supplementalData.xml").find("territoryContainment"):
        status = g.get("status") or ("grouping" if g.get("grouping") else "")
        out.setdefault((g.get("type"), status), []).extend(g.get("contains").split())
    return out


def tree():
    """[(id, kind, parent)] down to the countries, parents first"""
    g = groups()
    nodes = [("001", "world", None)]
    for continent in TREE["continents"]:
        nodes.append((continent, "continent", "001"))
        for member in g.get((continent, "")) or g[(continent, "grouping")]:
            if not member.isdigit():
                nodes.append((member, "country", continent))
            elif continent in TREE["flat_continents"]:
                nodes += [(t, "country", continent) for t in g[(member, "")]]
            else:
                nodes.append((member, "subcontinent", continent))
                nodes += [(t, "country", member) for t in g[(member, "")]]
    nodes += [(t, "country", "001") for t in TREE["below_the_world"]]
    return [n for n in nodes if n[0] not in TREE["dropped"]]


def name(id, language):
    """The name of a node; raises when there is none, for a hole belongs into policy/names.json."""
    text = NAMES["names"].get(id, {}).get(language)
    if not text:
        if id in NAMES["use"] or "-" not in id:
            text = TERRITORIES[language].get(NAMES["use"].get(id, id))
        else:
            text = SUBDIVISIONS[language].get(id.replace("-", "").lower())
    if not text:
        raise SystemExit(f"{id} has no name in {language}: add one to policy/names.json")
    text = re.sub("[¹²³]", "", text).strip()
    for prefix in NAMES["strip"].get(language, []):
        text = text.removeprefix(prefix)
    return text[0].upper() + text[1:]
