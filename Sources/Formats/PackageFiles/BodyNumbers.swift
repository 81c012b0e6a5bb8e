/// Numbers the different bodies, from 1 in the order of first appearance.
///
/// Memory: about 50 bytes for each body that occurs more than once (and a few that only seem to); nothing for the
/// others. Bodies are identified by 128 bits of their SHA-256.
package struct BodyNumbers {
    private let repeats: RepeatFilter
    private var known: [BodyKey: UInt32] = [:]
    package private(set) var count: UInt32 = 0

    package init(_ repeats: RepeatFilter) { self.repeats = repeats }

    /// The body's number, and whether this is its first appearance.
    package mutating func number(of key: BodyKey) throws -> (number: UInt32, isNew: Bool, occursAgain: Bool) {
        let again = repeats.occursAgain(key)
        if again, let number = known[key] { return (number, false, true) }
        guard count < UInt32.max else {
            throw PackagesError(.tooLarge, "The package has more than \(UInt32.max) different bodies; split it.")
        }
        count += 1
        if again { known[key] = count }
        return (count, true, again)
    }
}
