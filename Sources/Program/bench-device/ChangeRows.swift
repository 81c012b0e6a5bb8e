import Foundation
import OfflineMaps
import Synchronization
import Tiles

/// Rows of a store that changes while it is read.
struct ChangeRows {
    let maps: BenchMaps
    let updates: Int
    let removed: Int

    func rows() async throws -> [Row] {
        let store = try await maps.store("changing", 0..<min(20, maps.count))
        // Made before anything is measured.
        let versions = try (0..<updates).map { number in
            let file = maps.folder.appending(path: "update-\(number).mbtiles")
            try maps.write(0, text: "P0 \(number + 2)", to: file)
            return file
        }
        let big = maps.count + 1
        try await fill(big, store)
        let tiles = try maps.tiles(0)
        func quiet() async throws -> Run { try await reading(store, tiles) { try await Task.sleep(for: .seconds(2)) } }
        let before = try await quiet()
        let updating = try await reading(store, tiles) {
            for file in versions { try await maps.adopt(file, 0, into: store) }
        }
        let between = try await quiet()
        let start = ContinuousClock().now
        let removing = try await reading(store, try maps.tiles(1)) {
            for id in try await store.remove([.package("P\(big)")]) { for await _ in store.progress(of: id) {} }
        }
        let took = ContinuousClock().now - start
        let after = try await quiet()
        func row(
            _ name: String, _ run: Run, after first: Run, before second: Run, limit: Double, note more: String = ""
        ) -> Row {
            let baseline = (first.times.p99 + second.times.p99) / 2
            return Row(
                piece: name, unit: "× quiet", value: run.times.p99 / max(1, baseline), limit: limit,
                note: "\(run.times.count) reads, \(Int(run.times.p99)) ns, quiet \(Int(baseline)) ns\(more)")
        }
        return [
            Row(
                piece: "4 readers, \(updates) updates, errors", unit: "", value: Double(updating.errors), limit: 0,
                note: "\(updating.times.count) reads"),
            row("4 readers, \(updates) updates, p99", updating, after: before, before: between, limit: 2),
            row(
                "4 readers, \(removed) MB removed, p99", removing, after: between, before: after, limit: 3,
                note: ", removed in \(Int(took / .milliseconds(1))) ms"),
            Row(
                piece: "4 readers, \(removed) MB removed, errors", unit: "", value: Double(removing.errors), limit: 0,
                note: "\(removing.times.count) reads"),
        ]
    }

    /// Adopts a package of so many megabytes.
    private func fill(_ number: Int, _ store: MapStore) async throws {
        let file = maps.folder.appending(path: "big.mbtiles")
        try maps.write(number, bytes: removed << 20, to: file)
        try await maps.adopt(file, number, into: store)
    }

    /// What the readers have seen.
    private struct Run {
        var times: ReadTimes
        var errors: Int
    }

    /// Reads with four threads while something runs.
    private func reading(_ store: MapStore, _ tiles: [TileID], during body: () async throws -> Void) async throws -> Run
    {
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
