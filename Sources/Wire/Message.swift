internal import SwiftProtobuf

/// One message of the cluster: what a frame carries behind its header.
///
/// The bodies are generated from packhorse.proto, which says what each field means.
public enum Message: Hashable, Sendable {
    // Worker to coordinator.
    case hello(PBHello)
    case ready(PBReady)
    case progress(PBProgress)
    case commit(PBCommit)
    case fail(PBFail)
    case `return`(PBReturn)
    case bye(PBBye)
    // Coordinator to worker.
    case welcome(PBWelcome)
    case reject(PBReject)
    case offer(PBOffer)
    case pong(PBPong)
    case ack(PBAck)
    case stale(PBStale)
    case unknownSession(PBUnknownSession)
    // Command line and coordinator.
    case submit(PBSubmit)
    case submitted(PBSubmitted)
    case listJobs(PBListJobs)
    case jobs(PBJobs)
    case getJob(PBGetJob)
    case jobStatus(PBJobStatus)
    case cancelJob(PBCancelJob)
    case done(PBDone)
    case listWorkers(PBListWorkers)
    case workers(PBWorkers)
    case ping(PBPing)
    case health(PBHealth)
    case problem(PBProblem)

    /// The type byte and the body of this message.
    var parts: (type: MessageType, body: any SwiftProtobuf.Message) {
        switch self {
        case .hello(let body): (.hello, body)
        case .ready(let body): (.ready, body)
        case .progress(let body): (.progress, body)
        case .commit(let body): (.commit, body)
        case .fail(let body): (.fail, body)
        case .return(let body): (.return, body)
        case .bye(let body): (.bye, body)
        case .welcome(let body): (.welcome, body)
        case .reject(let body): (.reject, body)
        case .offer(let body): (.offer, body)
        case .pong(let body): (.pong, body)
        case .ack(let body): (.ack, body)
        case .stale(let body): (.stale, body)
        case .unknownSession(let body): (.unknownSession, body)
        case .submit(let body): (.submit, body)
        case .submitted(let body): (.submitted, body)
        case .listJobs(let body): (.listJobs, body)
        case .jobs(let body): (.jobs, body)
        case .getJob(let body): (.getJob, body)
        case .jobStatus(let body): (.jobStatus, body)
        case .cancelJob(let body): (.cancelJob, body)
        case .done(let body): (.done, body)
        case .listWorkers(let body): (.listWorkers, body)
        case .workers(let body): (.workers, body)
        case .ping(let body): (.ping, body)
        case .health(let body): (.health, body)
        case .problem(let body): (.problem, body)
        }
    }

    /// The type of this message.
    public var type: MessageType { parts.type }
}
