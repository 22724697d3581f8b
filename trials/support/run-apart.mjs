import { join } from 'node:path'
import { root, run } from '../../ops/setup/bootstrap.mjs'
import { runGroup } from '../../ops/setup/child-group.mjs'

const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')

const vitestOf = (trial) => [process.execPath, vitest, 'run', '--project', trial, '--reporter=verbose']

/** Mounts that let network namespaces have names, which are files there. */
export const namedNetworks = ['mkdir -p /run/netns', 'mount -t tmpfs tmpfs /run/netns']

/**
 * Runs the tests of a trial as root in a separate network, in which every port is free, and with separate
 * mounts and processes, which end with them. Before that, `prepare.ts` of the trial runs in the network of
 * this machine. Further arguments of this process go to vitest.
 *
 * @param mounts shell commands that mount what the tests need
 * @param tests runs instead of vitest
 */
export const runApart = (trial, mounts = [], tests = vitestOf(trial)) =>
  run(async (stop) => {
    const prepare = [process.execPath, '--import', 'tsx', `trials/${trial}/prepare.ts`]
    const prepared = await runGroup(prepare, stop, { cwd: root })
    if (prepared !== 0) return prepared
    // The shell stays, because the first process of a namespace must reap orphans.
    const script = [...mounts, 'ip link set lo up', '"$@"', 'exit'].join('; ')
    const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
    const command = ['unshare', ...namespaces, 'sh', '-ec', script, 'sh', ...tests, ...process.argv.slice(2)]
    return await runGroup(command, stop, { cwd: root })
  })
