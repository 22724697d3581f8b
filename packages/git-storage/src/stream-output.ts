import type { Writable } from 'node:stream'
import { argumentsOf, ended, type GitCommand, type SpawnOptions, spawnGit, stopGit } from './git-process.js'
import type { GitPlace } from './git-slots.js'
import { type SendOptions, sendToClient } from './send-to-client.js'

/** A client that reads nothing for this time is disconnected, because its download occupies a process. */
const idleMs = 300_000

export interface StreamOptions
  extends Pick<SpawnOptions, 'variables' | 'settings'>,
    Pick<SendOptions, 'transform'> {
  /** Path of the repository in which git runs. Unset: that of the place. */
  runsIn?: string
}

/**
 * Writes what a git command prints to a stream, in bounded memory, when its sender has a slot for it. The stream is left for the
 * caller to end.
 *
 * @throws DomainError rate-limited when the sender holds its share, unavailable when there is no slot; Error when git fails;
 *   the reason of the signal when it is aborted
 */
export const streamOutput = (
  place: GitPlace,
  command: GitCommand,
  output: Writable,
  options: StreamOptions = {},
): Promise<void> => place.engine.slots.runStream(place, () => streamNow(place, command, output, options))

async function streamNow(
  { path, signal }: GitPlace,
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
    await sendToClient(child.stdout, output, { idleMs, signal, transform })
    const code = await finished
    if (code !== 0) throw new Error(`git ${command.command} exited with ${code}`)
  } finally {
    stopGit(child)
  }
}
