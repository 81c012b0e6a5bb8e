import Foundation
import ObjectStore
import S3
import StateBackups

extension S3Options {
    /// Whether a text names a place of backups and no file.
    func isPlace(_ text: String) -> Bool {
        var isFolder: ObjCBool = false
        return S3Location.isMeant(by: text)
            || FileManager.default.fileExists(atPath: text, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// The place of backups that a text names: a bucket or a folder.
    func backupPlace(_ text: String) throws -> any BackupPlace {
        guard S3Location.isMeant(by: text) else {
            return FolderBackupPlace(URL(filePath: text, directoryHint: .isDirectory).standardizedFileURL)
        }
        return BucketBackupPlace(try bucket(try S3Location(text)))
    }
}
