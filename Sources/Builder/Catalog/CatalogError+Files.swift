internal import CatalogFormat
internal import Errors
internal import Files

extension PackhorseError where Code == CatalogErrorCode {
    /// Runs file work and converts its errors.
    static func naming<Result>(_ work: () throws(StorageError) -> Result) throws(CatalogError) -> Result {
        do { return try work() } catch {
            throw CatalogError(error.code == .diskFull ? .diskFull : .io, error.message, cause: error)
        }
    }
}
