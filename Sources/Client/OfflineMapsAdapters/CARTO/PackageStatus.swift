public import OfflineMaps

/// What a package manager does with a package; the numbers are those of CARTO's SDK.
public enum PackageAction: Int, Sendable {
    /// The package is installed.
    case ready = 0
    /// A task of the package waits.
    case waiting = 1
    /// The package is downloaded, checked or put into place.
    case downloading = 2
    /// A version that was kept is put into place.
    case copying = 3
    /// The package is removed.
    case removing = 4
}

/// Why a download failed; the numbers are those of CARTO's SDK.
public enum PackageErrorType: Int, Sendable {
    /// Everything that the other values do not name.
    case system = 0
    /// No connection.
    case connection = 1
    /// The server answered 402.
    case downloadLimitExceeded = 2
    /// The package or the box is too big.
    case packageTooBig = 3
    /// The server answered 401 or 403.
    case noOfflinePlan = 4

    /// The value for a cause of failure.
    public init(_ cause: FailureCause) {
        switch cause {
        case .connection: self = .connection
        case .limitExceeded: self = .downloadLimitExceeded
        case .tooBig, .tooManyTiles, .tooManyPacks: self = .packageTooBig
        case .notAllowed: self = .noOfflinePlan
        case .notFound, .serverError, .badBytes, .badSignature, .olderCatalog, .badCatalog, .badStyle, .badFile,
            .notInCatalog, .hostForbidsBulk, .invalidArguments, .storage, .superseded, .internalError:
            self = .system
        }
    }
}

/// What kind of data a package has; the numbers are those of CARTO's SDK.
public enum PackageType: Int, Sendable {
    /// Map tiles.
    case map = 0
    /// Routing data.
    case routing = 1
    /// Addresses.
    case geocoding = 2
    /// Routing data of Valhalla.
    case valhallaRouting = 3
}

/// Whether a tile is in a package; the numbers are those of CARTO's SDK.
public enum PackageTileStatus: Int, Sendable {
    /// The tile is not in the package.
    case missing = 0
    /// Never given; the SDK has the value for old apps.
    case partial = 1
    /// The tile is in the package.
    case full = 2
}

/// How far a package is.
public struct PackageStatus: Hashable, Sendable {
    /// What is done.
    public var currentAction: PackageAction
    /// Whether the task of the package is paused or waits.
    public var isPaused: Bool
    /// Whole percents, 0...100.
    public var progress: Float

    /// Makes a status of its parts.
    public init(currentAction: PackageAction, isPaused: Bool, progress: Float) {
        self.currentAction = currentAction
        self.isPaused = isPaused
        self.progress = progress
    }

    /// The status of an installed package without a task.
    public static let ready = PackageStatus(currentAction: .ready, isPaused: false, progress: 100)

    /// The status of a package that has a task; `nil` when the task has ended or failed.
    public init?(_ task: StoreTask) {
        let percent = Float(Int(max(0, min(1, task.progress.fraction)) * 100))
        switch task.state {
        case .done, .cancelled, .failed: return nil
        case .waiting, .paused:
            // As in the SDK, a task that was interrupted keeps its action.
            let action: PackageAction = percent > 0 && task.kind != .remove ? Self.action(task.kind) : .waiting
            self.init(currentAction: action, isPaused: true, progress: percent)
        case .downloading, .verifying, .installing, .removing:
            self.init(currentAction: Self.action(task.kind), isPaused: false, progress: percent)
        }
    }

    private static func action(_ kind: TaskKind) -> PackageAction {
        switch kind {
        case .remove: .removing
        case .rollback: .copying
        case .list, .install, .update, .load, .refresh: .downloading
        }
    }
}
