"""Commands of the guides that no test runs, and why. ops/check-guides refuses an entry that no document uses.

The first part of a key is a document, the second the command as it stands in a ```console block there.
"""

BUILDS = "builds the program, which the test already has"
DEMO = "installs packages and builds the program; docs/getting-started.md runs `packhorse demo`"
FIREWALL = "changes the firewall of the machine and needs root"
CONTAINERS = "needs Docker; `make compose-test` starts the same services, with other options"

NOT_RUN = {
    ("README.md", "make bootstrap"): "installs Debian packages as root; `make test` begins with the same script",
    ("README.md", "make build"): BUILDS,
    ("README.md", "make demo"): DEMO,
    ("docs/getting-started.md", "make demo"): DEMO,
    ("docs/operating/cluster.md", "docker-compose -f docker/compose.yaml --profile demo up -d --build --scale worker=4"): CONTAINERS,
    ("docs/operating/cluster.md", "docker-compose -f docker/compose.yaml run --rm cli submit EE --wait"): CONTAINERS,
    ("docs/operating/cluster.md", "docker-compose -f docker/compose.yaml run --rm --entrypoint cat cli /keys/operator/gateway-token"):
        CONTAINERS,
    ("docs/operating/security.md", "nft add table inet packhorse"): FIREWALL,
    ("docs/operating/security.md", "nft add chain inet packhorse input '{ type filter hook input priority 0; }'"): FIREWALL,
    ("docs/operating/security.md", "nft add set inet packhorse peers '{ type ipv4_addr; flags dynamic; size 65535; }'"): FIREWALL,
    ("docs/operating/security.md",
     "nft add rule inet packhorse input tcp dport 7470-7472 ct state new add @peers '{ ip saddr ct count over 64 }' drop"): FIREWALL,
    ("docs/shell.md", "man packhorse-submit"): "needs the package man-db, which `make bootstrap` does not install; the block before writes the page",
}
