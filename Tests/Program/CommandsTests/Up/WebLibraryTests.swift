import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import Commands

/// Where MapLibre GL JS for the page is looked for.
struct WebLibraryTests {
    private let root = URL(filePath: "/opt/maps", directoryHint: .isDirectory)

    @Test func anOptionIsTakenBeforeTheVariable() {
        let program = root.appending(path: "bin/packhorse")
        let both = WebLibrary.folder(option: "a", environment: "/b", program: program)
        #expect(both?.lastPathComponent == "a")
        #expect(WebLibrary.folder(option: nil, environment: "/b", program: program)?.path == "/b")
        #expect(
            WebLibrary.folder(option: nil, environment: nil, program: URL(filePath: "/none/bin/packhorse")) == nil
                || FileManager.default.fileExists(atPath: "/usr/share/packhorse/web-lib")
                || FileManager.default.fileExists(atPath: "/usr/local/share/packhorse/web-lib"))
    }

    @Test func itIsFoundBesideAnInstalledProgramAndInTheFolderOfABuild() {
        let installed = WebLibrary.usual(root.appending(path: "bin/packhorse")).map(\.path)
        #expect(installed.contains("/opt/maps/share/packhorse/web-lib"))
        let built = WebLibrary.usual(URL(filePath: "/src/.build/x86_64-unknown-linux-gnu/release/packhorse")).map(
            \.path)
        #expect(built.contains("/src/.build/web-lib"))
    }

    @Test func aFolderWithoutTheScriptIsRefused() throws {
        #expect(throws: ValidationError.self) { try WebLibrary.check("/none") }
        try WebLibrary.check(nil)
        #expect(throws: (any Error).self) { try UpCommand.parse(["--web-lib", "/none"]) }
        #expect(throws: (any Error).self) { try UpCommand.parse(["--no-gateway", "--web-lib", "/"]) }
    }
}
