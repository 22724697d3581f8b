import { bundled, getFreePort, waitFor } from '@switchyard/testing'
import { execa } from 'execa'

export interface ServiceProcess {
  port: number
  stop(): Promise<void>
}

/** Starts a service as its own process; resolves when it is ready. */
export async function startService(name: string, env: Record<string, string>): Promise<ServiceProcess> {
  const port = await getFreePort()
  const child = execa(process.execPath, ['--enable-source-maps', await bundled(`services/${name}`)], {
    env: { ...env, PORT: String(port), LOG_LEVEL: 'warn', SHUTDOWN_TIMEOUT_MS: '1000' },
    all: true,
    reject: false,
  })
  const ended = child.then(({ all }) => {
    throw new Error(`${name} ended: ${all}`)
  })
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/-/readiness`)).status === 200
  await Promise.race([waitFor(isReady, { what: `${name} to be ready` }), ended])
  ended.catch(() => {})
  return {
    port,
    async stop() {
      child.kill('SIGTERM')
      await child
    },
  }
}
