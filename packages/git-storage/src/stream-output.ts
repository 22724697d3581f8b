import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { argumentsOf, ended, type GitCommand, type SpawnOptions, spawnGit, stopGit } from './git-process.js'
import { StallGuard } from './stall-guard.js'

/** A client that takes nothing for so long is given up: its download holds a process. */
const idleMs = 300_000

export interface StreamOptions extends Pick<SpawnOptions, 'variables' | 'settings'> {
  signal?: AbortSignal | undefined
  /** Changes the bytes on their way. */
  transform?: (source: AsyncIterable<Buffer>) => AsyncIterable<Buffer>
}

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
  const guard = new StallGuard(
    idleMs,
    () => output.writableNeedDrain,
    () => output.destroy(),
  )
  child.stdout.on('data', () => guard.moved())
  const piped = { end: false, ...(signal && { signal }) }
  try {
    if (transform) await pipeline(child.stdout, transform, output, piped)
    else await pipeline(child.stdout, output, piped)
    const code = await finished
    if (code !== 0) throw new Error(`git ${command.command} exited with ${code}`)
  } finally {
    guard.stop()
    stopGit(child)
  }
}
