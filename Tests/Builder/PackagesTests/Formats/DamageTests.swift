import Foundation
import PackageFiles
import Packages
import TestSupport
import Testing

struct DamageTests {
    /// Twenty cuts and 200 changed bits of every form, each of which the verification alone must find.
    @Test(arguments: PackageFormat.fromTiles)
    func everyCutAndEveryChangedBitIsFound(format: PackageFormat) throws {
        let merged = try Merged(padding: 300)
        let (url, _) = try merged.export(format)
        let unseen = try FileDamage.unseen(
            url, scratch: merged.scratch.file("damaged" + format.fileExtension), seed: 11
        ) { try PackageVerify.run($0, mask: merged.world.mask).isVerified }
        #expect(unseen == [])
    }

    /// The places where a seal could be lost: its own bytes, its name, the header, the metadata page.
    @Test(arguments: PackageFormat.fromTiles)
    func noBitOfTheSealOrTheHeaderIsUnguarded(format: PackageFormat) throws {
        let merged = try Merged()
        let (url, _) = try merged.export(format)
        let whole = try bytes(url)
        let damaged = merged.scratch.file("damaged" + format.fileExtension)
        let places: [Int]
        if format == .pmtiles {
            places = Array(0..<127) + Array(whole.count - 48..<whole.count)
        } else {
            let name = Array("packhorse_seal".utf8)
            let start = whole.indices.filter { whole[$0...].starts(with: name) }
            // In the row and in the index of names.
            #expect(start.count == 2)
            places = Array(0..<100) + start.flatMap { Array($0 - 6..<$0 + 14) } + Array(start[0]..<start[0] + 78)
        }
        for place in places {
            var copy = whole
            copy[place] ^= 1 << UInt8(place % 8)
            try Data(copy).write(to: damaged)
            #expect(try !PackageVerify.run(damaged).isVerified, "byte \(place)")
        }
    }
}
