internal import Hummingbird

extension HTTPFields {
    /// Sets a field that the HTTP library has no name for.
    ///
    /// - Parameter name: A constant; a text that is no name sets nothing.
    mutating func set(_ name: String, _ value: String) {
        guard let name = Element.Name(name) else { return }
        self[name] = value
    }

    /// A field that the HTTP library has no name for.
    func value(_ name: String) -> String? { Element.Name(name).flatMap { self[$0] } }
}
