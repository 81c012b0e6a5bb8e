"""What the schemas do not say: names that refer to each other, the restricted Pod Security Standard, options of the program, and the README."""
import re

from render import Wrong

LINKS = re.compile(r"--[a-z0-9-]+")


def expect(condition, text):
    if not condition:
        raise Wrong(text)


def templates(objects):
    """Each pod template: name of its owner, its labels, its specification."""
    for thing in objects:
        spec = thing.get("spec", {})
        template = spec.get("template") or spec.get("jobTemplate", {}).get("spec", {}).get("template")
        if template and thing["kind"] in {"Deployment", "StatefulSet", "Job", "CronJob"}:
            yield thing, template["metadata"]["labels"], template["spec"]


def matches(selector, labels):
    return all(labels.get(name) == value for name, value in selector.items())


def check_pod(owner, pod, options, made, claims):
    """One pod: security, images, probes, resources, volumes, secrets, options."""
    name = f"{owner['kind']} {owner['metadata']['name']}"
    security = pod.get("securityContext", {})
    expect(security.get("runAsNonRoot") and security.get("seccompProfile") == {"type": "RuntimeDefault"}, f"{name}: not of the restricted standard")
    expect(pod.get("automountServiceAccountToken") is False, f"{name}: has a token for the API server")
    volumes = {volume["name"]: volume for volume in pod.get("volumes", [])}
    volumes |= {template["metadata"]["name"]: {} for template in owner["spec"].get("volumeClaimTemplates", [])}
    mounted = set()
    for container in pod.get("initContainers", []) + pod["containers"]:
        place, own = f"{name}, container {container['name']}", container.get("securityContext", {})
        expect(own.get("allowPrivilegeEscalation") is False and own.get("readOnlyRootFilesystem") and own.get("capabilities") == {"drop": ["ALL"]},
               f"{place}: not of the restricted standard")
        expect(re.fullmatch(r"[^:]+:\d[\w.-]*", container["image"]), f"{place}: the image '{container['image']}' has no version")
        expect("memory" in container.get("resources", {}).get("limits", {}) and "cpu" in container["resources"].get("requests", {}),
               f"{place}: no limit of memory or no request of cpu")
        for mount in container.get("volumeMounts", []):
            expect(mount["name"] in volumes, f"{place}: no volume '{mount['name']}'")
            mounted.add(mount["name"])
        for variable in container.get("env", []):
            expect("value" in variable, f"{place}: {variable['name']} has no value")
        for source in container.get("envFrom", []):
            reference = source.get("secretRef") or source["configMapRef"]
            expect(reference.get("optional") or reference["name"] in made, f"{place}: README.md does not make '{reference['name']}'")
        ports = {port["name"] for port in container.get("ports", [])}
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            for kind in ("tcpSocket", "httpGet"):
                if port := container.get(probe, {}).get(kind, {}).get("port"):
                    expect(port in ports, f"{place}: {probe} asks at '{port}', which is no port")
        arguments = container.get("args", [])
        if ports:
            expect("readinessProbe" in container and "livenessProbe" in container, f"{place}: no probes")
        if arguments:
            role = " ".join(word for word in arguments[:2] if re.fullmatch("[a-z]+", word))
            for option in (match for word in arguments if (match := LINKS.match(word))):
                expect(option[0] in options(role), f"{place}: 'packhorse {role}' has no option {option[0]}")
    for volume in volumes.values():
        if secret := volume.get("secret"):
            expect(secret["secretName"] in made, f"{name}: README.md does not make the Secret '{secret['secretName']}'")
        if config := volume.get("configMap"):
            expect(config["name"] in made, f"{name}: README.md does not make the ConfigMap '{config['name']}'")
        if claim := volume.get("persistentVolumeClaim"):
            expect(claim["claimName"] in claims, f"{name}: there is no claim '{claim['claimName']}'")
    expect(mounted == set(volumes), f"{name}: the volumes {sorted(set(volumes) - mounted)} are not used")


def check(objects, options, made):
    """Raises Wrong. `options(role)` has the options of a command, `made` the names that README.md creates."""
    made = made | {thing["metadata"]["name"] for thing in objects if thing["kind"] in {"Secret", "ConfigMap"}}
    claims = {thing["metadata"]["name"] for thing in objects if thing["kind"] == "PersistentVolumeClaim"}
    pods, ports = [], {}
    for owner, labels, pod in templates(objects):
        for template in owner["spec"].get("volumeClaimTemplates", []):
            claims.add(f"{template['metadata']['name']}-{owner['metadata']['name']}-0")
        pods.append(labels)
        ports[owner["metadata"]["name"]] = {p["name"] for c in pod["containers"] for p in c.get("ports", [])}
        if selector := owner["spec"].get("selector"):
            expect(matches(selector["matchLabels"], labels), f"{owner['kind']} {owner['metadata']['name']}: its selector does not match its pods")
    for owner, _, pod in templates(objects):
        check_pod(owner, pod, options, made, claims)
    services = [thing for thing in objects if thing["kind"] == "Service"]
    known = set().union(*ports.values())
    for thing in objects:
        name, spec = f"{thing['kind']} {thing['metadata']['name']}", thing.get("spec", {})
        expect(thing["kind"] == "Namespace" or thing["metadata"].get("namespace") == "packhorse", f"{name}: in no namespace")
        if thing["kind"] == "Service":
            expect(any(matches(spec["selector"], labels) for labels in pods), f"{name}: selects no pod")
            expect({p["targetPort"] for p in spec["ports"]} <= ports[thing["metadata"]["name"]], f"{name}: a port that its pods do not have")
        if thing["kind"] == "PodDisruptionBudget":
            expect(any(matches(spec["selector"]["matchLabels"], labels) for labels in pods), f"{name}: selects no pod")
        if thing["kind"] == "NetworkPolicy":
            selector = spec["podSelector"].get("matchLabels", {})
            expect(any(matches(selector, labels) for labels in pods), f"{name}: selects no pod")
            used = {port["port"] for rule in spec.get("ingress", []) for port in rule.get("ports", [])}
            expect(used <= known, f"{name}: no pod has the port {sorted(used - known)}")
        if thing["kind"] == "ServiceMonitor":
            chosen = [s for s in services if matches(spec["selector"]["matchLabels"], s["metadata"]["labels"])]
            expect([s["metadata"]["name"] for s in chosen] == [thing["metadata"]["name"]], f"{name}: selects {len(chosen)} Services")
            expect(spec["endpoints"][0]["port"] in {p["name"] for p in chosen[0]["spec"]["ports"]}, f"{name}: its Service has no such port")
        if thing["kind"] == "ScaledObject":
            target = [o for o, _, _ in templates(objects) if o["metadata"]["name"] == spec["scaleTargetRef"]["name"]]
            expect(len(target) == 1 and "replicas" not in target[0]["spec"], f"{name}: its target is missing, or has a number of its own")
