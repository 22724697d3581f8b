import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { DomainError, notFound, unavailable } from '@switchyard/domain'
import { argumentsOf, type GitCommand, memoryRefusal, spawnGit } from '../git-process.js'

/** A git command that answers one question after the other. */
export interface ChildKind {
  name: string
  command: GitCommand
  /** A question that failed with its child may be asked again. */
  readsOnly: boolean
  /** Asks for the end of an answer: what to send after a question, and what comes back for it. */
  endMark: (nonce: string) => { sent: string; echoed: string }
}

export interface Question {
  /** Whole lines. */
  input: string
  /** A longer answer is given up, and the child with it. */
  answerBytesMax: number
  timeoutMs: number
}

export interface Answer {
  bytes: Buffer
  /** There was more than the question allows. */
  truncated: boolean
}

interface ChildOptions {
  /** Of data; packs do not count. */
  memoryBytesMax: number
  /** Called when it can take a question, and when it is gone. */
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

/** How long an answer that nobody waits for may go on before the child is ended. */
const drainMs = 50
const stderrTextMax = 4096

/**
 * One long-lived git process. It answers one question at a time. The end of an answer is a line that no
 * content of a repository can know in advance.
 */
export class GitChild {
  answers = 0
  answeredBytes = 0
  /** When its question was asked; null while it is idle. */
  busySinceMs: number | null = null
  idleSinceMs = performance.now()
  readonly #child: ChildProcessWithoutNullStreams
  readonly #kind: ChildKind
  readonly #mark: { sent: string; echoed: Buffer }
  readonly #onIdle: (child: GitChild) => void
  #pending: Pending | null = null
  /** Nobody wants the answer any more. */
  #abandoned = false
  #alive = true
  #stderr = ''

  constructor(path: string, kind: ChildKind, { memoryBytesMax, onIdle }: ChildOptions) {
    const { sent, echoed } = kind.endMark(randomUUID())
    this.#kind = kind
    this.#mark = { sent, echoed: Buffer.from(echoed) }
    this.#onIdle = onIdle
    this.#child = spawnGit(argumentsOf(path, kind.command), { memoryBytesMax })
    this.#child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-stderrTextMax)
    })
    this.#child.once('error', (error) => this.#gone(error))
    this.#child.once('close', (code) => this.#gone(this.#failure(code)))
  }

  get alive(): boolean {
    return this.#alive
  }

  /**
   * @throws DomainError unavailable when it ended, was too slow (its cause is a TooSlow), or could not be started;
   *   too-large when its memory did not do
   */
  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#giveUp(), question.timeoutMs)
      this.#pending = { question, chunks: [], length: 0, timer, resolve, reject }
      this.#abandoned = false
      this.#stderr = ''
      this.busySinceMs = performance.now()
      this.#child.stdin.write(question.input + this.#mark.sent)
    })
  }

  /** The one who asked is gone. A short answer is read to its end, a long one ends with the child. */
  abandon(reason: unknown): void {
    const pending = this.#pending
    if (!pending || this.#abandoned) return
    this.#abandoned = true
    pending.reject(reason)
    clearTimeout(pending.timer)
    pending.timer = setTimeout(() => this.end(), drainMs)
  }

  /** Ends it; a question under way fails. */
  end(): void {
    this.#alive = false
    this.#child.stdin.destroy()
    // What only reads has nothing to clean up; lock files of what writes are removed by itself.
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
    this.busySinceMs = null
    this.idleSinceMs = performance.now()
  }

  #giveUp(): void {
    this.#gone(unavailable('git', { cause: new TooSlow(`git ${this.#kind.name} was too slow`) }))
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

  #failure(code: number | null): Error {
    if (/not a git repository/i.test(this.#stderr)) return notFound('Repository')
    const ended = () =>
      unavailable('git', { cause: new ChildEnded(this.#kind.name, code, this.#stderr.trim()) })
    return memoryRefusal(this.#stderr) ?? ended()
  }
}

/** Why a child was given up. */
class TooSlow extends Error {
  override readonly name = 'TooSlow'
}

/** The question itself took more time or memory than there is. */
export const isTooHard = (error: unknown): error is DomainError =>
  error instanceof DomainError && (error.kind === 'too-large' || error.cause instanceof TooSlow)

/** Why a child ended before it answered. */
export class ChildEnded extends Error {
  readonly stderr: string

  constructor(name: string, code: number | null, stderr: string) {
    super(`git ${name} ended with ${code}: ${stderr}`)
    this.name = 'ChildEnded'
    this.stderr = stderr
  }
}

/** To copy so much takes some milliseconds, as the memory is new. */
const joinedAtOnceMax = 1024 * 1024

/** Puts an answer together, a long one in several turns of the event loop. */
function join(chunks: readonly Buffer[], length: number): Buffer | Promise<Buffer> {
  const [first] = chunks
  if (chunks.length === 1 && first) return first
  return length <= joinedAtOnceMax ? Buffer.concat(chunks, length) : joinInTurns(chunks, length)
}

async function joinInTurns(chunks: readonly Buffer[], length: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(length)
  let at = 0
  let turnEnds = joinedAtOnceMax
  for (const chunk of chunks) {
    at += chunk.copy(whole, at)
    if (at < turnEnds) continue
    turnEnds = at + joinedAtOnceMax
    await setImmediate()
  }
  return whole
}

/** Whether the chunks, taken together, end with these bytes. */
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
