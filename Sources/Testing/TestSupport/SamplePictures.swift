internal import Foundation

/// Small real images: 16 x 16 pixels, drawn and encoded by us with Pillow; one of a single pixel.
public enum SamplePictures {
    /// A PNG of 24 bits.
    public static let pngRGB = decoded(
        """
        iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAUUlEQVR4nJXLSQ6AIBAEwEZRBBX4/2s9mBDCMvQkdS0DIGtYZACGV8JGqsPOaIJd6sMh
        G4ZTMAtuRgjXkBx8bxlCgwl3jQxPwYf3pwoRiNqQPtUfBvYx3YtwAAAAAElFTkSuQmCC
        """)
    /// A PNG with a palette.
    public static let pngPalette = decoded(
        """
        iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAgMAAABinRfyAAAADFBMVEV40GJ4iECwMCEwMAlj2H7eAAAAOElEQVR4nFXGsQ2AMBAEwfGLFqFJXASlOKcBRxwR
        ktlgtC1OhY/8b3Zl5Go5qAfblF4jnR11W3sBotoQx5L/MNoAAAAASUVORK5CYII=
        """)
    /// A progressive JPEG.
    public static let jpegProgressive = decoded(
        """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObDoKrarYqMyP/L2u71////m8H///
        /6/+b9//j/2wBDASstLTw1PHZBQXb4pYyl+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj4+Pj/wgARCAAQ
        ABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAwT/xAAVAQEBAAAAAAAAAAAAAAAAAAAAAv/aAAwDAQACEAMQAAABnRFh/8QAFhABAQ
        EAAAAAAAAAAAAAAAAAAAER/9oACAEBAAEFAsYkSP/EABURAQEAAAAAAAAAAAAAAAAAAAIA/9oACAEDAQE/AQ7/xAAVEQEBAAAAAAAAAAAAAAAA
        AAAAMf/aAAgBAgEBPwGv/8QAFBABAAAAAAAAAAAAAAAAAAAAIP/aAAgBAQAGPwIf/8QAFhABAQEAAAAAAAAAAAAAAAAAAQAQ/9oACAEBAAE/IS
        m1/9oADAMBAAIAAwAAABDH/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAgBAwEBPxAf/8QAFREBAQAAAAAAAAAAAAAAAAAAAQD/2gAIAQIBAT8Q
        Gf/EABUQAQEAAAAAAAAAAAAAAAAAAABh/9oACAEBAAE/EJJIIP/Z
        """)
    /// A lossy WebP.
    public static let webpLossy = decoded(
        """
        UklGRkIAAABXRUJQVlA4IDYAAADQAQCdASoQABAABUB8JbACdADO8BdHAAD+7t6hPK4gjP1V6rf3sNSo5vLbD3N9uk3aS94AAAA=
        """)
    /// A lossless WebP.
    public static let webpLossless = decoded(
        "UklGRjAAAABXRUJQVlA4TCMAAAAvD8ADALkyRPQ/dvWvf/Q/QKRtUwn3b3jwdCAmICYArpP1HwA=")
    /// A WebP with transparency and metadata.
    public static let webpExtended = decoded(
        """
        UklGRmIAAABXRUJQVlA4WAoAAAAYAAAAAwAAAwAAQUxQSAoAAAABB1DAiAhERP8DVlA4ICgAAACQAQCdASoEAAQABUB8JaACdLoAA5gA/ujXHXlPibb/5mj9
        JvpN5gAARVhJRgIAAABJSQ==
        """)

    /// An AVIF.
    public static let avif = decoded(
        """
        AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUIAAADrbWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAAAAAAAOcGl0bQAAAAAA
        AQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAETAAAANAAAAChpaW5mAAAAAAABAAAAGmluZmUCAAAAAAEAAGF2MDFDb2xvcgAAAABqaXBycAAAAEtpcGNvAAAA
        FGlzcGUAAAAAAAAAEAAAABAAAAAQcGl4aQAAAAADCAgIAAAADGF2MUOBAAwAAAAAE2NvbHJuY2x4AAEADQAGgAAAABdpcG1hAAAAAAAAAAEAAQQBAoMEAAAA
        PG1kYXQSAAoJGAz/2iAhoNCAMiUax4eF4cwwwwKFAAB1cvJpebDsY//bqauBGSRrUyBO4V08d3MY
        """)

    /// A PNG of one grey pixel.
    public static let pixel = decoded(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")

    private static func decoded(_ base64: String) -> [UInt8] {
        [UInt8](Data(base64Encoded: base64, options: .ignoreUnknownCharacters) ?? Data())
    }
}
