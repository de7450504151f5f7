"""Those polyviz is measured against: one file per peer, one protocol for all."""

from __future__ import annotations

from polyviz.benchmark.peers.blas import Blas
from polyviz.benchmark.peers.clang import Clang
from polyviz.benchmark.peers.gcc import Gcc
from polyviz.benchmark.peers.numba_parallel import NumbaParallel
from polyviz.benchmark.peers.numba_serial import NumbaSerial
from polyviz.benchmark.peers.polly import Polly
from polyviz.benchmark.peers.protocol import Candidate, Peer
from polyviz.benchmark.peers.pythran import Pythran

__all__ = ["Candidate", "Peer", "all_peers"]


def all_peers() -> tuple[Peer, ...]:
    """Every peer, installed or not.

    >>> [peer.name for peer in all_peers()]
    ['gcc', 'clang', 'Polly', 'NumPy/BLAS', 'numba', 'numba parallel', 'Pythran']
    """
    return Gcc(), Clang(), Polly(), Blas(), NumbaSerial(), NumbaParallel(), Pythran()
