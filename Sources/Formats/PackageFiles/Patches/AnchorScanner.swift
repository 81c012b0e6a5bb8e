internal import Files
internal import Tiles

/// A place of a file that the content around it chooses, wherever it lies in the file.
struct Anchor: Hashable {
    /// The bytes that an anchor is chosen by.
    static let window: UInt64 = 32
    /// The end of these bytes.
    var end: UInt64
    /// Their hash.
    var hash: UInt32
}

/// Finds the anchors of a file from its first byte to its last.
///
/// A byte is a bit lower in the hash with each byte after it, so the hash is that of the last 32 bytes; an anchor is where a
/// product of it is small. Memory: 1 MiB.
struct AnchorScanner {
    private let file: FileDescriptor
    private let gate: UInt32
    private var piece: [UInt8] = []
    private var start: UInt64 = 0
    private var offset = 0
    private var hash: UInt32 = 0

    /// - Parameter rarity: About one place in 2^`rarity` is an anchor; below 32.
    init(_ file: FileDescriptor, rarity: Int) {
        self.file = file
        gate = .max >> UInt32(rarity)
    }

    /// How far the file is read.
    var place: UInt64 { start + UInt64(offset) }

    /// The next anchor; `nil` after the last.
    ///
    /// - Parameter progress: Called for each MiB.
    mutating func next(_ progress: () throws -> Void) throws -> Anchor? {
        while true {
            if offset == piece.count {
                start += UInt64(piece.count)
                (piece, offset) = ([], 0)
                guard start < file.size else { return nil }
                try progress()
                piece = try file.read(at: start, count: Int(min(CopyPatch.pieceSize, file.size - start)))
            }
            if scan() { return Anchor(end: place, hash: hash) }
        }
    }

    /// Goes on at a place further on; the first anchor there is at least 32 bytes later.
    mutating func skip(to target: UInt64) {
        hash = 0
        if target - start <= piece.count {
            offset = Int(target - start)
        } else {
            (piece, start, offset) = ([], target, 0)
        }
    }

    private mutating func scan() -> Bool {
        let gate = gate
        var (hash, at) = (hash, offset)
        let isFound = piece.withUnsafeBufferPointer { bytes in
            Self.numbers.withUnsafeBufferPointer { numbers in
                let count = bytes.count
                while at < count {
                    hash = hash &<< 1 &+ numbers[Int(bytes[at])]
                    at &+= 1
                    if hash &* 0x9E37_79B1 <= gate { return true }
                }
                return false
            }
        }
        (self.hash, offset) = (hash, at)
        return isFound
    }

    /// A number for each value of a byte.
    private static let numbers: [UInt32] = {
        var random = SplitMix(state: 0)
        return (0..<256).map { _ in UInt32(truncatingIfNeeded: random.next()) }
    }()
}
