import Errors
import Foundation
import Testing

@testable import ZeroMQ

struct KeyFileTests {
    @Test func aWrittenPairIsReadBack() async throws {
        try await withFolder { folder in
            let pair = try KeyPair.generate()
            let secret = folder.appendingPathComponent("mule.key")
            let open = folder.appendingPathComponent("mule.pub")
            try KeyFile.write(secretOf: pair, to: secret)
            try KeyFile.write(pair.publicKey, to: open)
            #expect(try KeyFile.readSecret(secret).publicKey == pair.publicKey)
            #expect(try KeyFile.readPublic(open) == pair.publicKey)
            let attributes = try FileManager.default.attributesOfItem(atPath: secret.path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
    }

    @Test func aKeyIsNeverOverwritten() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("mule.key")
            try KeyFile.write(secretOf: try KeyPair.generate(), to: file)
            let error = #expect(throws: ZeroMQError.self) {
                try KeyFile.write(secretOf: try KeyPair.generate(), to: file)
            }
            #expect(error?.code == .keyFile)
        }
    }

    @Test func aSecretThatOthersMayReadIsRefusedWithTheCure() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("mule.key")
            try KeyFile.write(secretOf: try KeyPair.generate(), to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
            let error = #expect(throws: ZeroMQError.self) { try KeyFile.readSecret(file) }
            #expect(error?.code == .keyPermissions)
            #expect(error?.message.contains("chmod 600") == true)
        }
    }

    /// As Kubernetes mounts a secret with an fsGroup: links to a read-only file of a group of this process.
    @Test func aMountedSecretIsReadThroughItsLinks() async throws {
        try await withFolder { folder in
            let real = folder.appendingPathComponent("..2026_11_26")
            try FileManager.default.createDirectory(at: real, withIntermediateDirectories: true)
            let pair = try KeyPair.generate()
            let file = real.appendingPathComponent("mule.key")
            try KeyFile.write(secretOf: pair, to: file)
            chmod(file.path, 0o440)
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/..data", withDestinationPath: "..2026_11_26")
            try FileManager.default.createSymbolicLink(
                atPath: folder.path + "/mule.key", withDestinationPath: "..data/mule.key")
            let link = folder.appendingPathComponent("mule.key")
            #expect(try KeyFile.readSecret(link).publicKey == pair.publicKey)
            // What counts are the permissions of the file, not of the link.
            chmod(file.path, 0o444)
            let error = #expect(throws: ZeroMQError.self) { try KeyFile.readSecret(link) }
            #expect(error?.code == .keyPermissions && error?.message.contains("chmod 600 '\(link.path)'") == true)
            chmod(file.path, 0o440)
            if geteuid() == 0 {
                // A group that this process does not belong to.
                chown(file.path, 0, 54_321)
                #expect(throws: ZeroMQError.self) { try KeyFile.readSecret(link) }
            }
        }
    }

    @Test func aPublicKeyThatOthersMayChangeIsRefused() async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("mule.pub")
            try KeyFile.write(try KeyPair.generate().publicKey, to: file)
            chmod(file.path, 0o646)
            let error = #expect(throws: ZeroMQError.self) { try KeyFile.readEntry(file) }
            #expect(error?.code == .keyPermissions && error?.message.contains("chmod go-w") == true)
        }
    }

    @Test(arguments: [
        "", "# only a comment\n", "too short", String(repeating: "~", count: 40), String(repeating: "0", count: 41),
    ])
    func aMalformedKeyIsRefusedByName(text: String) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("bad.pub")
            try Data(text.utf8).write(to: file)
            let error = #expect(throws: ZeroMQError.self) { try KeyFile.readPublic(file) }
            #expect(error?.code == .badKey)
            #expect(error?.message.contains("bad.pub") == true)
        }
    }

    @Test func aMissingFileAndAFolderAreRefused() async throws {
        try await withFolder { folder in
            for (file, code) in [(folder, ZeroMQError.Code.keyFile), (folder.appending(path: "none.key"), .keyMissing)]
            {
                let error = #expect(throws: ZeroMQError.self) { try KeyFile.readSecret(file) }
                #expect(error?.code == code)
            }
            let open = folder.appending(path: "mule.pub")
            try KeyFile.write(try KeyPair.generate().publicKey, to: open)
            let error = #expect(throws: ZeroMQError.self) { try KeyFile.readSecret(open) }
            #expect(error?.code == .badKey && error?.message.contains("public half") == true)
            #expect(throws: ZeroMQError.self) { try AllowList(folder: folder.appendingPathComponent("none")) }
        }
    }

    @Test func theSecretIsNeverPrinted() throws {
        let pair = try KeyPair.generate()
        #expect(!"\(pair)".contains(pair.secret))
        #expect("\(pair)".contains(pair.publicKey.z85))
    }

    @Test func theAllowListReadsOnlyPublicKeysAndSkipsBrokenOnes() async throws {
        try await withFolder { folder in
            let key = try KeyPair.generate().publicKey
            try KeyFile.write(key, to: folder.appendingPathComponent("mule.pub"))
            try Data("broken".utf8).write(to: folder.appendingPathComponent("ass.pub"))
            try Data(key.z85.utf8).write(to: folder.appendingPathComponent("notes.txt"))
            let list = try AllowList(folder: folder)
            #expect(list.entry(of: key)?.name == "mule")
            #expect(list.entry(of: try KeyPair.generate().publicKey) == nil)
        }
    }

    @Test(
        arguments: [
            ("", .unstated), ("roles: viewer\n", .viewer), ("# who\nroles: worker, merger", [.worker, .merger]),
            ("roles:operator viewer\r\n", [.operator, .viewer]),
        ] as [(String, PeerRoles)])
    func aKeyFileNamesItsRolesOrNone(lines: String, roles: PeerRoles) throws {
        let key = try KeyPair.generate().publicKey
        let found = try KeyFile.parse(Array("# Packhorse public key.\n\(key)\n\(lines)".utf8))
        #expect((found.key, found.roles) == (key, roles))
    }

    @Test(arguments: ["roles:", "roles: king", "role: viewer", "roles: viewer\nroles: operator", "Roles: viewer"])
    func aMisspeltRoleGrantsNothing(line: String) throws {
        let key = try KeyPair.generate().publicKey
        let error = #expect(throws: ZeroMQError.self) { try KeyFile.parse(Array("\(key)\n\(line)\n".utf8)) }
        #expect(error?.code == .badRole)
    }

    @Test func theListingNamesEveryFileAndWhatIsWrongWithIt() async throws {
        try await withFolder { folder in
            let key = try KeyPair.generate().publicKey
            try KeyFile.write(key, roles: [.viewer], to: folder.appendingPathComponent("eye.pub"))
            try Data("\(key)\nroles: king".utf8).write(to: folder.appendingPathComponent("king.pub"))
            let listing = try AllowList.listing(of: folder)
            #expect(listing.map(\.file.lastPathComponent) == ["eye.pub", "king.pub"])
            #expect(try listing[0].entry.get().roles == .viewer)
            #expect(throws: ZeroMQError.self) { try listing[1].entry.get() }
        }
    }
}
