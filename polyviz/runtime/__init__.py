"""Run time: toolchains, build cache, worker process, verification and timing."""
