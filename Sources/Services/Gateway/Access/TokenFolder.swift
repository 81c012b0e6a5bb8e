internal import Errors
internal import Files
internal import Foundation
internal import Logging
internal import Synchronization
internal import Telemetry
internal import WebRequests

/// The token files of a folder, `NAME.token`; a change takes effect at the next look.
final class TokenFolder: Sendable {
    /// The most files that are read.
    static let maxTokens = 10_000

    private struct State: Sendable {
        var table = TokenTable()
        var stamps: [String: DocumentStamp] = [:]
        var entries: [String: TokenEntry] = [:]
        var refused: [String] = []
    }

    private let folder: URL
    private let logger: Logger
    private let state = Mutex(State())

    init(_ folder: URL, logger: Logger) {
        self.folder = folder
        self.logger = logger
    }

    /// The tokens now.
    var table: TokenTable { state.withLock { $0.table } }

    /// Reads every file again; blocks.
    ///
    /// - Returns: The tokens that are used now, in a few words.
    func reload() -> String {
        state.withLock { $0.stamps = [:] }
        refresh()
        let now = state.withLock { $0 }
        let refused = now.refused.isEmpty ? "" : "; refused \(now.refused.joined(separator: ", "))"
        return "\(now.table.count) tokens\(refused)"
    }

    private static func entry(_ url: URL) throws -> TokenEntry {
        let file: GuardedFile
        do { file = try GuardedFile.read(url, limit: TokenEntry.maxBytes) } catch {
            throw GatewayError(.unreadable, "Cannot read '\(url.path)': \(error.reason).", cause: error)
        }
        if let tampering = file.tampering {
            throw GatewayError(.unreadable, "The token file '\(url.path)' \(tampering)")
        }
        let name = url.deletingPathExtension().lastPathComponent
        return try TokenEntry(file: String(decoding: file.bytes, as: UTF8.self), name: name)
    }

    /// Reads the files that changed; blocks.
    ///
    /// A file that cannot be read allows nothing.
    func refresh() {
        // A folder that cannot be read has no tokens.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let before = state.withLock { $0 }
        var next = State()
        for file in names.sorted().prefix(Self.maxTokens) where file.hasSuffix(".token") && !file.hasPrefix(".") {
            let url = folder.appendingPathComponent(file)
            guard let stamp = DocumentStamp(path: url.path) else { continue }
            next.stamps[file] = stamp
            if before.stamps[file] == stamp {
                next.entries[file] = before.entries[file]
                if before.refused.contains(file) { next.refused.append(file) }
                continue
            }
            do {
                next.entries[file] = try Self.entry(url)
            } catch {
                next.refused.append(file)
                logger.warning(
                    "Token file refused",
                    metadata: [LogKey.path: "\(url.path)", LogKey.errorMessage: "\(error)"])
            }
        }
        next.table = TokenTable(Array(next.entries.values))
        state.withLock { [next] in $0 = next }
    }
}
