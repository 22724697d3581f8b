import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { bundled, programEnvironment } from '@switchyard/testing'

/** Starts the worker in a separate process. */
export async function startWorkerProcess(variables: Record<string, string>) {
  const worker = spawn(process.execPath, [await bundled('services/worker')], {
    env: { ...programEnvironment(), PORT: '0', LOG_LEVEL: 'warn', ...variables },
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
