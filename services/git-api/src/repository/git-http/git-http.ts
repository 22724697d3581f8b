import { PassThrough, type Readable, type Writable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { isDatabaseUnavailable } from '@switchyard/db'
import { DomainError, unauthenticated, unavailable } from '@switchyard/domain'
import { compilePushRules } from '@switchyard/domain/access'
import {
  advertiseRefs,
  type GitService,
  type GitSession,
  serveFetch as serveFetchWithGit,
  servePush,
} from '@switchyard/git-storage/git-http'
import { runInStream } from '@switchyard/git-storage/processes'
import type { Call } from '@switchyard/service-kit/http'
import type { ProjectCall, ProjectResourceDependencies } from '../../guards.js'
import type { StorageSpace } from '../../system/system.js'
import { listLocksOfOthers } from '../lfs/store.js'
import { listProtectedBranches } from '../protected-branches/store.js'
import { listProtectedTags } from '../protected-tags/store.js'
import { beginChange, type ReferenceDependencies } from '../references/references.js'

export interface GitHttpDependencies extends ProjectResourceDependencies, ReferenceDependencies {
  storageSpace: StorageSpace
  /** Time after which a client that neither sends nor reads is disconnected. */
  transferIdleMs: number
}

/** A fetch or a push that is about to begin. */
export interface Exchange {
  /** The client, without the path of the repository. */
  client: Omit<GitSession, 'path'>
  /** The bytes that the client sends. */
  input: Readable
  /** Stream for git's answer; the caller ends it. */
  output: Writable
}

/** Serves one exchange of a fetch, or a push, over HTTP. */
export type ServeExchange = (
  deps: GitHttpDependencies,
  access: ProjectCall,
  exchange: Exchange,
  call: Pick<Call, 'baseUrl' | 'logger'>,
) => Promise<void>

/**
 * Runs the work when the sender gets a slot. All fetches and pushes of a user, or of an anonymous address,
 * share a limit.
 */
export function inStream(
  idleMs: number,
  { repository }: ProjectCall,
  { raw, signal }: Call,
  work: (client: Exchange['client']) => Promise<void>,
): Promise<void> {
  const client = { protocol: raw.request.get('Git-Protocol'), idleMs, signal }
  return runInStream(repository, () => work(client))
}

/** Lists the references for a client that is about to fetch or push. @throws the errors of `advertiseRefs` */
export const advertiseReferences = (
  { repository }: ProjectCall,
  { client, output }: Omit<Exchange, 'input'>,
  service: GitService,
): Promise<void> => advertiseRefs({ ...client, path: repository.path }, service, output)

/** @throws the errors of `serveFetch` of git-storage */
export const serveFetch: ServeExchange = (_deps, { repository }, { client, input, output }) =>
  serveFetchWithGit({ ...client, path: repository.path }, input, output)

/**
 * Serves a push: changes each reference that the caller may change, and refuses every other one with the
 * reason. Then runs the work that follows the changes.
 *
 * @throws the errors of `servePush`
 */
export const takePush: ServeExchange = async (
  deps,
  { project, repository, level, caller },
  { client, input, output },
  { logger, baseUrl },
) => {
  if (!caller) throw unauthenticated()
  const [branchProtections, tagProtections, others] = await Promise.all([
    listProtectedBranches(deps.database, project.id),
    listProtectedTags(deps.database, project.id),
    listLocksOfOthers(deps.database, project.id, caller.user.id),
  ])
  const { defaultBranch, lfsEnabled } = project
  const locks = new Map(lfsEnabled ? others.map(({ path, username }) => [path, username]) : [])
  const judge = compilePushRules({ level, defaultBranch, branchProtections, tagProtections })
  const session = { ...client, path: repository.path }
  const pushOptions: string[] = []
  const { recordIntent, publish, forget } = beginChange(deps, {
    project,
    user: caller.user,
    baseUrl,
    pushOptions,
    job: caller.token.job,
  })
  const changes = await servePush(session, input, output, {
    judge,
    locks,
    needsLfsObjects: lfsEnabled,
    withoutMove: repository.withoutMove,
    findRoom: deps.storageSpace.findRoom,
    takeSpace: (bytes) => repository.takeSpace(bytes).catch(refuseWithoutDatabase),
    noteFullDisk: () =>
      logger.error({ project_id: project.id }, 'git could not store a push because the disk is full'),
    async recordIntent(intended, options) {
      pushOptions.push(...options)
      await recordIntent(intended).catch(refuseWithoutDatabase)
    },
  })
  if (changes.length > 0) await publish(changes)
  else await forget()
}

/** Replaces a database error by a message that the client of a push sees. */
function refuseWithoutDatabase(error: unknown): never {
  if (!isDatabaseUnavailable(error)) throw error
  throw unavailable('The database does not answer. Try again in a moment.', { cause: error })
}

/**
 * Returns the decompressed bytes of the client; git compresses long negotiations. The stream can be closed
 * while the connection stays open for the answer.
 */
export function requestBody({ request }: Call['raw'], service: GitService): Readable {
  const type = request.headers['content-type']
  if (type !== `application/x-${service}-request`) {
    throw new DomainError(
      'unsupported-media-type',
      `The provided content-type '${type ?? ''}' is not supported.`,
    )
  }
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (!encodings.includes(encoding))
    throw new DomainError('unsupported-media-type', 'the body could not be read')
  const body = new PassThrough()
  // A reader receives the error from its read; without a reader the error has no effect.
  body.on('error', () => undefined)
  request.on('error', (error) => body.destroy(error))
  if (encoding === 'identity') return request.pipe(body)
  const unpacked = request.pipe(createGunzip())
  unpacked.on('error', (cause) => body.destroy(unreadable(cause)))
  body.on('close', () => unpacked.destroy())
  return unpacked.pipe(body)
}

const encodings = ['identity', 'gzip', 'x-gzip']

const unreadable = (cause: Error) =>
  new DomainError('invalid-parameters', 'the body could not be read', { cause })
