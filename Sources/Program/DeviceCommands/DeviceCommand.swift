package import ArgumentParser

/// `packhorse device`: the library OfflineMaps from the command line.
package struct DeviceCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Install, update, read and serve offline maps, as an app with OfflineMaps does.",
        discussion: """
            All commands work on a store, a folder that is named by --store or PACKHORSE_STORE. The store keeps the address
            of its catalog and the keys that may have signed it.
            Example: packhorse device install EE --catalog https://maps.example.com/offline/ --store ./maps
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Maps",
                subcommands: [
                    DeviceListCommand.self, DeviceSearchCommand.self, DeviceInstallCommand.self,
                    DeviceUpdateCommand.self, DeviceRemoveCommand.self, DeviceRollbackCommand.self,
                    DeviceStatusCommand.self, DeviceEstimateCommand.self, DeviceRegionCommand.self,
                    DeviceGroupsCommand.self, DeviceAdoptCommand.self, DeviceExportCommand.self,
                    DeviceStyleCommand.self,
                ]),
            CommandGroup(
                name: "Tasks",
                subcommands: [
                    DeviceTasksCommand.self, DevicePauseCommand.self, DeviceResumeCommand.self,
                    DeviceCancelCommand.self, DeviceRetryCommand.self, DeviceRunCommand.self, DeviceWatchCommand.self,
                ]),
            CommandGroup(
                name: "Store",
                subcommands: [
                    DeviceQuotaCommand.self, DeviceVerifyCommand.self, DeviceRepairCommand.self,
                    DeviceServeCommand.self, DeviceShareCommand.self,
                ]),
        ])

    package init() {}
}
