import Foundation
import OfflineMaps
import Synchronization
import Tiles

/// Rows of a store that changes while it is read.
struct ChangeRows {
    let maps: BenchMaps
    let reads: Int
    let updates: Int
    let removed: Int

    func rows() async throws -> [PieceRow] {
        let store = try await maps.store(0..<min(20, maps.count))
        let quiet = try await reading(store, tiles: try maps.tiles(0)) { try await Task.sleep(for: .seconds(2)) }
        let updating = try await reading(store, tiles: try maps.tiles(0)) {
            for version in 2..<updates + 2 { try await maps.adopt(0, text: "P0 \(version)", into: store) }
        }
        let big = maps.count + 1
        try await fill(big, store)
        let removing = try await reading(store, tiles: try maps.tiles(1)) {
            for id in try await store.remove([.package("P\(big)")]) { for await _ in store.progress(of: id) {} }
        }
        func note(_ run: Run) -> String {
            "\(run.times.count) reads, p99 \(Int(run.times.p99)) ns, quiet \(Int(quiet.times.p99)) ns"
        }
        return [
            PieceRow(
                piece: "4 readers, \(updates) updates, errors", unit: "", value: Double(updating.errors), limit: 0,
                note: "\(updating.times.count) reads"),
            PieceRow(
                piece: "4 readers, \(updates) updates, p99", unit: "× quiet",
                value: updating.times.p99 / max(1, quiet.times.p99), limit: 2, note: note(updating)),
            PieceRow(
                piece: "4 readers, \(removed) MB removed, p99", unit: "× quiet",
                value: removing.times.p99 / max(1, quiet.times.p99), limit: 3, note: note(removing)),
        ]
    }

    /// Adopts a file of so many megabytes: a package with random bytes at its end.
    private func fill(_ number: Int, _ store: MapStore) async throws {
        // Zoom 7 + 6: 5,461 tiles of 3.9 KB are 21 MB; each zoom more is four times as much.
        let depth = removed <= 25 ? 6 : removed <= 100 ? 7 : 8
        try await maps.adopt(number, depth: depth, text: "P\(number)", into: store)
    }

    /// What the readers have seen.
    private struct Run {
        var times: ReadTimes
        var errors: Int
    }

    /// Reads with four threads while something runs.
    private func reading(_ store: MapStore, tiles: [TileID], _ body: () async throws -> Void) async throws -> Run {
        let errors = Mutex(0)
        let (isOver, reader) = (Flag(), store.tiles)
        let samples = Mutex<[Double]>([])
        let done = DispatchGroup()
        for thread in 0..<4 {
            done.enter()
            Thread.detachNewThread {
                let clock = ContinuousClock()
                var times: [Double] = []
                var number = thread
                while !isOver.isSet {
                    number = (number + 7) % tiles.count
                    let start = clock.now
                    let isRead: Bool
                    // Any error and any tile that is away counts.
                    if case .found? = try? reader.tile(tiles[number]) { isRead = true } else { isRead = false }
                    if times.count < 2_000_000 {
                        times.append(Double((clock.now - start).components.attoseconds) / 1e9)
                    }
                    if !isRead { errors.withLock { $0 += 1 } }
                }
                let all = times
                samples.withLock { $0 += all }
                done.leave()
            }
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        isOver.set()
        await withCheckedContinuation { continuation in done.notify(queue: .global()) { continuation.resume() } }
        try result.get()
        return Run(times: ReadTimes(samples.withLock { $0 }), errors: errors.withLock { $0 })
    }
}

/// Tells threads to end.
private final class Flag: Sendable {
    private let word = Atomic<Bool>(false)
    var isSet: Bool { word.load(ordering: .relaxed) }
    func set() { word.store(true, ordering: .relaxed) }
}
