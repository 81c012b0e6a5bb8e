internal import Errors
internal import TileBodies

extension FuzzTarget {
    /// Checks a body as a worker does; the first byte selects the declared format and the coding.
    ///
    /// An accepted body is accepted again unchanged, and its layers are the same with and without trust.
    static func tile(_ bytes: [UInt8]) -> Verdict {
        guard let first = bytes.first else { return .refused("short") }
        let formats = TileFormat.allCases
        let format = formats[Int(first) % formats.count]
        let coding = [BodyCoding.identity, .gzip, .deflate, .brotli, .zstd][Int(first) / formats.count % 5]
        let memory = LayerCache(limit: 16)
        let checker = BodyChecker(limit: 1 << 20, layers: memory)
        let body: [UInt8]
        do throws(TileBodiesError) {
            body = try checker.check(Array(bytes.dropFirst()), coding: coding, declared: format)
        } catch {
            return .refused("\(error.code)")
        }
        let traits = checker.checkedLayers
        do throws(TileBodiesError) {
            let again = try checker.check(body, coding: format.traits.coding, declared: format)
            guard again == body else { return .wrong("another body came back") }
            guard format.traits.isVector else { return .accepted }
            let scanned = try checker.summary(of: body, as: format)
            guard try checker.summary(of: body, as: format, isChecked: true) == scanned else {
                return .wrong("trusted reading gives other layers")
            }
            return memory.numbers(of: scanned).map(Set.init) == traits.map(Set.init)
                ? .accepted : .wrong("other layers are remembered")
        } catch {
            return .wrong("a settled body is refused: \(error.code)")
        }
    }

    /// Walks a tile: its layers are as many as their summary has, and two tiles after one another are one.
    static func mlt(_ bytes: [UInt8]) -> Verdict {
        do throws(TileBodiesError) {
            let count = try scanned(bytes)
            let layers = try BodyChecker(limit: 1 << 20).summary(of: bytes, as: .mlt).layers
            guard layers.count == count, layers.allSatisfy({ !$0.name.isEmpty && $0.extent > 0 }) else {
                return .wrong("the summary has other layers")
            }
            guard count <= VectorTileScanner.layerLimit / 2 else { return .accepted }
            return try scanned(bytes + bytes) == 2 * count ? .accepted : .wrong("the tile twice is another one")
        } catch {
            return .refused("\(error.code)")
        }
    }

    private static func scanned(_ bytes: [UInt8]) throws(TileBodiesError) -> Int {
        var result: Result<Int, TileBodiesError> = .success(0)
        bytes.withUnsafeBytes { raw in
            result = Result { () throws(TileBodiesError) in try MLTScanner.scan(raw) }
        }
        return try result.get()
    }

    /// Counts the glyphs of a range.
    static func glyphs(_ bytes: [UInt8]) -> Verdict {
        do {
            return try GlyphScanner.scan(bytes) <= bytes.count ? .accepted : .wrong("more glyphs than bytes")
        } catch {
            return .refused("\(error.code)")
        }
    }
}
