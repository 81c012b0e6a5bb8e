"""Validates objects against the schemas of three Kubernetes versions (kubernetes-validate of PyPI), and those of KEDA and the Prometheus
Operator against what these manifests use of them, because their schemas are in no package.
"""
import functools
import json

import jsonschema
import kubernetes_validate
import kubernetes_validate.utils
from render import Wrong

VERSIONS = ("1.29", "1.33", "1.37")
TEXT, NUMBER = {"type": "string"}, {"type": "integer", "minimum": 0}


def closed(required, **properties):
    """An object with these members alone."""
    return {"type": "object", "properties": properties, "required": required.split(), "additionalProperties": False}


TRIGGER = closed("type metadata", type={"const": "prometheus"}, metricType={"enum": ["AverageValue", "Value"]}, metadata=closed(
    "serverAddress threshold query", serverAddress=TEXT, threshold={"type": "string", "pattern": r"^\d+$"}, query=TEXT,
    activationThreshold={"type": "string", "pattern": r"^\d+$"}))
ENDPOINT = closed("port interval", port=TEXT, interval={"type": "string", "pattern": r"^\d+s$"},
                  authorization=closed("credentials", credentials=closed("name key", name=TEXT, key=TEXT)))
OTHERS = {
    ("keda.sh/v1alpha1", "ScaledObject"): closed(
        "scaleTargetRef triggers", scaleTargetRef=closed("name", name=TEXT), minReplicaCount=NUMBER, maxReplicaCount=NUMBER,
        pollingInterval=NUMBER, cooldownPeriod=NUMBER, fallback=closed("failureThreshold replicas", failureThreshold=NUMBER, replicas=NUMBER),
        triggers={"type": "array", "minItems": 1, "items": TRIGGER}),
    ("monitoring.coreos.com/v1", "ServiceMonitor"): closed(
        "selector endpoints", selector=closed("matchLabels", matchLabels={"type": "object"}),
        endpoints={"type": "array", "minItems": 1, "items": ENDPOINT}),
}


# The files of schemas are large; an object that was valid once is not validated again.
kubernetes_validate.utils.schema_contents = functools.cache(kubernetes_validate.utils.schema_contents)
valid = set()


def check(objects):
    """Raises Wrong for an object that a Kubernetes version does not know in this form."""
    for thing in objects:
        name = f"{thing.get('kind')} {thing.get('metadata', {}).get('name')}"
        if schema := OTHERS.get((thing.get("apiVersion"), thing.get("kind"))):
            try:
                jsonschema.validate(thing["spec"], schema)
            except jsonschema.ValidationError as error:
                raise Wrong(f"{name}: {error.message}") from None
            continue
        if (text := json.dumps(thing, sort_keys=True)) in valid:
            continue
        for version in VERSIONS:
            try:
                used = kubernetes_validate.validate(thing, version, strict=True)
            except kubernetes_validate.SchemaNotFoundError as error:
                raise Wrong(f"{name}: {error.message}") from None
            except kubernetes_validate.ValidationError as error:
                place = ".".join(str(part) for part in error.absolute_path) or "the object"
                raise Wrong(f"{name}: Kubernetes {version}: {place}: {error.message}") from None
            if used != version:
                raise Wrong(f"kubernetes-validate has no schemas of Kubernetes {version}, only of {used}; correct VERSIONS")
        valid.add(text)
