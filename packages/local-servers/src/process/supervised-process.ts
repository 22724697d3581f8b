import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { countFailure, restartDelayMs } from './back-off.js'
import { type Command, dieWithParent } from './death-signal.js'
import { watchLiveness } from './liveness-watch.js'
import { openLog } from './log-file.js'

export interface ProcessSpec extends Command {
  name: string
  cwd?: string
  env?: NodeJS.ProcessEnv
  logFile: string
  stopSignal?: 'SIGTERM' | 'SIGINT'
  /** Time after which a stopping process is killed. Unset: 15 s. */
  stopTimeoutMs?: number
  /** Returns whether the process answers. A process that stops answering is restarted. Unset: no check. */
  isAlive?: () => Promise<boolean>
  /**
   * Exit code of a process with a wrong configuration. Such a process is not restarted if it has never
   * answered.
   */
  misconfiguredCode?: number
  /** Prints one line on the console: a crash, a restart, a forced kill. */
  notice?: (line: string) => void
}

export interface SupervisedProcess {
  readonly name: string
  readonly logFile: string
  /** Returns the process id; undefined while the process does not run. */
  pid(): number | undefined
  /** Returns the number of consecutive crashes. */
  failures(): number
  /** Returns whether the process ended because of its configuration, so that it is not restarted. */
  isMisconfigured(): boolean
  /** Stops the process with a signal, and kills it after `stopTimeoutMs`. May be called twice. */
  stop(): Promise<void>
  /** Stops the process and starts it again at once. */
  restart(): Promise<void>
  kill(): void
}

/** Time from SIGTERM to SIGKILL for a process that does not answer. */
const stalledGraceMs = 5000

/** Starts a child process and restarts it after a crash, each time after a longer pause. */
export function supervise(spec: ProcessSpec): SupervisedProcess {
  return new Supervision(spec)
}

class Supervision implements SupervisedProcess {
  private child: ChildProcess | undefined
  private exited: Promise<void> = Promise.resolve()
  private timer: NodeJS.Timeout | undefined
  private stopAsking = () => {}
  private stopping = false
  private failuresInARow = 0
  private hasEverAnswered = false
  private misconfigured = false

  constructor(private readonly spec: ProcessSpec) {
    this.start()
  }

  get name(): string {
    return this.spec.name
  }

  get logFile(): string {
    return this.spec.logFile
  }

  pid(): number | undefined {
    return this.child?.pid
  }

  failures(): number {
    return this.failuresInARow
  }

  isMisconfigured(): boolean {
    return this.misconfigured
  }

  async stop(): Promise<void> {
    this.stopping = true
    clearTimeout(this.timer)
    this.stopAsking()
    if (!this.child) return
    this.signal(this.spec.stopSignal ?? 'SIGTERM')
    const patience = setTimeout(() => {
      this.spec.notice?.(`${this.name} did not stop in time and was killed`)
      this.kill()
    }, this.spec.stopTimeoutMs ?? 15_000)
    await this.exited
    clearTimeout(patience)
  }

  async restart(): Promise<void> {
    await this.stop()
    this.stopping = false
    this.failuresInARow = 0
    this.misconfigured = false
    this.start()
  }

  kill(): void {
    this.stopping = true
    clearTimeout(this.timer)
    this.stopAsking()
    const pid = this.child?.pid
    if (pid === undefined) return
    // The signal goes to the process group, so that it also ends git processes of a service.
    signalQuietly(-pid, 'SIGKILL')
  }

  private signal(signal: NodeJS.Signals): void {
    if (this.child?.pid !== undefined) signalQuietly(this.child.pid, signal)
  }

  private start(): void {
    const { command, args } = dieWithParent(this.spec, this.spec.stopSignal)
    const log = openLog(this.spec.logFile)
    const startedAt = performance.now()
    // The child gets its own process group, so that Ctrl-C reaches only this process, which stops the
    // children in order.
    const child = spawn(command, args, {
      cwd: this.spec.cwd,
      env: this.spec.env,
      detached: true,
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    this.child = child
    let hasAnswered = false
    const { isAlive } = this.spec
    if (isAlive) {
      const asked = async () => {
        const alive = await isAlive()
        hasAnswered ||= alive
        this.hasEverAnswered ||= alive
        return alive
      }
      this.stopAsking = watchLiveness({ isAlive: asked, onStalled: () => this.endStalled(child) })
    }
    this.exited = new Promise((resolve) => {
      const ended = (reason: string, code: number | null = null) => {
        if (this.child !== child) return
        this.child = undefined
        this.stopAsking()
        if (child.pid !== undefined) signalQuietly(-child.pid, 'SIGKILL')
        this.misconfigured = code !== null && code === this.spec.misconfiguredCode && !this.hasEverAnswered
        if (!this.stopping && !this.misconfigured)
          this.scheduleRestart(reason, { ranForMs: performance.now() - startedAt, hasAnswered })
        resolve()
      }
      child.once('error', (error) => ended(`could not be started (${error.message})`))
      child.once('exit', (code, signal) =>
        ended(signal ? `was ended by ${signal}` : `ended with code ${code}`, code),
      )
    })
  }

  /** Ends a child that does not answer. Its end counts as a crash. */
  private endStalled({ pid }: ChildProcess): void {
    if (pid === undefined) return
    this.spec.notice?.(`${this.name} no longer answers and is ended (log: ${this.spec.logFile})`)
    signalQuietly(pid, 'SIGTERM')
    const kill = setTimeout(() => signalQuietly(-pid, 'SIGKILL'), stalledGraceMs)
    void this.exited.then(() => clearTimeout(kill))
  }

  private scheduleRestart(
    reason: string,
    { ranForMs, hasAnswered }: { ranForMs: number; hasAnswered: boolean },
  ): void {
    this.failuresInARow = countFailure(this.failuresInARow, ranForMs)
    const delayMs = restartDelayMs(this.failuresInARow, hasAnswered)
    const again = `starting again in ${delayMs / 1000} s`
    this.spec.notice?.(`${this.name} ${reason}; ${again} (log: ${this.spec.logFile})`)
    this.timer = setTimeout(() => this.start(), delayMs)
  }
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}
