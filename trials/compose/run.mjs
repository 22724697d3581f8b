// Brings docker-compose.yml and the files that are added to it up as a whole: `pnpm test:compose`. Further arguments go to vitest.
import { join } from 'node:path'
import { root, run } from '../../ops/setup/bootstrap.mjs'
import { runGroup } from '../../ops/setup/child-group.mjs'

// A network of its own, in which the published ports are free, and an end for every process of a container that is left. podman
// signals the process that a file in /run/containers names, which is another one here.
const apart = [
  ...['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', 'sh', '-ec'],
  'mkdir -p /run/containers; mount -t tmpfs tmpfs /run/containers; ip link set lo up; exec "$@"',
  'sh',
]
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')

await run(async (stop) => {
  const prepared = await runGroup([process.execPath, '--import', 'tsx', 'trials/compose/prepare.ts'], stop, {
    cwd: root,
  })
  if (prepared !== 0) return prepared
  const args = ['run', '--project', 'compose', '--reporter=verbose', ...process.argv.slice(2)]
  return await runGroup([...apart, process.execPath, vitest, ...args], stop, { cwd: root })
})
