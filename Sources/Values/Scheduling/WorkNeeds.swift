/// What a batch needs of a worker besides a free slot.
struct FetchNeeds: Hashable, Comparable, Sendable {
    /// The origin whose budget its requests use; empty = none.
    var origin = ""
    /// See ``JobSubmission/labels``.
    var labels: [String] = []

    static func < (left: FetchNeeds, right: FetchNeeds) -> Bool {
        left.origin == right.origin
            ? left.labels.lexicographicallyPrecedes(right.labels) : left.origin < right.origin
    }
}

/// What a package needs of a merger, and what a merger has.
struct MergeNeeds: Hashable, Sendable {
    /// The formats besides the package's own, ascending.
    var formats: [String]
    /// See ``JobSubmission/labels``.
    var labels: [String]

    /// Whether a merger that has this can merge a package that needs the other.
    func covers(_ needs: MergeNeeds) -> Bool {
        needs.formats.allSatisfy(formats.contains) && needs.labels.allSatisfy(labels.contains)
    }

    /// Mergers that have little come first, so that those that have more stay free for other packages.
    func isSparer(than other: MergeNeeds) -> Bool {
        let (own, theirs) = (formats.count + labels.count, other.formats.count + other.labels.count)
        guard own == theirs else { return own < theirs }
        return formats == other.formats
            ? labels.lexicographicallyPrecedes(other.labels) : formats.lexicographicallyPrecedes(other.formats)
    }
}

extension SessionProfile {
    /// What it has for a merge.
    var mergeNeeds: MergeNeeds { MergeNeeds(formats: exports, labels: labels) }
}

extension Job {
    /// What its batches need of a worker.
    var fetchNeeds: FetchNeeds { FetchNeeds(origin: origin?.name ?? "", labels: labels) }

    /// What a merger of one of its packages must have.
    func mergeNeeds(of package: PackageIndex) -> MergeNeeds {
        MergeNeeds(formats: formats(of: package), labels: labels)
    }
}
