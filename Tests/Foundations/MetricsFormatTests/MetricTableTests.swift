import Testing

@testable import MetricsFormat

/// The rules that every family of every program keeps.
struct MetricTableTests {
    private static let rows = MetricTables.all.flatMap(\.rows)

    @Test func noTwoFamiliesHaveOneName() {
        #expect(Set(Self.rows.map(\.name)).count == Self.rows.count)
        #expect(Self.rows.count > 80)
        // No name is that of a sample of another family.
        let histograms = Self.rows.filter { $0.family.kind == .histogram }.map(\.name)
        for name in histograms.flatMap({ name in ["_bucket", "_sum", "_count"].map { name + $0 } }) {
            #expect(!Self.rows.contains { $0.name == name })
        }
    }

    @Test func namesTellTypeAndUnit() {
        for (name, family) in Self.rows {
            #expect(name.wholeMatch(of: /packhorse_[a-z][a-z_]*[a-z]/) != nil, "\(name)")
            #expect(name.hasSuffix("_total") == (family.kind == .counter), "\(name)")
            if family.kind == .histogram { #expect(name.hasSuffix("_seconds"), "\(name)") }
            #expect(name.firstMatch(of: /_(ms|minutes|hours|kb|mb|percent)(_|$)/) == nil, "\(name)")
        }
    }

    @Test func helpIsOneLineOfText() {
        for (name, family) in Self.rows {
            #expect(family.help.count > 6 && family.help.first?.isUppercase == true, "\(name)")
            #expect(!family.help.contains { $0 == "\n" || $0 == "\\" || $0 == "|" }, "\(name)")
            #expect(family.help.last != ".", "\(name)")
        }
    }

    /// Each label is bounded, and none names a thing of which there can be any number.
    @Test func labelsAreBounded() {
        for (name, family) in Self.rows {
            #expect(Set(family.labels.map(\.name)).count == family.labels.count, "\(name)")
            for label in family.labels {
                #expect(!["job", "package", "token", "tile", "client", "worker", "schedule"].contains(label.name))
                #expect(label.name.wholeMatch(of: /[a-z]+/) != nil && label.name != "le", "\(name)")
                #expect(label.values.isEmpty != label.note.isEmpty, "\(name)")
                #expect(Set(label.values).count == label.values.count, "\(name)")
            }
        }
    }
}
