internal import Tiles

extension MapStore {
    /// Loads the pack that has a tile, for a map view; returns when it is readable, or when it cannot be loaded now.
    ///
    /// The pack belongs to no region. A task that would have to wait is cancelled: the view asks again.
    func loadPack(of tileset: String, with tile: TileID) async {
        guard await worker.isWorking else { return }
        var record = TaskRecord(id: TaskID(number: 0), kind: .load)
        record.viewed = ViewedTile(tileset: tileset, zoom: tile.zoom, column: tile.x, row: tile.y)
        record.rule.failsWithoutNetwork = true
        record.plansOnline = true
        // Before the task is added: its end may come at once.
        let events = events
        // A store that is closed or full loads nothing.
        guard let id = try? await add(record) else { return }
        for await event in events {
            guard case .task(let task) = event, task.id == id else { continue }
            switch task.state {
            case .done, .cancelled: return
            case .waiting(.turn), .waiting(.otherProcess), .downloading, .verifying, .installing, .removing: continue
            case .waiting, .paused, .failed:
                // It may have ended by itself meanwhile.
                _ = try? await cancel(id)
                return
            }
        }
    }
}

extension StoreWorker {
    /// Whether tasks can begin: here, or in the process that works.
    var isWorking: Bool {
        switch mode {
        case .closed: false
        case .reader: true
        case .worker: started == .all
        }
    }
}
