#if canImport(Darwin)
    internal import Foundation
    public import OfflineMaps

    extension StoreOptions {
        /// Makes the folder, excludes it from backups, and makes its files readable after the first unlock, also while
        /// the device is locked: downloads of the background need that.
        ///
        /// Call it before `MapStore.open`.
        ///
        /// - Throws: `CocoaError` when the folder cannot be made or changed.
        public func prepareFolder() throws {
            let protection = [FileAttributeKey.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication]
            let files = FileManager.default
            try files.createDirectory(at: folder, withIntermediateDirectories: true, attributes: protection)
            try files.setAttributes(protection, ofItemAtPath: folder.path)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            var url = folder
            try url.setResourceValues(values)
        }
    }
#endif
