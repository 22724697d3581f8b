import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { findFreePort } from '../../../packages/dev-env/src/process/free-port.js'
import { waitFor } from '../../support/wait-for.js'

const main = resolve(import.meta.dirname, '../../../services/saga-reporter/dist/bundle/main.js')

export interface ReporterOptions {
  databaseUrl: string
  env?: Record<string, string>
  /** Loaded before anything else. */
  preload?: string
}

/** A reporter as a process of its own, on ports that it keeps when it is started again. */
export class Reporter {
  readonly #options: ReporterOptions
  readonly #httpPort: number
  readonly grpcPort: number
  #child: ChildProcess | undefined

  private constructor(options: ReporterOptions, httpPort: number, grpcPort: number) {
    this.#options = options
    this.#httpPort = httpPort
    this.grpcPort = grpcPort
  }

  get address(): string {
    return `127.0.0.1:${this.grpcPort}`
  }

  static async start(options: ReporterOptions): Promise<Reporter> {
    if (!existsSync(main)) throw new Error(`${main} is missing: build first`)
    const reporter = new Reporter(options, await findFreePort(), await findFreePort())
    await reporter.start()
    return reporter
  }

  async start(): Promise<void> {
    const { databaseUrl, env, preload } = this.#options
    const child = spawn(process.execPath, [...(preload ? ['--import', preload] : []), main], {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: databaseUrl,
        PORT: String(this.#httpPort),
        GRPC_PORT: String(this.grpcPort),
        LOG_LEVEL: 'fatal',
        ...env,
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    this.#child = child
    child.once('exit', (code, signal) => {
      if (this.#child === child) console.error(`a reporter ended by itself with ${code ?? signal}`)
    })
    await waitFor('the reporter to be ready', () => {
      if (child.exitCode !== null) throw new Error(`the reporter ended with ${child.exitCode}`)
      return this.isReady()
    })
  }

  async isReady(): Promise<boolean> {
    const url = `http://127.0.0.1:${this.#httpPort}/-/readiness`
    return fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  /** Sends a signal that ends it. @returns its exit code; null when the signal ended it */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null
    this.#child = undefined
    child.kill(signal)
    const [code] = await once(child, 'exit')
    return code as number | null
  }
}
