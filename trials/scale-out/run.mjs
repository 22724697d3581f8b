// The tests of two of each service, on servers that fail over: `pnpm test:scale-out`. Further arguments go to vitest.
import { join } from 'node:path'
import { bootstrap, root, run } from '../../ops/setup/bootstrap.mjs'
import { runGroup } from '../../ops/setup/child-group.mjs'
import { partsOfTests } from '../../ops/setup/setup-parts.mjs'

await run(async (stop) => {
  // The services run as they are built, and the tour of the README shows no build.
  await bootstrap(stop, { names: partsOfTests(root), withTools: true })
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const args = ['run', '--project', 'scale-out', '--reporter=verbose', ...process.argv.slice(2)]
  return await runGroup([process.execPath, vitest, ...args], stop, { cwd: root })
})
