internal import ClusterClient
import Wire
import ZeroMQ

/// The workers that a coordinator of this machine knows.
enum ConnectedWorkers {
    /// Waits until the coordinator has heard from all of these workers, or the task is cancelled.
    ///
    /// - Parameter isThere: Called once for each.
    static func wait(for names: [String], at endpoint: String, isThere: @Sendable (String) -> Void) async {
        var missing = Set(names)
        while !missing.isEmpty, !Task.isCancelled {
            do {
                let client = try ControlClient(
                    endpoint: endpoint, security: .plain, allowPlain: false, timeout: .seconds(5))
                do {
                    while !missing.isEmpty {
                        let found = Set(try await client.workers().filter { !$0.isSilent }.map(\.name))
                        missing.intersection(found).forEach(isThere)
                        missing.subtract(found)
                        if !missing.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
                    }
                    await client.close()
                } catch {
                    await client.close()
                    throw error
                }
            } catch {
                // Asked again: a coordinator that has ended is reported by its end.
                do { try await Task.sleep(for: .milliseconds(200)) } catch { return }
            }
        }
    }
}
