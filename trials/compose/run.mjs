// Brings docker-compose.yml and the files that are added to it up as a whole: `pnpm test:compose`. Further
// arguments go to vitest.
import { runApart } from '../support/run-apart.mjs'

// podman signals the process that a file in /run/containers names, which is another one in a process
// namespace of its own.
await runApart('compose', ['mkdir -p /run/containers', 'mount -t tmpfs tmpfs /run/containers'])
