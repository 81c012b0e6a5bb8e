internal import Foundation
internal import TextFormats

/// What an HTTP answer means for a download.
enum AnswerRule {
    /// The longest time that a server may ask to wait.
    static let longestWait = Duration.seconds(3_600)

    /// The failure of a status, other than 200, 204, 206 and 304.
    static func failure(_ status: Int, retryAfter: String?, now: Date, address: String) -> FetchError {
        let cause: FailureCause =
            switch status {
            case 404, 410: .notFound
            case 401, 403: .notAllowed
            case 402: .limitExceeded
            case 406, 413: .tooBig
            default: .serverError
            }
        return FetchError(
            cause, status: status, retryAfter: retryAfter.flatMap { wait($0, now: now) },
            "'\(address)' was answered with the HTTP status \(status).")
    }

    /// Reads Retry-After: seconds or a date; at most ``longestWait``, `nil` for anything else.
    static func wait(_ text: String, now: Date) -> Duration? {
        let seconds: Int64
        if let number = Int64(text), number >= 0 {
            seconds = number
        } else if let date = HTTPDate.secondsSince1970(text) {
            seconds = max(0, date - Int64(now.timeIntervalSince1970))
        } else {
            return nil
        }
        return min(longestWait, .seconds(seconds))
    }

    /// Where a Content-Range begins, and the size of the whole file where it is known; `nil` for anything else.
    static func range(_ text: String) -> (start: UInt64, whole: UInt64?)? {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, ends.count == 2, let first = UInt64(ends[0]), let last = UInt64(ends[1]), first <= last
        else { return nil }
        return (first, UInt64(parts[1]))
    }

    /// The size in the Content-Range of a 416, `bytes */1234`.
    static func wholeSize(_ text: String) -> UInt64? {
        guard let slash = text.firstIndex(of: "/"), text.lowercased().hasPrefix("bytes") else { return nil }
        return UInt64(text[text.index(after: slash)...])
    }

    /// Whether a redirect may be followed: never from https to anything else, and only to http and https.
    static func mayFollow(from old: URL?, to new: URL?) -> Bool {
        guard let scheme = new?.scheme?.lowercased(), scheme == "https" || scheme == "http" else { return false }
        return old?.scheme?.lowercased() != "https" || scheme == "https"
    }

    /// Whether an answer is a web page in place of a file: a network that asks for a login sends these.
    static func isPage(_ mediaType: String?, _ kind: ResourceRequest.Kind) -> Bool {
        kind != .other && (mediaType == "text/html" || mediaType == "application/xhtml+xml")
    }

    /// A Content-Type without its parameters, in lower case.
    static func mediaType(_ text: String?) -> String? {
        text?.split(separator: ";").first.map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
    }

    /// When an answer becomes stale: by max-age, counted from the server's Date, otherwise by Expires.
    static func expiry(cacheControl: String?, expires: String?, date: String?, now: Date) -> Date? {
        let words = (cacheControl ?? "").lowercased().split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        let start = date.flatMap(time) ?? now
        if words.contains("no-cache") || words.contains("no-store") { return start }
        for word in words where word.hasPrefix("max-age=") {
            if let seconds = Int64(word.dropFirst("max-age=".count)), seconds >= 0 {
                return start.addingTimeInterval(Double(min(seconds, 1 << 33)))
            }
        }
        return expires.flatMap(time)
    }

    /// Reads an HTTP date.
    static func time(_ text: String) -> Date? {
        HTTPDate.secondsSince1970(text).map { Date(timeIntervalSince1970: Double($0)) }
    }
}
