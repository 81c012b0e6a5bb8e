import CommandSupport
import Errors
import Testing
import Wire

@testable import Commands

struct HealthReportTests {
    private func health(_ findings: [(level: String, code: String)], state: String = "serving") -> PBHealth {
        .make {
            $0.state = state
            $0.findings = findings.map { finding in
                .make {
                    $0.level = finding.level
                    $0.code = finding.code
                    $0.text = "text of \(finding.code)"
                    $0.hint = "hint of \(finding.code)"
                }
            }
        }
    }

    @Test func aServingCoordinatorIsGreen() {
        let report = HealthReport(health([]), connected: 2, wanted: 2, isStrict: true)
        #expect(report.failure == nil && report.warnings.isEmpty)
    }

    @Test func aWarningIsSaidAndEndsWithZeroUnlessStrict() {
        let sick = health([("warn", "schedule-failed"), ("warn", "origin-blocked")])
        let report = HealthReport(sick, connected: 0, wanted: 0, isStrict: false)
        #expect(report.failure == nil)
        #expect(
            report.warnings == [
                "packhorse: warning: text of schedule-failed\nhint: hint of schedule-failed",
                "packhorse: warning: text of origin-blocked\nhint: hint of origin-blocked",
            ])
        let strict = HealthReport(sick, connected: 0, wanted: 0, isStrict: true)
        #expect(strict.failure?.status == .temporary && strict.failure?.message == "text of schedule-failed")
        #expect(strict.warnings.count == 1)
    }

    @Test func aFullCatalogDiskEndsWith75AndTheRemedy() {
        let report = HealthReport(
            health([("warn", "origin-blocked"), ("fail", "catalog-full")]), connected: 0, wanted: 0, isStrict: false)
        #expect(report.failure?.status == .temporary)
        #expect(report.failure?.message == "text of catalog-full" && report.failure?.hint == "hint of catalog-full")
        #expect(report.warnings.count == 1)
    }

    @Test func aDegradedCoordinatorAndTooFewWorkersEndWith75() {
        let degraded = HealthReport(
            health([("fail", "catalog-full")], state: "degraded"), connected: 0, wanted: 0, isStrict: false)
        #expect(degraded.failure?.message == "the coordinator is degraded" && degraded.warnings.count == 1)
        let alone = HealthReport(health([]), connected: 1, wanted: 2, isStrict: false)
        #expect(alone.failure?.message == "1 of 2 workers are connected")
    }
}

struct VariableTests {
    @Test func anEmptyVariableIsNotSet() {
        let environment = ["EMPTY": "", "SET": "x"]
        #expect(Variable.value("EMPTY", in: environment) == nil)
        #expect(Variable.value("NONE", in: environment) == nil)
        #expect(Variable.value("SET", in: environment) == "x")
    }
}
