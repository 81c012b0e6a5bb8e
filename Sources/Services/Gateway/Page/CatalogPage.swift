internal import CatalogFormat

/// The catalog as plain HTML without scripts: `/catalog.html`.
///
/// A pure function of the catalog and a language. Every text of the catalog is escaped; addresses are relative, as in the
/// catalog itself. It uses the style sheet of the page, which the policy of the page allows.
enum CatalogPage {
    /// The document as UTF-8.
    ///
    /// - Parameter language: A language of the names, such as `et`; names that lack it are English.
    static func html(_ index: CatalogIndex, language: String = "en") -> [UInt8] {
        var page = CatalogPageWriter(language: language)
        page.text +=
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Catalog</title>"
            + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
            + "<link rel=\"stylesheet\" href=\"ui/page.css\"></head>\n<body><main><h1>Catalog</h1>\n"
        for edition in index.editions {
            let packages = index.packages.filter { $0.edition == edition.path }
            guard !packages.isEmpty else { continue }
            let title = [edition.group ?? "Base map", edition.language].compactMap(\.self).joined(separator: ", ")
            page.text += "<section><h2>\(page.escaped(title))</h2>\n"
            page.tree(index, packages)
            page.text += "</section>\n"
        }
        if index.packages.isEmpty { page.text += "<p>The catalog has no package yet.</p>\n" }
        page.text += "</main></body></html>\n"
        return Array(page.text.utf8)
    }
}

/// Writes the parts of ``CatalogPage``.
private struct CatalogPageWriter {
    let language: String
    var text = ""

    /// The packages below the places of the tree; those of areas without a place come first.
    mutating func tree(_ index: CatalogIndex, _ packages: [CatalogIndex.Package]) {
        let places = Set(index.tree.map(\.id))
        var byPlace: [String: [CatalogIndex.Package]] = [:]
        for package in packages {
            let place = package.region.flatMap { places.contains($0) ? $0 : nil } ?? ""
            byPlace[place, default: []].append(package)
        }
        var below: [String: [CatalogIndex.Node]] = [:]
        for node in index.tree {
            // A parent that is not in the tree, and a node that is its own parent, are at the top.
            let parent = node.parent.flatMap { places.contains($0) && $0 != node.id ? $0 : nil } ?? ""
            below[parent, default: []].append(node)
        }
        text += "<ul class=\"tree\">\n"
        for package in sorted(byPlace[""] ?? [], by: \.names) { item(package) }
        for node in sorted(below[""] ?? [], by: \.names) { branch(node, nodes: below, packages: byPlace, depth: 0) }
        text += "</ul>\n"
    }

    /// A place with what is below it; places without packages are left out.
    ///
    /// - Parameter depth: Bounds the nesting: the embedded tree has five levels.
    private mutating func branch(
        _ node: CatalogIndex.Node, nodes below: [String: [CatalogIndex.Node]],
        packages byPlace: [String: [CatalogIndex.Package]], depth: Int
    ) {
        guard depth < 16 else { return }
        let start = text.utf8.count
        text += "<li>\(escaped(name(node.names) ?? node.id))<ul>\n"
        let head = text.utf8.count
        for package in sorted(byPlace[node.id] ?? [], by: \.names) { item(package) }
        for child in sorted(below[node.id] ?? [], by: \.names) {
            branch(child, nodes: below, packages: byPlace, depth: depth + 1)
        }
        if text.utf8.count == head {
            text = String(decoding: text.utf8.prefix(start), as: UTF8.self)
        } else {
            text += "</ul></li>\n"
        }
    }

    private mutating func item(_ package: CatalogIndex.Package) {
        guard let newest = package.versions.first else { return }
        let path = name(package.names) ?? package.id
        let title = path.split(separator: "/").last.map(String.init) ?? package.id
        let date = newest.dataDate.map { ", data of \($0)" } ?? ""
        text += "<li><strong>\(escaped(title))</strong> \(escaped("version \(newest.version)\(date)"))<ul>\n"
        for file in newest.files {
            text +=
                "<li><a href=\"\(escaped(file.url))?download\">\(escaped(file.format))</a> \(Self.size(file.size)), "
                + "SHA-256 <code>\(escaped(file.sha256))</code></li>\n"
        }
        text += "</ul></li>\n"
    }

    private func name(_ names: [String: String]) -> String? { names[language] ?? names["en"] ?? names.values.min() }

    private func sorted<Item>(_ items: [Item], by names: KeyPath<Item, [String: String]>) -> [Item] {
        items.sorted { (name($0[keyPath: names]) ?? "") < (name($1[keyPath: names]) ?? "") }
    }

    /// Bytes in decimal units.
    private static func size(_ bytes: Int64) -> String {
        switch bytes {
        case ..<1_000: "\(bytes) B"
        case ..<1_000_000: "\(bytes / 1_000) kB"
        case ..<1_000_000_000: "\(bytes / 1_000_000).\(bytes / 100_000 % 10) MB"
        default: "\(bytes / 1_000_000_000).\(bytes / 100_000_000 % 10) GB"
        }
    }

    /// A text that is no markup.
    func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
