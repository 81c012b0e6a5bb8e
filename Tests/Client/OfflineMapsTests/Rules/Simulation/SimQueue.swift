/// What will happen, in the order of time; a binary heap.
struct SimQueue {
    private var heap: [SimWorld.Entry] = []
    private var order = 0

    private static func isBefore(_ left: SimWorld.Entry, _ right: SimWorld.Entry) -> Bool {
        (left.at, left.order) < (right.at, right.order)
    }

    mutating func push(_ at: Int64, _ what: SimWorld.Happening) {
        order += 1
        heap.append(SimWorld.Entry(at: at, order: order, what: what))
        var index = heap.count - 1
        while index > 0, Self.isBefore(heap[index], heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func pop() -> SimWorld.Entry? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count {
                if Self.isBefore(heap[child], heap[least]) { least = child }
            }
            if least == index { return first }
            heap.swapAt(index, least)
            index = least
        }
    }
}
