import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { createRequire } from 'node:module'
import { unavailable } from '@switchyard/domain'

const module = createRequire(import.meta.url).resolve('@switchyard/git-storage/starter/starter.mjs')

export interface Program {
  command: string
  args: string[]
  /** The whole environment of the program. */
  env: NodeJS.ProcessEnv
  /** Standard input. Unset: the program reads nothing. */
  stdin?: string | Uint8Array | undefined
  /** Time after which the program is ended. */
  timeoutMs: number
  /** Longest output. A longer one is cut off, and the program is ended. */
  stdoutBytesMax: number
  /** Longest error output. A longer one is cut off. */
  stderrBytesMax: number
  /** Ends the program when it is aborted. */
  signal?: AbortSignal | undefined
}

export interface ProgramResult {
  /** Null when a signal ended the program. */
  code: number | null
  /** The signal that ended the program. */
  signal: NodeJS.Signals | null
  stdout: Uint8Array
  stderr: Uint8Array
  /** Whether the output was longer than `stdoutBytesMax`. */
  truncated: boolean
  tookMs: number
}

interface Outcome {
  id: number
  result?: ProgramResult
  /** The reason why the program could not be started. */
  failure?: string
}

interface Waiting {
  resolve(result: ProgramResult): void
  reject(error: Error): void
}

/**
 * The starter of programs: a small process beside this one. When a process starts a program, the operating
 * system copies its page tables and pauses it meanwhile: for 10 to 100 ms when it has a gigabyte of memory,
 * for 2 ms when it is small.
 */
class ProgramStarter {
  readonly #waiting = new Map<number, Waiting>()
  #process: ChildProcess | null = null
  #lastId = 0

  /**
   * Runs a program to its end.
   *
   * @throws DomainError unavailable when the program cannot be started, or the small process has ended
   */
  async run({ signal, ...program }: Program): Promise<ProgramResult> {
    const starter = this.#start()
    if (!starter.connected)
      throw unavailable('git does not answer', { cause: new Error('no process could be started') })
    this.#lastId += 1
    const id = this.#lastId
    const result = new Promise<ProgramResult>((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
    const stop = () => starter.connected && starter.send({ id, stop: true })
    signal?.addEventListener('abort', stop)
    // While a program runs, this process stays alive for its result.
    starter.channel?.ref()
    starter.send({ id, ...program })
    try {
      return await result
    } finally {
      signal?.removeEventListener('abort', stop)
      this.#waiting.delete(id)
      if (this.#waiting.size === 0) starter.channel?.unref()
    }
  }

  #start(): ChildProcess {
    if (this.#process?.connected) return this.#process
    // `connected` turns false before the event `disconnect` arrives.
    if (this.#process) this.#fail(this.#process)
    // The starter gets neither the secrets in this process's environment nor its Node options.
    const options: ForkOptions = {
      env: { PATH: process.env.PATH },
      execArgv: [],
      serialization: 'advanced',
    }
    const starter = fork(module, [], options)
    starter.unref()
    starter.on('message', (message: unknown) => this.#settle(message as Outcome))
    starter.on('error', () => this.#fail(starter))
    starter.on('disconnect', () => this.#fail(starter))
    this.#process = starter
    return starter
  }

  #settle({ id, result, failure }: Outcome): void {
    if (result) this.#waiting.get(id)?.resolve(result)
    else this.#waiting.get(id)?.reject(unavailable('git does not answer', { cause: new Error(failure) }))
  }

  /** Fails the running programs. The next program gets a new process. */
  #fail(starter: ChildProcess): void {
    if (this.#process !== starter) return
    this.#process = null
    if (starter.connected) starter.disconnect()
    const cause = new Error('the process that starts programs has ended')
    for (const { reject } of this.#waiting.values()) reject(unavailable('git does not answer', { cause }))
  }
}

const starter = new ProgramStarter()

/** Runs a program to its end, see {@link ProgramStarter}. */
export const runProgram = (program: Program): Promise<ProgramResult> => starter.run(program)
