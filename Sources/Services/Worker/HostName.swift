internal import Foundation

/// The machine's name from the kernel.
///
/// No name service is asked, because that could take long in a container.
enum HostName {
    static var current: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "unknown" }
        return String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
