import Wire

/// Permissions that a retry adds to those of the submission.
struct Permits: Hashable, Sendable {
    /// See ``JobSpec/replacesArea``.
    var replacesArea = false
    /// See ``JobSpec/allowsShrink``.
    var allowsShrink = false

    /// Adds no permission.
    init() {}

    init(_ order: PBJobOrder) {
        replacesArea = order.replacesArea
        allowsShrink = order.allowShrink
    }

    /// Adds the permissions to a submission.
    ///
    /// Returns whether that changed it.
    func apply(to body: inout PBSubmit) -> Bool {
        let before = body
        if replacesArea { body.replacesArea = true }
        if allowsShrink { body.allowShrink = true }
        return body != before
    }
}
