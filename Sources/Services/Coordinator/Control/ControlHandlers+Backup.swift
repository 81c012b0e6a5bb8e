import Errors
import Files
import Foundation
import Logging
import Telemetry
import Wire

extension ControlHandlers {
    /// Copies the state file in the background.
    func backUp(_ body: PBBackup, _ replyAddress: ReplyAddress) {
        let wall = environment.wall
        state.tick.tasks.append(
            .run(.backups) { [environment] in
                do {
                    return .answer(replyAddress, try await Self.backUp(body.name, wall: wall, environment))
                } catch let error as CoordinatorError {
                    return .answer(replyAddress, WireConversions.problem("\(error.code)", error.message))
                } catch {
                    let text = "The state cannot be backed up: \(error)"
                    return .answer(replyAddress, WireConversions.problem("backup-failed", text, retriable: true))
                }
            })
    }

    private static func backUp(
        _ name: String, wall: Int64, _ environment: LoopEnvironment
    ) async throws -> Message {
        let start = ContinuousClock.now
        let file = try await environment.store.backUp(
            named: name, into: StateStore.backupFolder(of: environment.options.data), wall: wall,
            pages: environment.options.backupPages)
        let bytes = try file.fileSize()
        environment.logger.notice("State backed up", metadata: [LogKey.path: "\(file.path)"])
        let elapsed = (ContinuousClock.now - start) / .milliseconds(1)
        return .backedUp(
            .make {
                $0.path = file.path
                $0.bytes = bytes
                $0.elapsedMs = UInt64(elapsed.rounded())
            })
    }
}
