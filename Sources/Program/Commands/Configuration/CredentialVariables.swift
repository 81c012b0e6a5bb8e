internal import CommandSupport
import Files
import Foundation

/// Secrets of tilesets as credentials of systemd: a file named like a variable, such as `TILES_TOKEN`, is that variable.
enum CredentialVariables {
    /// The largest value.
    private static let maxBytes = 65_536

    /// Sets the variables of `$CREDENTIALS_DIRECTORY` that are not set; called before anything else runs.
    static func set() {
        guard let folder = Variable.value("CREDENTIALS_DIRECTORY") else { return }
        for (name, value) in values(in: URL(filePath: folder, directoryHint: .isDirectory)) { setenv(name, value, 0) }
    }

    /// The values of a folder; files with other names, such as `worker.key`, are not values.
    static func values(in folder: URL) -> [String: String] {
        // A service without credentials has no folder.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        var values: [String: String] = [:]
        for name in names where name.wholeMatch(of: /[A-Z_][A-Z0-9_]*/) != nil {
            // What cannot be read is reported as a missing secret by what needs it.
            guard let file = try? GuardedFile.read(folder.appending(path: name), limit: maxBytes) else { continue }
            var text = String(decoding: file.bytes, as: UTF8.self)
            while text.last?.isNewline == true { text.removeLast() }
            if !text.isEmpty, !text.contains("\0") { values[name] = text }
        }
        return values
    }
}
