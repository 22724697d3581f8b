import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '@switchyard/testing'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const nodeArguments = ['--import', 'tsx', main]

/** The worker as a process of its own, on a free port. */
export async function startWorkerProcess(environment: Record<string, string>) {
  const port = await findFreePort()
  const env = { PATH: process.env.PATH, ...environment, PORT: String(port) }
  const child = spawn(process.execPath, nodeArguments, { env, stdio: ['ignore', 'ignore', 'pipe'] })
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
