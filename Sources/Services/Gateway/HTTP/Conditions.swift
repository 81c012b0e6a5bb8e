internal import TextFormats

/// The conditions of a request (RFC 9110, section 13), for a resource that exists.
struct Conditions: Sendable, Hashable {
    /// What identifies the state of a resource.
    struct Validators: Sendable, Hashable {
        /// A strong tag.
        var tag: EntityTag
        /// Seconds since 1970; `nil` when the resource has no date.
        var modified: Int64?
    }

    /// What is to be done.
    enum Outcome: Sendable, Hashable {
        /// Do the request.
        ///
        /// - isRanged: Whether its `Range` is to be obeyed.
        case proceed(isRanged: Bool)
        /// Answer 304.
        case notModified
        /// Answer 412.
        case failed
    }

    var ifMatch: String?
    var ifUnmodifiedSince: String?
    var ifNoneMatch: String?
    var ifModifiedSince: String?
    var ifRange: String?

    /// Evaluates the conditions in the order of section 13.2.2.
    ///
    /// A header that breaks its grammar: `If-Match` fails, because the change that it guards must not happen; the others
    /// are ignored.
    /// - Parameter isRead: Whether the method is GET or HEAD.
    func outcome(_ validators: Validators, isRead: Bool = true) -> Outcome {
        if let ifMatch {
            guard EntityTags(ifMatch)?.matchStrongly(validators.tag) ?? false else { return .failed }
        } else if let limit = ifUnmodifiedSince.flatMap(HTTPDate.secondsSince1970), let modified = validators.modified {
            guard modified <= limit else { return .failed }
        }
        if let tags = ifNoneMatch.flatMap(EntityTags.init) {
            guard !tags.matchWeakly(validators.tag) else { return isRead ? .notModified : .failed }
        } else if ifNoneMatch == nil, isRead, let since = ifModifiedSince.flatMap(HTTPDate.secondsSince1970),
            let modified = validators.modified, modified <= since
        {
            return .notModified
        }
        return .proceed(isRanged: ifRange.map { holds($0, validators) } ?? true)
    }

    /// Whether `If-Range` has the strong tag, or exactly the date.
    private func holds(_ text: String, _ validators: Validators) -> Bool {
        if case .some(let tags)? = EntityTags(text) { return tags == [validators.tag] && !validators.tag.isWeak }
        guard let date = HTTPDate.secondsSince1970(text) else { return false }
        return date == validators.modified
    }
}
