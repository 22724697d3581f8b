import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../worker/src/main.ts', import.meta.url))

/** The worker, in a process of its own. */
export function startWorkerProcess(variables: Record<string, string>) {
  const worker = spawn(process.execPath, ['--import', 'tsx', main], {
    env: { PATH: process.env.PATH, PORT: '0', LOG_LEVEL: 'warn', ...variables },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return {
    async close() {
      if (worker.exitCode !== null) return
      worker.kill('SIGTERM')
      await once(worker, 'exit')
    },
  }
}
