import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DomainError, invalid, tooLarge } from '@switchyard/domain'
import type { BranchProtection } from '@switchyard/domain/access'
import { branchRules } from './branch-rules.js'
import { ended, spawnGit, stopGit } from './git-process.js'
import { removeStaleRefLocks } from './writing/stale-locks.js'

export const gitServices = ['git-upload-pack', 'git-receive-pack'] as const
export type GitService = (typeof gitServices)[number]

/** Who pushes or fetches, as far as git's answer depends on it. */
export interface GitSession {
  path: string
  service: GitService
  /** The header `Git-Protocol` of the client. */
  protocol: string | undefined
  signal: AbortSignal
}

export interface PushRights {
  level: number
  protections: readonly BranchProtection[]
}

// By name, as a bundled service has no folder beside this module.
const hooksPath = dirname(createRequire(import.meta.url).resolve('@switchyard/git-storage/hooks/update'))

/** What a client sends is unpacked within these bounds; a push beyond them is refused. */
const limits = {
  memoryBytesMax: 4 * 1024 ** 3,
  settings: [
    'receive.maxInputSize=2200m',
    'core.packedGitLimit=1g',
    'core.packedGitWindowSize=64m',
    'core.deltaBaseCacheLimit=64m',
    'pack.threads=2',
    'pack.windowMemory=128m',
  ],
}
/** The questions of a fetch, unpacked: what a client wants and has. */
const fetchBytesMax = 64 * 1024 * 1024

/** A push of gigabytes over a slow line is legitimate; a connection that stands still for ever is not. */
const timeoutMs = 4 * 3_600_000
/** For git to notice that nothing more comes. */
const abandonedMs = 3000

/** Writes the references that a client may ask for, as the start of a fetch or push. */
export async function advertiseRefs(session: GitSession, output: NodeJS.WritableStream): Promise<void> {
  if (!isVersion2(session)) output.write(`${packetLine(`# service=${session.service}\n`)}0000`)
  const child = start(session, ['--advertise-refs'])
  child.stdin.end()
  child.stderr.resume()
  const finished = ended(child)
  try {
    await pipeline(child.stdout, output)
    const code = await finished
    if (code !== 0) throw new Error(`${session.service} exited with ${code}`)
  } catch (error) {
    if (!session.signal.aborted) throw error
  } finally {
    stopGit(child)
  }
}

/**
 * Lets git talk to a client, streaming both ways. The answer is complete when this returns, and left for
 * the caller to end.
 *
 * @param rights what a push may do; needed for `git-receive-pack`
 * @returns whether references changed
 * @throws DomainError when git could not read what the client sent, and had not answered anything; Error when git failed
 */
export async function serveRpc(
  session: GitSession,
  input: Readable,
  output: NodeJS.WritableStream,
  rights?: PushRights,
): Promise<boolean> {
  const pushes = session.service === 'git-receive-pack'
  if (pushes) await removeStaleRefLocks(session.path)
  const child = start(session, [], rights)
  const stop = () => stopGit(child)
  let timer = setTimeout(stop, timeoutMs)
  const abandon = () => {
    if (!pushes) return stop()
    // When its input ends, git removes what it was sent. Ended by a signal, it does so while its child still writes.
    child.stdin.destroy()
    clearTimeout(timer)
    timer = setTimeout(stop, abandonedMs)
  }
  session.signal.addEventListener('abort', abandon)
  const finished = ended(child)
  const report = textOf(child.stdio[3] as Readable | undefined)
  const complaints = textOf(child.stderr)
  let sentBytes = 0
  child.stdout.on('data', (chunk: Buffer) => {
    sentBytes += chunk.length
  })
  try {
    // git ends a fetch without reading on once it knows enough, which breaks this pipe; its exit code tells.
    let isEmpty = !pushes
    const bounded = pushes ? input : input.compose(atMost(fetchBytesMax, () => (isEmpty = false)))
    const received = pipeline(bounded, child.stdin).catch((error: unknown) => {
      child.stdin.end()
      return error
    })
    // Of a push that breaks off git removes nothing when it can no longer write either.
    await pipeline(child.stdout.iterator({ destroyOnReturn: false }), output, { end: false })
    const code = await finished
    if (sentBytes === 0) {
      const inputError = await received
      if (inputError instanceof DomainError) throw inputError
      // A client that speaks version 2 and says nothing is answered nothing, and no failure to git.
      if (code !== 0 || isEmpty) throw failure(session, code, await complaints)
    }
    return (await report).trim() !== ''
  } catch (error) {
    child.stdout.resume()
    // Nobody is left to be told; what git had finished by then holds.
    if (session.signal.aborted) return (await report).trim() !== ''
    throw error
  } finally {
    clearTimeout(timer)
    session.signal.removeEventListener('abort', abandon)
    stopGit(child)
  }
}

/** Why git answered nothing: what it was sent, or something of ours. */
function failure({ service }: GitSession, code: number | null, complaint: string): Error {
  if (code === 0 || misunderstood.test(complaint)) return invalid(`${service} could not read the request`)
  // What git quotes is what the client has sent, which no log line may hold.
  return new Error(
    `${service} exited with ${code}: ${complaint.replace(/'[^'\n]*'?/g, "'…'").slice(0, 1000)}`,
  )
}

/** What git says of a request that does not speak its protocol, or breaks off. */
const misunderstood =
  /^fatal: (?:git upload-pack: )?(?:protocol error|bad line length|the remote end hung up|expected |unexpected |unknown |invalid |no command requested|command '.*' requested after)/im

function start({ path, service, protocol }: GitSession, flags: string[], rights?: PushRights) {
  const variables = {
    ...(protocol !== undefined && acceptableProtocol.test(protocol) && { GIT_PROTOCOL: protocol }),
    ...(rights && { SWITCHYARD_BRANCH_RULES: branchRules(rights.level, rights.protections) }),
  }
  const command = service.slice('git-'.length)
  const settings = limits.settings.flatMap((setting) => ['-c', setting])
  return spawnGit([...settings, command, '--stateless-rpc', ...flags, path], {
    variables,
    memoryBytesMax: limits.memoryBytesMax,
    ...(rights && { hooksPath, withReport: true }),
  })
}

/** Passes on what it gets, and fails beyond so many bytes. */
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

const acceptableProtocol = /^[\w=:.-]{1,200}$/

const isVersion2 = ({ service, protocol }: GitSession) =>
  service === 'git-upload-pack' && (protocol ?? '').split(':').includes('version=2')

const packetLine = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`

const textBytesMax = 1024 * 1024

async function textOf(stream: Readable | undefined): Promise<string> {
  if (!stream) return ''
  let text = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    if (text.length < textBytesMax) text += chunk
  })
  await once(stream, 'close')
  return text
}
