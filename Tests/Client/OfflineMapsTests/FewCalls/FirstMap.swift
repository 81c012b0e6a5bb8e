import Foundation
import OfflineMaps

/// Your map view, as far as this example needs it.
protocol MapScreen: Sendable {
    func show(_ percent: Int) async
    func draw(style: Data) async
}

/// Downloads France with its style, and shows it.
func showFrance(on screen: some MapScreen, folder: URL, catalog: URL, key: String) async throws {
    let maps = try await OfflineMaps.open(folder, catalog: catalog, key: key)
    for try await progress in maps.download("FR", style: "streets") {
        await screen.show(Int(progress.fraction * 100))
    }
    await screen.draw(style: try maps.style("streets", for: "FR"))
}
