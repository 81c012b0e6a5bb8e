import Catalog
internal import CommandSupport
import Errors
import Foundation
internal import TextFormats

extension CatalogDifference {
    /// Prints a line for each package that differs, and the sum.
    ///
    /// - Parameters:
    ///   - withPatches: Whether a column says what the patches to each package weigh.
    ///   - done: What was done, such as "promoted"; `nil` when two catalogs were compared.
    ///   - goesBack: Whether the new content is an earlier version of the same catalog.
    func show(asJSON: Bool, withPatches: Bool = false, done: String? = nil, goesBack: Bool = false) throws {
        warnings.forEach(Console.warning)
        if asJSON { return Console.result(try JSONText.pretty(self)) }
        if !packages.isEmpty {
            // A column without a title is not shown.
            var table = Table(
                "package", "change", "loss", "tiles", "bytes", withPatches ? "patches" : "", "version", "other")
            for package in packages {
                table.add(
                    package.edition + package.id, package.change.rawValue,
                    package.shrinkage > 0 ? Self.percent(package.shrinkage) : "", package.tilesText, package.bytesText,
                    package.patchesText, package.versionText(goesBack), package.otherText)
            }
            Console.result(table, lessNeeded: [])
        }
        Console.note(sumText(done))
    }

    private func sumText(_ done: String?) -> String {
        func count(_ change: Change) -> Int { packages.count { $0.change == change } }
        var parts = Change.allCases.map { "\(count($0)) \($0.rawValue)" }
        parts.append("\(unchanged) unchanged")
        let sizes = "\(Units.bytes(old.bytes)) to \(Units.bytes(new.bytes))"
        let number = sequence.map { "; sequence \($0)" } ?? ""
        return "\(done.map { "\($0): " } ?? "")\(parts.joined(separator: ", ")); \(sizes)\(number)"
    }

    /// What shrinks by more than allowed, one line each; the sum is the last one.
    func excess(beyond most: Double) -> [String] {
        var lines = shrunk(beyond: most).map { "\($0.edition)\($0.id) loses \(Self.percent($0.shrinkage))" }
        if shrinkage > most { lines.append("all packages together lose \(Self.percent(shrinkage))") }
        return lines
    }
}

extension CatalogDifference.Package {
    fileprivate var tilesText: String {
        Self.change(old?.tiles.map { Units.count($0) }, new?.tiles.map { Units.count($0) })
    }

    fileprivate var bytesText: String {
        Self.change(old.map { Units.bytes($0.bytes) }, new.map { Units.bytes($0.bytes) })
    }

    /// What the patches to it weigh, by the version that they are from.
    fileprivate var patchesText: String {
        (new?.patches ?? []).map { patch in
            "\(patch.format.map { $0 == "opaque" ? "" : "\($0) " } ?? "")from \(patch.from): \(Units.bytes(patch.bytes))"
        }.joined(separator: ", ")
    }

    /// The listed version, the one that was given, and the earlier one whose files come back.
    fileprivate func versionText(_ goesBack: Bool) -> String {
        let text = Self.change(old.map { "\($0.version)" }, published.map { "\($0)" })
        guard goesBack, let new else { return text }
        return "\(text), files of \(new.version)"
    }

    /// What else differs.
    fileprivate var otherText: String {
        guard let old, let new else { return "" }
        var parts: [String] = []
        func add(_ what: String, from before: String?, to after: String?) {
            guard before != after else { return }
            parts.append("\(what) \(before ?? "none") to \(after ?? "none")")
        }
        add("parts", from: old.parts.map { "\($0)" }, to: new.parts.map { "\($0)" })
        add("zooms", from: Self.zooms(old), to: Self.zooms(new))
        add("bounds", from: Self.box(old), to: Self.box(new))
        add("attribution", from: old.attribution, to: new.attribution)
        add("data", from: old.dataDate, to: new.dataDate)
        add("tileset", from: old.tileset, to: new.tileset)
        if let before = old.layers, let after = new.layers {
            let (lost, more) = (before.filter { !after.contains($0) }, after.filter { !before.contains($0) })
            if !lost.isEmpty { parts.append("without layers \(lost.joined(separator: ", "))") }
            if !more.isEmpty { parts.append("with layers \(more.joined(separator: ", "))") }
        }
        return parts.joined(separator: "; ")
    }

    private static func change(_ old: String?, _ new: String?) -> String {
        switch (old, new) {
        case (let old?, let new?): old == new ? old : "\(old) to \(new)"
        case (let one?, nil), (nil, let one?): one
        case (nil, nil): ""
        }
    }

    private static func zooms(_ content: CatalogDifference.Content) -> String? {
        content.minZoom.flatMap { low in content.maxZoom.map { "\(low)-\($0)" } }
    }

    private static func box(_ content: CatalogDifference.Content) -> String? {
        content.bounds.map { $0.map { Units.decimal($0, places: 3) }.joined(separator: ",") }
    }
}
