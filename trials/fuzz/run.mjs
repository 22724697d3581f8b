// Sends mutated requests to every service, with the duration and seed in `FUZZ_SECONDS` and `FUZZ_SEED`.
// Arguments go to vitest.
import { join } from 'node:path'
import { root, run } from '../../ops/setup/bootstrap.mjs'
import { runGroup } from '../../ops/setup/child-group.mjs'

const vitest = [process.execPath, join(root, 'node_modules/vitest/vitest.mjs')]
const args = [
  'run',
  '--project',
  'integration',
  'trials/fuzz',
  '--reporter=verbose',
  ...process.argv.slice(2),
]

await run((stop) =>
  runGroup([process.execPath, 'scripts/with-infra.mjs', ...vitest, ...args], stop, { cwd: root }),
)
