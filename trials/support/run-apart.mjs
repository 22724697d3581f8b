import { join } from 'node:path'
import { root, run } from '../../ops/setup/bootstrap.mjs'
import { runGroup } from '../../ops/setup/child-group.mjs'

const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')

/**
 * Runs the tests of a trial, as root, in a network of their own, in which every port is free, and with mounts and processes of their
 * own, which end with them. Before that, `prepare.ts` of the trial runs in the network of this machine. Further arguments of this
 * process go to vitest.
 *
 * @param mounts commands of a shell that mount what the tests need
 */
export const runApart = (trial, mounts = []) =>
  run(async (stop) => {
    const prepare = [process.execPath, '--import', 'tsx', `trials/${trial}/prepare.ts`]
    const prepared = await runGroup(prepare, stop, { cwd: root })
    if (prepared !== 0) return prepared
    const script = [...mounts, 'ip link set lo up', 'exec "$@"'].join('; ')
    const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
    const tests = [process.execPath, vitest, 'run', '--project', trial, '--reporter=verbose']
    const command = ['unshare', ...namespaces, 'sh', '-ec', script, 'sh', ...tests, ...process.argv.slice(2)]
    return await runGroup(command, stop, { cwd: root })
  })
