// Has Prometheus and the exporters, as docker-compose.monitoring.yml runs them, read a whole installation:
// `pnpm trial monitoring`. Further arguments go to vitest.
import { runApart } from '../support/run-apart.mjs'

// The ports and the names of the containers are free in a network of its own; the name server needs mounts of
// its own.
await runApart('monitoring')
