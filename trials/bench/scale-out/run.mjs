// Measures the cost of replicas and standbys on one machine: `pnpm trial bench scale-out`. The network is set
// up as in the trial `scale-out`.
import { namedNetworks, runApart } from '../../support/run-apart.mjs'

const measure = [process.execPath, '--import', 'tsx', 'trials/bench/scale-out/measure.ts']
await runApart('scale-out', namedNetworks, measure)
