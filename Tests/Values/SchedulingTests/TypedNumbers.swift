public import Scheduling

/// Tests count sessions, and find rows of a store by typed positions.
extension SessionID: Strideable {
    /// The number of sessions between two.
    public func distance(to other: SessionID) -> Int { Int(other.rawValue) - Int(rawValue) }
    /// The session that many numbers later.
    public func advanced(by count: Int) -> SessionID { SessionID(UInt64(Int(rawValue) + count)) }
}

extension Array {
    subscript(place: some Place) -> Element {
        get { self[place.number] }
        set { self[place.number] = newValue }
    }
}

extension Range<Int> {
    func contains(_ place: some Place) -> Bool { contains(place.number) }
}

extension NumberedID {
    init(_ number: Int) { self.init(UInt64(number)) }
}
