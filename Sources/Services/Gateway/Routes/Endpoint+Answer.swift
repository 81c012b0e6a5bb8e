internal import TileBodies

/// What an endpoint answers with when all is well.
struct EndpointAnswer: Sendable, Hashable {
    /// The media types.
    var media: [String]
    /// The name of the schema of a JSON document; `nil` for other documents.
    var schema: String?

    static func json(_ schema: String) -> EndpointAnswer {
        EndpointAnswer(media: ["application/json"], schema: schema)
    }
}

extension Endpoint {
    /// The answer, for the OpenAPI document; a test compares it with what the server sends.
    var answer: EndpointAnswer {
        switch self {
        case .health, .problem, .metrics: EndpointAnswer(media: ["text/plain"])
        case .ready: .json("Ready")
        case .openAPI, .catalogList, .cartoList, .tileJSON: EndpointAnswer(media: ["application/json"])
        case .catalogFile: EndpointAnswer(media: ServedFile.mediaTypes)
        case .cartoArea: EndpointAnswer(media: ["application/vnd.sqlite3"])
        case .tile: EndpointAnswer(media: TileFormat.allCases.map(\.mediaType))
        case .worldTile: EndpointAnswer(media: [TileFormat.mvt.mediaType])
        case .worldGlyphs: EndpointAnswer(media: ["application/x-protobuf"])
        case .style: EndpointAnswer(media: StyleResponder.mediaTypes)
        case .worldDocument: EndpointAnswer(media: ["application/json", "image/png"])
        case .page: EndpointAnswer(media: ["text/html", "text/javascript", "text/css"])
        case .catalogPage: EndpointAnswer(media: ["text/html"])
        case .jobCoverage: EndpointAnswer(media: [CoverageDocument.mediaType])
        case .regionOutline: EndpointAnswer(media: ["application/geo+json"])
        case .status: .json("Status")
        case .estimate, .submit: .json("Submitted")
        case .jobs: .json("Jobs")
        case .job: .json("Job")
        case .jobPackages: .json("JobPackages")
        case .jobFailures: .json("JobFailures")
        case .jobOrder, .jobOrders: .json("OrderedJobs")
        case .failed: .json("FailedWork")
        case .failedOrder, .workerOrder, .schedulePut, .scheduleDrop, .packageWithdrawal: .json("Ordered")
        case .schedules: .json("Schedules")
        case .workers: .json("Workers")
        case .origins: .json("Origins")
        case .events: EndpointAnswer(media: ["application/json", "text/event-stream"], schema: "Events")
        case .backup: .json("BackedUp")
        case .tilesets: .json("Tilesets")
        case .regions: .json("Regions")
        case .region: .json("Region")
        case .packages: .json("Packages")
        case .package: .json("Package")
        case .extractOrder, .extract: .json("ExtractState")
        }
    }
}
