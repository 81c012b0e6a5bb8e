import Synchronization

/// Lets one row at a time use the shared objects of the adapters, which the whole process has once.
enum SharedRows {
    private actor Turns {
        private var isTaken = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func enter() async {
            guard isTaken else {
                isTaken = true
                return
            }
            await withCheckedContinuation { waiting.append($0) }
        }

        func leave() {
            if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
        }
    }
    private static let turns = Turns()

    static func alone(_ body: () async throws -> Void) async throws {
        await turns.enter()
        do { try await body() } catch {
            await turns.leave()
            throw error
        }
        await turns.leave()
    }
}
