/// Jobs by place: places rise for the life of the process, and the oldest can be let go.
///
/// A forgotten job leaves a stub until every older one is forgotten too, so that a place always means the same job.
struct JobTable: Sendable {
    private var items: [Job] = []
    private var base = 0

    /// The places of everything held.
    var indices: Range<Int> { base..<(base + items.count) }

    #if DEBUG
        /// The job at a place of ``indices``.
        ///
        /// A copy: unoptimized code of Swift 6.3 reads a field of a yielded job after the job was freed.
        subscript(place: Int) -> Job {
            get { items[place - base] }
            _modify { yield &items[place - base] }
        }
    #else
        /// The job at a place of ``indices``.
        subscript(place: Int) -> Job {
            _read { yield items[place - base] }
            _modify { yield &items[place - base] }
        }
    #endif

    /// Adds a job; returns its place.
    @discardableResult
    mutating func append(_ job: Job) -> Int {
        items.append(job)
        return indices.upperBound - 1
    }

    /// Empties a job that has ended, and gives back the room of the oldest ones.
    mutating func forget(_ place: Int) {
        guard indices.contains(place), items[place - base].summary.state.isFinal else { return }
        items[place - base].packages = []
        items[place - base].isForgotten = true
        let gone = items.prefix(while: \.isForgotten).count
        items.removeFirst(gone)
        base += gone
    }

    func contains(_ place: Int) -> Bool { indices.contains(place) }
}
