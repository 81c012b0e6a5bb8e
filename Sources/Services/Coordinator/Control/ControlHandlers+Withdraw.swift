import Catalog
import CatalogFormat
import Errors
import Foundation
import Logging
import Telemetry
internal import TextFormats
import Wire

extension ControlHandlers {
    /// Withdraws packages from the catalog in the background, in turn with what is being published.
    func withdraw(_ body: PBWithdraw, _ replyAddress: ReplyAddress) {
        guard !body.packages.isEmpty else {
            return state.reply(WireConversions.problem("bad-request", "No package is named."), to: replyAddress)
        }
        state.tick.tasks.append(
            .run(.catalog) { [environment] in
                do {
                    let edition = try CatalogEdition(body.edition)
                    try await environment.waitForTurn()
                    let gone = try environment.catalogs.main.withdraw(body.packages, from: edition)
                    environment.logger.notice(
                        "Packages withdrawn", metadata: [LogKey.package: "\(body.packages.joined(separator: ", "))"])
                    return .answer(
                        replyAddress,
                        .ordered(
                            .make {
                                $0.changed = UInt64(gone.versions.count)
                                $0.text =
                                    "\(Units.count(gone.versions.count, of: "version")) withdrawn, \(Units.count(gone.files.count, of: "file")) removed"
                            }))
                } catch {
                    return .answer(replyAddress, Self.refusal(of: error))
                }
            })
    }

    private static func refusal(of error: any Error) -> Message {
        guard let error = error as? CatalogError else {
            return WireConversions.problem("degraded", "The catalog cannot be changed: \(error)", retriable: true)
        }
        // The codes of the protocol for what is not there and for what cannot be asked.
        switch error.code {
        case .missingPackage: return WireConversions.problem("unknown-package", error.message)
        case .badRequest: return WireConversions.problem("bad-request", error.message)
        default: return WireConversions.problem("degraded", error.message, retriable: true)
        }
    }
}
