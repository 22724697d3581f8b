// Lets Prometheus and the exporters, as docker-compose.monitoring.yml configures them, read a whole
// installation: `pnpm trial monitoring`. Further arguments go to vitest.
import { runApart } from '../support/run-apart.mjs'

// The ports and names of the containers are free in a separate network; the name server needs separate
// mounts.
await runApart('monitoring')
