// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "trip",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "https://git.example.com/packhorse.git", from: "0.1.0")],
    targets: [
        .executableTarget(name: "Trip", dependencies: [.product(name: "OfflineMaps", package: "packhorse")])
    ]
)
