import ArgumentParser
import Catalog
import Coordinator
import DemoWorld
import ObjectStore
import Origins
import Packages
import Regions
import S3
import Shards
import Styles
import Tiles
import Tilesets
import Transfer
import Wire
import Worker
import ZeroMQ

/// The exit code for the errors of each module.
///
/// The text is the module's own.
enum ErrorTranslation {
    /// The error of the command line, or `nil` when ArgumentParser should report it (usage, `--help`, exit codes).
    static func cliError(_ error: any Error) -> CLIError? {
        switch error {
        case let error as CLIError: error
        case let error as TilesError:
            CLIError(error.code == .badGeometry || error.code == .badMask ? .badData : .usage, error.message)
        case let error as RegionsError: CLIError(status("\(error.code)"), error.message)
        case let error as TilesetsError: CLIError(status("\(error.code)"), error.message)
        case let error as OriginsError:
            CLIError(status((error.cause as? TilesetsError).map { "\($0.code)" } ?? "\(error.code)"), error.message)
        case let error as TransferError: CLIError(.unavailable, error.message)
        case let error as ShardsError: CLIError(status("\(error.code)"), error.message)
        case let error as S3Error: CLIError(status("\(error.code)"), error.message)
        case let error as PackagesError: CLIError(status("\(error.code)"), error.message)
        case let error as StylesError: CLIError(status("\(error.code)"), error.message)
        case let error as CatalogError: CLIError(status("\(error.code)"), error.message)
        case let error as ZeroMQError: CLIError(status("\(error.code)"), error.message)
        case let error as CoordinatorError: CLIError(status("\(error.code)"), error.message)
        case let error as WorkerError: CLIError(status("\(error.code)"), error.message)
        case let error as DemoWorldError: CLIError(status("\(error.code)"), error.message)
        case is CancellationError: CLIError(.interrupted, "interrupted")
        case let error as WireError where error.code == .versionMismatch: CLIError(.configuration, error.message)
        case let error as WireError:
            CLIError(
                .unavailable, error.message, hint: "check that this is a packhorse coordinator of the same version")
        default: nil
        }
    }

    /// Codes are stable and have the same meaning in every module, so one table is enough.
    private static func status(_ code: String) -> ExitStatus {
        switch code {
        case "unknown-region", "ambiguous-name", "missing", "store-missing", "no-bucket", "catalog-missing",
            "missing-package",
            "key-missing":
            .noInput
        case "disk-full", "cannot-open", "exists", "cannot-log": .cannotCreate
        case "io", "file-failed", "unreadable": .inputOutput
        case "unreachable", "closed", "missing-resource": .unavailable
        case "host-refused", "refused", "key-permissions", "plain-refused", "wrong-secret", "forbidden": .permission
        case "backup-name", "unknown-format": .usage
        case "data-in-use", "address-in-use", "orphaned", "cannot-listen", "server-failed", "busy": .temporary
        case "bad-syntax", "unknown-key", "missing-key", "bad-value", "bad-template", "bad-tilejson", "literal-secret",
            "missing-secret", "clock-skew", "wrong-region", "rejected", "newer-state", "bad-endpoint", "bad-key",
            "bad-role", "bad-host", "key-file", "tileset", "signing-key":
            .configuration
        case "engine", "misuse", "bad-resource": .software
        default: .badData
        }
    }
}
