import Errors

/// Walks the boxes of an AVIF: the brands of the first one, then every box to the end; there are metadata and coded data.
///
/// AVIF has no checksums: a flipped bit inside the data is not detected here; a missing byte is, unless the last box has no length.
/// - Source: ISO/IEC 14496-12, sections 4.2 and 4.3 (boxes, `ftyp`); AV1 Image File Format 1.1, section 6 (brands).
enum AVIFScanner {
    /// Brands of pictures and of sequences.
    private static let brands: Set<UInt32> = [fourCC("avif"), fourCC("avis")]
    /// The most brands that are looked at.
    private static let mostBrands = 64

    /// Whether the first box is `ftyp` with a brand of AVIF, as its own or among the compatible ones.
    static func begins(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 12, var cursor = ByteCursor(bytes), let size = try? cursor.big32(), size >= 12,
            (try? cursor.big32()) == fourCC("ftyp")
        else { return false }
        var left = min(Int(size) - 8, cursor.remaining) / 4
        for number in 0..<mostBrands where left > 0 {
            guard let brand = try? cursor.big32() else { return false }
            left -= 1
            // The second word is the version of the first brand.
            if number != 1, brands.contains(brand) { return true }
        }
        return false
    }

    static func scan(_ bytes: UnsafeRawBufferPointer) throws(TileBodiesError) {
        guard begins(bytes) else { throw TileBodiesError(.badImage, "the body does not begin with a brand of AVIF") }
        do throws(ScanFault) {
            guard var cursor = ByteCursor(bytes) else { throw .truncated }
            var (hasMetadata, hasData) = (false, false)
            var files = 0
            while !cursor.isAtEnd {
                let (type, size) = try box(&cursor)
                var content = try cursor.part(size)
                // A second one begins another file.
                if type == fourCC("ftyp") { files += 1 }
                if type == fourCC("meta") { hasMetadata = try isItem(&content, &hasData) }
                // Sequences have their metadata in `moov`.
                if type == fourCC("moov") { hasMetadata = true }
                if type == fourCC("mdat") { hasData = hasData || size > 0 }
            }
            guard !hasMetadata || !hasData || files > 1 else { return }
        } catch {
            throw TileBodiesError(.truncated, "the AVIF ends after \(bytes.count) bytes, inside of a box")
        }
        throw TileBodiesError(
            .badImage,
            "the AVIF has no box with metadata of an item, none with its data, or bytes of another file behind it")
    }

    /// The type and the size of the content of the next box.
    private static func box(_ cursor: inout ByteCursor) throws(ScanFault) -> (type: UInt32, size: Int) {
        let short = try cursor.big32()
        let type = try cursor.big32()
        switch short {
        // Up to the end of the file.
        case 0: return (type, cursor.remaining)
        case 1:
            let size = UInt64(try cursor.big32()) << 32 | UInt64(try cursor.big32())
            guard size >= 16, size - 16 <= UInt64(cursor.remaining) else { throw .truncated }
            return (type, Int(size - 16))
        default:
            guard short >= 8 else { throw .truncated }
            return (type, Int(short) - 8)
        }
    }

    /// The content of the next box of a type; `nil` when no further box has it.
    static func content(of wanted: UInt32, in cursor: inout ByteCursor) throws(ScanFault) -> ByteCursor? {
        while !cursor.isAtEnd {
            let (type, size) = try box(&cursor)
            let content = try cursor.part(size)
            if type == wanted { return content }
        }
        return nil
    }

    /// Whether the metadata name the place of an item (`iloc`); small items lie within them (`idat`).
    private static func isItem(_ content: inout ByteCursor, _ hasData: inout Bool) throws(ScanFault) -> Bool {
        // Version and flags of a full box.
        _ = try content.part(4)
        var hasPlace = false
        while !content.isAtEnd {
            let (type, size) = try box(&content)
            _ = try content.part(size)
            if type == fourCC("iloc") { hasPlace = true }
            if type == fourCC("idat") { hasData = hasData || size > 0 }
        }
        return hasPlace
    }
}
