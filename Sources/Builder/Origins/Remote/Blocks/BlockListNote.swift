/// What became of a list of blocks, as a line for people.
package enum BlockListNote {
    /// What a line about a list begins with that is not used.
    package static let refusal = "not used: "
    /// The most bytes of a line, which is sent in a message.
    private static let longest = 400

    static func used(_ blocks: UInt64, bytes: UInt64) -> String { "used: \(blocks) blocks in \(bytes) bytes" }

    static func notUsed(_ why: String) -> String {
        var line = refusal + why
        while line.utf8.count > longest { line.removeLast() }
        return line
    }

    /// What is wrong with a list that says another hash than that of the archive's bytes.
    static let otherBytes = "its hashes are not those of the archive's bytes: it is of another build"
    /// The same, after it was used.
    static let refuted = "\(otherBytes); batches that ended before may rest on it: submit the job again without 'sync'"
}
