import Digests
import Files
import Foundation
import Testing

@testable import CatalogFormat

/// A catalog that a program with another Ed25519 (BoringSSL's) signed; signatures are the same from every correct one.
struct EarlierSignatureTests {
    private static let secret = "ed25519-secret:9nbVPfg+Xx2moS37neN9aG59JKcaz+tr1vjPcSnL0Bo=\n"
    private static let signature =
        "ynxjRzaFtqWIxEvIpD8wdVToyvyaojIzAReY0XzHEwveH7TybI+jyhGOjfyXRtuXHwQMrC7gmIAYNNN0pgGACw=="

    @Test func aCatalogSignedEarlierIsValid() throws {
        let key = try CatalogPublicKey("ed25519-public:NRa5Q0nqiFxHLaCOpvWxdwpIGS+ijZg+f1VeeV1ifd0=")
        let bytes = Array(Self.catalog.utf8)
        let file = """
            {"algorithm": "ed25519", "key_id": "457c7d7a23b44504", "signatures": [{"sha256":
            "1d97ee399de76b9021fb663f75a2fe009a36b4d96eb88e122019c7abcdc4c663", "signature": "\(Self.signature)"}]}
            """
        let signature = try CatalogSignature(decoding: Array(file.utf8))
        try signature.check(bytes, by: key)
        #expect(throws: CatalogError.self) { try signature.check(bytes + [0x20], by: key) }
    }

    @Test func theSameKeySignsAsBefore() throws {
        let scratch = try Scratch()
        let file = scratch.file("earlier.key")
        #expect(
            FileManager.default.createFile(
                atPath: file.path, contents: Data(Self.secret.utf8), attributes: [.posixPermissions: 0o600]))
        let key = try CatalogSecretKey(file: file)
        let bytes = Array(Self.catalog.utf8)
        let signed = try CatalogSignature(signing: bytes, Digest(of: bytes), with: key, earlier: nil)
        #expect(signed.keyID == "457c7d7a23b44504" && signed.signatures.map(\.signature) == [Self.signature])
    }

    private static let catalog = """
        {
          "editions" : [
            {
              "list" : {
                "sha256" : "9290c2e7de4319af768b028273694088ffc8b7ae3affa1fb055e46b10d54187e",
                "size" : 482,
                "url" : "packages.json"
              },
              "packages" : 1,
              "path" : "",
              "sizes" : {
                "mbtiles" : 12288
              }
            }
          ],
          "format" : "packhorse-catalog",
          "format_version" : 1,
          "limits" : {
            "tile_packs_per_device" : 750
          },
          "packages" : [
            {
              "edition" : "",
              "id" : "town",
              "names" : {
                "en" : "Town"
              },
              "versions" : [
                {
                  "agg_tiles_hash" : "DC4853FD201689061D69EC6D3730C2D5",
                  "files" : [
                    {
                      "format" : "mbtiles",
                      "sha256" : "4cac5c5645e41d85c30f1b6062e440a46c358e59559ee34c25cb97029d9b95bc",
                      "size" : 12288,
                      "url" : "packages/1/town.mbtiles"
                    }
                  ],
                  "max_zoom" : 0,
                  "min_zoom" : 0,
                  "patches" : [

                  ],
                  "tile_mask" : "QAAA:0",
                  "tileset" : "t",
                  "version" : 1
                }
              ]
            }
          ],
          "sequence" : 1,
          "tree" : [

          ]
        }

        """
}
