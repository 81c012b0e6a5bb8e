internal import Errors
internal import Foundation

/// Reads files with credentials or tokens.
enum SecretFile {
    /// The text of a file, as far as the most bytes that are read.
    ///
    /// - Parameters:
    ///   - maxSize: In bytes.
    ///   - what: What the file is, as the beginning of messages.
    /// - Throws: ``S3Error`` `missing-secret`.
    static func text(of file: URL, maxSize: Int, _ what: String) throws(S3Error) -> String {
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }  // It was only read.
            return String(decoding: try handle.read(upToCount: maxSize) ?? Data(), as: UTF8.self)
        } catch {
            throw S3Error(.missingSecret, "\(what) cannot be read: \(error.localizedDescription)", cause: error)
        }
    }
}
