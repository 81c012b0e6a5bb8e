// swift-tools-version: 6.2
import PackageDescription

// One table defines every module: its layer, the lower modules that it may import, and the external dependencies that
// it wraps. `make check` reads the same table (ops/check-layers) and refuses an import that is not in the table.
//
// PACKHORSE_ROOMS=Tiles,Regions builds only these modules, their dependencies, and their tests (CONTRIBUTING.md).

struct Engine {
    let product: Target.Dependency
    static func product(_ name: String, _ package: String) -> Engine {
        Engine(product: .product(name: name, package: package))
    }
    static let arguments = product("ArgumentParser", "swift-argument-parser")
    static let heap = product("HeapModule", "swift-collections")
    static let deque = product("DequeModule", "swift-collections")
    static let crypto = product("Crypto", "swift-crypto")
    static let grdb = product("GRDB", "GRDB.swift")
    static let sqlite = product("GRDBSQLite", "GRDB.swift")
    static let hummingbird = product("Hummingbird", "hummingbird")
    static let lifecycle = product("ServiceLifecycle", "swift-service-lifecycle")
    static let nio = product("NIOCore", "swift-nio")
    static let logging = product("Logging", "swift-log")
    static let protobuf = product("SwiftProtobuf", "swift-protobuf")
    static let signals = product("UnixSignals", "swift-service-lifecycle")
    static let yams = product("Yams", "Yams")
}

struct Room {
    let name: String
    let rooms: [String]
    let engines: [Engine]
    init(_ name: String, _ rooms: [String] = [], _ engines: [Engine] = []) {
        self.name = name
        self.rooms = rooms
        self.engines = engines
    }
}

let systemLibraries: [Target] = [
    .systemLibrary(name: "CZeroMQ", providers: [.apt(["libzmq3-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CMalloc"),
    .systemLibrary(name: "CFile"),
    .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
    .systemLibrary(name: "CDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CBrotli", pkgConfig: "libbrotlidec", providers: [.apt(["libbrotli-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
]

let libraries: [Room] = [
    // Layer 1: values and pure state machines
    Room("Errors"),
    Room("Tiles"),
    Room("Regions", ["CRegionData", "Tiles"]),
    Room("Wire", ["Tiles"], [.protobuf]),
    Room("Scheduling", ["Tiles"], [.heap, .deque]),
    // Layer 2: at most one external dependency each
    Room("Telemetry", ["Tiles"], [.logging]),
    Room("ZeroMQ", ["CZeroMQ", "Telemetry"], [.logging]),
    Room("Transfer", ["CCurl"], [.logging]),
    Room("S3", ["Transfer"]),
    Room("TileBodies", ["CDeflate", "CZlib", "CBrotli", "CZstd", "Tiles"]),
    Room("Tilesets", ["Tiles", "TileBodies"], [.yams]),
    Room("PMTiles", ["Tiles", "TileBodies"]),
    Room("SQLiteFiles", [], [.grdb]),
    Room(
        "Origins", ["Tiles", "Tilesets", "TileBodies", "Transfer", "S3", "PMTiles", "SQLiteFiles"], [.grdb, .crypto]),
    Room("Shards", ["CLZ4", "CFile", "Tiles"], [.crypto]),
    Room("ObjectStore", ["Transfer", "S3", "Shards"]),
    Room("Packages", ["Tiles", "TileBodies", "Shards", "PMTiles", "SQLiteFiles"], [.grdb, .crypto]),
    Room("Catalog", ["Tiles", "Regions", "Shards"], [.crypto]),
    Room("Styles", ["Tilesets", "TileBodies", "Transfer", "Shards"]),
    Room(
        "OfflineDatabase", ["Tiles", "TileBodies", "Shards", "Packages", "Styles"], [.grdb, .crypto]),
    Room("TestSupport"),  // the scripted HTTP server and the raw ZeroMQ peer of the tests; only tests import it
    // Layer 3: services; they communicate through Wire and never import each other
    Room("DemoWorld", ["Tiles", "TileBodies", "Regions"], [.hummingbird, .logging, .nio]),
    Room(
        "Coordinator",
        ["Tiles", "Wire", "Scheduling", "ZeroMQ", "Tilesets", "Shards", "Packages", "Catalog", "Telemetry"],
        [.grdb, .sqlite, .lifecycle, .logging]),
    Room(
        "Worker",
        [
            "Tiles", "Wire", "ZeroMQ", "Tilesets", "Origins", "TileBodies", "Transfer", "Shards", "Packages",
            "Styles", "OfflineDatabase", "Telemetry",
        ], [.lifecycle, .logging]),
    // Decoders in the form for a fuzzer; only tests and ops/fuzz use this module.
    Room("FuzzTargets", ["Tiles", "TileBodies", "Wire", "Shards", "Styles", "ZeroMQ", "PMTiles", "Packages"]),
    // Layer 4
    Room(
        "Commands",
        [
            "CMalloc", "Tiles", "Regions", "Wire", "ZeroMQ", "Tilesets", "Origins", "TileBodies", "Transfer", "Shards",
            "S3", "ObjectStore", "Packages", "Styles", "OfflineDatabase", "Catalog", "DemoWorld",
            "Coordinator", "Worker", "Scheduling", "Telemetry",
        ], [.arguments, .grdb, .lifecycle, .logging, .signals]),
]

/// Modules with a test target, and what the tests import in addition to the module itself.
let tests: [Room] = [
    Room("Tiles"), Room("Regions", ["Tiles"]), Room("Wire", ["Tiles"]), Room("Scheduling", ["Tiles"], [.heap]),
    Room("ZeroMQ", ["TestSupport"]), Room("Transfer", ["TestSupport"]), Room("TileBodies", ["Tiles"]),
    Room("Tilesets", ["Tiles", "TileBodies"]),
    Room("Origins", ["Tiles", "Tilesets", "TileBodies", "Transfer", "PMTiles", "TestSupport"], [.grdb]),
    Room("Shards", ["Tiles"]),
    Room("ObjectStore", ["Transfer", "S3", "Shards", "TestSupport"]),
    Room("PMTiles", ["Tiles", "TileBodies"]),
    Room("SQLiteFiles", [], [.grdb]),
    Room("Packages", ["Tiles", "TileBodies", "Shards", "PMTiles", "TestSupport"], [.grdb]),
    Room("Catalog", ["Tiles", "Shards"]),
    Room("Styles", ["TestSupport", "Transfer", "Tilesets", "TileBodies", "Shards"]),
    Room("OfflineDatabase", ["Tiles", "TileBodies", "Shards", "Packages", "Styles", "TestSupport"], [.grdb]),
    Room("DemoWorld", ["Tiles", "TileBodies", "Regions"], [.logging]),
    Room("Coordinator", ["Tiles", "Wire", "Scheduling", "ZeroMQ", "Shards"], [.grdb, .logging]),
    Room("Worker", ["Tiles", "Wire", "Shards", "Tilesets", "Origins", "PMTiles", "TileBodies", "TestSupport"]),
    Room(
        "Commands",
        [
            "Tiles", "Regions", "Wire", "Catalog", "Coordinator", "Shards", "Worker", "ZeroMQ", "Packages",
            "TileBodies",
            "S3", "ObjectStore", "TestSupport",
        ], [.logging]),
    Room("FuzzTargets"),
]

/// Documents that are stored next to the code that they describe; they are not compiled.
let documents = [
    "Wire": [
        "packhorse.proto", "packhorse.proto.sha256", "frame_options.proto", "generate_messages.py", "wire_schema.py",
        "check_document.py",
    ]
]

/// Allows `@testable` imports in release builds too.
///
/// So `make demo` and `make test` use the same build. PACKHORSE_PRODUCTION=1 turns it off: the container image and
/// measurements are built in this way.
let testable = SwiftSetting.unsafeFlags(["-enable-testing"])

/// Set only by ops/fuzz, in a separate build folder: counts which branches the fuzzer's inputs reach.
let isFuzzing = Context.environment["PACKHORSE_FUZZ"] != nil

let strict: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
    ] + (Context.environment["PACKHORSE_PRODUCTION"] == nil ? [testable] : [])
    + (isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer"])] : [])

/// Links the Swift libraries statically: the program starts in two thirds of the time, and does not need an installed
/// Swift.
///
/// The program is not loaded as a library, so none of its 61,000 symbols is exported: the loader would search them for
/// every name. The libraries that Foundation's static library needs are listed, because the modules are also compiled
/// for tests, which link dynamically. For this reason, no test may depend on the program's target.
let swiftInside = LinkerSetting.unsafeFlags(
    [
        "-static-stdlib", "-lCoreFoundation", "-l_FoundationICU", "-l_FoundationCShims", "-l_FoundationCollections",
        "-lstdc++", "-Xlinker", "--no-export-dynamic",
    ], .when(platforms: [.linux]))

/// The modules named in PACKHORSE_ROOMS and everything below them, or `nil` for all modules.
let chosen: Set<String>? = Context.environment["PACKHORSE_ROOMS"].flatMap { list in
    list.isEmpty ? nil : below(Set(list.split(separator: ",").map(String.init) + ["Errors"]))
}

func below(_ names: Set<String>) -> Set<String> {
    let next = names.union(libraries.filter { names.contains($0.name) }.flatMap(\.rooms))
        .union(tests.filter { names.contains($0.name) }.flatMap(\.rooms))
    return next == names ? names : below(next)
}

func isChosen(_ name: String) -> Bool { chosen?.contains(name) ?? true }

/// Every module may name `Errors`.
func dependencies(_ room: Room) -> [Target.Dependency] {
    (room.name == "Errors" ? [] : ["Errors"]) + room.rooms.map { .target(name: $0) } + room.engines.map(\.product)
}

var targets: [Target] = systemLibraries.filter { isChosen($0.name) }
if isChosen("Regions") {
    targets.append(.target(name: "CRegionData", exclude: ["regions.bin", "regions.json"]))
}
targets += libraries.filter { isChosen($0.name) }.map {
    .target(
        name: $0.name, dependencies: dependencies($0), exclude: documents[$0.name, default: []], swiftSettings: strict)
}
targets += tests.filter { isChosen($0.name) }.map {
    .testTarget(
        name: "\($0.name)Tests", dependencies: [.target(name: $0.name)] + dependencies($0), swiftSettings: strict)
}
if chosen == nil {
    targets.append(
        .executableTarget(
            name: "packhorse", dependencies: ["Commands"], swiftSettings: strict, linkerSettings: [swiftInside]))
    targets.append(
        .testTarget(
            name: "EndToEndTests", dependencies: ["Tiles", "Packages", "ZeroMQ", "TestSupport"],
            swiftSettings: strict))
}

let package = Package(
    name: "packhorse",
    platforms: [.macOS(.v15)],
    products: (chosen == nil ? [.executable(name: "packhorse", targets: ["packhorse"])] : [])
        + (isFuzzing ? [.library(name: "PackhorseFuzz", type: .static, targets: ["FuzzTargets"])] : []),
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.89.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: targets,
    swiftLanguageModes: [.v6]
)
