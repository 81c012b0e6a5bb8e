internal import CatalogFormat
internal import Errors
internal import Tiles

extension PublishRequest {
    /// Refuses values that a client cannot read or that a file system cannot store.
    func check() throws(CatalogError) {
        guard CatalogEntry.isID(id), !id.hasPrefix("-") else {
            throw CatalogError(
                .badRequest,
                "'\(id.prefix(130))' cannot be a package id: use 1 to 120 letters, digits and . _ - ( ) , and begin with neither a"
                    + " dot nor a hyphen.")
        }
        let parts = maskWire.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let zoom = Int(parts[1]), 0...22 ~= zoom else {
            throw CatalogError(
                .badRequest, "Package '\(id)' needs a mask of the form text:maxZoom; found '\(maskWire.suffix(40))'.")
        }
        guard names.keys.allSatisfy({ !$0.isEmpty }), names.values.allSatisfy({ !$0.isEmpty }) else {
            throw CatalogError(.badRequest, "Package '\(id)' has an empty name or language.")
        }
        let texts = names.flatMap { [$0.key, $0.value] } + nodes.flatMap { $0.names.flatMap { [$0.key, $0.value] } }
        if let text = texts.sorted().first(where: VisibleText.hasControl) {
            throw CatalogError(
                .badRequest,
                "Package '\(id)' has the name '\(VisibleText.escaped(String(text.prefix(80))))', which has control characters; a name is plain text."
            )
        }
        guard allFiles.allSatisfy({ $0.size <= UInt64(Int64.max) }) else {
            throw CatalogError(.badRequest, "Package '\(id)' is too large to list.")
        }
        guard attribution.utf8.count <= 4_096, tileset.utf8.count <= 255 else {
            throw CatalogError(
                .badRequest, "The attribution (4,096 bytes) or tileset id (255 bytes) of package '\(id)' is too long.")
        }
        guard
            options.dataDate.map({ 1...40 ~= $0.utf8.count && $0.utf8.allSatisfy { (0x20...0x7E).contains($0) } })
                ?? true
        else {
            throw CatalogError(
                .badRequest, "The data date of package '\(id)' is not 1 to 40 printable characters, such as 2026-10-01."
            )
        }
        guard sourceBuild.map({ 1...128 ~= $0.utf8.count && $0.utf8.allSatisfy { (0x20...0x7E).contains($0) } }) ?? true
        else {
            throw CatalogError(
                .badRequest, "The source's build of package '\(id)' is not 1 to 128 printable characters.")
        }
        try checkFormats()
        try checkParts()
    }

    private func checkParts() throws(CatalogError) {
        guard part?.fits(id) ?? true else {
            throw CatalogError(.badRequest, "Package '\(id)' cannot be the part that it is said to be.")
        }
        for (index, part) in parts.enumerated() {
            guard part.part == CatalogPart(of: id, number: index + 1, count: parts.count),
                part.options.edition == options.edition, part.parts.isEmpty
            else { throw CatalogError(.badRequest, "'\(part.id)' is not part \(index + 1) of package '\(id)'.") }
            try part.check()
        }
        if let limit = options.maxFile, parts.isEmpty, let file = allFiles.first(where: { $0.size > limit }) {
            throw CatalogError(
                .badRequest,
                "The file of '\(id)' as \(file.format) has \(file.size) bytes, more than the \(limit) that its job allows: its worker is of an older build. Upgrade all workers, then retry the job."
            )
        }
    }

    private func checkFormats() throws(CatalogError) {
        var formats: Set<String> = [main.format]
        var extensions: Set<String> = [main.fileExtension]
        for file in files {
            let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789.-")
            guard CatalogEdition.isWord(file.format), 2...40 ~= file.fileExtension.utf8.count,
                file.fileExtension.hasPrefix("."), file.fileExtension.allSatisfy(letters.contains)
            else {
                throw CatalogError(
                    .badRequest,
                    "'\(file.format.prefix(40))' with extension '\(file.fileExtension.prefix(50))' cannot be a format of package '\(id)'."
                )
            }
            guard formats.insert(file.format).inserted, extensions.insert(file.fileExtension).inserted else {
                throw CatalogError(.badRequest, "Package '\(id)' names format '\(file.format)' or its extension twice.")
            }
        }
    }
}
