internal import Foundation

/// Gives the processor to another thread.
enum Pause {
    static func short() { sched_yield() }
}
