import enum OfflineMaps.Area
import enum OfflineMaps.FailureCause

// Errors and AreaFiles have types of the same names. `OfflineMaps.Area` cannot be written elsewhere: there `OfflineMaps` is the
// library's type of that name, and not the module.

/// Why a task of a store failed.
typealias StoreFailure = FailureCause
/// Where a region of a store is.
typealias StoreArea = Area
