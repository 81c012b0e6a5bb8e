import Foundation

/// One line of the table of `bench-pieces`: what was measured, beside what, and whether that is good enough.
struct PieceRow: Encodable {
    /// What was measured; the key of the row.
    let piece: String
    /// What ``value`` and ``baselineValue`` count, such as `MB/s`, or `s` where there is no baseline.
    let unit: String
    /// The median of all rounds.
    let value: Double
    /// What the same bytes were given to in the same rounds; `nil` for rows with a limit of their own.
    let baseline: String?
    let baselineValue: Double?
    /// ``value`` through ``baselineValue``: the part of the baseline's rate that the piece reaches, of processor time.
    let ratio: Double?
    /// The same of wall time, which the disk and other processes disturb; decides nothing.
    let wallRatio: Double?
    /// The least ``ratio``, or where there is none the largest ``value``, that passes.
    let threshold: Double
    /// Anything else that was counted.
    let note: String?
    /// Whether the threshold was met.
    let met: Bool

    /// A row beside a baseline.
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
