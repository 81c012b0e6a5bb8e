/// The documented exit codes of `packhorse`, with the numbers of sysexits.h.
public enum ExitStatus: Int32, CaseIterable, Sendable {
    case success = 0
    /// The command line is wrong.
    case usage = 64
    /// Data failed validation, or a job ended without its package.
    case badData = 65
    /// An input (file, region, job) does not exist.
    case noInput = 66
    /// The coordinator or the origin cannot be reached.
    case unavailable = 69
    /// A bug in Packhorse.
    case software = 70
    /// An output cannot be created, for example because the disk is full.
    case cannotCreate = 73
    /// Reading or writing failed.
    case inputOutput = 74
    /// Temporary: the same command may work later; nothing is lost.
    case temporary = 75
    /// Not allowed: key refused, file not readable, host forbids bulk download.
    case permission = 77
    /// A configuration file or option value is wrong.
    case configuration = 78
    /// Ended by Ctrl-C.
    case interrupted = 130
}
