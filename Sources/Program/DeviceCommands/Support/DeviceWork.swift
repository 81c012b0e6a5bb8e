import ArgumentParser
internal import CommandSupport
import Errors
import OfflineMaps

/// A command that works on a store: Ctrl-C cancels it, and errors of the library become errors of the command line.
protocol DeviceWork: AsyncParsableCommand, Sendable {
    /// What the command does.
    func work() async throws
}

extension DeviceWork {
    func run() async throws {
        let command = self
        try await Interruptible.run {
            do { try await command.work() } catch let error as StoreError { throw CLIError(error) }
        }
    }
}

extension CLIError {
    /// The error of a store as the command line reports it.
    init(_ error: StoreError) {
        self.init(error.failure?.exitStatus ?? error.code.exitStatus, error.message, hint: error.advice)
    }
}

extension StoreError.Code {
    fileprivate var exitStatus: ExitStatus {
        switch self {
        case .folder, .diskFull, .installed: .cannotCreate
        case .storage: .inputOutput
        case .newerStore: .configuration
        case .notFound, .notInCatalog: .noInput
        case .invalidArguments, .wrongState: .usage
        case .limit, .badFile, .damaged, .catalog: .badData
        case .network: .unavailable
        default: .software
        }
    }
}

extension StoreFailure {
    /// The exit code of a command whose task fails for this cause.
    var exitStatus: ExitStatus {
        switch self {
        case .connection, .serverError, .tooBig: .unavailable
        case .notFound, .notInCatalog, .superseded: .noInput
        case .notAllowed, .limitExceeded, .hostForbidsBulk: .permission
        case .badBytes, .badSignature, .olderCatalog, .badCatalog, .badStyle, .badFile: .badData
        case .tooManyPacks, .tooManyTiles: .badData
        case .invalidArguments: .usage
        case .storage: .inputOutput
        case .internalError: .software
        }
    }
}
