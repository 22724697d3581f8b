import type { Writable } from 'node:stream'
import {
  argumentsOf,
  crashRefusal,
  ended,
  type GitCommand,
  type SpawnOptions,
  spawnGit,
  stopGit,
} from './git-process.js'
import type { GitContext } from './git-slots.js'
import { type SendOptions, sendToClient } from './send-to-client.js'

/** Time after which a client that reads nothing is disconnected, because its download occupies a process. */
const idleMs = 300_000

export interface StreamOptions
  extends Pick<SpawnOptions, 'variables' | 'settings'>,
    Pick<SendOptions, 'transform'> {
  /** Path of the repository in which git runs. Unset: the one of the context. */
  runsIn?: string
}

/**
 * Writes the output of a git command to a stream, in bounded memory, once its sender has a slot. The caller
 * ends the stream.
 *
 * @throws DomainError rate-limited when the sender holds its share, unavailable when there is no slot,
 * unprocessable when git crashes; Error when git fails; the reason of the signal when it is aborted
 */
export const streamOutput = (
  context: GitContext,
  command: GitCommand,
  output: Writable,
  options: StreamOptions = {},
): Promise<void> => runInStream(context, () => streamNow(context, command, output, options))

/**
 * Does work in which git sends its output to the client, such as a fetch, once the client has a slot.
 *
 * @throws DomainError rate-limited when the sender holds its share, unavailable when there is no slot; what
 * `work` throws
 */
export const runInStream = <Result>(context: GitContext, work: () => Promise<Result>): Promise<Result> =>
  context.engine.slots.runStream(context, work)

async function streamNow(
  { path, signal }: GitContext,
  command: GitCommand,
  output: Writable,
  { transform, runsIn = path, ...options }: StreamOptions,
): Promise<void> {
  signal?.throwIfAborted()
  const child = spawnGit(argumentsOf(runsIn, command), options)
  child.stdin.end()
  child.stderr.resume()
  const finished = ended(child)
  try {
    const begun = (source: AsyncIterable<Buffer>) => withCheckedStart(source, finished)
    const transformed = transform ? (source: AsyncIterable<Buffer>) => transform(begun(source)) : begun
    await sendToClient(child.stdout, output, { idleMs, signal, transform: transformed })
    const code = await finished
    if (code === 0) return
    const error = new Error(`git ${command.command} exited with ${code ?? child.signalCode}`)
    throw crashRefusal(child.signalCode, error) ?? error
  } finally {
    stopGit(child)
  }
}

/**
 * Bytes that are held back at first. A program that compresses prints some bytes even when git, which feeds
 * it, has crashed.
 */
const startBytes = 1024

/**
 * Holds back the first bytes until more come, or until git has succeeded, so that a client receives an error
 * instead of an empty archive.
 */
async function* withCheckedStart(
  source: AsyncIterable<Buffer>,
  finished: Promise<number | null>,
): AsyncGenerator<Buffer> {
  const start: Buffer[] = []
  let length = 0
  for await (const chunk of source) {
    if (length >= startBytes) {
      yield chunk
      continue
    }
    start.push(chunk)
    length += chunk.length
    if (length >= startBytes) yield Buffer.concat(start)
  }
  if (length > 0 && length < startBytes && (await finished) === 0) yield Buffer.concat(start)
}
