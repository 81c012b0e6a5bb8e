public import Errors
import Foundation
internal import TextFormats

/// What a document says about builds.
public enum BuildIndex {
    /// The most bytes of an index.
    public static let maxBytes = 8 << 20
    /// The most bytes of a text that names a build.
    public static let maxTextBytes = 64 << 10
    /// The most builds of an index.
    static let maxItems = 100_000
    /// Builds that are tried when the newest one is listed and not there yet.
    static let maxTried = 3

    /// The newest builds of an index, the newest first.
    ///
    /// - Parameter address: Where it came from, after redirects; addresses in it are resolved against it.
    /// - Throws: ``TilesetsError`` `.badIndex` naming the item.
    public static func builds(
        json: [UInt8], from address: String, _ rules: LatestSource
    ) throws(TilesetsError) -> [SourceBuild] {
        var found = JSONValue(json: json)
        if case .object(let members)? = found {
            let lists = members.filter { if case .array = $0.value { true } else { false } }
            found = rules.items.map { members[$0] } ?? (lists.count == 1 ? lists.first?.value : nil)
        }
        guard case .array(let items)? = found else {
            throw bad(
                "it is no JSON document with a list of builds; check 'index', and 'items' where the list is a member")
        }
        guard items.count <= maxItems else { throw bad("it lists \(items.count) builds; at most \(maxItems) are read") }
        var builds: [(order: String, build: SourceBuild)] = []
        for (number, item) in items.enumerated() {
            guard case .object(let members) = item else { throw bad("item \(number + 1) is no object") }
            guard rules.admits(members) else { continue }
            let build = try build(members, number + 1, from: address, by: rules)
            builds.append((text(members[rules.order ?? rules.key ?? "key"]) ?? build.name, build))
        }
        guard !builds.isEmpty else {
            throw bad(items.isEmpty ? "it lists no build" : "none of its \(items.count) builds fits 'match'")
        }
        let newest = builds.sorted { BuildName.isBefore($1.order, $0.order) }
        return newest.prefix(maxTried).map(\.build)
    }

    private static func build(
        _ members: [String: JSONValue], _ number: Int, from base: String, by rules: LatestSource
    ) throws(TilesetsError) -> SourceBuild {
        let member = rules.key ?? "key"
        guard let key = text(members[member]), !key.isEmpty else {
            throw bad("item \(number) has no '\(member)'; say with 'key' which member names the build")
        }
        let size: UInt64?
        switch rules.size.map({ members[$0] ?? .null }) {
        case nil, .null?: size = nil
        case .number(let bytes)? where bytes > 0 && bytes < 9e15: size = UInt64(exactly: bytes)
        case .string(let digits)? where UInt64(digits) != nil: size = UInt64(digits)
        default: throw bad("item \(number) has no number of bytes as '\(rules.size ?? "size")'")
        }
        let md5 = try rules.md5.flatMap { members[$0] }.flatMap { $0 == .null ? nil : $0 }.map {
            (value) throws(TilesetsError) in
            guard let digits = text(value).flatMap(hexadecimal) else {
                throw bad("item \(number) has no MD5 as '\(rules.md5 ?? "")', in hexadecimal digits or base64")
            }
            return digits
        }
        guard let template = rules.address else {
            return try SourceBuild(
                name: name(ofAddress: key), address: try absolute(key, from: base), size: size, md5: md5)
        }
        try BuildName.check(key)
        return try SourceBuild(
            name: name(ofAddress: key), address: template.replacing("{build}", with: key), size: size, md5: md5)
    }

    /// The build that a text names: its first word.
    public static func name(text: [UInt8]) throws(TilesetsError) -> String {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || 0x09...0x0D ~= $0 }
        let word = text.prefix(maxTextBytes).drop(while: isSpace).prefix { !isSpace($0) }
        let name = String(decoding: word, as: UTF8.self)
        guard BuildName.isName(name) else {
            throw TilesetsError(
                .badIndex,
                "The text that names the build begins with '\(BuildName.shown(name))', which is no name of a build; check 'text'."
            )
        }
        return name
    }

    /// The build that the tile addresses of a TileJSON name: the part of the path with a date in it.
    public static func name(tileAddresses: [String]) throws(TilesetsError) -> String {
        var names: Set<String> = []
        for address in tileAddresses {
            let parts = SourceRow.path(ofURL: address).split(separator: "/").dropFirst(2)
            if let part = parts.first(where: { BuildName.date(in: String($0)) != nil && BuildName.isName(String($0)) })
            {
                names.insert(String(part))
            }
        }
        guard let name = names.first, names.count == 1 else {
            throw TilesetsError(
                .badTileJSON,
                "The tile addresses of the TileJSON name \(names.isEmpty ? "no build by its date" : "several builds"), so a newer build cannot be told from this one; write 'url' in place of 'latest'."
            )
        }
        return name
    }

    /// The version that an index of archives names.
    public static func name(archiveIndex: [UInt8]) throws(TilesetsError) -> String {
        guard case .object(let members)? = JSONValue(json: archiveIndex), let name = text(members["version"]),
            BuildName.isName(name)
        else {
            throw TilesetsError(
                .badIndex, "The index of archives names no 'version'; write 'archives' in place of 'latest'.")
        }
        return name
    }

    /// The last part of a path, without the ending of an archive.
    private static func name(ofAddress address: String) -> String {
        let name = SourceRow.path(ofURL: address).split(separator: "/").last.map(String.init) ?? ""
        return name.lowercased().hasSuffix(".pmtiles") ? String(name.dropLast(8)) : name
    }

    private static func absolute(_ text: String, from base: String) throws(TilesetsError) -> String {
        guard let url = URL(string: text, relativeTo: URL(string: base))?.absoluteURL, let scheme = url.scheme,
            ["http", "https"].contains(scheme.lowercased())
        else { throw bad("'\(BuildName.shown(text))' is no address; write 'url' with {build} for the key") }
        return url.absoluteString
    }

    /// A text, or a number as text.
    private static func text(_ value: JSONValue?) -> String? {
        switch value {
        case .string(let text)?: text
        case .number(let number)?: Int(exactly: number).map(String.init) ?? "\(number)"
        default: nil
        }
    }

    /// An MD5 as hexadecimal digits, written so or as base64.
    private static func hexadecimal(_ text: String) -> String? {
        let lower = text.lowercased()
        if lower.utf8.count == 32, lower.utf8.allSatisfy(SourceBuild.isDigit) { return lower }
        guard let bytes = Data(base64Encoded: text), bytes.count == 16 else { return nil }
        return Hexadecimal.text([UInt8](bytes))
    }

    static func bad(_ why: String) -> TilesetsError {
        TilesetsError(.badIndex, "The index of builds cannot be used: \(why).")
    }
}
