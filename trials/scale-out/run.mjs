// Tests docs/scaling.md on three machines, which are network namespaces: `pnpm test:scale-out`. Further
// arguments go to vitest.
import { namedNetworks, runApart } from '../support/run-apart.mjs'

await runApart('scale-out', namedNetworks)
