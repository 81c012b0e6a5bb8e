import Catalog
import Digests

/// One step of one job, with all that it needs.
struct StepOrder: Sendable {
    /// How the job was published, with its steps.
    let publish: PublishOptions
    /// Counts the steps from 1.
    let number: Int
    /// The versions that the job published, or found unchanged, by package.
    let versions: [String: Int32]
    /// The digests of these packages, as far as known.
    let digests: [String: Digest]
    let environment: LoopEnvironment

    var step: CatalogStep { publish.then[number - 1] }
    /// The catalog that the step is about.
    var writer: any CatalogWriter {
        get throws(SubmitProblem) {
            try environment.catalogs.writer(named: StepWork.catalogs(of: publish)[number - 1])
        }
    }
}

/// What the coordinator does for each kind of step: one row each.
struct StepWork: Sendable {
    /// Refuses a step that could never succeed, at its submission.
    ///
    /// Gets the name of the catalog that it is about.
    let check: @Sendable (_ catalog: String, CatalogTable) throws(SubmitProblem) -> Void
    /// Runs it; repeated, it gives the same result.
    ///
    /// Returns what was done, for people.
    let run: @Sendable (StepOrder) async throws -> String

    /// The row of a step.
    init(_ step: CatalogStep) {
        self =
            switch step {
            case .push(let place): .push(place)
            case .prune(let keep): .prune(keep)
            case .verify: .verify
            case .promote(let name): .promote(name)
            }
    }

    init(
        check: @escaping @Sendable (String, CatalogTable) throws(SubmitProblem) -> Void,
        run: @escaping @Sendable (StepOrder) async throws -> String
    ) {
        (self.check, self.run) = (check, run)
    }

    /// The catalog that each step is about: that of the job, and after a promotion the one that was promoted into.
    static func catalogs(of publish: PublishOptions) -> [String] {
        var catalog = publish.catalog
        return publish.then.map { step in
            defer { if case .promote(let name) = step { catalog = name } }
            return catalog
        }
    }

    /// Refuses steps that could never succeed.
    static func check(_ publish: PublishOptions, _ catalogs: CatalogTable) throws(SubmitProblem) {
        for (step, catalog) in zip(publish.then, Self.catalogs(of: publish)) {
            try StepWork(step).check(catalog, catalogs)
        }
    }

    /// Runs a step.
    static func run(_ order: StepOrder) async throws -> String {
        try await order.environment.waitForTurn()
        return try await StepWork(order.step).run(order)
    }
}
