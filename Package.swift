// swift-tools-version: 6.2
import PackageDescription

// One table defines every module: its layer, the modules that it may import, and the external products that it uses.
// The layer is also the folder below Sources and Tests. `make check` reads the same table (ops/check-layers) and refuses
// an import that is not in the table.
//
// PACKHORSE_MODULES=Tiles,Regions builds only these modules, their dependencies, and their tests (CONTRIBUTING.md).
// PACKHORSE_TESTS=Tiles builds of all tests only those of these modules.

/// The layers, from the lowest: a module imports modules of its own layer or of a lower one.
enum Layer: String, CaseIterable {
    /// System libraries and embedded data.
    case cLibraries = "CLibraries"
    /// Values and pure state machines: no input, output or clock.
    case values = "Values"
    /// One system library, protocol or file type each.
    case foundations = "Foundations"
    /// What builders write and devices read.
    case formats = "Formats"
    /// Building blocks of the programs that build packages.
    case builder = "Builder"
    /// Services and libraries with a life of their own; they communicate through Wire.
    case services = "Services"
    /// The library for apps; like Formats, it does without the libraries of the builder.
    case client = "Client"
    /// The programs.
    case program = "Program"
    /// For tests and fuzzing only.
    case testing = "Testing"
}

/// Products of other packages.
extension Target.Dependency {
    static let arguments = product(name: "ArgumentParser", package: "swift-argument-parser")
    static let heap = product(name: "HeapModule", package: "swift-collections")
    static let deque = product(name: "DequeModule", package: "swift-collections")
    static let grdb = product(name: "GRDB", package: "GRDB.swift")
    static let sqlite = product(name: "GRDBSQLite", package: "GRDB.swift")
    static let hummingbirdCore = product(name: "HummingbirdCore", package: "hummingbird")
    static let lifecycle = product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
    static let nio = product(name: "NIOCore", package: "swift-nio")
    static let nioHTTP = product(name: "NIOHTTP1", package: "swift-nio")
    static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
    static let logging = product(name: "Logging", package: "swift-log")
    static let protobuf = product(name: "SwiftProtobuf", package: "swift-protobuf")
    static let signals = product(name: "UnixSignals", package: "swift-service-lifecycle")
    static let yams = product(name: "Yams", package: "Yams")
}

struct Module {
    let name: String
    let layer: Layer
    let modules: [String]
    let products: [Target.Dependency]
    init(_ name: String, _ layer: Layer, _ modules: [String] = [], _ products: [Target.Dependency] = []) {
        self.name = name
        self.layer = layer
        self.modules = modules
        self.products = products
    }
}

func systemLibrary(_ name: String, pkgConfig: String? = nil, package: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig,
        providers: package.map { [.apt([$0])] })
}

let systemLibraries: [Target] = [
    systemLibrary("CZeroMQ", package: "libzmq3-dev"),
    systemLibrary("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
    systemLibrary("CMalloc"),
    systemLibrary("CCrypto", pkgConfig: "libcrypto", package: "libssl-dev"),
    systemLibrary("CFile"),
    systemLibrary("CProcess"),
    systemLibrary("CLZ4", pkgConfig: "liblz4", package: "liblz4-dev"),
    systemLibrary("CDeflate", pkgConfig: "libdeflate", package: "libdeflate-dev"),
    systemLibrary("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
    systemLibrary("CBrotli", pkgConfig: "libbrotlidec", package: "libbrotli-dev"),
    systemLibrary("CZstd", pkgConfig: "libzstd", package: "libzstd-dev"),
]

let libraries: [Module] = [
    Module("Errors", .values),
    Module("TextFormats", .values),
    Module("Digests", .values, ["TextFormats"]),
    Module("Tiles", .values, ["TextFormats"]),
    Module("Regions", .values, ["CRegionData", "Tiles"]),
    Module("Wire", .values, ["Tiles"], [.protobuf]),
    Module("Scheduling", .values, ["Digests", "Tiles"], [.heap, .deque]),

    Module("Cryptography", .foundations, ["CCrypto"]),
    Module("Files", .foundations, ["CFile", "TextFormats", "Digests", "Cryptography"]),
    Module("Telemetry", .foundations, ["Tiles"], [.logging]),
    Module("MetricsFormat", .foundations, ["TextFormats"]),
    Module("WebRequests", .foundations, ["Digests"]),
    // The only module that runs HTTP servers; handlers of requests use the types of HummingbirdCore too.
    Module(
        "WebServer", .foundations, ["TextFormats", "Telemetry", "WebRequests"],
        [.hummingbirdCore, .lifecycle, .logging, .nio, .nioHTTP, .nioPosix]),
    Module("ZeroMQ", .foundations, ["CZeroMQ", "Files", "Telemetry"], [.logging]),
    Module("Transfer", .foundations, ["CCurl", "TextFormats"], [.logging]),
    Module("S3", .foundations, ["Transfer"]),
    Module("TileBodies", .foundations, ["CDeflate", "CZlib", "CBrotli", "CZstd", "TextFormats", "Tiles"]),
    Module("AreaFiles", .foundations, ["CProcess", "Tiles", "TileBodies"]),
    Module("PMTiles", .foundations, ["Files", "Tiles", "TileBodies"]),
    Module("SQLiteFiles", .foundations, [], [.grdb, .sqlite]),
    Module("WorldTiles", .foundations, ["Tiles", "TileBodies", "Regions"]),

    Module("CatalogFormat", .formats, ["Digests", "Tiles", "Files", "Cryptography"]),
    Module(
        "PackageFiles", .formats,
        ["TextFormats", "Digests", "Tiles", "TileBodies", "Files", "Cryptography", "PMTiles", "SQLiteFiles"],
        [.grdb, .sqlite]),
    Module("StyleFormat", .formats, ["TextFormats", "Digests", "TileBodies", "Files"]),

    Module("Tilesets", .builder, ["TextFormats", "Tiles", "TileBodies", "AreaFiles"], [.yams]),
    Module(
        "Origins", .builder,
        [
            "TextFormats", "Digests", "Tiles", "Tilesets", "TileBodies", "Transfer", "S3", "PMTiles", "PackageFiles",
            "Files",
        ]),
    Module("Shards", .builder, ["CLZ4", "Digests", "Files", "Tiles", "TileBodies"]),
    Module("Blobs", .builder, ["Digests", "Files"]),
    Module("ObjectStore", .builder, ["TextFormats", "Digests", "Transfer", "S3", "Files", "Blobs"]),
    Module("StateBackups", .builder, ["Digests", "Files", "ObjectStore"]),
    Module(
        "Packages", .builder,
        [
            "TextFormats", "Digests", "Tiles", "TileBodies", "Files", "Cryptography", "CatalogFormat", "PackageFiles",
            "Shards", "PMTiles", "SQLiteFiles",
        ], [.grdb]),
    Module("Catalog", .builder, ["Digests", "Tiles", "Regions", "Files", "CatalogFormat"]),
    Module(
        "Styles", .builder,
        ["TextFormats", "Digests", "Tilesets", "TileBodies", "Transfer", "Files", "StyleFormat"]),
    Module(
        "Notifications", .builder, ["TextFormats", "Digests", "Cryptography", "Transfer", "Files", "Telemetry"],
        [.logging]),
    Module(
        "OfflineDatabase", .builder,
        ["TextFormats", "Digests", "Tiles", "TileBodies", "Files", "PackageFiles", "Packages", "StyleFormat"],
        [.grdb]),

    Module(
        "DemoWorld", .services, ["TextFormats", "Tiles", "Regions", "WorldTiles", "WebServer"],
        [.hummingbirdCore, .logging, .nio]),
    Module(
        "Coordinator", .services,
        [
            "TextFormats", "Digests", "Tiles", "AreaFiles", "Wire", "Scheduling", "ZeroMQ", "Tilesets", "Origins",
            "Files",
            "Blobs",
            "Shards",
            "PackageFiles",
            "Packages",
            "CatalogFormat", "Catalog", "CatalogTransfer", "Notifications", "StateBackups", "Telemetry",
            "MetricsFormat",
        ], [.grdb, .sqlite, .lifecycle, .logging]),
    Module(
        "Worker", .services,
        [
            "Digests", "Tiles", "Wire", "ZeroMQ", "Tilesets", "Origins", "TileBodies", "Transfer", "Files", "Blobs",
            "Shards",
            "PackageFiles", "Packages", "StyleFormat", "Styles", "OfflineDatabase", "Telemetry", "MetricsFormat",
            "Scheduling", "ClusterClient",
        ], [.lifecycle, .logging]),
    Module("MetricsServer", .services, ["MetricsFormat", "WebServer"], [.hummingbirdCore, .logging, .nio, .nioPosix]),

    Module(
        "ClusterClient", .services,
        [
            "TextFormats", "Tiles", "AreaFiles", "Regions", "Wire", "ZeroMQ", "Tilesets", "PackageFiles", "Packages",
            "CatalogFormat",
        ]),
    Module(
        "Gateway", .services,
        [
            "CWebPage", "TextFormats", "Digests", "Tiles", "AreaFiles", "Regions", "Wire", "Files", "Telemetry",
            "ZeroMQ", "TileBodies", "WorldTiles", "MetricsFormat", "WebRequests", "WebServer", "CatalogFormat",
            "Catalog",
            "PackageFiles", "Packages", "StyleFormat",
            "Tilesets", "ClusterClient",
        ],
        [.hummingbirdCore, .lifecycle, .logging, .nio]),
    Module(
        "CatalogTransfer", .services,
        ["TextFormats", "Digests", "Tiles", "Files", "Transfer", "S3", "ObjectStore", "CatalogFormat", "Catalog"]),

    Module(
        "OfflineMaps", .client,
        [
            "Digests", "Tiles", "TileBodies", "Files", "CatalogFormat", "PackageFiles", "StyleFormat", "PMTiles",
            "SQLiteFiles", "TextFormats",
        ], [.grdb, .sqlite]),
    Module("OfflineMapsAdapters", .client, ["OfflineMaps", "Tiles"]),
    // The functions of offlinemaps.h; PACKHORSE_C=1 makes libofflinemaps.so of them.
    Module("OfflineMapsC", .client, ["OfflineMaps", "Tiles"]),
    // On Linux only what does not need MapKit and WebKit is compiled.
    Module("OfflineMapsApple", .client, ["OfflineMaps", "Tiles"]),

    Module(
        "CommandSupport", .program, ["TextFormats", "Tiles", "Files", "ZeroMQ", "CatalogFormat", "Telemetry"],
        [.arguments, .lifecycle, .logging, .signals]),
    Module(
        "DeviceCommands", .program,
        [
            "CommandSupport", "CatalogTransfer", "OfflineMaps", "CatalogFormat", "TextFormats", "Digests", "Tiles",
            "TileBodies", "AreaFiles",
            "Regions",
            "Files", "Transfer", "PackageFiles", "Telemetry", "WebRequests", "WebServer",
        ], [.arguments, .grdb, .hummingbirdCore, .logging, .nio]),
    Module(
        "Commands", .program,
        [
            "CMalloc", "CommandSupport", "DeviceCommands", "ClusterClient", "CatalogTransfer", "Gateway", "TextFormats",
            "Digests", "Tiles", "AreaFiles",
            "Regions", "Wire",
            "ZeroMQ", "Tilesets", "Origins", "TileBodies", "Transfer",
            "Files", "Blobs", "Shards", "S3", "ObjectStore", "PackageFiles", "Packages", "StyleFormat", "Styles",
            "OfflineDatabase", "CatalogFormat", "Catalog", "Notifications", "StateBackups", "DemoWorld", "Coordinator",
            "Worker",
            "MetricsServer", "MetricsFormat", "Telemetry",
        ], [.arguments, .logging, .signals]),

    // What tests of several modules need: servers, raw peers, a reader of metrics, random numbers by seed.
    Module("TestSupport", .testing, ["MetricsFormat", "Tiles"]),
    // Decoders in the form for a fuzzer.
    Module(
        "FuzzTargets", .testing,
        [
            "Digests", "Tiles", "TileBodies", "Wire", "Files", "Shards", "StyleFormat", "Styles", "ZeroMQ", "PMTiles",
            "PackageFiles", "Packages", "OfflineMaps", "WebRequests", "AreaFiles", "Tilesets", "StateBackups",
            "Origins",
        ], [.sqlite]),
]

/// A module's tests, and what they import in addition to the module and to what the module imports.
struct Tests {
    let module: String
    let modules: [String]
    let products: [Target.Dependency]
    init(_ module: String, _ modules: [String] = [], _ products: [Target.Dependency] = []) {
        self.module = module
        self.modules = modules
        self.products = products
    }
}

let tests: [Tests] = [
    Tests("Tiles"),
    Tests("Regions"),
    Tests("Wire"),
    Tests("Scheduling"),
    Tests("Cryptography"),
    Tests("Files"),
    Tests("MetricsFormat", ["TestSupport"]),
    Tests("WebRequests"),
    Tests("WebServer", ["TestSupport"]),
    Tests("ZeroMQ", ["TestSupport"]),
    Tests("Transfer", ["TestSupport"]),
    Tests("TileBodies", ["TestSupport"]),
    Tests("Tilesets"),
    Tests("Origins", ["TestSupport"], [.grdb]),
    Tests("Shards", ["Blobs", "TestSupport"]),
    Tests("ObjectStore", ["TestSupport"]),
    Tests("StateBackups", ["S3", "TestSupport"]),
    Tests("AreaFiles"),
    Tests("PMTiles"),
    Tests("SQLiteFiles"),
    Tests("Packages", ["TestSupport"]),
    Tests("Catalog"),
    Tests("Styles", ["TestSupport"]),
    Tests("Notifications", ["TestSupport"]),
    Tests("OfflineDatabase", ["Shards", "Styles", "Transfer", "TestSupport"]),
    Tests("DemoWorld", ["TestSupport", "TileBodies"]),
    Tests("Coordinator", ["TestSupport"]),
    Tests("Worker", ["PMTiles", "TestSupport"]),
    Tests("Gateway", ["Coordinator", "TestSupport"], [.grdb, .nio]),
    Tests("MetricsServer", ["TestSupport"]),
    Tests("OfflineMaps", ["Packages", "TestSupport"]),
    Tests(
        "OfflineMapsAdapters",
        ["CatalogFormat", "Digests", "Files", "PackageFiles", "Packages", "StyleFormat", "TestSupport", "TileBodies"],
        [.grdb]),
    Tests("OfflineMapsApple", ["TestSupport"]),
    Tests("OfflineMapsC", ["TestSupport"]),
    Tests("DeviceCommands", ["TestSupport"]),
    Tests("Commands", ["TestSupport"], [.lifecycle]),
    Tests("FuzzTargets", ["TestSupport"]),
]

/// Documents that are stored next to the code that they describe; they are not compiled.
let documents = [
    "Wire": [
        "packhorse.proto", "packhorse.proto.sha256", "frame_options.proto", "generate_messages.py", "generate_json.py",
        "wire_schema.py", "check_document.py",
    ],
    // What C reads, and what the linker lets other programs see.
    "OfflineMapsC": ["offlinemaps.h", "exports.map"],
]

/// Allows `@testable` imports in release builds too.
///
/// `make test` sets PACKHORSE_TESTABLE=1. Without it no module has unsafe flags, so that other packages can name a
/// library of this one as a dependency by version.
let testable: [SwiftSetting] =
    Context.environment["PACKHORSE_TESTABLE"] == nil ? [] : [.unsafeFlags(["-enable-testing"])]

/// Set only by ops/fuzz, in a separate build folder: counts which branches the fuzzer's inputs reach.
let isFuzzing = Context.environment["PACKHORSE_FUZZ"] != nil

/// Set by `make bench-device` and ops/check-layers: adds the programs that only measure.
let isMeasuring = Context.environment["PACKHORSE_BENCH"] != nil

/// Set by `make library`: adds the product `libofflinemaps.so`.
///
/// Without it, a build of everything would link it too.
let hasLibraryForC = Context.environment["PACKHORSE_C"] != nil

let strict: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
    ] + testable + (isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer"])] : [])

/// The Swift libraries, and those that Foundation's static libraries need.
let swiftLibraries = [
    "-static-stdlib", "-lCoreFoundation", "-l_FoundationICU", "-l_FoundationCShims", "-l_FoundationCollections",
    "-l_CFURLSessionInterface", "-lcurl", "-lstdc++",
]

/// Links the Swift libraries statically: the program starts in two thirds of the time, and does not need an installed
/// Swift.
///
/// The program is not loaded as a library, so none of its 61,000 symbols is exported: the loader would search them for
/// every name. The libraries are listed, because the modules are also compiled for tests, which link dynamically. For this
/// reason, no test may depend on the program's target.
let swiftInside = LinkerSetting.unsafeFlags(
    swiftLibraries + ["-Xlinker", "--no-export-dynamic"], .when(platforms: [.linux]))

/// The same for the library for C, of which other programs see the functions of its header alone: a process can then also
/// have another Swift.
let libraryForC = LinkerSetting.unsafeFlags(
    swiftLibraries + [
        "-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/Client/OfflineMapsC/exports.map",
        "-Xlinker", "-soname=libofflinemaps.so",
    ], .when(platforms: [.linux]))

/// The modules named in PACKHORSE_TESTS, or `nil` for all.
let tested: [String]? = Context.environment["PACKHORSE_TESTS"].map { $0.split(separator: ",").map(String.init) }

/// The modules named in PACKHORSE_MODULES and everything below them, or `nil` for all modules.
let chosen: Set<String>? = Context.environment["PACKHORSE_MODULES"].flatMap { list in
    list.isEmpty ? nil : below(Set(list.split(separator: ",").map(String.init) + ["Errors"]))
}

func below(_ names: Set<String>) -> Set<String> {
    let next = names.union(libraries.filter { names.contains($0.name) }.flatMap(\.modules))
        .union(tests.filter { names.contains($0.module) && isTested($0) }.flatMap(\.modules))
    return next == names ? names : below(next)
}

func isTested(_ test: Tests) -> Bool { tested?.contains(test.module) ?? true }

func isChosen(_ name: String) -> Bool { chosen?.contains(name) ?? true }

/// Every module may name `Errors`.
func dependencies(_ module: Module) -> [Target.Dependency] {
    (module.name == "Errors" ? [] : ["Errors"]) + module.modules.map { .target(name: $0) } + module.products
}

var targets: [Target] = systemLibraries.filter { isChosen($0.name) }
if isChosen("Regions") {
    targets.append(
        .target(
            name: "CRegionData", path: "Sources/CLibraries/CRegionData",
            exclude: ["regions.bin", "regions.json", "towns.bin"]))
}
if isChosen("CWebPage") {
    targets.append(.target(name: "CWebPage", path: "Sources/CLibraries/CWebPage", exclude: ["page"]))
}
if chosen == nil {
    // The commit is in one file, so that another one compiles that file and links, and nothing else.
    let commit = Context.environment["PACKHORSE_COMMIT"] ?? ""
    let isText =
        !commit.isEmpty && commit.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || " -".contains($0)) }
    targets.append(
        .target(
            name: "CBuildCommit", path: "Sources/CLibraries/CBuildCommit", publicHeadersPath: ".",
            cSettings: isText ? [.define("PACKHORSE_COMMIT", to: "\"\(commit)\"")] : []))
}
for module in libraries where isChosen(module.name) {
    targets.append(
        .target(
            name: module.name, dependencies: dependencies(module),
            path: "Sources/\(module.layer.rawValue)/\(module.name)",
            exclude: documents[module.name, default: []], swiftSettings: strict,
            linkerSettings: hasLibraryForC && module.name == "OfflineMapsC" ? [libraryForC] : []))
    for test in tests where test.module == module.name && isTested(test) {
        targets.append(
            .testTarget(
                name: "\(module.name)Tests",
                dependencies: [.target(name: module.name)] + dependencies(module)
                    + test.modules.map { .target(name: $0) }
                    + test.products,
                path: "Tests/\(module.layer.rawValue)/\(module.name)Tests", swiftSettings: strict))
    }
}
if chosen == nil {
    targets.append(
        .executableTarget(
            name: "packhorse", dependencies: ["Commands", "CBuildCommit"], path: "Sources/Program/packhorse",
            swiftSettings: strict,
            linkerSettings: [swiftInside]))
    targets.append(
        .executableTarget(
            name: "packhorse-bench",
            dependencies: [
                "Blobs", "Catalog", "CatalogFormat", "CommandSupport", "Digests", "Errors", "Files", "PMTiles",
                "PackageFiles",
                "Packages", "Regions", "Scheduling", "Shards", "TextFormats", "TileBodies", "Tiles", "Wire",
                "WorldTiles", "ZeroMQ",
                .arguments,
                .grdb, .sqlite,
            ],
            path: "Sources/Program/packhorse-bench", swiftSettings: strict, linkerSettings: [swiftInside]))
    targets.append(
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Catalog", "CatalogFormat", "Digests", "Errors", "Files", "Notifications", "PackageFiles",
                "Packages", "TestSupport", "Tiles", "ZeroMQ",
            ],
            path: "Tests/Program/EndToEndTests", swiftSettings: strict))
}

if chosen == nil && isMeasuring {
    // `make bench-device`: measurements of the library for apps, and two small programs whose starts are compared.
    targets.append(
        .executableTarget(
            name: "bench-device",
            dependencies: [
                "CatalogFormat", "Digests", "Errors", "Files", "OfflineMaps", "PackageFiles", "TileBodies", "Tiles",
                .arguments,
                .sqlite,
            ],
            path: "Sources/Program/bench-device", swiftSettings: strict, linkerSettings: [swiftInside]))
    targets.append(
        .executableTarget(
            name: "bench-sqlite-start", dependencies: [.sqlite], path: "Sources/Program/bench-sqlite-start",
            swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-static-stdlib"], .when(platforms: [.linux]))]))
    targets.append(
        .executableTarget(
            name: "bench-maps-start", dependencies: ["OfflineMaps", "Tiles", .sqlite],
            path: "Sources/Program/bench-maps-start", swiftSettings: strict, linkerSettings: [swiftInside]))
}

let measurements = isMeasuring ? ["bench-device", "bench-sqlite-start", "bench-maps-start"] : []
let programs: [Product] = (["packhorse", "packhorse-bench"] + measurements).map {
    .executable(name: $0, targets: [$0])
}

/// What other packages may name: the formats that a device reads, the library for apps, and its adapters.
let forApps: [Product] = [
    .library(name: "PackhorseFormats", targets: ["Tiles", "CatalogFormat", "PackageFiles", "StyleFormat"]),
    .library(name: "OfflineMaps", targets: ["OfflineMaps", "Tiles"]),
    .library(name: "OfflineMapsAdapters", targets: ["OfflineMapsAdapters"]),
    .library(name: "OfflineMapsApple", targets: ["OfflineMapsApple"]),
]

let package = Package(
    name: "packhorse",
    // The first systems with Synchronization's Mutex.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: (chosen == nil ? programs + forApps : [])
        + (hasLibraryForC ? [.library(name: "offlinemaps", type: .dynamic, targets: ["OfflineMapsC"])] : [])
        + (isFuzzing ? [.library(name: "PackhorseFuzz", type: .static, targets: ["FuzzTargets"])] : []),
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.89.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: targets,
    swiftLanguageModes: [.v6]
)
