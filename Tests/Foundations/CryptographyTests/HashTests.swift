import Cryptography
import Testing

struct HashTests {
    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    private static func sha256(_ bytes: [UInt8]) -> String {
        var hash = SHA256()
        hash.update(bytes)
        return hex(hash.finish())
    }

    /// The examples of FIPS 180-2, appendix B, and no bytes.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func sha256IsThatOfTheStandard(text: String, digest: String) {
        #expect(Self.sha256(Array(text.utf8)) == digest)
    }

    /// The third example; not an argument of the test above, because a run prints those.
    @Test func sha256OfAMillionBytesIsThatOfTheStandard() {
        let digest = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        #expect(Self.sha256([UInt8](repeating: 0x61, count: 1_000_000)) == digest)
    }

    @Test func piecesHashAsTheWhole() {
        let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        for size in [1, 63, 64, 65, 999] {
            var hash = SHA256()
            for start in stride(from: 0, to: bytes.count, by: size) {
                hash.update(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            #expect(Self.hex(hash.finish()) == Self.sha256(bytes))
        }
    }

    /// Seals hash a file twice from one state: `finish` leaves the state alone, and a copy has its own.
    @Test func aCopyContinuesOnItsOwn() {
        var hash = SHA256()
        hash.update(Array("ab".utf8))
        _ = hash.finish()
        var copy = hash
        copy.update(Array("x".utf8))
        hash.update(Array("c".utf8))
        #expect(Self.hex(hash.finish()) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(Self.hex(copy.finish()) == Self.sha256(Array("abx".utf8)))
    }

    /// The test suite of RFC 1321, A.5.
    @Test(arguments: [
        ("", "D41D8CD98F00B204E9800998ECF8427E"),
        ("a", "0CC175B9C0F1B6A831C399E269772661"),
        ("abc", "900150983CD24FB0D6963F7D28E17F72"),
        ("message digest", "F96B697D7CB7938D525A2F31AAF161D0"),
        ("abcdefghijklmnopqrstuvwxyz", "C3FCD3D76192E4007DFB496CCA67E13B"),
        (String(repeating: "1234567890", count: 8), "57EDF4A22BE3C955AC49DA2E2107B67A"),
    ])
    func md5IsThatOfTheStandard(text: String, digest: String) {
        #expect(MD5.text(of: Array(text.utf8)) == digest)
    }

    /// Cases 1, 2, 3, 6 and 7 of RFC 4231, section 4: short keys, and keys longer than a block.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131),
            Array(
                "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm."
                    .utf8),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
    ])
    func theAuthenticationCodeIsThatOfTheStandard(key: [UInt8], bytes: [UInt8], code: String) {
        #expect(Self.hex(SHA256.authenticationCode(of: bytes, key: key)) == code)
    }
}
