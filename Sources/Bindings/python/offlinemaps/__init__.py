"""Maps in an app without a network: download, update and read the maps of a signed catalog.

    from offlinemaps import Maps

    with Maps("maps", "https://maps.example.com/offline/", "ed25519-public:...") as maps:
        for progress in maps.download("FR", style="streets"):
            print(f"{progress.fraction:.0%}")
        style = maps.style("streets", "FR")

It loads libofflinemaps.so (see `library`). Python's standard library only.
"""
from ._download import Download, Progress, State
from ._handle import OfflineMapsError
from ._maps import Maps, Tile

__all__ = ["Download", "Maps", "OfflineMapsError", "Progress", "State", "Tile"]
