internal import Hummingbird
internal import NIOCore

/// What the server knows of a request besides its content.
struct GatewayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The other end of the connection; `nil` if unknown.
    let peer: NetworkAddress?

    /// That of the connection.
    let loop: any EventLoop

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        loop = source.channel.eventLoop
        peer = source.channel.remoteAddress?.ipAddress.flatMap(NetworkAddress.init)
    }
}
