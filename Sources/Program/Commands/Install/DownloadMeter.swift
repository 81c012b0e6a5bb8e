internal import CommandSupport
import Foundation
import Synchronization
internal import TextFormats

/// Shows the progress of an installation's downloads by the size of the growing files.
final class DownloadMeter: Sendable {
    private let meter = ProgressMeter(.auto)
    private let bytes = Mutex<(all: UInt64, done: UInt64)>((0, 0))

    /// Sets the total size of all downloads in bytes.
    func expect(_ all: UInt64) { bytes.withLock { $0.all = all } }

    /// Runs a download and shows its progress.
    ///
    /// - Parameters:
    ///   - name: The name of the download.
    ///   - file: The file that receives its bytes.
    ///   - size: Its size in bytes.
    func follow<Value>(
        _ name: String, file: URL, size: UInt64, _ body: () async throws -> Value
    ) async throws -> Value {
        let (all, before) = bytes.withLock { $0 }
        let watch = Task {
            while !Task.isCancelled {
                // A file without a size counts as empty: this is only the progress bar.
                let now = min(all, before + ((try? FileKind.size(file)) ?? 0))
                meter.show(
                    ProgressBar(
                        name, fraction: Double(now) / Double(max(1, all)),
                        facts: ["\(Units.bytes(now)) of \(Units.bytes(all))"]))
                // A cancelled sleep ends the loop above.
                try? await Task.sleep(for: .milliseconds(200))
            }
        }
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        watch.cancel()
        // Waits, so that its last output comes before the next message.
        await watch.value
        meter.end()
        bytes.withLock { $0.done += size }
        return try result.get()
    }
}
