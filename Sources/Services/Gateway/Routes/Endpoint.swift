/// What a path is for; the raw value is its name in metrics and logs, and its operation in the OpenAPI document.
enum Endpoint: String, Sendable, Hashable, CaseIterable {
    case health
    case ready
    case problem
    case metrics
    case openAPI = "openapi"
    case catalogList = "catalog-list"
    case catalogFile = "catalog-file"
    case tileJSON = "tile-json"
    case tile
    case style
    case worldDocument = "world-document"
    case worldGlyphs = "world-glyphs"
    case worldTile = "world-tile"
    case cartoList = "carto-list"
    case cartoArea = "carto-area"
    case page
    case catalogPage = "catalog-page"
    case status
    case estimate
    case submit
    case jobs
    case job
    case jobPackages = "job-packages"
    case jobFailures = "job-failures"
    case jobCoverage = "job-coverage"
    case jobOrder = "job-order"
    case jobOrders = "job-orders"
    case failed
    case failedOrder = "failed-order"
    case schedules
    case schedulePut = "schedule-put"
    case scheduleDrop = "schedule-drop"
    case workers
    case workerOrder = "worker-order"
    case origins
    case events
    case backup
    case tilesets
    case regions
    case region
    case regionOutline = "region-outline"
    case packages
    case package
    case packageWithdrawal = "package-withdrawal"
    case extractOrder = "extract-order"
    case extract

    /// Who may use an endpoint.
    enum Access: String, Sendable, Hashable {
        /// Everybody.
        case open
        /// Everybody, or holders of a token where the gateway is private.
        case published
        case metrics
        case viewer
        case `operator`
        case client
        /// Holders of a token with any role.
        case anyRole
    }

    var access: Access {
        switch self {
        case .health, .ready, .problem, .openAPI, .page, .worldDocument, .worldGlyphs, .worldTile, .regions, .region,
            .regionOutline:
            .open
        case .catalogList, .catalogFile, .catalogPage, .tileJSON, .tile, .style, .cartoList, .cartoArea, .packages,
            .package:
            .published
        case .metrics: .metrics
        case .status, .estimate, .jobs, .job, .jobPackages, .jobFailures, .jobCoverage, .failed, .schedules, .workers,
            .origins, .events:
            .viewer
        case .submit, .jobOrder, .jobOrders, .failedOrder, .workerOrder, .backup, .schedulePut, .scheduleDrop,
            .packageWithdrawal:
            .operator
        case .extractOrder, .extract: .client
        case .tilesets: .anyRole
        }
    }

    /// Which rate a request counts for; `nil` for none.
    var rate: RateKind? {
        switch self {
        case .health, .ready, .metrics: nil
        case .tile, .worldTile, .style, .worldGlyphs: .tiles
        case .catalogFile: .files
        case .submit: .submissions
        case .extractOrder: .extracts
        default: .api
        }
    }

    /// The group of an endpoint in metrics.
    enum Group: String, Sendable, Hashable, CaseIterable {
        case list, file, tile, style, api, events, extract, page
    }

    var group: Group {
        switch self {
        case .catalogList, .cartoList: .list
        case .catalogFile: .file
        case .tile, .worldTile: .tile
        case .tileJSON, .style, .worldDocument, .worldGlyphs: .style
        case .events: .events
        case .cartoArea, .extractOrder, .extract: .extract
        case .page, .catalogPage: .page
        default: .api
        }
    }

    /// Whether a CARTO client uses it, whose token is a parameter.
    var isCarto: Bool { self == .cartoList || self == .cartoArea }
}
