internal import CommandSupport
internal import Digests
import Errors
import Files
import Foundation
import Packages
import Tiles
import Wire

/// The outputs of packages that are larger than `--max-file` allows: `CA-1.mbtiles`, `CA-2.mbtiles` in place of `CA.mbtiles`.
extension BuildOutput {
    /// The output of a part: the number follows the package's name in the file's, or the name without its extension.
    func part(_ number: Int, of count: Int, mask: TileMask) -> BuildOutput {
        let name = url.lastPathComponent
        let lead =
            name.hasPrefix(stem + ".")
            ? stem
            : name.hasSuffix(format.fileExtension)
                ? String(name.dropLast(format.fileExtension.count)) : url.deletingPathExtension().lastPathComponent
        var part = self
        part.url = url.deletingLastPathComponent().appending(path: "\(lead)-\(number)\(name.dropFirst(lead.count))")
        part.package = "\(package)-\(number)"
        part.mask = mask
        part.part = (number, count)
        return part
    }

    /// What marks a finished file of a build.
    func mark(_ identity: String) -> String { part.map { "\(identity)-\($0.number)-\($0.count)" } ?? identity }

    /// The output itself, or its parts, when an earlier run of this build has finished all of them; `nil` when not.
    func finished(by identity: String) -> [BuildOutput]? {
        if FileMark.read(url) == identity { return [self] }
        guard maxFile > 0, let mark = FileMark.read(part(1, of: 1, mask: mask).url),
            mark.hasPrefix("\(identity)-1-"), let count = Int(mark.dropFirst(identity.count + 3)),
            (1...Int(PackageParts.most)).contains(count)
        else { return nil }
        let parts = (1...count).map { part($0, of: count, mask: mask) }
        return parts.allSatisfy { FileMark.read($0.url) == $0.mark(identity) } ? parts : nil
    }

    /// The output, and the first part that it may have instead: their names must be free.
    var names: [URL] { maxFile > 0 ? [url, part(1, of: 1, mask: mask).url] : [url] }

    private var partNames: [URL] { (1...Int(PackageParts.most)).map { part($0, of: 1, mask: mask).url } }

    /// Files of another build of this output, beside those that this one has placed: surplus parts, the whole file beside parts, or parts
    /// beside it.
    ///
    /// - Parameter placed: The paths of this build.
    /// - Returns: The files, and whether their mark says that a build made them as this output or this part of it.
    func leftovers(besides placed: Set<String>) -> [(url: URL, isProven: Bool)] {
        guard !format.isFolder, part == nil else { return [] }
        return ([url] + partNames).enumerated().compactMap { number, url in
            guard !placed.contains(url.path), FileKind.isRegular(url) else { return nil }
            let end = FileMark.read(url)?.firstMatch(of: /^[0-9a-f]+(-([0-9]+)-[0-9]+)?$/)
            return (url, end.map { $0.output.2.flatMap { Int($0) } ?? 0 == number } ?? false)
        }
    }
}

extension PBJobStatus {
    /// The files of an output: one, or one for each part; none when the package was not published.
    func files(of output: BuildOutput) -> [(output: BuildOutput, file: PublishedFile)] {
        guard let package = packages.first(where: { $0.id == output.package }) else { return [] }
        let parts = package.files.filter { $0.part > 0 && $0.format == output.format.rawValue }
        guard !parts.isEmpty else { return file(of: output).map { [(output, $0)] } ?? [] }
        var files: [(output: BuildOutput, file: PublishedFile)] = []
        for (index, part) in parts.enumerated() {
            let next = index + 1 < parts.count ? TileID(hilbertID: parts[index + 1].firstTile) : nil
            guard let first = TileID(hilbertID: part.firstTile), let file = PublishedFile(part) else { return [] }
            let mask = output.mask.part(from: first, before: next, common: Int(min(part.commonZooms, 22)))
            files.append((output.part(index + 1, of: parts.count, mask: mask), file))
        }
        return files
    }
}
