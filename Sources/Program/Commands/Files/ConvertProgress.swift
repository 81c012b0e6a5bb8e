internal import CommandSupport
import Packages
internal import TextFormats

/// Shows the progress of a conversion.
///
/// The number of tiles is not known before its end.
struct ConvertProgress {
    private let format: PackageFormat
    private let meter: ProgressMeter
    private let start = ContinuousClock.now

    init(_ format: PackageFormat, _ style: ProgressOptions.Style) {
        self.format = format
        meter = ProgressMeter(style)
    }

    /// Sets the number of tiles written so far; 0 while the source is being read.
    func show(_ tiles: UInt64) {
        meter.show(bar(tiles)) { #"{"format":"\#(format)","tiles":\#(tiles)}"# }
    }

    private func bar(_ tiles: UInt64) -> ProgressBar {
        let rate = Double(tiles) / max(0.001, start.duration(to: .now).seconds)
        return ProgressBar(
            "\(format)", fraction: nil,
            facts: tiles == 0 ? ["reading"] : [Units.count(tiles, of: "tile"), "\(Units.count(UInt64(rate))) tiles/s"])
    }

    /// Removes the progress bar.
    func end() { meter.end() }
}
