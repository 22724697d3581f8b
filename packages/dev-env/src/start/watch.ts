import { existsSync, readdirSync, watch } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { dieWithParent } from '../process/death-signal.js'
import type { Progress } from './progress.js'
import type { RunningService } from './services.js'
import type { Settings } from './settings.js'

const quietMs = 300

/**
 * Rebuilds on every change. Restarts a service when its output changes, and all services when a package changes.
 *
 * @returns a function that ends the watching
 */
export function watchSources(
  settings: Settings,
  services: RunningService[],
  progress: Progress,
): () => Promise<void> {
  const { root } = settings
  const compiler = watchCompiler(root, progress)
  const due = new Set<RunningService>()
  let timer: NodeJS.Timeout | undefined
  const restartSoon = (touched: RunningService[]) => {
    for (const service of touched) due.add(service)
    clearTimeout(timer)
    timer = setTimeout(() => {
      const batch = [...due]
      due.clear()
      progress.notice(`restarting ${batch.map(({ name }) => name).join(', ')}`)
      void Promise.all(batch.map(({ process }) => process.restart()))
    }, quietMs)
  }
  const onOutput = (folder: string, touched: RunningService[]) =>
    watch(join(root, folder, 'dist'), { recursive: true }, (_event, file) => {
      if (file?.endsWith('.js')) restartSoon(touched)
    })
  const watchers = [
    ...services.map((service) => onOutput(`services/${service.name}`, [service])),
    ...sharedPackages(root).map((name) => onOutput(`packages/${name}`, services)),
  ]
  return async () => {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
    await compiler.stop()
  }
}

/** The packages that services use; not this package, which cannot restart itself. */
function sharedPackages(root: string): string[] {
  const packages = join(root, 'packages')
  return readdirSync(packages).filter(
    (name) => name !== 'dev-env' && name !== 'testing' && existsSync(join(packages, name, 'dist')),
  )
}

function watchCompiler(root: string, progress: Progress): { stop(): Promise<void> } {
  const projects = readdirSync(join(root, 'services')).map((name) => `services/${name}`)
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { command, args } = dieWithParent({
    command: process.execPath,
    args: [tsc, '-b', '-w', '--preserveWatchOutput', ...projects],
  })
  const compiler = execa(command, args, {
    cwd: root,
    cleanup: false,
    reject: false,
    stdin: 'ignore',
    buffer: false,
  })
  compiler.stdout.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n')) if (line.includes(': error TS')) progress.notice(line)
  })
  return {
    async stop() {
      compiler.kill('SIGTERM')
      await compiler
    },
  }
}
