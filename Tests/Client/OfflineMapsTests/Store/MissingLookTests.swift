import Digests
import Files
import Foundation
import Testing

@testable import OfflineMaps

/// The look for missing files, which is repeated every two seconds.
struct MissingLookTests {
    private let scratch: StoreScratch

    init() throws { scratch = try StoreScratch() }

    @Test func aFileThatIsNotWholeIsNotReadAgainUntilItChanges() throws {
        // Its row has another SHA-256.
        let damaged = try scratch.unit()
        let place = try #require(scratch.folder.place(of: damaged))
        let first = StoreVerify.look(for: damaged, in: scratch.folder, notWhole: nil)
        #expect(!first.isBack)
        let stamp = try #require(first.stamp)
        #expect(stamp == (try OutsideFileStamp(place)))

        var whole = damaged
        whole.id.digest = try Digest.ofFile(place).digest.hex
        #expect(StoreVerify.look(for: whole, in: scratch.folder, notWhole: nil).isBack)
        #expect(!StoreVerify.look(for: whole, in: scratch.folder, notWhole: stamp).isBack)
        let date = Date(timeIntervalSince1970: 1)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: place.path)
        #expect(StoreVerify.look(for: whole, in: scratch.folder, notWhole: stamp).isBack)

        try FileManager.default.removeItem(at: place)
        #expect(StoreVerify.look(for: whole, in: scratch.folder, notWhole: nil).stamp == nil)
    }
}
