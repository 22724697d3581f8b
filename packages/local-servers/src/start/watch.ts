import { existsSync, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import type { Progress } from '@switchyard/terminal'
import { execa } from 'execa'
import { dieWithParent } from '../process/death-signal.js'
import { mainOf, type RunningService } from './services.js'
import type { Settings } from './settings.js'

const quietMs = 300

/**
 * Rebuilds what a change of a source affects, and restarts the services whose bundles are new.
 *
 * @returns a function that ends the watch
 */
export function watchSources(
  settings: Settings,
  services: RunningService[],
  progress: Progress,
): () => Promise<void> {
  const { root } = settings
  const stopping = new AbortController()
  let isDue = false
  let timer: NodeJS.Timeout | undefined
  let work = Promise.resolve()

  const madeAt = () =>
    services.map(({ name }) => statSync(mainOf(settings, name), { throwIfNoEntry: false })?.mtimeMs)

  async function makeAndRestart(): Promise<void> {
    while (isDue && !stopping.signal.aborted) {
      isDue = false
      const before = madeAt()
      if (!(await build(root, stopping.signal, progress))) continue
      const after = madeAt()
      const changed = services.filter((_, index) => before[index] !== after[index])
      if (changed.length === 0) continue
      progress.notice(`restarting ${changed.map(({ name }) => name).join(', ')}`)
      await Promise.all(changed.map(({ process }) => process.restart()))
    }
  }
  const onChange = () => {
    isDue = true
    clearTimeout(timer)
    timer = setTimeout(() => {
      work = work.then(makeAndRestart)
    }, quietMs)
  }
  const watchers = sourceFolders(root).map((folder) => watch(folder, { recursive: true }, onChange))
  return async () => {
    stopping.abort()
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
    await work
  }
}

/** Returns the folders of the sources of all packages and services, and of the pages of the console. */
function sourceFolders(root: string): string[] {
  const parents = ['packages', 'services']
  const folders = parents.flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => join(parent, name)),
  )
  return [
    ...folders.map((folder) => join(root, folder, 'src')),
    join(root, 'services/console/web/src'),
  ].filter((folder) => existsSync(folder))
}

/** Returns whether everything stale could be rebuilt; otherwise reports the reason. */
async function build(root: string, stop: AbortSignal, progress: Progress): Promise<boolean> {
  const { command, args } = dieWithParent({
    command: process.execPath,
    args: [join(root, 'ops/build.mjs')],
  })
  const result = await execa(command, args, {
    cwd: root,
    all: true,
    cleanup: false,
    reject: false,
    stdin: 'ignore',
    cancelSignal: stop,
  })
  if (result.failed && !result.isCanceled) progress.notice(result.all)
  return !result.failed
}
