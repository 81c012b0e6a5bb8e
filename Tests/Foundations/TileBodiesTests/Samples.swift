import Errors
import Foundation
import TestSupport

@testable import TileBodies

/// Small real images.
enum Samples {
    static let pngRGB = SamplePictures.pngRGB
    static let pngPalette = SamplePictures.pngPalette
    static let jpegProgressive = SamplePictures.jpegProgressive
    static let webpLossy = SamplePictures.webpLossy
    static let webpLossless = SamplePictures.webpLossless
    static let webpExtended = SamplePictures.webpExtended
    static let avif = SamplePictures.avif

    /// Every raster with its format.
    static let rasters: [(TileFormat, [UInt8])] = [
        (.png, pngRGB), (.png, pngPalette), (.jpeg, jpegProgressive), (.webp, webpLossy), (.webp, webpLossless),
        (.webp, webpExtended), (.avif, avif),
    ]
}

/// A tiny writer of Protocol Buffers, so that tests can make tiles that no encoder would make.
struct Proto {
    var bytes: [UInt8] = []

    static func varint(_ value: UInt64) -> [UInt8] {
        var result: [UInt8] = []
        var rest = value
        while rest >= 0x80 {
            result.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        return result + [UInt8(rest)]
    }

    func number(_ field: UInt64, _ value: UInt64) -> Proto {
        Proto(bytes: bytes + Self.varint(field << 3) + Self.varint(value))
    }

    func data(_ field: UInt64, _ content: [UInt8]) -> Proto {
        Proto(bytes: bytes + Self.varint(field << 3 | 2) + Self.varint(UInt64(content.count)) + content)
    }

    func text(_ field: UInt64, _ content: String) -> Proto { data(field, Array(content.utf8)) }

    func packed(_ field: UInt64, _ values: [UInt64]) -> Proto { data(field, values.flatMap(Self.varint)) }
}

/// Vector tiles made by hand.
enum VectorSamples {
    /// A square: MoveTo(2,2) LineTo(+8,0 0,+8 -8,0) ClosePath.
    static let square: [UInt64] = [9, 4, 4, 26, 16, 0, 0, 16, 15, 0, 15]

    static func feature(tags: [UInt64] = [0, 0], type: UInt64 = 3, geometry: [UInt64] = square) -> [UInt8] {
        Proto().number(1, 7).packed(2, tags).number(3, type).packed(4, geometry).bytes
    }

    static func layer(
        name: String = "water", features: [[UInt8]] = [feature()], version: UInt64? = 2, keys: [String] = ["class"]
    ) -> [UInt8] {
        var layer = Proto().text(1, name)
        for feature in features { layer = layer.data(2, feature) }
        for key in keys { layer = layer.text(3, key) }
        layer = layer.data(4, Proto().text(1, "lake").bytes).data(4, Proto().number(4, 12).bytes)
        layer = layer.data(4, Proto().number(7, 1).bytes).number(5, 4096)
        if let version { layer = layer.number(15, version) }
        return layer.bytes
    }

    static func tile(_ layers: [[UInt8]]) -> [UInt8] {
        layers.reduce(Proto()) { $0.data(3, $1) }.bytes
    }

    static let plain = tile([layer(), layer(name: "roads", features: [feature(tags: [0, 1, 0, 2]), feature()])])
}

/// The code `body` is refused with, or `nil` when it is taken.
func refusal(
    _ body: [UInt8], _ format: TileFormat, _ coding: BodyCoding = .identity, limit: Int = Gzip.defaultLimit
) -> String? {
    do {
        _ = try BodyChecker(limit: limit).check(body, coding: coding, declared: format)
        return nil
    } catch {
        return error.code.description
    }
}
