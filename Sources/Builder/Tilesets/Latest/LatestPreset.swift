internal import TextFormats

/// A known source whose address changes, as keys of a tileset file.
///
/// The addresses are those of the documents of each project, as read in November 2026.
struct LatestPreset: Sendable {
    /// What a person writes.
    let name: String
    /// The keys that it stands for; those of the file come before them.
    let keys: [String: JSONValue]
    /// What its owner asks for, said once by each command that reads it; `nil` = nothing more than a contact.
    let note: String?

    /// Every preset, by name.
    static let all = [
        LatestPreset(
            name: "mapterhorn",
            keys: [
                "id": .string("mapterhorn"), "group": .string("terrain"), "encoding": .string("terrarium"),
                "tile_size": .number(512), "attribution": .string("© Mapterhorn"),
                "latest": .object(["archives": .string("https://download.mapterhorn.com/download_urls.json")]),
            ],
            note: "The licences of Mapterhorn's heights differ by area: see attribution.json of its downloads."),
        LatestPreset(
            name: "openfreemap",
            keys: [
                "id": .string("openfreemap"), "format": .string("pbf"),
                "latest": .object(["tilejson": .string("https://tiles.openfreemap.org/planet")]),
            ], note: nil),
        LatestPreset(
            name: "protomaps",
            keys: [
                "id": .string("protomaps"), "attribution": .string("© OpenStreetMap contributors"),
                "latest": .object([
                    "index": .string("https://build-metadata.protomaps.dev/builds.json"),
                    "url": .string("https://build.protomaps.com/{build}"), "size": .string("size"),
                    "md5": .string("md5sum"),
                ]),
            ],
            note:
                "Protomaps discourages programs that read its builds again and again. For rebuilds, copy a build to a server or bucket of your own and write its address with {date}: latest: https://maps.example.com/{date}.pmtiles"
        ),
        LatestPreset(
            name: "versatiles",
            keys: [
                "id": .string("versatiles"), "format": .string("pbf"), "zoom": .string("0-14"),
                "attribution": .string("© OpenStreetMap contributors"),
                "latest": .object([
                    "text": .string("https://download.versatiles.org/osm.versatiles.sha256"),
                    "url": .string("https://tiles.versatiles.org/tiles/osm/{z}/{x}/{y}"),
                ]),
            ],
            note: "VersaTiles replaces its tiles in place; the checksum of its download tells when."),
    ]

    /// A tileset file in which the name of a preset is replaced by its keys; every other file as it is.
    ///
    /// - Returns: The file and the note of the preset.
    static func filled(_ file: JSONValue) -> (file: JSONValue, note: String?) {
        guard case .object(var keys) = file else { return (file, nil) }
        // `latest:NAME` in the place of an address means the same as the key.
        let word = "latest:"
        if keys["latest"] == nil, case .string(let text)? = keys["url"], text.prefix(word.count).lowercased() == word {
            keys["url"] = nil
            keys["latest"] = .string(String(text.dropFirst(word.count)))
        }
        guard case .string(let name)? = keys["latest"], let preset = all.first(where: { $0.name == name.lowercased() })
        else { return (.object(keys), nil) }
        keys["latest"] = nil
        return (.object(preset.keys.merging(keys) { $1 }), preset.note)
    }

    /// The keys with another server in place of the preset's: for tests.
    func keys(at server: String) -> [String: JSONValue] {
        var keys = keys
        guard case .object(let latest)? = keys["latest"] else { return keys }
        keys["latest"] = .object(
            latest.mapValues { value in
                guard case .string(let text) = value, let mark = text.firstRange(of: "://"),
                    let slash = text[mark.upperBound...].firstIndex(of: "/")
                else { return value }
                return .string(server + text[slash...])
            })
        return keys
    }
}
