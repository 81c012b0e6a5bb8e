import Catalog
import Foundation
import Scheduling
import Synchronization

/// Where the catalogs of a coordinator are, and which jobs publish into which.
///
/// The event log does not name the catalog of a job; notifications about its packages do.
final class CatalogPlaces: Sendable {
    struct Place: Sendable {
        let name: String
        let folder: URL
        /// Its public address with a slash at its end; `nil` = none.
        let url: String?
    }

    /// The main catalog.
    let main: Place
    /// The others by name.
    let others: [String: Place]
    /// The catalogs of jobs that do not publish into the main one.
    private let names = Mutex<[JobID: String]>([:])

    init(main: Place, others: [Place] = []) {
        self.main = main
        self.others = Dictionary(others.map { ($0.name, $0) }) { first, _ in first }
    }

    /// The main catalog, then the others by name.
    var all: [Place] { [main] + others.values.sorted { $0.name < $1.name } }

    /// Notes the catalog of a job.
    func note(_ job: JobID, _ spec: JobSpec) {
        let catalog = spec.publish.catalog
        guard catalog != main.name else { return }
        names.withLock { $0[job] = catalog }
    }

    /// The job does not exist any more.
    func forget(_ job: JobID) { names.withLock { _ = $0.removeValue(forKey: job) } }

    /// The name of the catalog of a job.
    func name(of job: JobID) -> String { names.withLock { $0[job] } ?? main.name }

    /// The catalog of a job; `nil` when the coordinator no longer has it.
    func place(of job: JobID) -> Place? {
        let name = name(of: job)
        return name == main.name ? main : others[name]
    }
}
