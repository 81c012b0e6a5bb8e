import Digests
import Files
import Foundation
import Logging
import Testing
import WebRequests

@testable import Gateway

/// Token files as people and orchestrators put them down.
struct TokenFolderTests {
    private let scratch = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID().uuidString)")

    private func folder() throws -> TokenFolder {
        TokenFolder(scratch, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func write(_ token: String, _ path: String) throws {
        let file = scratch.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("sha256:\(Digest(of: Array(token.utf8)))\nroles: viewer\n".utf8).write(to: file)
        chmod(file.path, 0o440)
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: scratch.path + "/" + name, withDestinationPath: target)
    }

    /// Kubernetes: NAME is a link to ..data/NAME, and ..data a link to a folder that is replaced as a whole.
    @Test func aMountedSecretIsReadThroughItsLinksAndWhenItIsReplaced() throws {
        defer { try? FileManager.default.removeItem(at: scratch) }
        try write("first", "..1/web.token")
        try link("..data", to: "..1")
        try link("web.token", to: "..data/web.token")
        let tokens = try folder()
        tokens.refresh()
        #expect(tokens.table.find("first")?.name == "web")
        try write("second", "..2/web.token")
        try link("..new", to: "..2")
        rename(scratch.path + "/..new", scratch.path + "/..data")
        tokens.refresh()
        #expect(tokens.table.find("first") == nil && tokens.table.find("second") != nil)
        #expect(tokens.reload() == "1 tokens")
    }

    @Test func whatOthersCanChangeGrantsNothing() throws {
        defer { try? FileManager.default.removeItem(at: scratch) }
        try write("open", "open.token")
        chmod(scratch.path + "/open.token", 0o666)
        try write("foreign", "..f/foreign")
        try link("foreign.token", to: "..f/foreign")
        // Only root can give a file to somebody else.
        if geteuid() == 0 {
            chown(scratch.path + "/..f/foreign", 54_321, 0)
        } else {
            chmod(scratch.path + "/..f/foreign", 0o666)
        }
        try link("pipe.token", to: "/dev/stdin")
        try link("folder.token", to: "/etc")
        try link("lost.token", to: "nowhere")
        let tokens = try folder()
        tokens.refresh()
        #expect(tokens.table.count == 0)
        #expect(tokens.reload() == "0 tokens; refused folder.token, foreign.token, open.token, pipe.token")
    }
}
