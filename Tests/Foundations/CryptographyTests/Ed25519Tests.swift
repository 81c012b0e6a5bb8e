import Cryptography
import Testing

struct Ed25519Tests {
    struct Vector: Sendable {
        let secret: [UInt8]
        let key: [UInt8]
        let bytes: [UInt8]
        let signature: [UInt8]
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// Tests 1 to 3 of RFC 8032, section 7.1.
    static let vectors = [
        Vector(
            secret: bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"),
            key: bytes("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"), bytes: [],
            signature: bytes(
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
            )),
        Vector(
            secret: bytes("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"),
            key: bytes("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"), bytes: [0x72],
            signature: bytes(
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
            )),
        Vector(
            secret: bytes("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7"),
            key: bytes("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"), bytes: [0xAF, 0x82],
            signature: bytes(
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
            )),
    ]

    @Test(arguments: vectors) func aSignatureIsThatOfTheStandard(_ vector: Vector) {
        #expect(Ed25519.publicKey(of: vector.secret) == vector.key)
        #expect(Ed25519.sign(vector.bytes, with: vector.secret) == vector.signature)
        #expect(Ed25519.isValid(vector.signature, for: vector.bytes, key: vector.key))
    }

    @Test(arguments: vectors) func everyChangedBitMakesASignatureInvalid(_ vector: Vector) {
        for bit in 0..<512 {
            var signature = vector.signature
            signature[bit / 8] ^= 1 << (bit % 8)
            #expect(!Ed25519.isValid(signature, for: vector.bytes, key: vector.key))
        }
        #expect(!Ed25519.isValid(vector.signature, for: vector.bytes + [0], key: vector.key))
    }

    /// The group's order added to the second half: RFC 8032, 5.1.7 refuses this second form of a signature.
    @Test func aSecondFormOfASignatureIsInvalid() {
        let order: [UInt8] =
            Self.bytes("edd3f55c1a631258d69cf7a2def9de14") + [UInt8](repeating: 0, count: 15) + [0x10]
        var signature = Self.vectors[1].signature
        var carry = 0
        for index in 0..<32 {
            let sum = Int(signature[32 + index]) + Int(order[index]) + carry
            signature[32 + index] = UInt8(sum & 255)
            carry = sum >> 8
        }
        #expect(!Ed25519.isValid(signature, for: Self.vectors[1].bytes, key: Self.vectors[1].key))
    }

    @Test(arguments: [0, 1, 31, 33, 64]) func whatHasAnotherLengthIsRefused(count: Int) {
        let (vector, other) = (Self.vectors[0], [UInt8](repeating: 7, count: count))
        #expect(Ed25519.publicKey(of: other) == nil)
        #expect(Ed25519.sign([1], with: other) == nil)
        #expect(!Ed25519.isValid(vector.signature, for: [], key: other))
        #expect(!Ed25519.isValid(Array(vector.signature.prefix(count == 64 ? 63 : count)), for: [], key: vector.key))
    }

    /// Every value of a byte at the end, so also those that are no point of the curve.
    @Test func anyBytesMayBeAKey() {
        for last in 0...255 {
            let key = [UInt8](repeating: 0xA5, count: 31) + [UInt8(last)]
            #expect(!Ed25519.isValid(Self.vectors[0].signature, for: [], key: key))
        }
    }

    @Test func newKeysDiffer() throws {
        let secrets = (0..<8).map { _ in Ed25519.makeSecretKey() }
        #expect(Set(secrets).count == 8 && secrets.allSatisfy { $0.count == 32 })
        let key = try #require(Ed25519.publicKey(of: secrets[0]))
        let signature = try #require(Ed25519.sign([1, 2, 3], with: secrets[0]))
        #expect(Ed25519.isValid(signature, for: [1, 2, 3], key: key))
    }
}
