import Tilesets

/// The build of a source whose address changes with each build, as commands show it.
struct PinnedBuild: Encodable {
    /// How its owner names it.
    let build: String
    /// The address of its archive, of its tiles, or of the index of its archives.
    let url: String
    /// The date of its data; absent when its name has none.
    let dataDate: String?
    /// The version of its data: length and ETag of an archive; absent for several archives.
    let version: String?

    init(_ build: SourceBuild, version: String?) {
        (self.build, url, dataDate, self.version) = (build.name, build.address, build.date, version)
    }

    /// One line for people.
    var text: String {
        let isOfServer = version?.hasPrefix(SourceBuild.versionMark) ?? true
        return "newest build: \(build)\(dataDate.map { ", data of \($0)" } ?? ""), \(url)"
            + (isOfServer ? "" : ", \(version ?? "")")
    }
}
