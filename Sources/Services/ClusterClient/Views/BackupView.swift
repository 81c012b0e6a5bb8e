package import Wire

/// A backup as JSON, as `packhorse backup` prints it and the gateway answers; the keys are stable.
package struct BackupView: Encodable, Sendable {
    /// On the coordinator's machine.
    let path: String
    let bytes: UInt64

    package init(_ made: PBBackedUp) { (path, bytes) = (made.path, made.bytes) }
}
