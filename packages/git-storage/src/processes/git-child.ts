import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { notFound, unavailable } from '@switchyard/domain'
import {
  argumentsOf,
  crashRefusal,
  type GitCommand,
  memoryRefusal,
  spawnGit,
  TooSlow,
} from './git-process.js'

/** A git command that answers questions from its standard input, one after the other. */
export interface ChildKind {
  name: string
  command: GitCommand
  /** Whether the command changes nothing, so that a question whose child ended may be asked again. */
  readsOnly: boolean
  /**
   * Marks the end of an answer: the line to send after a question, and the output that the command prints for
   * it.
   */
  endMark: (nonce: string) => { sent: string; echoed: string }
}

export interface Question {
  /** Complete lines for the standard input of the command. */
  input: string
  /** Longest answer. A longer one is cut off, and the child is ended. */
  answerBytesMax: number
  timeoutMs: number
}

export interface Answer {
  bytes: Buffer
  /** Whether the answer was longer than the question allows. */
  truncated: boolean
}

interface ChildOptions {
  /** Memory of the process, without the packs that it maps. */
  memoryBytesMax: number
  /** Called when the child can take a question, and when it has ended. */
  onIdle: (child: GitChild) => void
}

interface Pending {
  question: Question
  chunks: Buffer[]
  length: number
  timer: NodeJS.Timeout
  resolve: (answer: Answer | Promise<Answer>) => void
  reject: (error: unknown) => void
}

/** Settings that limit the memory of a long-running process between answers. */
const settings = { 'core.deltaBaseCacheLimit': '16m' }

/** Time in which an abandoned answer may still end. After it, the child is ended. */
const drainMs = 50
const stderrTextMax = 4096

/**
 * One long-lived git process that answers one question at a time. A line with a random value marks the end of
 * an answer, so no content of a repository can contain it.
 */
export class GitChild {
  answers = 0
  answeredBytes = 0
  idleSinceMs = performance.now()
  readonly #child: ChildProcessWithoutNullStreams
  readonly #kind: ChildKind
  readonly #mark: { sent: string; echoed: Buffer }
  readonly #onIdle: (child: GitChild) => void
  #pending: Pending | null = null
  /** Whether the caller of the current question no longer waits for its answer. */
  #abandoned = false
  #alive = true
  #stderr = ''

  constructor(path: string, kind: ChildKind, { memoryBytesMax, onIdle }: ChildOptions) {
    const { sent, echoed } = kind.endMark(randomUUID())
    this.#kind = kind
    this.#mark = { sent, echoed: Buffer.from(echoed) }
    this.#onIdle = onIdle
    this.#child = spawnGit(argumentsOf(path, kind.command), { memoryBytesMax, settings })
    this.#child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-stderrTextMax)
    })
    this.#child.once('error', (cause) => this.#gone(unavailable('git does not answer', { cause })))
    this.#child.once('close', (code, signal) => this.#gone(this.#failure(code, signal)))
  }

  get alive(): boolean {
    return this.#alive
  }

  /**
   * Asks a question.
   *
   * @throws DomainError unavailable when the process ended, was too slow (the cause is a TooSlow), or could
   * not be started; too-large when it ran out of its memory
   */
  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#giveUp(), question.timeoutMs)
      this.#pending = { question, chunks: [], length: 0, timer, resolve, reject }
      this.#abandoned = false
      this.#stderr = ''
      this.#child.stdin.write(question.input + this.#mark.sent)
    })
  }

  /**
   * Abandons the question, because its caller no longer waits. A short answer is read to its end; a longer
   * answer is stopped by ending the child.
   */
  abandon(reason: unknown): void {
    const pending = this.#pending
    if (!pending || this.#abandoned) return
    this.#abandoned = true
    pending.reject(reason)
    clearTimeout(pending.timer)
    pending.timer = setTimeout(() => this.end(), drainMs)
  }

  /** Ends the process. The current question fails. */
  end(): void {
    this.#alive = false
    this.#child.stdin.destroy()
    // A process that only reads has nothing to clean up. A process that writes removes its lock files on
    // SIGTERM.
    this.#child.kill(this.#kind.readsOnly ? 'SIGKILL' : 'SIGTERM')
  }

  #receive(chunk: Buffer): void {
    const pending = this.#pending
    if (!pending) return
    pending.chunks.push(chunk)
    pending.length += chunk.length
    const { echoed } = this.#mark
    const { answerBytesMax } = pending.question
    if (endsWith(pending.chunks, echoed)) this.#finish(pending, pending.length - echoed.length, false)
    else if (pending.length > answerBytesMax + echoed.length) {
      this.#finish(pending, answerBytesMax, true)
      this.end()
    }
  }

  #finish(pending: Pending, length: number, truncated: boolean): void {
    this.#settle(pending)
    this.answers += 1
    this.answeredBytes += length
    if (!this.#abandoned) {
      const whole = join(pending.chunks, pending.length)
      const answer = (bytes: Buffer) => ({ bytes: bytes.subarray(0, length), truncated })
      pending.resolve(Buffer.isBuffer(whole) ? answer(whole) : whole.then(answer))
    }
    if (!truncated) this.#onIdle(this)
  }

  #settle(pending: Pending): void {
    clearTimeout(pending.timer)
    this.#pending = null
    this.idleSinceMs = performance.now()
  }

  #giveUp(): void {
    this.#gone(
      unavailable('git does not answer', { cause: new TooSlow(`git ${this.#kind.name} was too slow`) }),
    )
    this.end()
  }

  #gone(error: Error): void {
    this.#alive = false
    const pending = this.#pending
    if (pending) {
      this.#settle(pending)
      if (!this.#abandoned) pending.reject(error)
    }
    this.#onIdle(this)
  }

  #failure(code: number | null, signal: NodeJS.Signals | null): Error {
    if (/not a git repository/i.test(this.#stderr)) return notFound('Repository')
    const cause = new ChildEnded(this.#kind.name, code, this.#stderr.trim())
    return (
      memoryRefusal(this.#stderr) ??
      crashRefusal(signal, cause) ??
      unavailable('git does not answer', { cause })
    )
  }
}

/** The error of a process that ended before it answered. */
export class ChildEnded extends Error {
  readonly stderr: string

  constructor(name: string, code: number | null, stderr: string) {
    super(`git ${name} ended with ${code}: ${stderr}`)
    this.name = 'ChildEnded'
    this.stderr = stderr
  }
}

/** Most bytes that are copied at once, which takes about a millisecond. */
const joinedAtOnceMax = 1024 * 1024

/**
 * Concatenates the chunks of an answer; a long answer is copied in parts, with a tick of the event loop after
 * each.
 */
function join(chunks: readonly Buffer[], length: number): Buffer | Promise<Buffer> {
  const [first] = chunks
  if (chunks.length === 1 && first) return first
  return length <= joinedAtOnceMax ? Buffer.concat(chunks, length) : joinInParts(chunks, length)
}

async function joinInParts(chunks: readonly Buffer[], length: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(length)
  let at = 0
  let partEnds = joinedAtOnceMax
  for (const chunk of chunks) {
    at += chunk.copy(whole, at)
    if (at < partEnds) continue
    partEnds = at + joinedAtOnceMax
    await setImmediate()
  }
  return whole
}

/** Returns whether the concatenated chunks end with these bytes. */
function endsWith(chunks: readonly Buffer[], ending: Buffer): boolean {
  const last = chunks.at(-1)
  if (!last) return false
  if (last.length >= ending.length) return last.subarray(last.length - ending.length).equals(ending)
  let tail = last
  for (let index = chunks.length - 2; index >= 0 && tail.length < ending.length; index -= 1) {
    tail = Buffer.concat([chunks[index] ?? Buffer.alloc(0), tail])
  }
  return tail.length >= ending.length && tail.subarray(tail.length - ending.length).equals(ending)
}
