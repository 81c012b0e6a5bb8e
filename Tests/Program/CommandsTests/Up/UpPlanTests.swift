import ArgumentParser
import CommandSupport
import Foundation
import Testing

@testable import Commands

/// The processes that `packhorse up` starts.
struct UpPlanTests {
    private let plan = UpPlan(
        data: URL(filePath: "/maps", directoryHint: .isDirectory), workers: 2, controlPort: 7470, gatewayPort: 7480,
        coordinatorArguments: ["--keep-tiles", "1GB"], gatewayArguments: ["--tileset", "tiles.yaml"],
        logArguments: ["--log-level", "info"])

    @Test func theStagesAreCoordinatorWorkersAndGateway() throws {
        let stages = plan.stages(work: "ipc:///maps/sockets/work")
        #expect(stages.map { $0.map(\.name) } == [["coordinator"], ["worker-1", "worker-2"], ["gateway"]])
        let coordinator = stages[0][0]
        #expect(coordinator.arguments(isFirst: true).contains("--new-workers"))
        #expect(!coordinator.arguments(isFirst: false).contains("--new-workers"), "its workers live on")
        var plan = plan
        #expect(plan.page == "http://127.0.0.1:7480/")
        plan = UpPlan(data: plan.data, workers: 1, controlPort: 7470, gatewayPort: nil)
        #expect(plan.stages(work: "w").map(\.count) == [1, 1])
        #expect(plan.page == nil)
    }

    /// What the commands themselves make of the arguments.
    @Test func theCommandsAcceptTheirArguments() throws {
        let stages = plan.stages(work: "ipc:///maps/sockets/work")
        for isFirst in [true, false] {
            let parsed = try RootCommand.parseAsRoot(stages[0][0].arguments(isFirst: isFirst))
            let coordinator = try #require(parsed as? CoordinatorCommand)
            #expect(coordinator.control == "tcp://127.0.0.1:7470" && coordinator.work == "ipc:///maps/sockets/work")
            #expect(coordinator.data == "/maps" && coordinator.keepTiles == "1GB" && coordinator.noBlobEndpoint)
            #expect(coordinator.restartGraceSeconds == 20)
            #expect(coordinator.newWorkers == isFirst)
            #expect(coordinator.log.logLevel == .info)
        }
        let parsed = try RootCommand.parseAsRoot(stages[1][1].arguments(isFirst: true))
        let worker = try #require(parsed as? WorkerCommand)
        #expect(worker.connect == ["ipc:///maps/sockets/work"] && worker.blobs == "/maps/blobs")
        #expect(worker.name == "worker-2")
    }

    @Test func theGatewayHasCatalogTokensAndTilesets() {
        let gateway = plan.stages(work: "w")[2][0].arguments(isFirst: true)
        #expect(
            gateway == [
                "gateway", "/maps/catalog", "--port", "7480", "--tokens", "/maps/tokens", "--coordinator",
                "tcp://127.0.0.1:7470", "--tileset", "tiles.yaml", "--log-level", "info",
            ])
    }

    @Test func metricsAndNotificationsReachTheProcesses() throws {
        var plan = plan
        plan.metricsPort = 9470
        let stages = plan.stages(work: "w")
        let addresses = stages.joined().map { service -> String? in
            let arguments = service.arguments(isFirst: true)
            return arguments.firstIndex(of: "--metrics").map { arguments[$0 + 1] }
        }
        #expect(addresses == ["127.0.0.1:9470", "127.0.0.1:9471", "127.0.0.1:9472", nil])
        #expect(plan.metricsPorts == [9470, 9471, 9472])
        let up = try #require(
            try UpCommand.parse([
                "--notify", "http://127.0.0.1:9/a", "--notify-on", "job-failed", "--extract-tiles", "9",
            ]) as UpCommand?)
        #expect(up.notifyOptions.arguments == ["--notify", "http://127.0.0.1:9/a", "--notify-on", "job-failed"])
    }

    @Test func linesCanBePastedIntoAShell() {
        let plan = UpPlan(
            data: URL(filePath: "/my maps", directoryHint: .isDirectory), workers: 1, controlPort: 7470,
            gatewayPort: nil)
        #expect(plan.lines.count == 2)
        #expect(plan.lines[0].hasPrefix("packhorse coordinator --data '/my maps' --control tcp://127.0.0.1:7470 "))
        #expect(plan.lines[1].hasPrefix("packhorse worker --connect 'ipc:///my maps/sockets/work' "))
    }

    @Test(arguments: [
        ["--workers", "0"], ["--workers", "65"], ["--port", "0"], ["--control-port", "65536"],
        ["--port", "7470"], ["--no-gateway", "--tileset", "tiles.yaml"], ["--keep-tiles", "much"],
        ["--lease-seconds", "1"], ["--metrics-port", "0"], ["--metrics-port", "7479", "--workers", "1"],
        ["--metrics-port", "65535"], ["--no-gateway", "--extract-tiles", "9"], ["--notify-on", "job-failed"],
    ])
    func wrongOptionsAreRefused(arguments: [String]) {
        #expect(throws: (any Error).self) { try UpCommand.parse(arguments) }
    }
}
