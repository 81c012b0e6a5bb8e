import Errors
import Foundation

@testable import TileBodies

/// Small real images: 16 x 16 pixels, drawn and encoded by us with Pillow.
enum Samples {
    static let pngRGB = decoded(
        """
        iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAUUlEQVR4nJXLSQ6AIBAEwEZRBBX4/2s9mBDCMvQkdS0DIGtYZACGV8JGqsPOaIJd6sMh
        G4ZTMAtuRgjXkBx8bxlCgwl3jQxPwYf3pwoRiNqQPtUfBvYx3YtwAAAAAElFTkSuQmCC
        """)
    static let pngPalette = decoded(
        """
        iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAgMAAABinRfyAAAADFBMVEV40GJ4iECwMCEwMAlj2H7eAAAAOElEQVR4nFXGsQ2AMBAEwfGLFqFJXASlOKcBRxwR
        ktlgtC1OhY/8b3Zl5Go5qAfblF4jnR11W3sBotoQx5L/MNoAAAAASUVORK5CYII=
        """)
    static let jpegProgressive = decoded(
        """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////m8H///
        /6/+b9//j/2wBDASstLTw1PHZBQXb4pYyl+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj/wgARCAAQ
        ABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAwT/xAAVAQEBAAAAAAAAAAAAAAAAAAAAAv/aAAwDAQACEAMQAAABnRFh/8QAFhABAQ
        EAAAAAAAAAAAAAAAAAAAER/9oACAEBAAEFAsYkSP/EABURAQEAAAAAAAAAAAAAAAAAAAIA/9oACAEDAQE/AQ7/xAAVEQEBAAAAAAAAAAAAAAAA
        AAAAMf/aAAgBAgEBPwGv/8QAFBABAAAAAAAAAAAAAAAAAAAAIP/aAAgBAQAGPwIf/8QAFhABAQEAAAAAAAAAAAAAAAAAAQAQ/9oACAEBAAE/IS
        m1/9oADAMBAAIAAwAAABDH/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAgBAwEBPxAf/8QAFREBAQAAAAAAAAAAAAAAAAAAAQD/2gAIAQIBAT8Q
        Gf/EABUQAQEAAAAAAAAAAAAAAAAAAABh/9oACAEBAAE/EJJIIP/Z
        """)
    static let webpLossy = decoded(
        """
        UklGRkIAAABXRUJQVlA4IDYAAADQAQCdASoQABAABUB8JbACdADO8BdHAAD+7t6hPK4gjP1V6rf3sNSo5vLbD3N9uk3aS94AAAA=
        """)
    static let webpLossless = decoded(
        "UklGRjAAAABXRUJQVlA4TCMAAAAvD8ADALkyRPQ/dvWvf/Q/QKRtUwn3b3jwdCAmICYArpP1HwA=")
    static let webpExtended = decoded(
        """
        UklGRmIAAABXRUJQVlA4WAoAAAAYAAAAAwAAAwAAQUxQSAoAAAABB1DAiAhERP8DVlA4ICgAAACQAQCdASoEAAQABUB8JaACdLoAA5gA/ujXHXlPibb/5mj9
        JvpN5gAARVhJRgIAAABJSQ==
        """)
    static let avif = decoded(
        """
        AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUIAAADrbWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAAAAAAAOcGl0bQAAAAAA
        AQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAETAAAANAAAAChpaW5mAAAAAAABAAAAGmluZmUCAAAAAAEAAGF2MDFDb2xvcgAAAABqaXBycAAAAEtpcGNvAAAA
        FGlzcGUAAAAAAAAAEAAAABAAAAAQcGl4aQAAAAADCAgIAAAADGF2MUOBAAwAAAAAE2NvbHJuY2x4AAEADQAGgAAAABdpcG1hAAAAAAAAAAEAAQQBAoMEAAAA
        PG1kYXQSAAoJGAz/2iAhoNCAMiUax4eF4cwwwwKFAAB1cvJpebDsY//bqauBGSRrUyBO4V08d3MY
        """)

    /// Every raster with its format.
    static let rasters: [(TileFormat, [UInt8])] = [
        (.png, pngRGB), (.png, pngPalette), (.jpeg, jpegProgressive), (.webp, webpLossy), (.webp, webpLossless),
        (.webp, webpExtended), (.avif, avif),
    ]

    private static func decoded(_ base64: String) -> [UInt8] {
        [UInt8](Data(base64Encoded: base64, options: .ignoreUnknownCharacters) ?? Data())
    }
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
