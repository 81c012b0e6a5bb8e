import Digests
import Errors
import Files
import Foundation
import PackageFiles
import Packages
import TestSupport
import Testing
import TileBodies
import Tiles

/// Folders and ZIP archives of tiles.
struct TreeTests {
    /// A folder, or an archive, made from a package.
    private func export(_ source: URL, _ format: PackageFormat, _ name: String = "out", in scratch: Scratch) throws -> (
        url: URL, receipt: ExportReceipt
    ) {
        let url = scratch.file(name + format.fileExtension)
        return (url, try PackageExport.write(from: source, format: format, to: url))
    }

    /// The bytes of a file in a tree.
    private func content(_ url: URL, _ name: String) throws -> [UInt8]? {
        guard !FileKindOfTest.isFolder(url) else {
            let file = url.appending(path: name)
            return FileManager.default.fileExists(atPath: file.path) ? try bytes(file) : nil
        }
        let zip = try TileZip(url)
        var found: TreeFile?
        try zip.files { if $0.name == name { found = $0 } }
        return try found.map { try zip.bytes(of: $0) }
    }

    /// Vector tiles are unpacked, pictures are as they are; each package gives the same bytes each time.
    @Test(arguments: [PackageFormat.zip, .folder])
    func everyTileIsAFile(format: PackageFormat) throws {
        let merged = try Merged()
        let (url, receipt) = try export(merged.url, format, in: merged.scratch)
        let again = try export(merged.url, format, "again", in: merged.scratch)
        #expect(again.receipt == receipt && receipt.tiles == merged.receipt.tiles)
        if format == .zip { #expect(try bytes(again.url) == bytes(url)) }
        for sample in merged.world.samples {
            let plain = try sample.body.map { try Gzip.decompress($0) }
            #expect(try content(url, "\(sample.tile).pbf") == plain, "\(sample.tile)")
        }
        let report = try PackageVerify.run(
            url, mask: merged.world.mask, zooms: merged.world.zooms, expecting: receipt.digest)
        #expect(report.isVerified && report.seal == .valid && report.size == receipt.size, "\(report.problems)")
        #expect(report.tiles == receipt.tiles && report.absent == merged.receipt.empty)
        #expect(try ArchiveKind.of(url) == .tree)
        let text = try #require(try content(url, "tiles.json"))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any])
        #expect(json["tiles"] as? [String] == ["{z}/{x}/{y}.pbf"] && json["tilejson"] as? String == "3.0.0")
        #expect(json["minzoom"] as? Int == 0 && json["maxzoom"] as? Int == 8 && json["name"] as? String == "Demo")
        #expect(
            json["bounds"] as? [Double] == [-11.25, 33.5, 22.5, 58.75] && json["attribution"] as? String == "© Demo")
        #expect((json["vector_layers"] as? [[String: Any]])?.first?["id"] as? String == "land")
        #expect(String(decoding: text, as: UTF8.self).contains(#""bounds":[-11.25,33.5,22.5,58.75]"#))
    }

    /// The hash of pictures is that of the package.
    @Test(arguments: [PackageFormat.zip, .folder])
    func picturesAreCopied(format: PackageFormat) throws {
        let scratch = try Scratch()
        let package = try NoisePicture.package(scratch)
        let (url, _) = try export(package, format, in: scratch)
        let (report, source) = (try PackageVerify.run(url), try PackageVerify.run(package))
        #expect(report.isVerified && report.tilesHash == source.tilesHash && report.tiles == source.tiles)
        #expect(report.tilesPerZoom == source.tilesPerZoom)
    }

    @Test func everyCutAndEveryChangedBitOfAnArchiveIsFound() throws {
        let merged = try Merged(padding: 300)
        let (url, _) = try export(merged.url, .zip, in: merged.scratch)
        let unseen = try FileDamage.unseen(url, scratch: merged.scratch.file("damaged.zip"), seed: 13) {
            try PackageVerify.run($0, mask: merged.world.mask).isVerified
        }
        #expect(unseen == [])
        // Bytes behind it, too, and every bit of the end.
        var whole = try bytes(url)
        for place in whole.count - 22..<whole.count {
            var copy = whole
            copy[place] ^= 1 << UInt8(place % 8)
            try Data(copy).write(to: merged.scratch.file("damaged.zip"))
            #expect(try !PackageVerify.run(merged.scratch.file("damaged.zip")).isVerified, "byte \(place)")
        }
        whole.append(0)
        try Data(whole).write(to: merged.scratch.file("damaged.zip"))
        #expect(try !PackageVerify.run(merged.scratch.file("damaged.zip")).isVerified)
    }

    /// A changed, lost, added or renamed file of a folder, and every bit of its `tiles.json`.
    @Test func everyChangeOfAFolderIsFound() throws {
        let scratch = try Scratch()
        let (url, _) = try export(try NoisePicture.package(scratch, zooms: 0...3), .folder, in: scratch)
        func isVerified() throws -> Bool { try PackageVerify.run(url).isVerified }
        let tile = url.appending(path: "3/1/2.png")
        let whole = try bytes(tile)
        for place in stride(from: 0, to: whole.count, by: 5) {
            var copy = whole
            copy[place] ^= 1
            try Data(copy).write(to: tile)
            #expect(try !isVerified(), "byte \(place)")
        }
        try FileManager.default.removeItem(at: tile)
        #expect(try !isVerified())
        try Data(whole).write(to: tile)
        #expect(try isVerified())
        for name in ["3/1/x.png", "3/1/07.png", "3/1/2.jpg", "9/0/0.png"] {
            let added = url.appending(path: name)
            try FileManager.default.createDirectory(
                at: added.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(whole).write(to: added)
            #expect(try !isVerified(), "\(name)")
            try FileManager.default.removeItem(at: added)
        }
        // A web page beside the tiles is nobody's damage, nor what a file manager leaves.
        try Data("<html>".utf8).write(to: url.appending(path: "index.html"))
        try Data("x".utf8).write(to: url.appending(path: "3/.DS_Store"))
        #expect(try isVerified())
        let metadata = url.appending(path: "tiles.json")
        let text = try bytes(metadata)
        for place in text.indices {
            var copy = text
            copy[place] ^= 1
            try Data(copy).write(to: metadata)
            #expect(try !isVerified(), "byte \(place)")
        }
    }

    /// A folder gets its name as a whole, and replaces only what Packhorse wrote.
    @Test func onlyAFolderOfTilesIsReplaced() throws {
        let scratch = try Scratch()
        let package = try NoisePicture.package(scratch)
        let target = scratch.file("site")
        func write(_ replacing: Bool) throws {
            _ = try PackageExport.write(from: package, format: .folder, to: target, replacing: replacing)
        }
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        let own = target.appending(path: "letter.txt")
        try Data("mine".utf8).write(to: own)
        for replacing in [false, true] {
            #expect(#expect(throws: PackagesError.self) { try write(replacing) }?.code == .exists)
            #expect(try bytes(own) == Array("mine".utf8))
        }
        // Not even one that has a tiles.json of another program.
        try Data(#"{"tilejson":"3.0.0"}"#.utf8).write(to: target.appending(path: "tiles.json"))
        #expect(#expect(throws: PackagesError.self) { try write(true) }?.code == .exists)
        try FileManager.default.removeItem(at: target)
        try write(false)
        try Data("old".utf8).write(to: target.appending(path: "old.html"))
        #expect(#expect(throws: PackagesError.self) { try write(false) }?.code == .exists)
        #expect(throws: CancellationError.self) {
            try PackageExport.write(from: package, format: .folder, to: target, replacing: true) {
                if $0 > 0 { throw CancellationError() }
            }
        }
        #expect(FileManager.default.fileExists(atPath: target.appending(path: "old.html").path))
        // What lies beside the tiles stays, what lies between them is named.
        let page = target.appending(path: "page/style.css")
        try FileManager.default.createDirectory(
            at: page.deletingLastPathComponent(), withIntermediateDirectories: false)
        try Data("css".utf8).write(to: page)
        let notes = target.appending(path: "0/0/notes.txt")
        try Data("mine".utf8).write(to: notes)
        let refusal = #expect(throws: PackagesError.self) { try write(true) }
        #expect(refusal?.code == .exists && refusal?.message.contains("'0/0/notes.txt'") == true)
        #expect(try bytes(notes) == Array("mine".utf8))
        try FileManager.default.removeItem(at: notes)
        try Data("x".utf8).write(to: target.appending(path: "7"))
        try write(true)
        #expect(try bytes(target.appending(path: "old.html")) == Array("old".utf8))
        #expect(try bytes(page) == Array("css".utf8) && bytes(target.appending(path: "7")) == Array("x".utf8))
        try FileManager.default.removeItem(at: target.appending(path: "7"))
        // A file that has the name of a folder of tiles stays too, and is named.
        let zoom = target.appending(path: "0")
        try FileManager.default.removeItem(at: zoom)
        try Data("mine".utf8).write(to: zoom)
        #expect(#expect(throws: PackagesError.self) { try write(true) }?.message.contains("'0'") == true)
        #expect(try bytes(zoom) == Array("mine".utf8))
        try FileManager.default.removeItem(at: zoom)
        try write(true)
        #expect(try PackageVerify.run(target).isVerified)
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).sorted()
        #expect(names == ["foreign.mbtiles", "hills.mbtiles", "site"])
    }

    /// Archives of other programs: what is packed, overlaps or leads nowhere is named, and nothing traps.
    @Test func hostileArchivesAreNamed() throws {
        let scratch = try Scratch()
        let (url, _) = try export(try NoisePicture.package(scratch), .zip, in: scratch)
        let whole = try bytes(url)
        let file = scratch.file("hostile.zip")
        func problems(_ change: (inout [UInt8]) -> Void) throws -> String {
            var copy = whole
            change(&copy)
            try Data(copy).write(to: file)
            let report = try PackageVerify.run(file)
            #expect(!report.isUsable)
            return report.problems.map(\.description).joined(separator: "\n")
        }
        let directory = Int(whole.suffix(6).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) })
        #expect(try problems { $0[directory + 10] = 8 }.contains("packed or encrypted"))
        #expect(try problems { for at in 0..<8 { $0[directory + 20 + at] = 0xF0 } }.contains("overlap"))
        #expect(try problems { $0[directory + 42] ^= 7 }.contains("not where the directory says"))
        #expect(try problems { $0[$0.count - 12] &+= 1 }.contains("its end says"))
        #expect(try problems { for at in $0.count - 6..<$0.count - 2 { $0[at] = 0xFF } }.contains("64-bit"))
        #expect(try problems { $0.removeLast(22) }.contains("no end record"))
    }

    /// Places beyond 4 GiB need the 64-bit form; the file has a hole, so it takes no space.
    @Test func placesBeyond4GiBAreRead() throws {
        let file = try Scratch()
        let url = file.file("large.zip")
        let (name, body) = ("0/0/0.png", Array("far away".utf8))
        let place: UInt64 = 5 << 30
        let head = ZipRecords.local(name, crc: Zlib.crc32(body), size: UInt32(body.count))
        let entry = ZipRecords.central(name, crc: Zlib.crc32(body), size: UInt32(body.count), offset: place)
        let start = place + UInt64(head.count + body.count)
        let end = ZipRecords.end(files: 1, directory: start..<start + UInt64(entry.count))
        try Data().write(to: url)
        let handle = try FileHandle(forWritingTo: url)
        try handle.seek(toOffset: place)
        try handle.write(contentsOf: Data(head + body + entry + end))
        try handle.close()
        let zip = try TileZip(url)
        var found: [TreeFile] = []
        try zip.files { found.append($0) }
        #expect(found.map(\.name) == [name] && found.first?.place == place)
        #expect(try zip.bytes(of: try #require(found.first)) == body)
    }

    @Test func aPictureTellsItsSize() throws {
        var random = SplitMix(state: 3)
        func size(_ body: [UInt8]) -> String? { body.withUnsafeBytes { PictureHeader($0)?.size.description } }
        #expect(size(NoisePicture.png(&random, 512)) == "512 x 512" && size(NoisePicture.webp(256)) == "256 x 256")
        // JPEG: SOI, a comment, a frame of 8 bits, 16 high, 32 wide.
        let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xFE, 0, 3, 7, 0xFF, 0xC0, 0, 11, 8, 0, 16, 0, 32, 1, 1, 0x11, 0]
        #expect(size(jpeg) == "32 x 16")
        let lossy = Array("RIFF\u{1}\0\0\0WEBPVP8 ".utf8) + [10, 0, 0, 0, 0, 0, 0, 0x9D, 1, 0x2A, 0, 1, 0, 2]
        #expect(size(lossy) == "256 x 512")
        let extended = Array("RIFF\u{1}\0\0\0WEBPVP8X".utf8) + [10, 0, 0, 0, 0, 0, 0, 0, 255, 1, 0, 255, 0, 0]
        #expect(size(extended) == "512 x 256")
        for whole in [jpeg, lossy, extended, NoisePicture.png(&random)] {
            for count in 0..<min(whole.count, 24) { _ = size(Array(whole.prefix(count))) }
        }
        #expect(size(Array(jpeg.prefix(12))) == nil && size(vectorTile("one")) == nil && size([]) == nil)
    }
}

/// What is at a path.
private enum FileKindOfTest {
    static func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
