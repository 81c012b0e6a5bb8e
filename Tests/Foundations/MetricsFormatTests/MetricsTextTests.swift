import TestSupport
import Testing

@testable import MetricsFormat

/// The text format, and what Prometheus asks of names.
struct MetricsTextTests {
    @Test func aPageIsReadAsItWasWritten() throws {
        var text = MetricsText()
        text.family("found_total", .counter, help: "Found things")
        text.sample("found_total", [("place", #"a "b" \c"#), ("other", "line\nend")], value: 3)
        text.family("share", .gauge, help: "A share")
        text.sample("share", [], value: 0.25)
        text.sample("large", [], value: 1e18)
        #expect(
            text.text == """
                # HELP packhorse_found_total Found things
                # TYPE packhorse_found_total counter
                packhorse_found_total{place="a \\"b\\" \\\\c",other="line\\nend"} 3
                # HELP packhorse_share A share
                # TYPE packhorse_share gauge
                packhorse_share 0.25
                packhorse_large 1e+18

                """)
        let page = try MetricsPage(text.text)
        #expect(page.value("share") == 0.25)
        #expect(page.families["packhorse_found_total"]?.type == "counter")
        #expect(page.problems(of: "coordinator").contains("packhorse_share is in no table"))
    }

    @Test func aHistogramSumsUpItsBuckets() throws {
        var histogram = Histogram()
        for seconds in [0.000_1, 0.002, 0.002, 3, 100] { histogram.add(seconds) }
        var text = MetricsText()
        text.family(CoordinatorMetric.tick)
        text.histogram(CoordinatorMetric.tick, histogram: histogram)
        let page = try MetricsPage(text.text)
        let name = "coordinator_tick_seconds"
        #expect(page.value("\(name)_bucket", ["le": "0.0005"]) == 1)
        #expect(page.value("\(name)_bucket", ["le": "0.0025"]) == 3)
        #expect(page.value("\(name)_bucket", ["le": "10"]) == 4)
        #expect(page.value("\(name)_bucket", ["le": "60"]) == 4)
        #expect(page.value("\(name)_bucket", ["le": "+Inf"]) == 5)
        #expect(page.value("\(name)_count") == 5)
        #expect(abs(try #require(page.value("\(name)_sum")) - 103.0041) < 1e-9)
        #expect(page.problems(of: "coordinator").isEmpty)
        #expect(page.samples.count == Histogram.bounds.count + 3)
    }

    @Test func eachValueOfAClosedLabelHasASample() throws {
        var text = MetricsText()
        text.each(CoordinatorMetric.publications, ["failed": 2])
        let page = try MetricsPage(text.text)
        #expect(page.value("publications_total", ["result": "failed"]) == 2)
        #expect(page.value("publications_total", ["result": "published"]) == 0)
        #expect(page.samples.count == 3)
    }

    @Test func whatFellIsFound() throws {
        func page(_ value: Double, _ labels: [(String, String)]) throws -> MetricsPage {
            var text = MetricsText()
            text.family("jobs", .gauge, help: "x")
            text.sample("jobs", [], value: -value)
            text.family("frames_total", .counter, help: "x")
            text.sample("frames_total", labels, value: value)
            return try MetricsPage(text.text)
        }
        let first = try page(3, [("endpoint", "work")])
        #expect(try page(4, [("endpoint", "work")]).fallen(since: first).isEmpty)
        #expect(try page(2, [("endpoint", "work")]).fallen(since: first).count == 1)
        #expect(try page(9, []).fallen(since: first).count == 1)
    }

    @Test func theProcessSaysWhatItUses() throws {
        var text = MetricsText()
        ProcessMetrics.write(to: &text)
        let page = try MetricsPage(text.text)
        #expect(page.problems(of: "gateway").isEmpty)
        #expect(try #require(page.value("process_cpu_seconds_total")) > 0)
        #expect(try #require(page.value("process_resident_memory_bytes")) > 1_000_000)
        #expect(try #require(page.value("process_open_fds")) >= 3)
    }
}
