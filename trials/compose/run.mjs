// Starts docker-compose.yml with all added files: `pnpm test:compose`. Further arguments go to vitest.
import { runApart } from '../support/run-apart.mjs'

// podman signals the process that a file in /run/containers names, which would be another one in a separate
// process namespace.
await runApart('compose', ['mkdir -p /run/containers', 'mount -t tmpfs tmpfs /run/containers'])
