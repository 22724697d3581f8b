import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DomainError, invalid, timedOut } from '@switchyard/domain'
import { ended, type SpawnOptions, spawnGit, stopGit } from '../processes/git-process.js'
import { memoryOfProcess } from '../processes/git-slots.js'
import { StallGuard } from '../processes/stall-guard.js'
import { pushLimits } from './push-head.js'

export type GitService = 'git-upload-pack' | 'git-receive-pack'

/** A client that fetches or pushes. */
export interface GitSession {
  /** Path of the bare repository. */
  path: string
  /** The header `Git-Protocol` of the client. */
  protocol: string | undefined
  /**
   * Time after which a session ends when it is the client's turn and the client neither sends nor reads
   * anything.
   */
  idleMs: number
  signal: AbortSignal
  /** Whether the client also sees hidden references. Unset: it does not. */
  seesAll?: boolean
}

/** Limits for unpacking a push; git refuses a push that exceeds them. */
const memoryBytesMax = Math.min(4 * 1024 ** 3, memoryOfProcess() / 3)
const settings = [
  'receive.advertisePushOptions=true',
  // git asks the hook `proc-receive` about every reference.
  'receive.procReceiveRefs=refs',
  'core.packedGitLimit=1g',
  'core.packedGitWindowSize=64m',
  'core.deltaBaseCacheLimit=64m',
  'pack.threads=2',
  'pack.windowMemory=128m',
  // GitLab's servers hide these references; a repository that was moved here may hold some.
  ...['environments', 'pipelines', 'tmp'].map((folder) => `transfer.hideRefs=refs/${folder}/`),
]
/**
 * Most bytes of the report of a push that are kept in memory for its client. The longest report fits, so git
 * ends and releases the repository even when the client does not read.
 */
const reportBytesMax = 2 * pushLimits.commandBytesMax

/** Long enough for a push of gigabytes over a slow line. */
const timeoutMs = 4 * 3_600_000

export interface Conversation {
  /** Whether git has written any output. */
  answered: boolean
  /** Why the session failed; null when it succeeded, and when the client disconnected. */
  failure: unknown
}

/**
 * Streams between a client and git in both directions until git has ended.
 *
 * @param abandon called to end git when the client disconnects or stalls
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
    // An answer that the client does not read would never end.
    if (output.writableNeedDrain) output.destroy()
    abandon()
  })
  const timer = setTimeout(() => stopGit(child), timeoutMs)
  signal.addEventListener('abort', abandon)
  const finished = ended(child)
  const stderr = readText(child.stderr, stderrBytesMax)
  child.stdout.on('data', () => {
    answered = true
    guard.moved()
  })
  // git stops reading a fetch request once it knows enough, which breaks this pipe. The exit code tells
  // whether git failed.
  const received = pipeline(input, child.stdin).catch((error: unknown) => {
    child.stdin.end()
    return error
  })
  input.on('data', () => guard.moved())
  try {
    // stdout stays open when the client disconnects: git removes the objects of an interrupted push only
    // while it can write.
    const printed = child.stdout.iterator({ destroyOnReturn: false })
    if (service === 'git-receive-pack') {
      const report = new PassThrough({ writableHighWaterMark: reportBytesMax })
      report.on('data', () => guard.moved())
      await pipeline(printed, report, output, { end: false })
    } else await pipeline(printed, output, { end: false })
    const code = await finished
    if (signal.aborted) return { answered, failure: null }
    if (guard.stalled) return { answered, failure: stallError(session) }
    if (answered) return { answered, failure: null }
    const inputError = await received
    if (inputError instanceof DomainError) return { answered, failure: inputError }
    return { answered, failure: code === 0 ? null : failureOf(service, code, await stderr) }
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

/** Returns the reason why git wrote no output: a malformed request, or a failure of git. */
function failureOf(service: GitService, code: number | null, stderr: string): Error {
  if (malformedRequest.test(stderr)) return malformedRequestError(service)
  // git quotes text that the client sent, which must not reach a log.
  return new Error(`${service} exited with ${code}: ${stderr.replace(/'[^'\n]*'?/g, "'…'").slice(0, 1000)}`)
}

export const malformedRequestError = (service: GitService) => invalid(`${service} could not read the request`)

export const stallError = ({ idleMs }: GitSession) =>
  timedOut(`nothing was sent or received for ${Math.ceil(idleMs / 1000)} seconds`)

/** Messages of git for a request that violates its protocol or ends early. */
const malformedRequest =
  /^fatal: (?:git upload-pack: )?(?:protocol error|bad line length|the remote end hung up|expected |unexpected |unknown |invalid |no command requested|command '[^'\n]*' requested after)/im

export interface StartOptions extends Pick<SpawnOptions, 'hooksPath' | 'hookStreams'> {
  flags?: string[]
  /** Further settings of git: `name=value`. */
  settings?: string[]
}

/** Starts the git command that serves the client. The caller handles its streams. */
export function start(
  { path, protocol, seesAll }: GitSession,
  service: GitService,
  options: StartOptions = {},
) {
  const { flags = [], settings: further = [], ...hooks } = options
  const variables: Record<string, string> =
    protocol !== undefined && acceptableProtocol.test(protocol) ? { GIT_PROTOCOL: protocol } : {}
  // Of several settings that match a reference, git takes the last one.
  const shown = seesAll ? ['transfer.hideRefs=!refs'] : []
  const configuration = [...settings, ...further, ...shown].flatMap((setting) => ['-c', setting])
  const command = service.slice('git-'.length)
  return spawnGit([...configuration, command, '--stateless-rpc', ...flags, path], {
    variables,
    memoryBytesMax,
    ...hooks,
  })
}

const acceptableProtocol = /^[\w=:.-]{1,200}$/

const stderrBytesMax = 64 * 1024

/** Reads the text of a stream until it closes, cut after about `bytesMax` bytes. */
export async function readText(stream: Readable, bytesMax: number): Promise<string> {
  let text = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    if (text.length < bytesMax) text += chunk
  })
  await once(stream, 'close')
  return text
}
