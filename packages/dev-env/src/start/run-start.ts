import pc from 'picocolors'
import { SetupProblem } from '../problem.js'
import { createProgress } from './progress.js'
import { readSettings } from './settings.js'
import { formatSummary } from './summary.js'
import { Tree } from './tree.js'
import { watchSources } from './watch.js'

export interface StartOptions {
  root: string
  watch: boolean
  /** When the command was typed, as `performance.now()`, so that setting up counts. */
  startedAt: number
}

/** `npm start`: runs everything until a signal comes, and returns the exit code. */
export async function runStart({ root, watch, startedAt }: StartOptions): Promise<number> {
  const progress = createProgress()
  const signal = nextSignal()
  let tree: Tree | undefined
  try {
    const settings = readSettings(root, process.env, watch)
    tree = new Tree(settings, progress)
    const started = tree.start()
    // A signal may come while things start; what then fails because of it is of no interest.
    started.catch(() => {})
    if ((await Promise.race([started, signal])) === undefined) {
      process.stdout.write(formatSummary(settings, performance.now() - startedAt))
      const stopWatching = watch ? watchSources(settings, tree.services, progress) : undefined
      await signal
      await stopWatching?.()
    }
    return 0
  } catch (error) {
    if (!(error instanceof SetupProblem)) throw error
    process.stderr.write(`${pc.red('✗')} ${error.message}\n`)
    return 1
  } finally {
    await stopTree(tree)
  }
}

async function stopTree(tree: Tree | undefined): Promise<void> {
  if (!tree) return
  const impatient = () => {
    tree.kill()
    process.exit(130)
  }
  process.on('SIGINT', impatient)
  if (process.stderr.isTTY) process.stderr.write(pc.dim('\nStopping … (Ctrl-C again stops at once)\n'))
  await tree.stop()
  process.off('SIGINT', impatient)
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    // They stay registered: a library that sees no listener but its own would end the process on the spot.
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, resolve)
  })
}
