import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DomainError, invalid, timedOut } from '@switchyard/domain'
import { ended, type SpawnOptions, spawnGit, stopGit } from './git-process.js'
import { StallGuard } from './stall-guard.js'

export type GitService = 'git-upload-pack' | 'git-receive-pack'

/** A client that fetches or pushes. */
export interface GitSession {
  /** Of the bare repository. */
  path: string
  /** The header `Git-Protocol` of the client. */
  protocol: string | undefined
  /** A client that neither sends nor takes anything for so long, when it is its turn, is given up. */
  idleMs: number
  signal: AbortSignal
}

/** What a client sends is unpacked within these bounds; a push beyond them is refused. */
const memoryBytesMax = 4 * 1024 ** 3
const settings = [
  'receive.maxInputSize=2200m',
  'receive.advertisePushOptions=true',
  // The service is asked about every reference.
  'receive.procReceiveRefs=refs',
  'core.packedGitLimit=1g',
  'core.packedGitWindowSize=64m',
  'core.deltaBaseCacheLimit=64m',
  'pack.threads=2',
  'pack.windowMemory=128m',
  // References that GitLab's servers keep to themselves; repositories that were moved here may hold some.
  ...['environments', 'pipelines', 'tmp'].map((folder) => `transfer.hideRefs=refs/${folder}/`),
]
/** A push of gigabytes over a slow line is legitimate; a session that goes on for ever is not. */
const timeoutMs = 4 * 3_600_000
export interface Conversation {
  /** Whether git said anything. */
  answered: boolean
  /** Why the session ended badly; null also when the client went away, which leaves nobody to be told. */
  failure: unknown
}

/**
 * Streams both ways between a client and git, until git has ended.
 *
 * @param abandon ends git when the client is gone or stands still
 */
export async function converse(
  session: GitSession,
  service: GitService,
  child: ChildProcessWithoutNullStreams,
  input: Readable,
  output: Writable,
  abandon: () => void,
): Promise<Conversation> {
  const { signal } = session
  let answered = false
  const waitsForClient = () =>
    output.writableNeedDrain ||
    (!child.stdin.writableEnded && !child.stdin.writableNeedDrain && !child.stdin.destroyed)
  const guard = new StallGuard(session.idleMs, waitsForClient, () => {
    // An answer that nobody takes would never be over.
    if (output.writableNeedDrain) output.destroy()
    abandon()
  })
  const timer = setTimeout(() => stopGit(child), timeoutMs)
  signal.addEventListener('abort', abandon)
  const finished = ended(child)
  const complaints = textOf(child.stderr, complaintBytesMax)
  child.stdout.on('data', () => {
    answered = true
    guard.moved()
  })
  // git ends a fetch without reading on once it knows enough, which breaks this pipe; its exit code tells.
  const received = pipeline(input, child.stdin).catch((error: unknown) => {
    child.stdin.end()
    return error
  })
  input.on('data', () => guard.moved())
  try {
    // Of a push that breaks off git removes nothing when it can no longer write either.
    await pipeline(child.stdout.iterator({ destroyOnReturn: false }), output, { end: false })
    const code = await finished
    if (signal.aborted) return { answered, failure: null }
    if (guard.stalled) return { answered, failure: standsStill(session) }
    if (answered) return { answered, failure: null }
    const inputError = await received
    if (inputError instanceof DomainError) return { answered, failure: inputError }
    return { answered, failure: code === 0 ? null : failureOf(service, code, await complaints) }
  } catch (error) {
    child.stdout.resume()
    await finished
    return { answered, failure: signal.aborted ? null : error }
  } finally {
    guard.stop()
    clearTimeout(timer)
    signal.removeEventListener('abort', abandon)
    stopGit(child)
  }
}

/** Why git answered nothing: what it was sent, or something of ours. */
function failureOf(service: GitService, code: number | null, complaint: string): Error {
  if (misunderstood.test(complaint)) return unreadable(service)
  // What git quotes is what the client has sent, which no log line may hold.
  return new Error(
    `${service} exited with ${code}: ${complaint.replace(/'[^'\n]*'?/g, "'…'").slice(0, 1000)}`,
  )
}

export const unreadable = (service: GitService) => invalid(`${service} could not read the request`)

export const standsStill = ({ idleMs }: GitSession) =>
  timedOut(`nothing was sent or taken for ${Math.ceil(idleMs / 1000)} seconds`)

/** What git says of a request that does not speak its protocol, or breaks off. */
const misunderstood =
  /^fatal: (?:git upload-pack: )?(?:protocol error|bad line length|the remote end hung up|expected |unexpected |unknown |invalid |no command requested|command '.*' requested after)/im

export interface StartOptions extends Pick<SpawnOptions, 'hooksPath' | 'hookStreams'> {
  flags?: string[]
  /** Further settings of git: `name=value`. */
  settings?: string[]
}

/** Starts the service of git that talks to the client; its streams are the caller's. */
export function start({ path, protocol }: GitSession, service: GitService, options: StartOptions = {}) {
  const { flags = [], settings: further = [], ...hooks } = options
  const variables: Record<string, string> =
    protocol !== undefined && acceptableProtocol.test(protocol) ? { GIT_PROTOCOL: protocol } : {}
  const configuration = [...settings, ...further].flatMap((setting) => ['-c', setting])
  const command = service.slice('git-'.length)
  return spawnGit([...configuration, command, '--stateless-rpc', ...flags, path], {
    variables,
    memoryBytesMax,
    ...hooks,
  })
}

const acceptableProtocol = /^[\w=:.-]{1,200}$/

const complaintBytesMax = 64 * 1024

/** What is written to a stream until it closes; what goes beyond the limit is left out. */
export async function textOf(stream: Readable, bytesMax: number): Promise<string> {
  let text = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    if (text.length < bytesMax) text += chunk
  })
  await once(stream, 'close')
  return text
}
