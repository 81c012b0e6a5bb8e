public import Errors
public import Foundation

extension TileMask {
    private static let version: UInt8 = 1

    /// The mask in Packhorse's own form: version 1, maxZoom, then the tree, two bits a node, before its children.
    ///
    /// A node is 00 absent, 01 complete down to maxZoom, 11 a branch followed by its children in CARTO's order (south-west,
    /// south-east, north-west, north-east), or 10 and a zoom of five bits: complete down to that zoom, nothing deeper. The
    /// last byte is filled with zero bits. Equal masks give equal bytes.
    public func encoded() -> [UInt8] {
        var writer = MaskBitWriter([Self.version, UInt8(maxZoom)])
        func write(_ node: MaskNode, _ zoom: Int) {
            if !node.isPresent { return writer.write(0, bits: 2) }
            if node.isUniform {
                if node.depth == maxZoom { return writer.write(1, bits: 2) }
                return writer.write(2 << 5 | UInt64(node.depth), bits: 7)
            }
            writer.write(3, bits: 2)
            for quadrant in 0..<4 { write(child(quadrant, of: node, zoom: zoom), zoom + 1) }
        }
        write(root, 0)
        return writer.padded
    }

    /// Reads the output of ``encoded()``; refuses every other byte string.
    ///
    /// Safe on hostile bytes; the mask takes at most sixteen times the memory of the bytes.
    ///
    /// - Throws: ``TilesError`` `.badMask`.
    public init(decoding bytes: [UInt8]) throws(TilesError) {
        guard bytes.count >= 3, bytes[0] == Self.version else {
            throw TilesError(
                .badMask,
                "Tile mask of \(bytes.count) bytes does not begin with version \(Self.version); "
                    + "it is not a mask, or a newer Packhorse made it.")
        }
        guard bytes[1] <= UInt8(TileID.maxZoom) else {
            throw TilesError(.badMask, "Tile mask has maximum zoom \(bytes[1]); expected 0...\(TileID.maxZoom).")
        }
        var reader = MaskBitReader(bytes[2...])
        var builder = MaskBuilder(maxZoom: Int(bytes[1]))
        let root = try Self.read(from: &reader, zoom: 0, into: &builder)
        guard reader.remaining < 8, reader.read(reader.remaining) == 0 else {
            throw TilesError(.badMask, "Tile mask of \(bytes.count) bytes has extra bytes after its tree.")
        }
        self = builder.mask(root)
    }

    /// Reads the output of ``encoded()`` as ``init(decoding:)`` of an array does.
    public init(decoding bytes: Data) throws(TilesError) { try self.init(decoding: [UInt8](bytes)) }

    private static func read(
        from reader: inout MaskBitReader, zoom: Int, into builder: inout MaskBuilder
    ) throws(TilesError) -> MaskNode {
        let maxZoom = builder.maxZoom
        switch reader.read(2) {
        case 0: return .absent
        case 1: return .through(maxZoom)
        case 2:
            guard let depth = reader.read(5).map({ Int($0) }), depth >= zoom, depth < maxZoom else {
                throw TilesError(.badMask, "Tile mask has a part with an impossible depth at zoom \(zoom).")
            }
            return .through(depth)
        case 3:
            guard zoom < maxZoom else {
                throw TilesError(.badMask, "Tile mask has a branch below its maximum zoom \(maxZoom).")
            }
            var children = MaskChildren()
            for quadrant in 0..<4 {
                children[quadrant] = try read(from: &reader, zoom: zoom + 1, into: &builder)
            }
            let node = builder.join(children, zoom: zoom)
            guard !node.isUniform else {
                throw TilesError(.badMask, "Tile mask has a branch at zoom \(zoom) that should be written as one node.")
            }
            return node
        default:
            throw TilesError(.badMask, "Tile mask ends in the middle of its tree, after \(reader.position) bits.")
        }
    }
}
