// Has Prometheus and the exporters, as docker-compose.monitoring.yml runs them, read a whole installation: `pnpm trial monitoring`.
// Further arguments go to vitest.
import { join } from 'node:path'
import { root, run } from '../../ops/setup/bootstrap.mjs'
import { runGroup } from '../../ops/setup/child-group.mjs'

// A network of its own, in which the ports and the names of the containers are free, and mounts of its own for the name server.
const apart = [
  ...['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', 'sh', '-ec'],
  'ip link set lo up; exec "$@"',
  'sh',
]
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')

await run(async (stop) => {
  const prepare = [process.execPath, '--import', 'tsx', 'trials/monitoring/prepare.ts']
  const prepared = await runGroup(prepare, stop, { cwd: root })
  if (prepared !== 0) return prepared
  const args = ['run', '--project', 'monitoring', '--reporter=verbose', ...process.argv.slice(2)]
  return await runGroup([...apart, process.execPath, vitest, ...args], stop, { cwd: root })
})
