public import Foundation

/// What the store knows of an item.
public struct Status: Sendable {
    /// What is installed of it.
    public var installed: Installed?
    /// Its last task in the queue.
    public var task: StoreTask?
    /// The package of the catalog.
    public var offered: PackageInfo?
    /// Whether the catalog has a newer version than the installed one.
    public var isOutdated: Bool
    /// Whether a file of it is damaged, so that tiles cannot be read until it is downloaded again; also when the item is wanted
    /// and no file of it is left.
    public var isDamaged: Bool
    /// Its files that are not at their places: lost, or on a card that is not there.
    public var missingFiles: [URL]
    /// The selected data groups that the catalog has for it and that are not installed.
    public var missingGroups: [String]

    /// Describes an item.
    public init(
        installed: Installed? = nil, task: StoreTask? = nil, offered: PackageInfo? = nil, isOutdated: Bool = false,
        isDamaged: Bool = false, missingFiles: [URL] = [], missingGroups: [String] = []
    ) {
        self.installed = installed
        self.task = task
        self.offered = offered
        self.isOutdated = isOutdated
        self.isDamaged = isDamaged
        self.missingFiles = missingFiles
        self.missingGroups = missingGroups
    }
}
