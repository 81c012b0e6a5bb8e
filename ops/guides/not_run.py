"""Commands of the guides that no test runs, and why. ops/check-guides refuses an entry that no document uses.

The first part of a key is a document, the second the command as it stands in a ```console block there.
"""

BUILDS = "builds the program, which the test already has"
DEMO = "installs packages and builds the program; docs/getting-started.md runs `packhorse demo`"
FIREWALL = "changes the firewall of the machine and needs root"
RELEASE = "`make release` makes and verifies a signature with the same commands"
MACHINES = "needs root, systemd and a second machine; `make machines-test` types it on two machines in network namespaces"
SYSTEMD = "needs root and systemd; `make deb-test` does the same in a clean Debian"
SLURM = "needs Slurm; `make slurm-test` does the same"
FOLLOWED = "needs a coordinator of its own; FollowedFilesTests does the same"
CONTAINERS = "needs Docker; `make compose-test` starts the same services, with other options"
LANGUAGES = "needs Node or a JDK, which bootstrap does not install; AnyLanguageTests runs the same programs where they are"
LISTENS = "listens on all addresses of the machine; tests listen on 127.0.0.1 alone"
BINDINGS = "needs the library in release mode; ops/bindings-test does the same in folders of its own"

NOT_RUN = {
    ("docs/any-language.md", "node any-language/install.mjs https://maps.example.com/offline keys/catalog.pub EE pmtiles maps"): LANGUAGES,
    ("docs/any-language.md", "node any-language/tile.mjs maps/EE.pmtiles 6 36 18 > tile.pbf"): LANGUAGES,
    ("docs/any-language.md", "javac -d classes any-language/*.java"): LANGUAGES,
    ("docs/any-language.md", "java -cp classes Install https://maps.example.com/offline keys/catalog.pub EE pmtiles maps"): LANGUAGES,
    ("docs/any-language.md", "java -cp classes Tile maps/EE.pmtiles 6 36 18 > tile.pbf"): LANGUAGES,
    ("docs/other-languages.md", "make library"): BUILDS,
    ("docs/other-languages.md", "cp .build/release/libofflinemaps.so Sources/Bindings/python/offlinemaps/"): BINDINGS,
    ("docs/other-languages.md", "apt install python3-venv"): "installs Debian packages as root; `make bootstrap` does too",
    ("docs/other-languages.md", "python3 -m venv venv"): BINDINGS,
    ("docs/other-languages.md", "venv/bin/pip install ./Sources/Bindings/python"): BINDINGS,
    ("docs/other-languages.md", 'JAVA_HOME=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")'): BINDINGS,
    ("docs/other-languages.md", "mkdir -p native"): BINDINGS,
    ("docs/other-languages.md",
     "cc -shared -fPIC -I Sources/Client/OfflineMapsC -I $JAVA_HOME/include -I $JAVA_HOME/include/linux Sources/Bindings/java/offlinemaps_jni.c"
     " -o native/libofflinemaps_jni.so -L .build/release -lofflinemaps -Wl,-rpath,'$ORIGIN'"): BINDINGS,
    ("docs/other-languages.md", "cp .build/release/libofflinemaps.so native/"): BINDINGS,
    ("docs/other-languages.md", "javac -d classes Sources/Bindings/java/offlinemaps/*.java"): BINDINGS,
    ("docs/other-languages.md", "java -Djava.library.path=native -cp classes:YOUR_CLASSES YourApp"): BINDINGS,
    ("docs/web-page.md",
     "packhorse gateway packhorse-data/catalog --host 0.0.0.0 --port 7490 --public-url http://192.168.1.20:7490 --tokens packhorse-data/tokens --plain-tokens"
     " --coordinator tcp://127.0.0.1:7470 --tileset tiles.yaml --extract-tiles 25000"): LISTENS,
    ("README.md", "make bootstrap"): "installs Debian packages as root; `make test` begins with the same script",
    ("README.md", "make build"): BUILDS,
    ("README.md", "make demo"): DEMO,
    ("docs/getting-started.md", "make demo"): DEMO,
    ("docs/operating/cluster.md", "docker-compose -f docker/compose.yaml --profile demo up -d --build --scale worker=4"): CONTAINERS,
    ("docs/operating/cluster.md", "docker-compose -f docker/compose.yaml run --rm cli submit EE --wait"): CONTAINERS,
    ("docs/operating/cluster.md", "docker-compose -f docker/compose.yaml run --rm --entrypoint cat cli /keys/operator/gateway-token"):
        CONTAINERS,
    ("docs/operating/debian-package.md", "make deb"): BUILDS,
    ("docs/operating/debian-package.md", r"sed -i -E 's/^#(control|work|keys):/\1:/' /etc/packhorse/coordinator.yaml /etc/packhorse/gateway.yaml"): MACHINES,
    ("docs/operating/debian-package.md", "install -o packhorse -g packhorse -m 400 worker.key coordinator.pub /etc/packhorse/keys"): MACHINES,
    ("docs/operating/debian-package.md", r"sed -i -E 's/^blobs:/#&/; s/^#(connect|keys|scratch):/\1:/; s/coordinator.example.com/ADDRESS/' /etc/packhorse/worker.yaml"): MACHINES,
    ("docs/operating/debian-package.md", "packhorse config check /etc/packhorse/worker.yaml"): MACHINES,
    ("docs/operating/debian-package.md", "systemctl enable --now packhorse-worker@1"): MACHINES,
    ("docs/operating/debian-package.md", "install -d -o packhorse -g packhorse -m 750 /var/backups/packhorse"): MACHINES,
    ("docs/operating/debian-package.md", "sed -i 's/^#backup-to:/backup-to:/' /etc/packhorse/coordinator.yaml"): MACHINES,
    ("docs/operating/debian-package.md", "systemctl restart packhorse-coordinator"): MACHINES,
    ("docs/operating/debian-package.md", "runuser -u packhorse -- packhorse keygen --cluster /etc/packhorse/keys --worker machine-2"): MACHINES,
    ("docs/operating/debian-package.md", "systemctl enable packhorse-coordinator packhorse-gateway"): MACHINES,
    ("docs/operating/debian-package.md", "export PACKHORSE_KEYS=/etc/packhorse/keys"): MACHINES,
    ("docs/operating/debian-package.md", "packhorse health --workers 1"): MACHINES,
    ("docs/operating/debian-package.md", "packhorse verify /var/lib/packhorse/catalog"): MACHINES,
    ("docs/operating/debian-package.md", "cp -aT /etc/packhorse /var/backups/packhorse/etc"): MACHINES,
    ("docs/operating/debian-package.md", "cp -auT /var/lib/packhorse/catalog /var/backups/packhorse/catalog"): MACHINES,
    ("docs/operating/debian-package.md", "cp -aT /var/backups/packhorse/etc /etc/packhorse"): MACHINES,
    ("docs/operating/debian-package.md", "cp -aT /var/backups/packhorse/catalog /var/lib/packhorse/catalog"): MACHINES,
    ("docs/operating/debian-package.md", "PACKHORSE_KEYS=/etc/packhorse/keys packhorse health"): MACHINES,
    ("docs/operating/debian-package.md", "chown -R packhorse:packhorse /etc/packhorse/keys /etc/packhorse/tokens /var/backups/packhorse /var/lib/packhorse"): MACHINES,
    ("docs/operating/debian-package.md", "runuser -u packhorse -- packhorse state restore /var/backups/packhorse --data /var/lib/packhorse"): MACHINES,
    ("docs/operating/debian-package.md", "systemctl enable --now packhorse-coordinator packhorse-gateway"): MACHINES,
    ("docs/operating/debian-package.md", "make image"): BUILDS,
    ("docs/operating/debian-package.md", "make release KEY=release.key"): BUILDS,
    ("docs/operating/debian-package.md", "openssl genpkey -algorithm ed25519 -out release.key"): RELEASE,
    ("docs/operating/debian-package.md", "openssl pkeyutl -verify -rawin -pubin -inkey release.pub -in SHA256SUMS -sigfile SHA256SUMS.sig"): RELEASE,
    ("docs/operating/debian-package.md", "sha256sum --check SHA256SUMS"): RELEASE,
    ("docs/operating/debian-package.md", "apt-get install ./packhorse_0.1.0_amd64.deb"): SYSTEMD,
    ("docs/operating/debian-package.md", "packhorse demo"): SYSTEMD,
    ("docs/operating/debian-package.md", "systemctl enable --now packhorse-up"): SYSTEMD,
    ("docs/operating/debian-package.md", "journalctl -u packhorse-up"): SYSTEMD,
    ("docs/operating/debian-package.md", "packhorse submit EE --tileset tiles.yaml --wait"): SYSTEMD,
    ("docs/operating/debian-package.md", "systemctl disable packhorse-up"): SYSTEMD,
    ("docs/operating/debian-package.md", "systemctl enable --now packhorse-coordinator packhorse-worker@1 packhorse-worker@2 packhorse-gateway"):
        SYSTEMD,
    ("docs/operating/debian-package.md", "runuser -u packhorse -- packhorse keygen --cluster /etc/packhorse/keys"): SYSTEMD,
    ("docs/operating/debian-package.md", "systemctl restart packhorse-coordinator packhorse-gateway"): SYSTEMD,
    ("docs/operating/debian-package.md", "systemctl edit packhorse-coordinator"): SYSTEMD,
    ("docs/rebuilds-and-patches.md", "packhorse coordinator --data ./data --schedule-files /srv/maps"): FOLLOWED,
    ("docs/rebuilds-and-patches.md",
     'packhorse schedule add maps --every "monthly 3 02:30" --follow-files --packages /srv/maps/maps.yaml --tileset /srv/maps/tiles.yaml'):
        FOLLOWED,
    ("docs/operating/orchestrators.md",
     "export PACKHORSE_COORDINATOR=tcp://coordinator.example.com:7470 PACKHORSE_WORK=tcp://coordinator.example.com:7471 PACKHORSE_KEYS=$HOME/keys"): SLURM,
    ("docs/operating/orchestrators.md",
     "sbatch --array=1-32 ops/slurm/packhorse-workers.sbatch --blobs /shared/packhorse/blobs"): SLURM,
    ("docs/operating/orchestrators.md",
     "packhorse submit EE --tileset tiles.yaml --wait"): SLURM,
    ("docs/operating/orchestrators.md",
     'ops/slurm/with-workers 32 --worker-options "--blobs /shared/packhorse/blobs" -- packhorse submit EE --tileset tiles.yaml --wait'): SLURM,
    ("docs/operating/security.md", "nft add table inet packhorse"): FIREWALL,
    ("docs/operating/security.md", "nft add chain inet packhorse input '{ type filter hook input priority 0; }'"): FIREWALL,
    ("docs/operating/security.md", "nft add set inet packhorse peers '{ type ipv4_addr; flags dynamic; size 65535; }'"): FIREWALL,
    ("docs/operating/security.md",
     "nft add rule inet packhorse input tcp dport 7470-7472 ct state new add @peers '{ ip saddr ct count over 64 }' drop"): FIREWALL,
    ("docs/shell.md", "man packhorse-submit"): "needs the package man-db, which `make bootstrap` does not install; the block before writes the page",
}
