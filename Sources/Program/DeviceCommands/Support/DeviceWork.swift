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

    /// The cause in words.
    var words: String {
        switch self {
        case .connection: "there is no connection"
        case .notFound: "the server does not have it"
        case .notAllowed: "the server refuses it"
        case .limitExceeded: "the server asks for payment"
        case .tooBig: "it is too big"
        case .serverError: "the server failed repeatedly"
        case .badBytes: "the bytes are not those of the catalog"
        case .badSignature: "the signature of the catalog is missing or wrong"
        case .olderCatalog: "the catalog is older than the last one"
        case .badCatalog: "the catalog cannot be read"
        case .badStyle: "the style cannot be read"
        case .badFile: "the file is damaged or of another kind"
        case .tooManyPacks: "it needs more tile packs than are allowed"
        case .tooManyTiles: "it needs more single tiles than are allowed"
        case .notInCatalog: "the catalog does not have it"
        case .hostForbidsBulk: "the tile server forbids bulk downloads"
        case .invalidArguments: "the arguments are wrong"
        case .storage: "the disk or the database failed"
        case .superseded: "the catalog no longer has it"
        case .internalError: "there is a bug in the library"
        }
    }
}
