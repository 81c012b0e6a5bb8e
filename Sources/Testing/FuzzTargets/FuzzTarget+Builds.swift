internal import Errors
internal import Foundation
internal import Tilesets

/// What names the newest build of a source.
extension FuzzTarget {
    /// A byte that selects the reader, then the document: `i` an index, `t` a text, `j` a TileJSON, `a` an index of archives, `d` an address
    /// with a date, `f` the value of `latest` in a tileset file.
    static func build(_ bytes: [UInt8]) -> Verdict {
        guard let first = bytes.first else { return .refused("short") }
        let document = Array(bytes.dropFirst())
        let text = String(decoding: document, as: UTF8.self)
        do throws(TilesetsError) {
            switch first {
            case UInt8(ascii: "i"):
                let file = try TilesetFile(text: rules, name: "f", folder: URL(fileURLWithPath: "/"))
                guard let rules = LatestSource(text: file.source.address) else { return .wrong("no rules") }
                let builds = try BuildIndex.builds(json: document, from: "http://h/a/b.json", rules)
                if let build = builds.first(where: { !isWhole($0) }) { return .wrong("\(build)") }
            case UInt8(ascii: "t"): return try named(try BuildIndex.name(text: document))
            case UInt8(ascii: "j"):
                let metadata = try SourceMetadata(tileJSON: document, from: "http://h/a/t.json")
                return try named(try BuildIndex.name(tileAddresses: metadata.templates))
            case UInt8(ascii: "a"): return try named(try BuildIndex.name(archiveIndex: document))
            case UInt8(ascii: "d"):
                let builds = try DatedAddress(text).builds(before: 1_795_780_800)
                guard builds.count == DatedAddress.maxRequests else { return .wrong("\(builds.count) builds") }
            case UInt8(ascii: "f"):
                let file = try TilesetFile(text: "latest: " + text, name: "f", folder: URL(fileURLWithPath: "/"))
                guard let following = file.following else { return .refused("not-followed") }
                let again = try TilesetFile(text: following, name: "f", folder: URL(fileURLWithPath: "/"))
                guard again.source == file.source else { return .wrong("another source came back") }
            default: return .refused("selector")
            }
            return .accepted
        } catch {
            return .refused("\(error.code)")
        }
    }

    private static let rules =
        "latest: {index: 'http://h/b.json', url: 'http://h/{build}', size: size, md5: md5sum, order: version}"

    private static func named(_ name: String) throws(TilesetsError) -> Verdict {
        let build = try SourceBuild(name: name, address: "http://h/\(name)")
        return isWhole(build) ? .accepted : .wrong("\(build)")
    }

    /// Whether a name stays within one part of a path, and the build comes back from its JSON.
    private static func isWhole(_ build: SourceBuild) -> Bool {
        guard !build.name.contains("/"), build.name != "..", let json = try? JSONEncoder().encode(build) else {
            return false
        }
        return (try? JSONDecoder().decode(SourceBuild.self, from: json)) == build
    }
}
