package import Wire

/// The coordinator's state as printed.
package struct HealthView: Encodable, Sendable {
    package struct Finding: Encodable, Sendable {
        package let level: String
        package let code: String
        package let text: String
        package let hint: String
    }
    package let state: String
    package let build: String
    package let epoch: UInt32
    package let catalog: String
    package let blobStore: String
    package let bboxTileLimit: UInt64
    package let findings: [Finding]

    package init(_ health: PBHealth) {
        state = health.state
        build = health.build
        epoch = health.epoch
        catalog = health.catalog
        blobStore = health.blobStore
        bboxTileLimit = health.bboxTileLimit
        findings = health.findings.map { Finding(level: $0.level, code: $0.code, text: $0.text, hint: $0.hint) }
    }
}
