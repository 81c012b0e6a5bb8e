import Cryptography
import Foundation
import GRDB
import PackageFiles
import Testing
import Tiles

struct TilesHashTests {
    /// The definition spelled out: MD5 of "zoom column row body" of each row without separators, upper case.
    @Test func itIsTheHashOtherToolsCompute() throws {
        let scratch = try Scratch()
        let file = scratch.file("a.mbtiles")
        let queue = try DatabaseQueue(path: file.path)
        try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE metadata (name, value); CREATE TABLE tiles (zoom_level, tile_column, tile_row, tile_data);
                    INSERT INTO tiles VALUES (10, 2, 3, x'6263'), (1, 0, 1, x'61'), (1, 0, 0, x'ff');
                    """)
        }
        try queue.close()
        let text: [UInt8] = Array("100".utf8) + [0xFF] + Array("101a1023bc".utf8)
        #expect(try MBTilesVerify.run(file, mask: nil).tilesHash == MD5.text(of: text))
    }
}
