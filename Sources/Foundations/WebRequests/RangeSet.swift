/// What a `Range` header selects of a file (RFC 9110, section 14).
package enum RangeSet: Sendable, Hashable {
    /// The whole file: there is no range, or the header is to be ignored.
    case whole
    /// One part; never empty.
    case one(Range<UInt64>)
    /// Two to ``most`` parts, ascending and disjoint; none is empty.
    case several([Range<UInt64>])
    /// No byte of the file is in any range.
    case unsatisfiable

    /// The most ranges that a request may have; a request with more gets the whole file.
    package static let maxRanges = 100

    /// Reads a header.
    ///
    /// Another unit, a malformed range, more than ``most`` ranges, and ranges that overlap or do not ascend give the
    /// whole file.
    /// - Parameter size: Of the file, in bytes.
    package init(_ header: String?, size: UInt64) {
        guard let header, let specs = Self.specs(header) else {
            self = .whole
            return
        }
        let parts = specs.compactMap { $0.range(in: size) }
        guard let last = parts.last else {
            self = .unsatisfiable
            return
        }
        guard parts.count > 1 else {
            self = .one(last)
            return
        }
        let ascend = zip(parts, parts.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }
        self = ascend ? .several(parts) : .whole
    }

    private enum Spec {
        case from(UInt64, to: UInt64?)
        case last(UInt64)

        /// The bytes; `nil` when there are none.
        func range(in size: UInt64) -> Range<UInt64>? {
            switch self {
            case .from(let first, let last):
                guard first < size else { return nil }
                return first..<min(last.map { $0 == .max ? .max : $0 + 1 } ?? size, size)
            case .last(let count):
                guard count > 0, size > 0 else { return nil }
                return size - min(count, size)..<size
            }
        }
    }

    /// The ranges of a header; `nil` for another unit and for a header that breaks the grammar.
    private static func specs(_ header: String) -> [Spec]? {
        guard let equals = header.firstIndex(of: "="), header[..<equals].lowercased() == "bytes" else { return nil }
        var specs: [Spec] = []
        for element in header[header.index(after: equals)...].split(separator: ",") {
            let text = element.utf8.drop { $0 == 0x20 || $0 == 0x09 }
            let end = text.lastIndex { $0 != 0x20 && $0 != 0x09 }
            // An empty element of a list is allowed.
            guard let end else { continue }
            guard specs.count < maxRanges, let spec = spec(text[...end]) else { return nil }
            specs.append(spec)
        }
        return specs.isEmpty ? nil : specs
    }

    private static func spec(_ text: Substring.UTF8View.SubSequence) -> Spec? {
        guard let dash = text.firstIndex(of: UInt8(ascii: "-")) else { return nil }
        let (left, right) = (text[..<dash], text[text.index(after: dash)...])
        if left.isEmpty { return number(right).map(Spec.last) }
        guard let first = number(left) else { return nil }
        if right.isEmpty { return .from(first, to: nil) }
        guard let last = number(right), last >= first else { return nil }
        return .from(first, to: last)
    }

    /// A number of digits; one that does not fit is the largest.
    private static func number(_ digits: Substring.UTF8View.SubSequence) -> UInt64? {
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        var value: UInt64 = 0
        for digit in digits {
            let (tens, isLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = tens.addingReportingOverflow(UInt64(digit - 0x30))
            if isLarge || isLarger { return .max }
            value = sum
        }
        return value
    }
}
