internal import Errors
internal import Files
internal import Foundation
internal import PackageFiles
internal import StyleFormat
internal import TileBodies

extension FuzzTarget {
    /// A path in memory for bytes that a decoder reads from a file.
    static func scratch(_ kind: String) -> URL {
        URL(filePath: "/dev/shm/packhorse-fuzz-\(getpid())-\(UInt64.random(in: 0...UInt64.max)).\(kind)")
    }

    /// Unpacks into a folder; the output is never larger than the input, and stays in that folder.
    static func zip(_ bytes: [UInt8]) -> Verdict {
        let (file, folder) = (scratch("zip"), scratch("folder"))
        defer {
            unlink(file.path)
            // A scratch folder that stays behind is harmless.
            try? FileManager.default.removeItem(at: folder)
        }
        do {
            try Data(bytes).write(to: file)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            return .refused("scratch")
        }
        do throws(StylesError) {
            try StoredZip.unpack(file, into: folder)
        } catch {
            return .refused("\(error.code)")
        }
        var size = 0
        do {
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: path).path)
                guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
                size += (attributes[.size] as? NSNumber)?.intValue ?? 0
            }
        } catch {
            return .wrong("the unpacked files cannot be read: \(error)")
        }
        return size <= bytes.count ? .accepted : .wrong("\(size) bytes came out of \(bytes.count)")
    }

    /// Zeroes the gaps of every possible page; a second run changes nothing, and changed bytes are always zero.
    static func gaps(_ bytes: [UInt8]) -> Verdict {
        guard bytes.count >= 100, bytes.starts(with: Array("SQLite format 3\0".utf8)) else {
            return .refused("not-sqlite")
        }
        let url = scratch("sqlite")
        defer { unlink(url.path) }
        func zeroed(_ bytes: [UInt8]) throws -> [UInt8] {
            try Data(bytes).write(to: url)
            let file = try FileDescriptor(changing: url)
            try SQLiteGaps.zero(in: file, roots: Array(2...40))
            try file.close()
            return Array(try Data(contentsOf: url))
        }
        do {
            let once = try zeroed(bytes)
            guard once.count == bytes.count else { return .wrong("\(bytes.count) bytes became \(once.count)") }
            guard Swift.zip(once, bytes).allSatisfy({ $0 == $1 || $0 == 0 }) else {
                return .wrong("a byte was changed")
            }
            return .accepted
        } catch {
            return .refused("io")
        }
    }

    /// Applies a delta; the result can be encoded as a delta again.
    static func delta(_ bytes: [UInt8]) -> Verdict {
        guard bytes.count >= 2 else { return .refused("short") }
        let length = min(Int(bytes[0]) << 8 | Int(bytes[1]), bytes.count - 2)
        let (old, delta) = (Array(bytes[2..<2 + length]), Array(bytes[(2 + length)...]))
        do throws(TileBodiesError) {
            let body = try BodyDelta.apply(delta, to: old)
            var maker = BodyDelta()
            guard let again = maker.make(from: old, to: body) else { return .accepted }
            return try BodyDelta.apply(again, to: old) == body ? .accepted : .wrong("another body came back")
        } catch {
            return .refused("\(error.code)")
        }
    }
}
