import type { Writable } from 'node:stream'
import { argumentsOf, ended, type GitCommand, type SpawnOptions, spawnGit, stopGit } from './git-process.js'
import { type SendOptions, sendToClient } from './send-to-client.js'

/** A client that reads nothing for this time is disconnected, because its download occupies a process. */
const idleMs = 300_000

export type StreamOptions = Pick<SpawnOptions, 'variables' | 'settings'> &
  Pick<SendOptions, 'signal' | 'transform'>

/**
 * Writes what a git command prints to a stream, in bounded memory. The stream is left for the caller to end.
 *
 * @throws Error when git fails; the reason of the signal when it is aborted
 */
export async function streamOutput(
  path: string,
  command: GitCommand,
  output: Writable,
  { signal, transform, ...options }: StreamOptions,
): Promise<void> {
  signal?.throwIfAborted()
  const child = spawnGit(argumentsOf(path, command), options)
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
