extension StringProtocol {
    /// The parts of a path or an address between its slashes.
    ///
    /// Bytes are compared, as the system does: with a combining mark after it, a slash is part of another character.
    package func partsBetweenSlashes(maxSplits: Int = .max, omittingEmpty: Bool = false) -> [String] {
        utf8.split(separator: UInt8(ascii: "/"), maxSplits: maxSplits, omittingEmptySubsequences: omittingEmpty)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
