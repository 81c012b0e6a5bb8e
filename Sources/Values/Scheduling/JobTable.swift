/// Jobs by position.
///
/// Positions rise over the lifetime of the process, and the oldest jobs can be removed.
///
/// A forgotten job leaves a placeholder until every older one is forgotten too, so that a position always means the
/// same job.
struct JobTable: Sendable {
    private var items: [Job] = []
    private var base = 0

    /// The positions of all jobs held.
    var indices: Range<JobPlace> { JobPlace(base)..<JobPlace(base + items.count) }

    #if DEBUG
        /// The job at a position in ``indices``.
        ///
        /// Returns a copy: unoptimized code of Swift 6.3 reads a field of a yielded job after the job was freed.
        subscript(place: JobPlace) -> Job {
            get { items[place.number - base] }
            _modify { yield &items[place.number - base] }
        }
    #else
        /// The job at a position in ``indices``.
        subscript(place: JobPlace) -> Job {
            _read { yield items[place.number - base] }
            _modify { yield &items[place.number - base] }
        }
    #endif

    /// Adds a job and returns its position.
    @discardableResult
    mutating func append(_ job: Job) -> JobPlace {
        items.append(job)
        return JobPlace(base + items.count - 1)
    }

    /// Removes the data of a job that has ended, and frees the memory of the oldest ones.
    mutating func forget(_ place: JobPlace) {
        guard indices.contains(place), items[place.number - base].summary.state.isFinal else { return }
        items[place.number - base].packages = Packages()
        items[place.number - base].isForgotten = true
        let gone = items.prefix(while: \.isForgotten).count
        items.removeFirst(gone)
        base += gone
    }

    func contains(_ place: JobPlace) -> Bool { indices.contains(place) }
}
