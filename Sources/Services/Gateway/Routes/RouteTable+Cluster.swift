/// Routes below `/v1` that need a coordinator.
extension RouteTable {
    static let cluster = [
        Route(
            .get, "/v1/status", name: "status", access: .viewer,
            summary: "The state of the cluster and of the catalog", answer: .json("Status"),
            handler: APIResponder.status),
        Route(
            .post, "/v1/estimates", name: "estimate", access: .viewer, summary: "How many tiles a job would have",
            body: "Submission", answer: .json("Submitted"), handler: SubmitResponder.estimate),
        Route(
            .post, "/v1/jobs", name: "submit", access: .operator, rate: .submissions, summary: "Submit a job",
            headers: ["Idempotency-Key"], body: "Submission", answer: .json("Submitted", also: [201: "A new job"]),
            handler: SubmitResponder.submit),
        Route(
            .get, "/v1/jobs", name: "jobs", access: .viewer, summary: "Jobs, the newest first",
            query: ["state", "label", "before", "limit"], answer: .json("Jobs"), handler: APIResponder.jobs),
        Route(
            .post, "/v1/jobs/orders", name: "job-orders", access: .operator,
            summary: "Order something for many jobs", body: "JobOrders", answer: .json("OrderedJobs"),
            handler: OrderResponder.jobs),
        Route(
            .get, "/v1/jobs/{job}", name: "job", access: .viewer, summary: "A job", answer: .json("Job"),
            handler: APIResponder.job),
        Route(
            .get, "/v1/jobs/{job}/packages", name: "job-packages", access: .viewer, summary: "The packages of a job",
            answer: .json("JobPackages"), handler: APIResponder.jobPackages),
        Route(
            .get, "/v1/jobs/{job}/failures", name: "job-failures", access: .viewer,
            summary: "The failed tiles of a job", answer: .json("JobFailures"), handler: APIResponder.jobFailures),
        Route(
            .get, "/v1/jobs/{job}/coverage", name: "job-coverage", access: .viewer,
            summary: "The cells of a running job by state", query: ["size"],
            answer: .media([CoverageDocument.mediaType]), handler: APIResponder.coverage),
        Route(
            .post, "/v1/jobs/{job}/orders", name: "job-order", access: .operator, summary: "Order something for a job",
            body: "JobOrder", answer: .json("OrderedJobs"), handler: OrderResponder.job),
        Route(
            .post, "/v1/jobs/{job}/failed/orders", name: "failed-order", access: .operator,
            summary: "Requeue or drop failed work", body: "FailedOrder", answer: .json("Ordered"),
            handler: OrderResponder.failed),
        Route(
            .get, "/v1/failed", name: "failed", access: .viewer, summary: "Failed work",
            query: ["job", "after", "limit"], answer: .json("FailedWork"), handler: APIResponder.failed),
        Route(
            .get, "/v1/schedules", name: "schedules", access: .viewer, summary: "Schedules",
            answer: .json("Schedules"), handler: APIResponder.schedules),
        Route(
            .get, "/v1/schedules/{schedule}/firings", name: "schedule-firings", access: .viewer,
            summary: "The newest firings of a schedule, newest first", answer: .json("ScheduleFirings"),
            handler: APIResponder.firings),
        Route(
            .put, "/v1/schedules/{schedule}", name: "schedule-put", access: .operator,
            summary: "Add or replace a repeated submission", body: "Schedule", answer: .json("Ordered"),
            handler: SubmitResponder.schedule),
        Route(
            .post, "/v1/schedules/{schedule}/orders", name: "schedule-order", access: .operator,
            summary: "Pause or resume a schedule", body: "ScheduleOrder", answer: .json("Ordered"),
            handler: OrderResponder.schedule),
        Route(
            .delete, "/v1/schedules/{schedule}", name: "schedule-drop", access: .operator,
            summary: "Remove a schedule; its jobs stay", answer: .json("Ordered"),
            handler: OrderResponder.dropSchedule),
        Route(
            .get, "/v1/workers", name: "workers", access: .viewer, summary: "Workers", answer: .json("Workers"),
            handler: APIResponder.workers),
        Route(
            .post, "/v1/workers/{worker}/orders", name: "worker-order", access: .operator,
            summary: "Drain a worker, or undo it", body: "WorkerOrder", answer: .json("Ordered"),
            handler: OrderResponder.worker),
        Route(
            .get, "/v1/origins", name: "origins", access: .viewer, summary: "Origins and their limits",
            answer: .json("Origins"), handler: APIResponder.origins),
        Route(
            .get, "/v1/events", name: "events", group: .events, access: .viewer,
            summary: "The event log, as pages or as a stream", query: ["after", "job", "limit"],
            headers: ["Last-Event-ID"],
            answer: RouteAnswer(media: ["application/json", "text/event-stream"], schema: "Events"),
            handler: EventResponder.events),
        Route(
            .get, "/v1/catalogs/{catalog}/diff/{other}", name: "catalog-diff", access: .viewer,
            summary: "What would change in the other catalog if this one were promoted",
            answer: .json("CatalogDifference"), handler: CatalogChangeResponder.difference),
        Route(
            .post, "/v1/catalogs/{catalog}/orders", name: "catalog-order", access: .operator,
            summary: "Promote packages into a catalog, or roll them back", body: "CatalogOrder",
            answer: .json("CatalogDifference"), handler: CatalogChangeResponder.order),
        Route(
            .post, "/v1/backups", name: "backup", access: .operator, summary: "Back up the state of the coordinator",
            body: "Backup",
            answer: RouteAnswer(media: ["application/json"], schema: "BackedUp", statuses: [201: "A new backup"]),
            handler: OrderResponder.backup),
    ]
}
