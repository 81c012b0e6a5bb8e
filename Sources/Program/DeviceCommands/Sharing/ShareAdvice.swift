internal import CommandSupport
import Errors
import Foundation
import OfflineMaps

/// What a command says when its catalog is a share that does not have something.
enum ShareAdvice {
    /// The problem of tasks that were answered with 404, with what the share has; other problems as they are.
    static func explain(_ problem: CLIError, of tasks: [StoreTask], in store: MapStore) async -> CLIError {
        let missing = tasks.filter { $0.state == .failed(.notFound) }
        // Without it the message says what happened, and not what is there.
        guard let first = missing.first, let settings = try? DeviceSettings.read(store.folder),
            let address = settings.address, let manifest = await read(address, settings)
        else { return problem }
        let wanted = missing.flatMap(\.items).map(\.words).joined(separator: ", ")
        return CLIError(
            problem.status,
            "the share at '\(settings.catalog ?? "")' does not have \(wanted); it has \(manifest.words)",
            hint:
                "install it where the share is made, or from its publisher; to give up: packhorse device cancel \(first.id.number)"
        )
    }

    private static func read(_ address: URL, _ settings: DeviceSettings) async -> ShareManifest? {
        let place = address.appending(path: ShareManifest.fileName, directoryHint: .notDirectory)
        // A catalog that is no share has no such document.
        guard let fetcher = try? DeviceFetcher(folder: settings.folder),
            let answer = try? await fetcher.body(ResourceRequest(place, .other), limit: ShareManifest.maxBytes)
        else { return nil }
        return ShareManifest(decoding: answer.body)
    }
}
