/// Gets what a package manager does.
///
/// No method has a default: a method with another label or type would compile and never be called. A method that an
/// app does not need is empty.
///
/// The SDK calls from a thread of its own. Here every call is on the main actor, in the order of the events.
public protocol PackageManagerListener: AnyObject, Sendable {
    /// The list was read, also when it has not changed.
    @MainActor func onPackageListUpdated()
    /// The list could not be read.
    @MainActor func onPackageListFailed()
    /// A task of a package has another action or another whole percent.
    @MainActor func onPackageStatusChanged(_ id: String, version: Int32, status: PackageStatus)
    /// A package was installed, updated or removed.
    @MainActor func onPackageUpdated(_ id: String, version: Int32)
    /// A task of a package was cancelled.
    @MainActor func onPackageCancelled(_ id: String, version: Int32)
    /// A task of a package failed.
    @MainActor func onPackageFailed(_ id: String, version: Int32, errorType: PackageErrorType)
    /// A style was installed or removed.
    @MainActor func onStyleUpdated(_ id: String)
    /// A task of a style failed.
    @MainActor func onStyleFailed(_ id: String)
}
