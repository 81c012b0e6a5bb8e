import CatalogFormat
import Errors
import Foundation
import Synchronization
import Testing

@testable import Catalog

/// A catalog that a process may not change any more.
@Suite struct CatalogRefusalTests {
    private final class Reason: Sendable {
        let text = Mutex<String?>(nil)
    }

    private static func code(_ body: () throws -> Void) -> CatalogErrorCode? {
        do { try body() } catch { return (error as? CatalogError)?.code }
        return nil
    }

    @Test func itChangesNothing() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "refusal-\(UUID().uuidString)")
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record("\(error)") } }
        let reason = Reason()
        let catalog = try Catalog(folder, create: true) { reason.text.withLock { $0 } }
        _ = try catalog.prune(keep: 1, dryRun: false)
        let list = try Data(contentsOf: catalog.listURL)
        // The reason comes in the middle of a change, as where locks do not exclude.
        let code = Self.code {
            try catalog.locked { () throws(CatalogError) in
                reason.text.withLock { $0 = "replaced" }
                try catalog.write([UInt8]("{}".utf8), to: catalog.listURL)
            }
        }
        #expect(code == .changed)
        #expect(Self.code { _ = try catalog.prune(keep: 1, dryRun: false) } == .changed)
        #expect(try Data(contentsOf: catalog.listURL) == list)
        // A person decides for themselves.
        _ = try Catalog(folder, create: false).prune(keep: 1, dryRun: false)
    }
}
