/// A position in a list of one kind.
///
/// Jobs, batches and packages have a type of position each, so the compiler refuses the index of a batch where the
/// index of a package is expected. A position is stored as one `Int`. The caller converts plain numbers where they are
/// read from a message or from the store.
public protocol Place: Hashable, Strideable, Sendable, CustomStringConvertible, ExpressibleByIntegerLiteral
where Stride == Int {
    /// The position as it is sent and stored.
    var number: Int { get }

    /// The place at this position.
    init(_ number: Int)
}

extension Place {
    /// The position in decimal digits.
    public var description: String { "\(number)" }

    /// The literal as a number.
    public init(integerLiteral number: Int) { self.init(number) }

    /// Whether `left` comes before `right`.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    /// The number of steps to another position.
    public func distance(to other: Self) -> Int { other.number - number }

    /// The position this many steps behind.
    public func advanced(by count: Int) -> Self { Self(number + count) }
}

/// The position of a job in the ``JobTable``; it always means the same job.
struct JobPlace: Place {
    let number: Int
    init(_ number: Int) { self.number = number }
}

/// The position of a batch in its job.
public struct BatchIndex: Place {
    /// The position as it is sent and stored.
    public let number: Int

    /// The batch at this position.
    public init(_ number: Int) { self.number = number }
}

/// The position of a package in its job.
public struct PackageIndex: Place {
    /// The position as it is sent and stored.
    public let number: Int

    /// The package at this position.
    public init(_ number: Int) { self.number = number }
}

/// An array whose elements are found by one kind of position.
struct PlacedList<Index: Place, Element>: RandomAccessCollection, MutableCollection {
    private(set) var elements: [Element]

    init(_ elements: [Element] = []) { self.elements = elements }

    init(repeating element: Element, count: Int) { elements = [Element](repeating: element, count: count) }

    var startIndex: Index { Index(0) }
    var endIndex: Index { Index(elements.count) }

    subscript(index: Index) -> Element {
        get { elements[index.number] }
        _modify { yield &elements[index.number] }
    }

    /// Each element with its position.
    var placed: Zip2Sequence<Range<Index>, [Element]> { zip(indices, elements) }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func append(contentsOf more: [Element]) { elements += more }
}

extension PlacedList: Sendable where Element: Sendable {}
extension PlacedList: Equatable where Element: Equatable {}
extension PlacedList: Hashable where Element: Hashable {}
