// What replicas and standbys cost on one machine: `pnpm trial bench scale-out`, in a network as the trial
// `scale-out` has.
import { namedNetworks, runApart } from '../../support/run-apart.mjs'

const measure = [process.execPath, '--import', 'tsx', 'trials/bench/scale-out/measure.ts']
await runApart('scale-out', namedNetworks, measure)
