"""Hosts in network namespaces, joined by a bridge whose rules lose packets; all of it ends with the processes that hold it.

No name is given to anything outside: a namespace lives as long as its holder, which reads from a pipe of ours.
"""

import ctypes
import os
import socket
import subprocess

from case import Skip
from harness import Trouble

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_NETWORK = 0x4000_0000


def run(*words, inside=None):
    enter = ["nsenter", "-t", str(inside), "-n"] if inside else []
    done = subprocess.run([*enter, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Trouble(f"{' '.join(map(str, words))}: {done.stderr.strip()}")


class Network:
    """Hosts by name, at 10.77.0.1 and so on."""

    def __init__(self, case, names):
        if os.geteuid() != 0:
            raise Skip("network namespaces need root")
        self.holders, self.addresses = {}, {}
        case.cleanups.append(self.close)
        try:
            self._hold("switch")
            switch = self.holders["switch"].pid
            run("ip", "link", "add", "bridge0", "type", "bridge", inside=switch)
            run("ip", "link", "set", "bridge0", "up", inside=switch)
            for number, name in enumerate(names, 1):
                self._hold(name)
                self._join(name, number, switch)
            run("nft", "add table bridge chaos; add chain bridge chaos loss { type filter hook forward priority 0; }", inside=switch)
        except (Trouble, FileNotFoundError) as trouble:
            raise Skip(f"no network namespaces here: {trouble}") from trouble

    def _hold(self, name):
        holder = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if holder.stdout.readline() != b"\n":
            raise Trouble(f"no namespace for {name}")
        self.holders[name] = holder
        run("ip", "link", "set", "lo", "up", inside=holder.pid)

    def _join(self, name, number, switch):
        host, port = self.holders[name].pid, f"to-{name}"
        self.addresses[name] = f"10.77.0.{number}"
        run("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", host, inside=switch)
        run("ip", "link", "set", port, "master", "bridge0", "up", inside=switch)
        run("ip", "addr", "add", f"{self.addresses[name]}/24", "dev", "eth0", inside=host)
        run("ip", "link", "set", "eth0", "up", inside=host)

    def prefix(self, name):
        """Words before a command that make it run on that host."""
        return ["nsenter", "-t", str(self.holders[name].pid), "-n"]

    def listener(self, name):
        """A listening socket on that host, for a thread of ours: a socket stays where it was made."""
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(f"/proc/{self.holders[name].pid}/ns/net", os.O_RDONLY)
        try:
            if LIBC.setns(there, NEW_NETWORK) != 0:
                raise Trouble(f"setns: {os.strerror(ctypes.get_errno())}")
            return socket.create_server((self.addresses[name], 0), backlog=256)
        finally:
            LIBC.setns(home, NEW_NETWORK)
            os.close(home)
            os.close(there)

    def lose(self, percent, source=None, target=None):
        """Drops a share of the packets between two hosts, in that direction; `None` is any host."""
        words = [f'iifname "to-{source}"'] if source else []
        words += [f'oifname "to-{target}"'] if target else []
        words += [f"numgen random mod 100 < {percent}"] if percent < 100 else []
        self._nft("add rule bridge chaos loss " + " ".join([*words, "drop"]))

    def heal(self):
        self._nft("flush chain bridge chaos loss")

    def _nft(self, words):
        run("nft", words, inside=self.holders["switch"].pid)

    def close(self):
        for holder in self.holders.values():
            holder.stdin.close()
        for holder in self.holders.values():
            holder.wait(10)
