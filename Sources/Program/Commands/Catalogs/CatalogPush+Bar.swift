import CatalogTransfer
import CommandSupport
import TextFormats

extension CatalogPush.Step {
    /// The state as a progress bar.
    var bar: ProgressBar {
        ProgressBar(
            "\(Units.count(files.done))/\(Units.count(files.all, of: "file"))",
            fraction: Double(bytes.done) / Double(max(1, bytes.all)),
            facts: ["\(Units.bytes(bytes.done)) of \(Units.bytes(bytes.all))", line])
    }
}
