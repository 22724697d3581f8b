import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { getJemalloc, toolsFolder } from '@switchyard/local-servers'
import { getFreePort } from '@switchyard/local-servers/free-port'
import { untilAnswers } from '../../support/until-answers.js'

/** A server under load, in a separate process. */
export interface Subject {
  port: number
  pid: number
  stop(): Promise<void>
}

let jemalloc: Promise<string> | undefined

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export async function startServer(kind: 'echo' | 'insert-each', databaseUrl = ''): Promise<Subject> {
  const child = fork(here('./servers.ts'), [kind, databaseUrl])
  const [port] = await once(child, 'message')
  return subject(child, Number(port))
}

/**
 * Starts the built service with the Node options and the allocator of its image.
 *
 * @param settings additional settings
 */
export async function startReporter(
  databaseUrl: string,
  settings: Record<string, string> = {},
): Promise<Subject & { httpPort: number }> {
  const port = await getFreePort()
  const grpcPort = await getFreePort()
  // Two parallel downloads of the same file would disturb each other.
  jemalloc ??= getJemalloc(toolsFolder(here('../../..')))
  const main = here('../../../services/saga-reporter/dist/bundle/main.js')
  const child = spawn(process.execPath, ['--v8-pool-size=1', '--max-semi-space-size=32', main], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      LD_PRELOAD: await jemalloc,
      NODE_ENV: 'production',
      DATABASE_URL: databaseUrl,
      PORT: `${port}`,
      GRPC_PORT: `${grpcPort}`,
      ...settings,
    },
  })
  await untilAnswers(child, port, '/-/readiness')
  return { ...subject(child, grpcPort), httpPort: port }
}

function subject(child: ChildProcess, port: number): Subject {
  const exited = once(child, 'exit')
  return {
    port,
    pid: child.pid as number,
    async stop() {
      child.kill()
      await exited
    },
  }
}
