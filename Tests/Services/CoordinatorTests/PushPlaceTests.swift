import CatalogTransfer
import Errors
import Foundation
import Testing

/// Where the steps of jobs may push to.
struct PushPlaceTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "push-place-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func places(_ allowed: [String]) throws -> PushPlaces {
        PushPlaces(try allowed.map { try PushPlace($0) }) { _ in throw CancellationError() }
    }

    private func isAllowed(_ text: String, _ places: PushPlaces) -> Bool { (try? places.place(text)) != nil }

    @Test func onlyAllowedPlacesAndWhatIsBelowAreTaken() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let www = folder.appending(path: "www").path
        let places = try places([www, "s3://maps/offline", "s3://open"])
        for text in [
            www, www + "/", www + "/a/b", "s3://maps/offline", "s3://maps/offline/a", "s3://open", "s3://open/x",
        ] {
            #expect(isAllowed(text, places), "\(text)")
        }
        for text in [
            www + "2", www + "/../other", folder.path, "/", "www", "./www", "s3://maps", "s3://maps/offline2",
            "s3://maps/other",
            "s3://opener/x", "https://x/y", "s3://maps/offline/../x", "",
        ] {
            #expect(!isAllowed(text, places), "\(text)")
        }
    }

    @Test func aLinkThatLeadsOutIsNotBelow() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (www, other) = (folder.appending(path: "www"), folder.appending(path: "other"))
        for made in [www, other] {
            try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
        }
        try FileManager.default.createSymbolicLink(at: www.appending(path: "out"), withDestinationURL: other)
        let places = try places([www.path])
        #expect(!isAllowed(www.path + "/out", places) && !isAllowed(www.path + "/out/new", places))
        #expect(isAllowed(www.path + "/in/new", places))
        // What is checked is what is written to, also with '..' behind a link.
        let inner = www.appending(path: "now")
        try FileManager.default.createSymbolicLink(at: inner, withDestinationURL: other)
        #expect(try places.place(www.path + "/now/../x") == .folder(www.resolvingSymlinksInPath().path + "/x"))
        #expect(try PushPlace(www.path + "/out/catalog").isNested(with: other))
        #expect(try !PushPlace(www.path + "/in").isNested(with: other))
    }

    @Test func nothingIsAllowedByDefaultAndTheErrorSaysHow() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let error = try #require(throws: CatalogTransferError.self) { try PushPlaces().place("/srv/www") }
        #expect(error.code == .badAddress && error.hint?.contains("--push-to /srv/www") == true)
    }
}
