import Foundation

/// A `packhorse` process of this machine: its arguments, and how it is known to be ready.
struct LocalService: Equatable, Sendable {
    enum Readiness: Equatable {
        /// It has written its endpoints into this data folder.
        case endpoints(in: URL)
        /// The coordinator at this endpoint has heard from the worker.
        case connected(to: String)
        /// It has printed its address.
        case address
        /// As soon as it is started.
        case atOnce
    }

    /// The name in logs and errors.
    let name: String
    let arguments: [String]
    /// Further arguments of the first start.
    var firstArguments: [String] = []
    let readiness: Readiness

    func arguments(isFirst: Bool) -> [String] { arguments + (isFirst ? firstArguments : []) }

    /// A coordinator whose workers share its folder.
    static func coordinator(
        data: URL, control: String, work: String, arguments: [String], firstArguments: [String] = []
    ) -> LocalService {
        let own = ["coordinator", "--data", data.path, "--control", control, "--work", work, "--no-blob-endpoint"]
        return LocalService(
            name: "coordinator", arguments: own + arguments, firstArguments: firstArguments,
            readiness: .endpoints(in: data))
    }

    /// A worker of a coordinator with this data folder.
    static func worker(
        _ number: Int, data: URL, work: String, arguments: [String] = [], readiness: Readiness
    ) -> LocalService {
        let name = "worker-\(number)"
        let own = ["worker", "--connect", work, "--name", name, "--blobs", data.appending(path: "blobs").path]
        return LocalService(name: name, arguments: own + arguments, readiness: readiness)
    }
}
