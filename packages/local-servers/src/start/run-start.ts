import { createProgress, SolvableProblem } from '@switchyard/terminal'
import pc from 'picocolors'
import { type ServiceManager, serviceManagerOf } from '../process/service-manager.js'
import { type ReleaseInfo, readSettings } from './settings.js'
import { formatSummary } from './summary.js'
import { Tree } from './tree.js'
import { watchSources } from './watch.js'

export interface StartOptions {
  root: string
  /** Set when an installed release runs. */
  release?: ReleaseInfo
  watch: boolean
  /** Start time of the command, as `performance.now()`. */
  startedAt: number
  /** Aborted to stop everything. */
  stop: AbortSignal
}

/**
 * Time within which signals count as one Ctrl-C, because one Ctrl-C causes two signals, from the terminal and
 * from npm.
 */
const sameKeyPressMs = 500

/** Runs `npm start`: runs everything until `stop` is aborted, and returns the exit code. */
export async function runStart({ root, release, watch, startedAt, stop }: StartOptions): Promise<number> {
  const progress = createProgress()
  const stopped = new Promise<'stopped'>((resolve) => {
    if (stop.aborted) resolve('stopped')
    stop.addEventListener('abort', () => resolve('stopped'), { once: true })
  })
  let tree: Tree | undefined
  let manager: ServiceManager | undefined
  try {
    const settings = readSettings(root, process.env, watch, release)
    manager = serviceManagerOf(settings.inherited, (line) => process.stderr.write(`${line}\n`))
    tree = new Tree(settings, progress)
    const started = tree.start()
    // When `stop` is aborted during the start, errors of the start are ignored.
    started.catch(() => {})
    if ((await Promise.race([started, stopped])) !== 'stopped') {
      process.stdout.write(formatSummary(settings, performance.now() - startedAt))
      manager.ready()
      const stopWatching = watch ? watchSources(settings, tree.services, progress) : undefined
      await stopped
      await stopWatching?.()
    }
    return 0
  } catch (error) {
    if (!(error instanceof SolvableProblem)) throw error
    process.stderr.write(`${pc.red('✗')} ${error.message}\n`)
    return 1
  } finally {
    manager?.stopping()
    await stopTree(tree)
  }
}

/** Stops everything in order; a second Ctrl-C ends it at once. */
async function stopTree(tree: Tree | undefined): Promise<void> {
  if (!tree) return
  const stoppingSince = performance.now()
  const endAtOnce = () => {
    if (performance.now() - stoppingSince < sameKeyPressMs) return
    tree.kill()
    process.exit(130)
  }
  process.on('SIGINT', endAtOnce)
  if (process.stderr.isTTY) process.stderr.write(pc.dim('\nStopping … (Ctrl-C again stops at once)\n'))
  await tree.stop()
  process.off('SIGINT', endAtOnce)
}
