import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { tooLarge } from '@switchyard/domain'
import { ended, stopGit } from '../processes/git-process.js'
import { StallGuard } from '../processes/stall-guard.js'
import { converse, type GitService, type GitSession, malformedRequestError, start } from './git-session.js'
import { flushPacket, packetLine } from './packet-lines.js'

/** Longest body of a fetch request (the wanted and known commits), after decompression. */
const fetchBytesMax = 64 * 1024 * 1024

/** Writes the list of references with which a fetch or push begins. */
export async function advertiseRefs(
  session: GitSession,
  service: GitService,
  output: Writable,
): Promise<void> {
  const version2 = service === 'git-upload-pack' && (session.protocol ?? '').split(':').includes('version=2')
  if (!version2) output.write(packetLine(`# service=${service}\n`) + flushPacket)
  const child = start(session, service, { flags: ['--advertise-refs'] })
  child.stdin.end()
  child.stderr.resume()
  const finished = ended(child)
  const guard = new StallGuard(
    session.idleMs,
    () => output.writableNeedDrain,
    () => {
      output.destroy()
      stopGit(child)
    },
  )
  child.stdout.on('data', () => guard.moved())
  try {
    await pipeline(child.stdout, output)
    const code = await finished
    if (code !== 0 && !guard.stalled) throw new Error(`${service} exited with ${code}`)
  } catch (error) {
    if (!session.signal.aborted) throw error
  } finally {
    guard.stop()
    stopGit(child)
  }
}

/**
 * Serves one request of a fetch with git. The caller ends `output` when the promise resolves.
 *
 * @throws DomainError invalid when git cannot read the request, too-large for a longer request; Error when
 *   git failed. In each case, nothing was written to `output`
 */
export async function serveFetch(session: GitSession, input: Readable, output: Writable): Promise<void> {
  let isEmpty = true
  const onBytes = () => {
    isEmpty = false
  }
  const bounded = input.compose<Readable>(atMost(fetchBytesMax, onBytes))
  const child = start(session, 'git-upload-pack')
  const { answered, failure } = await converse(session, 'git-upload-pack', child, bounded, output, () =>
    stopGit(child),
  )
  if (failure) throw failure
  // git accepts an empty request of protocol version 2 without an answer.
  if (!answered && isEmpty && !session.signal.aborted) throw malformedRequestError('git-upload-pack')
}

/** Returns a transform that passes chunks through, and fails when they exceed `bytesMax`. */
const atMost = (bytesMax: number, onBytes: () => void) =>
  async function* (source: AsyncIterable<Buffer>) {
    let bytes = 0
    for await (const chunk of source) {
      onBytes()
      bytes += chunk.length
      if (bytes > bytesMax) throw tooLarge('413 Request Entity Too Large')
      yield chunk
    }
  }
