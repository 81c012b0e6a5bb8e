import Errors
import Foundation
import Testing

@testable import Wire

extension Samples {
    /// Messages with formats, styles and editions.
    static let formats: [Message] = [
        .hello(
            .make {
                $0.exports = ["mbtiles-flat", "pmtiles"]
            }),
        .commit(
            .make {
                $0.token = 1 << 32 | 9
                $0.merge = .make {
                    $0.package = digest(2)
                    $0.size = 1 << 30
                    $0.files = [file("mbtiles-flat", 5), file("pmtiles", 6)]
                }
            }),
        .submit(submission),
    ]

    static let submission = PBSubmit.make {
        $0.kind = "region"
        $0.tileset = Data("{}".utf8)
        $0.zoomMax = 14
        $0.packages = [.make { ($0.id, $0.formats) = ("EE", ["carto"]) }]
        $0.formats = ["pmtiles", "maplibre"]
        $0.style = "https://tiles.example.com/style.json?key=${STYLE_KEY}"
        $0.publish.edition = PBEdition(group: "terrain", language: "de")
    }

    static func reread(_ message: Message) throws { _ = try Frame(decoding: frame(message).encoded()) }

    static func file(_ format: String, _ seed: UInt8) -> PBPackageFile {
        .make { ($0.format, $0.sha256, $0.size) = (format, digest(seed), UInt64(seed) * 1_000) }
    }
}

struct WireFormatTests {
    @Test func aSubmissionKeepsItsFormatsStyleAndEdition() throws {
        let frame = try Frame(decoding: Samples.frame(.submit(Samples.submission)).encoded())
        guard case .submit(let body) = frame.message else { throw WireError(.badBody, "not a submission") }
        #expect(body == Samples.submission)
        #expect(body.publish.edition.label == "terrain/de")
    }

    @Test(arguments: [["pmtiles", "pmtiles"], ["PMTiles"], [""], ["../up"], [String](repeating: "a", count: 40)])
    func formatsThatAreNoNamesOrNamedTwiceAreRefused(_ formats: [String]) {
        var submission = Samples.submission
        submission.formats = formats
        #expect(throws: WireError.self) { try Samples.reread(.submit(submission)) }
        var nested = Samples.submission
        nested.packages[0].formats = formats
        #expect(throws: WireError.self) { try Samples.reread(.submit(nested)) }
        let hello = PBHello.make { $0.exports = formats }
        #expect(throws: WireError.self) { try Samples.reread(.hello(hello)) }
        let commit = PBCommit.make {
            $0.merge = .make { ($0.package, $0.files) = (Samples.digest(1), formats.map { Samples.file($0, 2) }) }
        }
        #expect(throws: WireError.self) { try Samples.reread(.commit(commit)) }
        let manifest = PBMergeManifest.make { $0.formats = formats }
        #expect(throws: WireError.self) { _ = try PBMergeManifest(decoding: manifest.encoded()) }
    }

    @Test func aManifestHasAFooterForEachShardOrNone() throws {
        for (footers, isGood) in [
            ([], true), ([Samples.digest(1), Data()], true), ([Samples.digest(1)], false),
            ([Data([1]), Samples.digest(2)], false),
        ] {
            let manifest = PBMergeManifest.make {
                $0.shards = [Samples.digest(3), Samples.digest(4)]
                $0.shardFooters = footers
            }
            let read = try? PBMergeManifest(decoding: manifest.encoded())
            #expect((read?.shardFooters == footers) == isGood)
        }
    }

    @Test func aFileOfAPackageHasADigest() {
        let commit = PBCommit.make {
            $0.merge = .make {
                $0.package = Samples.digest(1)
                $0.files = [.make { ($0.format, $0.sha256) = ("pmtiles", Data([1, 2, 3])) }]
            }
        }
        #expect(throws: WireError.self) { try Samples.reread(.commit(commit)) }
    }

    @Test(arguments: [
        ("", "", ""), ("terrain", "", "terrain"), ("", "de", "de"), ("", "zh-Hans", "zh-Hans"),
        ("", "ca-x-v", "ca-x-v"),
        ("satellite-2", "et", "satellite-2/et"),
    ])
    func anEditionIsAGroupAndALanguage(_ group: String, _ language: String, _ label: String) {
        let edition = PBEdition(group: group, language: language)
        #expect(edition.problem == nil)
        #expect(edition.label == label)
        #expect(edition.isRoot == label.isEmpty)
    }

    @Test(arguments: [
        ("..", ""), ("a/b", ""), ("Terrain", ""), ("-x", ""), (String(repeating: "g", count: 33), ""), ("", "groups"),
        ("", "packages"), ("", "d"), ("", "de-"), ("", "de/../x"), ("", "d\u{e9}"), ("", "de-aaaaaaaaa"), ("", "DE"),
    ])
    func whatCannotBeAFolderIsNoEdition(_ group: String, _ language: String) {
        let edition = PBEdition(group: group, language: language)
        #expect(edition.problem != nil)
        var submission = Samples.submission
        submission.publish.edition = edition
        #expect(throws: WireError.self) { try Samples.reread(.submit(submission)) }
    }
}
