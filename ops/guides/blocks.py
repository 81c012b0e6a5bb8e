"""The code blocks of README.md and the guides, and what may stand in them.

A block begins with a fence and its language. What follows is a file name for a block of data, and notes for `sh`:

    ```sh              commands that ops/guides/run executes, one shell for a document, in order
    ```sh alone        the same, after the processes that earlier blocks started have been ended
    ```sh s3           run only where an S3 server for tests is installed (ops/s3-server); also with `alone`
    ```console         commands that cannot run in a test; each of them is in ops/guides/not_run.py with its reason
    ```yaml tiles.yaml a file that every guide finds under this name
    ```text            a picture, or output

Python's standard library only.
"""
import dataclasses
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# What other people's programs show as they like: no commands are in these.
DATA = {"c", "csv", "dart", "java", "json", "kotlin", "mermaid", "python", "sql", "swift", "text", "typescript", "yaml"}
NOTES = {"alone", "s3"}


@dataclasses.dataclass
class Block:
    """One fenced block: its language, what follows it, the line of the fence (from 1), its lines."""
    document: str
    language: str
    word: str
    line: int
    lines: list

    @property
    def notes(self):
        return set(self.word.split())


def documents(root=ROOT):
    """README.md and everything in docs/, without decision records and the generated reference of commands."""
    found = [p.relative_to(root).as_posix() for p in sorted((root / "docs").rglob("*.md"))]
    return ["README.md"] + [p for p in found if not p.startswith("docs/decisions/") and p != "docs/reference/cli.md"]


def blocks(document, root=ROOT):
    """The blocks of a document, in order."""
    found, current = [], None
    for number, line in enumerate((root / document).read_text().splitlines(), 1):
        if line.startswith("```") and current is None:
            language, _, word = line[3:].strip().partition(" ")
            current = Block(document, language, word.strip(), number, [])
        elif line.startswith("```"):
            found.append(current)
            current = None
        elif current is not None:
            current.lines.append(line)
    return found


def files(root=ROOT):
    """The files that blocks of data define: their text by name. A name has one text in all documents."""
    found = {}
    for document in documents(root):
        for block in blocks(document, root):
            if block.language in DATA and block.word:
                text = "\n".join(block.lines) + "\n"
                if found.setdefault(block.word, text) != text:
                    raise ValueError(f"{document}:{block.line}: another document gives '{block.word}' other content")
    return found


def commands(block):
    """The numbered commands of a block: joined continuation lines, without comments and empty lines."""
    start, text = None, ""
    for number, line in enumerate(block.lines, block.line + 1):
        start = start or number
        if line.endswith("\\"):
            text += line[:-1]
            continue
        command = " ".join((text + line).split("  #")[0].split())
        if command and not command.startswith("#"):
            yield start, command
        start, text = None, ""
