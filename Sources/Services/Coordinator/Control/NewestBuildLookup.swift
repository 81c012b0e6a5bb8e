import Digests
import Errors
import Foundation
import Origins
import Scheduling
import Tiles
import Tilesets
import Wire

/// Makes the submission of a schedule from its files and from the newest build of its source, outside of the loop.
///
/// It asks with the environment of the coordinator: `${NAME}` in the tileset file are its variables.
struct NewestBuildLookup: Sendable {
    /// The last job of the schedule, which is done.
    struct Last: Sendable {
        let build: SourceBuild
        /// In canonical form.
        let tileset: [UInt8]
        let version: String?
        /// See ``JobSummary/identity``.
        let identity: Digest
    }
    let last: Last?
    let options: CoordinatorOptions

    /// The submission of a schedule that follows files or builds; `nil` for any other, and for one that cannot be read.
    static func body(_ payload: [UInt8]) -> PBSubmit? {
        // The plan says what cannot be read.
        guard let frame = try? Frame(decoding: payload), case .submit(let body) = frame.message,
            !body.latest.isEmpty || body.hasFollows
        else { return nil }
        return body
    }

    /// What becomes of a firing; `nil` when a plan will say it.
    func report(
        of stored: PBSubmit, _ firing: Firing, _ executor: BackgroundExecutor, against catalogs: CatalogTable
    ) async -> Report? {
        let current: PBSubmit
        do throws(SubmitProblem) { current = try await options.current(stored) } catch {
            return .fireFailed(firing, Trouble(cause: error.code, detail: error.withHint), retriable: false)
        }
        do throws(SubmitProblem) {
            guard let body = current.latest.isEmpty ? current : try await newest(current) else {
                return .fireUnchanged(firing, build: last?.build.name ?? "")
            }
            let payload = try SubmitPlanner.payload(body)
            let limit = stored.hasFollows ? options.bboxTileLimit : nil
            executor.plan {
                .firePlanned(
                    firing,
                    ControlHandlers.plan(
                        payload, firing, due: firing.due ?? 0, catalogs: catalogs, bboxTileLimit: limit))
            }
            return nil
        } catch {
            return .lookupFailed(firing, Trouble(cause: error.code, detail: error.text))
        }
    }

    /// The submission over the newest build, whatever the last job was made of.
    func filled(_ stored: PBSubmit) async -> Result<PBSubmit, SubmitProblem> {
        do throws(SubmitProblem) {
            let current = try await options.current(stored)
            return .success(current.latest.isEmpty ? current : try await newest(current) ?? current)
        } catch {
            return .failure(error)
        }
    }

    /// The submission over the newest build; `nil` when it makes exactly what the last job made.
    private func newest(_ stored: PBSubmit) async throws(SubmitProblem) -> PBSubmit? {
        let file: TilesetFile
        do throws(TilesetsError) {
            file = try TilesetFile(text: stored.latest, name: "latest", folder: URL(filePath: "/"))
        } catch {
            throw SubmitProblem("bad-request", "The tileset file of the schedule cannot be read: \(error.message)")
        }
        let known = try known(stored)
        let found: (tileset: Tileset, version: String?)?
        do throws(OriginsError) {
            found = try await OriginMetadata.newest(
                file, unlike: known, environment: ProcessInfo.processInfo.environment)
        } catch {
            throw SubmitProblem(FailureCause(error.code).rawValue, error.message)
        }
        guard let found else { return nil }
        var body = stored
        do throws(TilesetsError) {
            let tileset = try found.tileset.narrowed(to: try Self.union(stored), zooms: try Self.zooms(stored))
            body.tileset = Data(tileset.canonicalJSON)
        } catch {
            throw SubmitProblem("bad-request", error.message)
        }
        body.sourceVersion = found.version ?? ""
        guard let last, try SubmitPlanner.identity(body) == last.identity else { return body }
        return nil
    }

    /// The build of the last job, and whether that job is otherwise what the schedule asks for.
    private func known(_ stored: PBSubmit) throws(SubmitProblem) -> KnownBuild? {
        guard let last else { return nil }
        var same = stored
        same.tileset = Data(last.tileset)
        same.sourceVersion = last.version ?? ""
        return KnownBuild(
            last.build, version: last.version, suffices: try SubmitPlanner.identity(same) == last.identity)
    }

    private static func zooms(_ body: PBSubmit) throws(TilesetsError) -> ZoomRange {
        guard let zooms = ZoomRange(min: Int(body.zoomMin), max: Int(body.zoomMax)) else {
            throw TilesetsError(.badValue, "The zooms \(body.zoomMin)-\(body.zoomMax) are not a range.")
        }
        return zooms
    }

    /// The tiles of all packages.
    private static func union(_ body: PBSubmit) throws(TilesetsError) -> TileMask {
        let zooms = try zooms(body)
        var masks: [TileMask] = []
        for package in body.packages {
            do throws(TilesError) {
                masks.append(
                    try TileMask(decoding: package.mask).expanded(toZoom: zooms.max).clipped(toZoom: zooms.max))
            } catch {
                throw TilesetsError(.badValue, "The mask of package '\(package.id)' cannot be read: \(error.message)")
            }
        }
        return TileMask(union: masks) ?? TileMask(empty: zooms.max)
    }
}
