package import Wire

/// A worker as printed.
package struct WorkerView: Encodable, Sendable {
    package let name: String
    package let host: String
    package let pid: UInt64
    package let build: String
    package let state: String
    package let reason: String?
    package let leases: UInt32
    package let credit: UInt32
    package let silentSeconds: Double
    package let tiles: UInt64
    package let bytes: UInt64

    package init(_ status: PBWorkerStatus) {
        name = status.name
        host = status.host
        pid = status.pid
        build = status.build
        state = status.state
        reason = status.reason.isEmpty ? nil : status.reason
        leases = status.leases
        credit = status.credit
        silentSeconds = Double(status.silentMs) / 1000
        tiles = status.tiles
        bytes = status.bytes
    }
}
