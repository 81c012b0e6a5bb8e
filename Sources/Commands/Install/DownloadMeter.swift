import Foundation
import Synchronization

/// Follows the downloads of an installation by the files that grow.
final class DownloadMeter: Sendable {
    private let meter = ProgressMeter(.auto)
    private let bytes = Mutex<(all: UInt64, done: UInt64)>((0, 0))

    /// Tells how many bytes all downloads together have.
    func expect(_ all: UInt64) { bytes.withLock { $0.all = all } }

    /// Runs a download and shows how far it is.
    ///
    /// - Parameters:
    ///   - name: What is fetched.
    ///   - file: Where its bytes go.
    ///   - size: Its bytes.
    func follow<Value>(
        _ name: String, _ file: URL, size: UInt64, _ body: () async throws -> Value
    ) async throws -> Value {
        let (all, before) = bytes.withLock { $0 }
        let watch = Task {
            while !Task.isCancelled {
                let now = min(all, before + ((try? FileKind.size(file)) ?? 0))
                meter.show(
                    ProgressBar(
                        name, fraction: Double(now) / Double(max(1, all)),
                        facts: ["\(Units.bytes(now)) of \(Units.bytes(all))"]))
                try? await Task.sleep(for: .milliseconds(200))
            }
        }
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        watch.cancel()
        // What it draws last comes before whatever is said next.
        await watch.value
        meter.end()
        bytes.withLock { $0.done += size }
        return try result.get()
    }
}
