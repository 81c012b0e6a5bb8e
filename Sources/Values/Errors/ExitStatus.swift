/// The documented exit codes of `packhorse`, with the numbers of sysexits.h.
public enum ExitStatus: Int32, CaseIterable, Sendable {
    case success = 0
    case beyondLimit = 1
    case usage = 64
    case badData = 65
    case noInput = 66
    case unavailable = 69
    case software = 70
    case cannotCreate = 73
    case inputOutput = 74
    case temporary = 75
    case permission = 77
    case configuration = 78
    case interrupted = 130

    /// The name of the code in documents.
    package var name: String {
        switch self {
        case .success: "success"
        case .beyondLimit: "beyond a limit"
        case .usage: "usage"
        case .badData: "bad data"
        case .noInput: "no input"
        case .unavailable: "unavailable"
        case .software: "software"
        case .cannotCreate: "cannot create"
        case .inputOutput: "input/output"
        case .temporary: "temporary"
        case .permission: "permission"
        case .configuration: "configuration"
        case .interrupted: "interrupted"
        }
    }

    /// What the code says, in one sentence: the manual page and docs/reference/exit-codes.md print it.
    package var meaning: String {
        switch self {
        case .success: "The command did what it was asked to do."
        case .beyondLimit: "A comparison of two catalogs found more than the allowed difference."
        case .usage: "The command line is wrong, or an address in it is of an unknown kind."
        case .badData: "Data failed a check, or a job failed or was cancelled."
        case .noInput: "A file, region, job or catalog does not exist."
        case .unavailable: "The coordinator or a server cannot be reached."
        case .software: "Packhorse has a bug."
        case .cannotCreate: "An output cannot be created, or exists."
        case .inputOutput: "Reading or writing failed."
        case .temporary: "The same command may work later; nothing is lost."
        case .permission: "A key or file is refused, or the host forbids bulk download."
        case .configuration: "A configuration file, variable, version, endpoint or limit of the system does not fit."
        case .interrupted: "Ctrl-C ended the command."
        }
    }
}
