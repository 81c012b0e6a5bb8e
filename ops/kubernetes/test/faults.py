"""Seeded faults: file, what stands there, what is put in its place, a word of the message that must refuse it."""

FAULTS = [
    # Shapes: refused by the schemas.
    ("base/coordinator.yaml", "replicas: 1", 'replicas: "1"', "is not of type 'integer'"),
    ("base/coordinator.yaml", "serviceName:", "servicename:", "'serviceName' is a required property"),
    ("base/worker.yaml", "containerPort: 9471", "containerPort: metrics", "is not of type 'integer'"),
    ("base/gateway.yaml", "readOnlyRootFilesystem: true", "readOnlyRootFileSystem: true", "readOnlyRootFileSystem"),
    ("base/network.yaml", 'policyTypes: ["Ingress"]', "policyTypes: Ingress", "is not of type 'array'"),
    ("base/disruption.yaml", "policy/v1\n", "policy/v1beta1\n", "Couldn't find schema"),
    ("overlays/s3/push.yaml", 'schedule: "*/10 * * * *"', "schedule: 10", "is not of type 'string'"),
    ("components/keda/scaledobject.yaml", "minReplicaCount: 0", "minReplicas: 0", "minReplicas"),
    ("components/keda/scaledobject.yaml", 'threshold: "8"', "threshold: 8", "is not of type 'string'"),
    ("components/monitoring/servicemonitors.yaml", "interval: 15s", "interval: 15", "is not of type 'string'"),
    ("components/worker-job/job.yaml", "completions: 8", "completion: 8", "completion"),
    # Names: refused by the lint.
    ("base/coordinator.yaml", "exec: {command:", "tcpSocket: {port: 7470}\n            #", "asks at '7470'"),
    ("base/coordinator.yaml", "- --metrics=", "- --metric=", "has no option --metric"),
    ("base/worker.yaml", "secretName: packhorse-worker-keys", "secretName: packhorse-worker-key", "does not make the Secret"),
    ("base/coordinator.yaml", "configMap: {name: packhorse-authorized-keys}", "configMap: {name: authorized-keys}", "does not make the ConfigMap"),
    ("base/worker.yaml", "            - {name: tmp, mountPath: /tmp}\n", "", "are not used"),
    ("base/gateway.yaml", "port: 7480, targetPort: http", "port: 7480, targetPort: web", "a port that its pods do not have"),
    ("base/gateway.yaml", "        runAsNonRoot: true\n", "", "restricted standard"),
    ("base/worker.yaml", 'capabilities: {drop: ["ALL"]}', 'capabilities: {drop: ["NET_RAW"]}', "restricted standard"),
    ("base/worker.yaml", "limits: {memory: 1Gi, ephemeral-storage: 10Gi}", "limits: {ephemeral-storage: 10Gi}", "no limit of memory"),
    ("base/network.yaml", "{port: work}, {port: blobs}", "{port: work}, {port: blob}", "no pod has the port"),
    ("base/disruption.yaml", "component: gateway", "component: gate", "selects no pod"),
    ("overlays/single/kustomization.yaml", 'newTag: "0.1.0"', "newTag: latest", "has no version"),
    ("overlays/single/shared.yaml", "name: packhorse-shared", "name: packhorse-all", "there is no claim"),
    ("overlays/s3/push.yaml", '"push", "/data', '"send", "/data', "has no option"),
    ("components/keda/kustomization.yaml", "path: /spec/replicas", "path: /spec/paused", "kubectl kustomize says"),
    ("components/monitoring/servicemonitors.yaml", "component: worker", "component: workers", "selects 0 Services"),
    ("overlays/s3/kustomization.yaml", "name: packhorse-s3-keys", "name: packhorse-s3-key", "README.md does not make"),
]
