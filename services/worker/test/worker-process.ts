import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { bundled, getFreePort, programEnvironment } from '@switchyard/testing'

/** Starts the worker as a separate process on a free port. */
export async function startWorkerProcess(environment: Record<string, string>) {
  const port = await getFreePort()
  const env = { ...programEnvironment(), ...environment, PORT: String(port) }
  const main = await bundled('services/worker')
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const exited = once(child, 'exit')
  return {
    child,
    exited,
    errors: () => errors,
    get: (path: string) => fetch(`http://127.0.0.1:${port}${path}`),
  }
}
