internal import Errors
internal import Foundation
internal import Synchronization

/// The credentials file that AWS tools share: sections `[profile]` with lines `name = value`.
///
/// It is read again when it has changed, so that tokens which another program renews are used without a restart.
final class SharedCredentialsFile: ConfiguredProvider {
    /// The largest file that is read.
    ///
    /// Unit: bytes.
    private static let maxSize = 1 << 20
    private static let names = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"]

    private let file: URL
    private let profile: String
    private let known: Mutex<(stamp: Stamp, credentials: S3Credentials)>

    /// Which contents the file had.
    private struct Stamp: Equatable {
        let modified: Date?
        let size: Int?
        let number: Int?

        init(_ file: URL) {
            // A missing file has no stamp.
            let values = try? FileManager.default.attributesOfItem(atPath: file.path)
            modified = values?[.modificationDate] as? Date
            size = values?[.size] as? Int
            number = values?[.systemFileNumber] as? Int
        }
    }

    /// Reads the file once.
    ///
    /// - Returns: `nil` if no variable names a file or profile, and the usual file does not exist.
    /// - Throws: ``S3Error`` `missing-secret`.
    init?(ifAskedBy environment: [String: String]) throws(S3Error) {
        let named = environment["AWS_SHARED_CREDENTIALS_FILE"]
        guard let path = named ?? environment["HOME"].map({ "\($0)/.aws/credentials" }) else { return nil }
        file = URL(filePath: path, directoryHint: .notDirectory)
        let chosen = environment["AWS_PROFILE"]
        guard named != nil || chosen != nil || FileManager.default.fileExists(atPath: path) else { return nil }
        profile = chosen ?? "default"
        let stamp = Stamp(file)
        known = Mutex((stamp, try Self.read(file, profile)))
    }

    /// The credentials that the file has now; the former ones while it is missing or being written.
    func current() -> S3Credentials {
        let stamp = Stamp(file)
        return known.withLock { known in
            // What cannot be read may be half written: it is read again for the next request.
            if stamp != known.stamp, let new = try? Self.read(file, profile) { known = (stamp, new) }
            return known.credentials
        }
    }

    private static func read(_ file: URL, _ profile: String) throws(S3Error) -> S3Credentials {
        let text = try SecretFile.text(of: file, maxSize: maxSize, "The S3 credentials of '\(file.path)'")
        guard let values = section(profile, of: text) else {
            throw S3Error(
                .missingSecret,
                "'\(file.path)' has no profile '\(profile)'. Add the section, or name another one with AWS_PROFILE.")
        }
        return try S3Credentials(values, names: names, of: "profile '\(profile)' of '\(file.path)'")
    }

    /// The values of a section; `nil` without it.
    static func section(_ name: String, of text: String) -> [String: String]? {
        var found: [String: String]?
        var isInside = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("["), let end = line.firstIndex(of: "]") {
                isInside = line[line.index(after: line.startIndex)..<end].trimmingCharacters(in: .whitespaces) == name
                if isInside { found = found ?? [:] }
            } else if isInside, let equal = line.firstIndex(of: "="), !line.hasPrefix("#"), !line.hasPrefix(";") {
                let key = line[..<equal].trimmingCharacters(in: .whitespaces).lowercased()
                found?[key] = line[line.index(after: equal)...].trimmingCharacters(in: .whitespaces)
            }
        }
        return found
    }
}
