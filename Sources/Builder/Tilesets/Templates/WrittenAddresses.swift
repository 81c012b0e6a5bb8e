import Errors
import TileBodies

/// The addresses of a tileset as a person wrote them, read into the forms that the kinds of sources know.
struct WrittenAddresses {
    private(set) var texts: [String] = []
    /// What `{s}` stands for.
    private(set) var subdomains: [String]
    /// What was read as something else than it is written, one sentence each.
    private(set) var notes: [String] = []

    /// - Parameter subdomains: Those of the key `subdomains`; empty without the key.
    /// - Throws: ``TilesetsError`` `.badTemplate` for servers that are listed twice, and for a map service that would draw other boxes.
    init(_ written: [String], subdomains: [String]) throws(TilesetsError) {
        self.subdomains = subdomains
        for whole in written {
            let josm = TemplateSpelling.withoutKind(whole)
            let text = josm?.address ?? whole
            if let josm { add("The tile URL is read without ", ["'\(josm.kind):'"]) }
            guard SourceRow.isWeb(text[...]) else {
                texts.append(text)
                continue
            }
            let spelling = try TemplateSpelling(text)
            if !spelling.subdomains.isEmpty {
                guard self.subdomains.isEmpty || self.subdomains == spelling.subdomains else {
                    throw TilesetsError(
                        .badTemplate,
                        "A tile URL lists the servers \(spelling.subdomains.joined(separator: ", ")), and 'subdomains' or another URL has others; write {s}, and 'subdomains' once."
                    )
                }
                self.subdomains = spelling.subdomains
            }
            let map = try WMSAddress(spelling.text)
            add("The tile URL is read with ", spelling.changes)
            add("The WMS address is asked with ", map.changes)
            texts.append(map.text)
        }
    }

    private mutating func add(_ words: String, _ changes: [String]) {
        guard !changes.isEmpty else { return }
        let note = words + changes.joined(separator: ", ") + "."
        if !notes.contains(note) { notes.append(note) }
    }
}

extension TileFormat {
    /// The format that the parameter `format` of an address names, as map services take it: `format=image/png`.
    init?(ofQuery address: String) {
        guard let word = QueryText(address)["format"], let format = TileFormat(word: word) else { return nil }
        self = format
    }
}
