import Catalog
import CatalogFormat
import Errors
import Files
import Foundation
import Logging
import Scheduling
import Telemetry
import Wire

extension ControlHandlers {
    /// Promotes packages or rolls them back in the background, in turn with what is being published.
    ///
    /// The answer comes when patches to the new versions are made, as the end of a job does: until then the lists change once more.
    func changeCatalog(_ body: PBChangeCatalog, _ replyAddress: ReplyAddress) {
        state.tick.tasks.append(
            .run(.catalog) { [environment] in
                do {
                    let writer = try environment.catalogs.writer(named: body.changedCatalog)
                    let order = try CatalogOrder(body, environment.catalogs)
                    try await environment.waitForTurn()
                    let plan = try await FileWork.run { try writer.carryOut(order) }
                    let answer = Report.answer(replyAddress, .catalogChanged(try PBCatalogChanged(plan.difference)))
                    guard !order.isDry, !plan.isEmpty else { return answer }
                    environment.logger.notice(
                        "Packages of a catalog changed",
                        metadata: [
                            LogKey.path: "\(writer.folder.path)", LogKey.order: "\(plan.kind.rawValue)",
                            LogKey.package:
                                "\(plan.difference.packages.prefix(100).map { $0.edition + $0.id }.joined(separator: ", "))",
                        ])
                    environment.executor.run(on: .patches) {
                        // Writers log the errors of patches and throw none.
                        try? await FileWork.run { writer.makePatches(plan.requests) }
                        return answer
                    }
                    return nil
                } catch {
                    return .answer(replyAddress, Self.refusal(ofChange: error))
                }
            })
    }

    /// Compares two catalogs in the background; reads their lists without a lock.
    func compareCatalogs(_ body: PBCompareCatalogs, _ replyAddress: ReplyAddress) {
        state.tick.tasks.append(
            .run(.comparisons) { [environment] in
                func writer(_ name: String) throws -> any CatalogWriter {
                    try environment.catalogs.writer(named: name.isEmpty ? PublishOptions.mainCatalog : name)
                }
                do {
                    let (new, old) = (try writer(body.from).folder, try writer(body.catalog).folder)
                    let selection = CatalogSelection(body.packages)
                    let difference = try await FileWork.run {
                        try CatalogDifference(
                            new: try Catalog(new, create: false), old: try Catalog(old, create: false),
                            of: selection)
                    }
                    return .answer(replyAddress, .catalogChanged(try PBCatalogChanged(difference)))
                } catch {
                    return .answer(replyAddress, Self.refusal(ofChange: error))
                }
            })
    }

    private static func refusal(ofChange error: any Error) -> Message {
        switch error {
        case let error as SubmitProblem: return WireConversions.problem(error.code, error.text, hint: error.hint)
        case let error as CatalogError:
            let code = error.code == .missingPackage ? "unknown-package" : "\(error.code)"
            // A message has room for some of the details.
            let text = ([error.message] + error.details.prefix(20)).map { $0.prefix(500) }.joined(separator: "\n  ")
            return WireConversions.problem(
                code, text, hint: error.hint ?? "", retriable: [.diskFull, .io, .changed].contains(error.code))
        default:
            let (trouble, mayHeal) = CatalogTable.trouble(error)
            return WireConversions.problem("\(trouble.cause)", "\(trouble.detail)", retriable: mayHeal)
        }
    }
}

extension PBChangeCatalog {
    fileprivate var changedCatalog: String { catalog.isEmpty ? PublishOptions.mainCatalog : catalog }
}

extension CatalogOrder {
    /// Reads an order.
    ///
    /// - Throws: ``SubmitProblem`` `unknown-catalog`, `bad-edition`, `bad-request`.
    fileprivate init(_ body: PBChangeCatalog, _ catalogs: CatalogTable) throws(SubmitProblem) {
        let edition: CatalogEdition
        do throws(CatalogError) { edition = try CatalogEdition(body.edition) } catch {
            throw SubmitProblem("bad-edition", error.message)
        }
        let kind: Kind
        switch body.order {
        case "promote":
            guard (0...1).contains(body.maxShrink) else {
                throw SubmitProblem(
                    "bad-request", "A package can shrink by 0 to 1 of its size, not by \(body.maxShrink).")
            }
            let staging = try catalogs.writer(named: body.from.isEmpty ? PublishOptions.mainCatalog : body.from)
            kind = .promotion(from: staging.folder, maxShrink: body.maxShrink)
        case "rollback":
            guard let version = Int32(exactly: body.version) else {
                throw SubmitProblem("bad-request", "There is no version \(body.version).")
            }
            kind = .rollback(to: version == 0 ? nil : version)
        default:
            throw SubmitProblem(
                "bad-request", "'\(body.order.prefix(40))' is no order for a catalog: promote or rollback.")
        }
        guard body.edition.isRoot || !body.mainEdition else {
            throw SubmitProblem("bad-request", "The main edition has no group and no language.")
        }
        let isEvery = body.edition.isRoot && !body.mainEdition
        self.init(kind, of: CatalogSelection(body.packages, edition: isEvery ? nil : edition))
        (replacesTileset, replacesArea, isDry) = (body.replacesTileset, body.replacesArea, body.dryRun)
    }
}

extension PBCatalogChanged {
    /// The largest answer, in bytes: half of a frame.
    private static let mostBytes = 2 << 20

    /// What was changed; packages that shrink least are left out when there are too many.
    init(_ difference: CatalogDifference) throws {
        self.init()
        var shown = difference
        self.difference = try JSONEncoder().encode(shown)
        while self.difference.count > Self.mostBytes {
            shown.packages.removeLast((shown.packages.count + 1) / 2)
            self.difference = try JSONEncoder().encode(shown)
        }
        omitted = UInt32(clamping: difference.packages.count - shown.packages.count)
    }
}
