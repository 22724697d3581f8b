import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { bundled, getFreePort, programEnvironment } from '@switchyard/testing'
import { expect } from 'vitest'

/** Starts saga-reporter, which receives operators' requests, as a separate process. */
export async function startReporterProcess(databaseUrl: string) {
  const [port, grpcPort] = [await getFreePort(), await getFreePort()]
  const child = spawn(process.execPath, [await bundled('services/saga-reporter')], {
    env: {
      ...programEnvironment(),
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      GRPC_PORT: String(grpcPort),
      LOG_LEVEL: 'fatal',
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const exited = once(child, 'exit')
  const baseUrl = `http://127.0.0.1:${port}`
  const readiness = () =>
    fetch(`${baseUrl}/-/readiness`).then(
      ({ status }) => status,
      () => 0,
    )
  await expect.poll(readiness).toBe(200)
  return {
    baseUrl,
    async close() {
      child.kill()
      await exited
    },
  }
}
