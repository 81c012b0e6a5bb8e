internal import CommandSupport
import Errors
internal import Foundation
import OfflineMaps

/// Says what is wrong with the items of a store, each with its reason and its remedy.
enum DeviceProblems {
    /// Warns of missing and damaged files, tasks that have failed, and regions that lack something.
    ///
    /// - Parameters:
    ///   - items: The items that are meant.
    ///   - failed: The tasks that have failed, also of items that were never installed.
    /// - Returns: Whether nothing is wrong.
    @discardableResult static func warn(
        of items: [Item], _ failed: [StoreTask], in store: MapStore
    ) async throws -> Bool {
        var isSound = try await warnOfFaults(items, in: store)
        for problem in failed.compactMap(\.problem) {
            Console.warning([problem.message, problem.hint].compactMap { $0 }.joined(separator: "; "))
            isSound = false
        }
        for case .region(let id) in items where !failed.contains(where: { $0.items.contains(.region(id)) }) {
            guard let info = try await store.region(id), info.state == .incomplete else { continue }
            isSound = false
            let words = (info.failed + info.missing).map { one in
                "\(one.count) x \(one.what)\(one.cause.map { ": " + $0.words } ?? "")"
            }
            Console.warning(
                "the region '\(id.text)' lacks \(words.joined(separator: ", ")); packhorse device region load '\(id.text)' downloads it"
            )
        }
        return isSound
    }

    /// Warns of files that are not at their places, and of items that are damaged.
    ///
    /// - Returns: Whether there are none.
    @discardableResult static func warnOfFaults(_ items: [Item], in store: MapStore) async throws -> Bool {
        var isSound = true
        for item in items {
            let status = try await store.status(of: item)
            if let installed = status?.installed, installed.isDamaged {
                Console.warning(
                    "\(item.words) is damaged: tiles of it cannot be read; packhorse device repair downloads it again")
                isSound = false
            }
            for file in status?.missingFiles ?? [] {
                let remedy =
                    if !file.path.hasPrefix(store.folder.path + "/") {
                        "put its card back in, or remove the item"
                    } else if file.path.contains("/units/adopted/") {
                        "adopt it again, or remove the item"
                    } else {
                        "packhorse device repair downloads it again"
                    }
                Console.warning("the file of \(item.words) is missing: \(file.path); \(remedy)")
                isSound = false
            }
        }
        return isSound
    }

    /// The tasks of items that have failed; `nil` means all tasks.
    static func failedTasks(of items: [Item]?, in store: MapStore) async throws -> [StoreTask] {
        try await store.tasks().filter { task in
            guard case .failed = task.state else { return false }
            return items.map { !Set($0).isDisjoint(with: task.items) } ?? true
        }
    }
}
