"""Reads packhorse.proto with its options and refuses a message in which an option is missing. Needs protoc."""

import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
VARINTS = {f"TYPE_{kind}" for kind in ("UINT32", "UINT64", "INT32", "INT64", "SINT32", "SINT64", "BOOL", "ENUM")}
FIXED = {f"TYPE_{kind}" for kind in ("DOUBLE", "FLOAT", "FIXED32", "FIXED64", "SFIXED32", "SFIXED64")}


class SchemaError(Exception):
    """A message or field whose options are missing or contradict each other."""


def parse_text(text):
    """A protobuf text as nested lists of (name, value): a value is a string, or such a list."""
    tokens = re.findall(r'"(?:[^"\\]|\\.)*"|[{}]|\[[^\]]*\]|[^\s{}:]+|:', text)
    place = 0

    def block():
        nonlocal place
        found = []
        while place < len(tokens) and tokens[place] != "}":
            name = tokens[place].strip("[]").removeprefix("packhorse.wire.")
            place += 1
            if tokens[place] == ":":
                found.append((name, tokens[place + 1].strip('"')))
                place += 2
            else:
                place += 1
                found.append((name, block()))
                place += 1
        return found

    return block()


def first(block, name, default=None):
    return next((value for key, value in block if key == name), default)


class Field:
    def __init__(self, message, block):
        options = first(block, "options", [])
        self.message, self.name, self.number = message, first(block, "name"), int(first(block, "number"))
        self.kind, self.target = first(block, "type"), first(block, "type_name", "").rpartition(".")[2]
        self.is_list = first(block, "label") == "LABEL_REPEATED"
        self.most = int(first(options, "most", 0))
        self.most_bytes = int(first(options, "most_bytes", 0))
        self.content = first(options, "content")
        self.any_number = first(options, "any_number") == "true"
        self.oneof = first(block, "oneof_index")
        self.json = first(options, "json", [])

    @property
    def place(self):
        return f"{self.message}.{self.name}"

    @property
    def swift(self):
        """The property's name as protoc-gen-swift writes it."""
        words = self.name.split("_")
        tail = [word.upper() if word in ("id", "url", "http", "https") else word[:1].upper() + word[1:] for word in words[1:]]
        return words[0] + "".join(tail)

    def check(self):
        if self.is_list and not self.most and not self.any_number:
            raise SchemaError(f"{self.place} is a list: add [(most) = N], or [(any_number) = true]")
        if self.kind == "TYPE_BYTES" and not self.content:
            raise SchemaError(f"{self.place} contains bytes: add [(content) = DIGEST, DIGEST_OR_NONE or OPAQUE]")
        if self.content and self.kind != "TYPE_BYTES":
            raise SchemaError(f"{self.place} has the option 'content', which is for bytes")
        if self.most_bytes and self.kind != "TYPE_STRING":
            raise SchemaError(f"{self.place} has the option 'most_bytes', which is for texts")
        if self.is_list and self.kind in FIXED:
            raise SchemaError(f"{self.place} is a packed list of fixed width, which ListLimit does not count yet")


class Schema:
    def __init__(self):
        described = subprocess.run(
            ["protoc", f"--proto_path={FOLDER}", "--include_imports", "--descriptor_set_out=/dev/stdout", "packhorse.proto"],
            check=True, capture_output=True).stdout
        text = subprocess.run(
            ["protoc", f"--proto_path={FOLDER}", "--decode=google.protobuf.FileDescriptorSet", "frame_options.proto"],
            check=True, capture_output=True, input=described).stdout.decode()
        files = [block for name, block in parse_text(text) if name == "file"]
        file = next(block for block in files if first(block, "name") == "packhorse.proto")
        self.names, self.fields, self.choices, self.frames, self.rules, self.shown = [], {}, {}, {}, set(), {}
        for key, block in file:
            if key == "message_type":
                self.add(block)
        taken = {}
        for name, frame in self.frames.items():
            number = int(first(frame, "type", 0))
            if not 0 < number < 256 or number in taken:
                raise SchemaError(f"{name}: type {number} is not free; {taken.get(number, 'a type is 1 to 255')}")
            if None in (first(frame, "body"), first(frame, "role")):
                raise SchemaError(f"{name}: the option 'frame' needs a body and a role")
            taken[number] = name
            for field in self.reachable(name):
                field.check()

    def add(self, block, is_nested=False):
        name, options = first(block, "name"), first(block, "options", [])
        self.fields[name] = [Field(name, value) for key, value in block if key == "field"]
        self.choices[name] = [first(value, "name") for key, value in block if key == "oneof_decl"]
        if is_nested:  # the entry of a map
            return
        self.names.append(name)
        if first(options, "frame") is not None:
            self.frames[name] = first(options, "frame")
        if first(options, "has_rules") == "true":
            self.rules.add(name)
        if first(options, "json_schema") is not None:
            self.shown[name] = first(options, "json_schema")
        for key, value in block:
            if key == "nested_type":
                self.add(value, is_nested=True)

    def below(self, field):
        return self.fields[field.target] if field.kind == "TYPE_MESSAGE" else []

    def reachable(self, name):
        for field in self.fields[name]:
            yield field
            if field.kind == "TYPE_MESSAGE" and not field.target.endswith("Entry"):
                yield from self.reachable(field.target)

    def limits(self, name):
        """(names, numbers, limit, whether the list is packed) of each limited field in a message, outer fields first."""
        totals = {first(value, "field"): int(first(value, "most")) for key, value in self.frames[name] if key == "totals"}
        found = []

        def walk(fields, names, numbers):
            for field in fields:
                path, place = names + [field.name], numbers + [field.number]
                most = totals.pop(".".join(path), field.most)
                if most:
                    found.append((".".join(path), place, most, field.is_list and field.kind in VARINTS))
                walk(self.below(field), path, place)

        walk(self.fields[name], [], [])
        if totals:
            raise SchemaError(f"{name}: there is no field {', '.join(totals)}")
        return sorted(found, key=lambda limit: len(limit[1]))

    def is_checked(self, name):
        return name in self.rules or any(self.checks(name))

    def checks(self, name):
        """The statements that check the fields of a message."""
        for field in self.fields.get(name, []):
            if field.content in ("DIGEST", "DIGEST_OR_NONE"):
                call = f'WireCheck.digest({{}}, "{field.place}"{", mayBeEmpty: true" if field.content.endswith("NONE") else ""})'
            elif field.most_bytes:
                call = f'WireCheck.text({{}}, atMost: {field.most_bytes}, "{field.place}")'
            elif field.kind == "TYPE_MESSAGE" and not field.target.endswith("Entry") and self.is_checked(field.target):
                call = "{}.checkFields()"
            else:
                continue
            if field.is_list:
                yield f"for value in {field.swift} {{ try {call.format('value')} }}"
            elif field.oneof is not None:
                choice = self.choices[name][int(field.oneof)]
                yield f"if case .{field.swift}(let value) = {choice} {{ try {call.format('value')} }}"
            elif field.kind == "TYPE_MESSAGE":
                yield f"if has{field.swift[0].upper()}{field.swift[1:]} {{ try {call.format(field.swift)} }}"
            else:
                yield f"try {call.format(field.swift)}"

    @property
    def framed(self):
        """The names of all messages that a frame contains."""
        return set(self.frames) | {field.target for name in self.frames for field in self.reachable(name)}


def generate(usage, file, write):
    """Runs a generator: `write(schema)` is the text of `file` in the folder that the only argument names."""
    if len(sys.argv) != 2:
        sys.exit(usage)
    try:
        text = write(Schema())
    except SchemaError as error:
        sys.exit(f"packhorse.proto: {error}")
    (pathlib.Path(sys.argv[1]) / file).write_text(text)
