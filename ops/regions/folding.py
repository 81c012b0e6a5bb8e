"""Folds names as NameFolding in Sources/Values/Regions does; a test of the module compares both."""
import unicodedata

# Letters that canonical decomposition does not split.
PLAIN = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ħ": "h", "&": " and "}
SIGNS = {"Mn", "Me", "Mc", "Cf", "Cc"}
LETTERS = {"Lu", "Ll", "Lt", "Lm", "Lo", "Nd"}


def is_old(text):
    """Whether every character is in Unicode 3.2: later tables of Python and Swift may disagree about younger ones."""
    return all(unicodedata.ucd_3_2_0.category(c) != "Cn" for c in text)


def fold(text):
    """Letters and digits in lower case, without accents, in words parted by one space."""
    out, words = [], []
    for char in unicodedata.normalize("NFKD", text):
        # One by one, because the lower case of a final sigma depends on what is around it.
        for letter in char.lower():
            for plain in PLAIN.get(letter, letter):
                kind = unicodedata.category(plain)
                if plain in "ʼʹ'’‘`" or kind in SIGNS:
                    continue
                if kind in LETTERS:
                    out.append(plain)
                elif out:
                    words.append("".join(out))
                    out = []
    return " ".join(words + ["".join(out)] if out else words)
