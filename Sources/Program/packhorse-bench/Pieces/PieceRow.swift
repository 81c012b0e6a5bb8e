internal import CommandSupport
import Foundation
internal import TextFormats

/// One row of the table of `bench-pieces`: what was measured, its baseline, and whether the threshold was met.
struct PieceRow: Encodable {
    /// What was measured.
    ///
    /// The key of the row.
    let piece: String
    /// The unit of ``value`` and ``baselineValue``, such as `MB/s`, or `s` without a baseline.
    let unit: String
    /// The median of all rounds.
    let value: Double
    /// The baseline that processed the same bytes in the same rounds; `nil` for rows with a fixed limit.
    let baseline: String?
    let baselineValue: Double?
    /// ``value`` divided by ``baselineValue``, in processor time.
    let ratio: Double?
    /// The same in wall time, which the disk and other processes disturb.
    ///
    /// Not judged.
    let wallRatio: Double?
    /// The smallest accepted ``ratio``, or without a ratio the largest accepted ``value``.
    let threshold: Double
    /// Further counts.
    let note: String?
    /// Whether the threshold was met.
    let met: Bool

    /// A row with a baseline.
    init(
        piece: String, unit: String, value: Double, baseline: String, baselineValue: Double, ratio: Double,
        wallRatio: Double, threshold: Double
    ) {
        self.piece = piece
        self.unit = unit
        self.value = value
        self.baseline = baseline
        self.baselineValue = baselineValue
        self.ratio = ratio
        self.wallRatio = wallRatio
        self.threshold = threshold
        note = nil
        met = ratio >= threshold
    }

    /// A row with a limit.
    init(piece: String, unit: String, value: Double, limit: Double, note: String) {
        self.piece = piece
        self.unit = unit
        self.value = value
        baseline = nil
        baselineValue = nil
        ratio = nil
        wallRatio = nil
        threshold = limit
        self.note = note
        met = value <= limit
    }

    /// The table for people.
    static func table(_ rows: [PieceRow]) -> [String] {
        var table = Table("piece", "value", "unit", "baseline", "its value", "ratio", "threshold", "verdict", "note")
        for row in rows {
            table.add(
                row.piece, number(row.value), row.unit, row.baseline ?? "", row.baselineValue.map(number) ?? "",
                row.ratio.map(number) ?? "",
                (row.ratio == nil ? "≤ " : "≥ ") + number(row.threshold), row.met ? "met" : "MISSED", row.note ?? "")
        }
        return table.lines
    }

    private static func number(_ value: Double) -> String {
        Units.decimal(value, places: value < 10 ? 3 : value < 1_000 ? 1 : 0)
    }
}
