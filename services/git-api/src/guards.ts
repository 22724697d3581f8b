import type { Database } from '@switchyard/db'
import { forbidden, isRefusal, notFound, unauthenticated } from '@switchyard/domain'
import {
  accessLevels,
  type Caller,
  callerIn,
  decideProjectRight,
  effectiveLevel,
  mayBeAnonymous,
  type ProjectAccess,
  type ProjectRight,
  projectDenial,
  requireScope,
  type Scope,
} from '@switchyard/domain/access'
import type { Git } from '@switchyard/git-storage/git'
import type { Repository } from '@switchyard/git-storage/repository'
import {
  type Call,
  documented,
  type Guard,
  type Route,
  readingScopes,
  senderKey,
} from '@switchyard/service-kit/http'
import { LRUCache } from 'lru-cache'
import { findProjectForUser, type ProjectForUser } from './projects/store.js'
import { repositoryMoved } from './storages/storages.js'

/** The dependencies of most routes below a project, such as those of members and environments. */
export interface ProjectResourceDependencies {
  database: Database
  guards: ProjectGuards
}

/** Guard for every token for the API, and for tokens that can only read users. */
export const userReader: Guard<Caller> = documented(
  { who: 'everybody with a token for the API or with the scope `read_user`' },
  ({ caller }) => requireScope(caller, 'read_api', 'read_user'),
)

/** The project of a request, as its guard hands it to the endpoint. */
export interface ProjectCall<Who extends Caller | null = Caller | null> {
  project: ProjectForUser['project']
  /** The repository of the project. Reading and writing it ends when the client disconnects. */
  repository: Repository
  /** The caller's access level in the project, 0 to 50. */
  level: number
  caller: Who
  /** Access level of the caller's own membership; null without one. */
  memberLevel: number | null
}

/** Returns whether the caller may read the code, also when the guard asked for another right. */
export const mayReadCode = ({ project, caller, memberLevel }: ProjectCall): boolean =>
  decideProjectRight('read_code', project, caller, memberLevel) === 'allowed'

/** The holders of each right, as the API's documentation names them. */
const holdersOf: Record<ProjectRight, string> = {
  read_project: 'everybody who may see the project',
  read_members: 'everybody signed in who may see the project',
  read_code: 'everybody who may read the code of the project',
  read_statuses: 'everybody signed in who may read the code of the project',
  comment: 'everybody signed in who may read the code of the project',
  push_code: 'developers of the project',
  write_statuses: 'developers of the project',
  read_deployments: 'reporters of the project',
  deploy: 'developers of the project',
  maintain: 'maintainers of the project',
  own: 'the owner of the project',
}

/** A missing project is refused like a private project of another user. */
const missingProject: ProjectAccess = { id: 0, ownerId: 0, visibility: 'private', archived: false }

export type ProjectGuards = ReturnType<typeof createGuards>

/**
 * Guards of the project that `:id` names, by the table `projectRights`. Each guard refuses in this order: 403
 * for a token without the scope, 401 for an anonymous caller where sign-in is required, 404 for a project
 * that the caller cannot see, 403 for a role that is too low.
 */
export function createGuards(database: Database, git: Git, storage: string) {
  const lookup = createProjectLookup(database)
  const findInDatabase: typeof lookup.find = (reference, userId) =>
    findProjectForUser(database, reference, userId)

  /**
   * Returns the project and its repository for a caller who has the right in it.
   *
   * @param reference numeric id or full path; case does not matter
   * @throws DomainError unauthenticated; not-found, equally for a missing and for a hidden project;
   *   forbidden; unavailable when another storage holds the repository
   */
  async function authorizeProject(
    call: Call,
    right: ProjectRight,
    reference = call.params.id ?? '',
    given = call.caller,
    find = findInDatabase,
  ): Promise<ProjectCall> {
    const found = await find(reference, given?.user.id ?? null)
    const access = found?.project ?? missingProject
    const decision = decideProjectRight(right, access, given, found?.memberLevel ?? null)
    if (decision === 'unauthenticated') throw unauthenticated()
    if (!found || decision === 'hidden') throw notFound('Project')
    if (decision === 'forbidden') throw forbidden(projectDenial(right, access, given))
    const { project, memberLevel } = found
    if (project.storage !== storage) throw repositoryMoved()
    const caller = callerIn(project.id, given)
    const level = effectiveLevel(access, caller, memberLevel)
    const client = {
      sender: senderKey({ ...call, caller: given }),
      get signal() {
        return call.signal
      },
    }
    return { project, repository: git.open(project, client), caller, memberLevel, level }
  }

  /** @param scopes further token scopes that allow reading, besides `api` and `read_api` */
  const open = (right: ProjectRight, ...scopes: Scope[]): Guard<ProjectCall> => {
    const documents = {
      who: holdersOf[right],
      anonymous: mayBeAnonymous(right),
      parameters: { id: 'The id of the project, or its full path, e.g. `ada%2Fengine`' },
    }
    return documented(documents, async (call) => {
      const reading = readingScopes(call)
      if (call.caller) requireScope(call.caller, ...reading, ...(reading.length > 0 ? scopes : []))
      if (reading.length > 0) {
        const find = right === 'read_code' ? lookup.find : findInDatabase
        return authorizeProject(call, right, undefined, undefined, find)
      }
      const found = await authorizeProject(call, right)
      lookup.noteChange(found.project.id)
      return found
    })
  }
  /** Returns a guard for a right that requires a signed-in user. */
  const closed = (right: ProjectRight) => open(right) as Guard<ProjectCall<Caller>>

  return {
    authorizeProject,
    /** Call it after a change of a project or its members: this process then bypasses its cache. */
    noteChange: lookup.noteChange,
    readProject: open('read_project'),
    readMembers: closed('read_members'),
    readCode: open('read_code', 'read_repository'),
    /**
     * The right `read_code` for data outside the repository, for which the scope `read_repository` is not
     * enough.
     */
    readPipelines: open('read_code'),
    comment: closed('comment'),
    pushCode: closed('push_code'),
    readStatuses: closed('read_statuses'),
    writeStatuses: closed('write_statuses'),
    readDeployments: closed('read_deployments'),
    deploy: closed('deploy'),
    maintain: closed('maintain'),
    own: closed('own'),
  }
}

/** Time within which every process refuses a user who has lost the right to read. */
const knownMs = 500
/** Time before and after its own change is committed during which this process does not use the cache. */
const changedMs = 1_000
const rememberedMax = 10_000

/**
 * Finds projects for requests that read code. The cache limits a busy client to two queries a second. It
 * stores only projects that the user may read, so a new project or member is visible at once.
 */
function createProjectLookup(database: Database) {
  type Question = { reference: string; userId: number | null }
  const ask = ({ reference, userId }: Question) => findProjectForUser(database, reference, userId)
  const known = new LRUCache<string, ProjectForUser, Question>({
    max: rememberedMax,
    ttl: knownMs,
    // A lookup still returns its result when its entry is dropped from the cache meanwhile.
    ignoreFetchAbort: true,
    fetchMethod: async (_key, _stale, { context }) => (await ask(context)) ?? undefined,
  })
  const changed = new LRUCache<number, true>({ max: rememberedMax, ttl: changedMs })
  return {
    async find(reference: string, userId: number | null): Promise<ProjectForUser | null> {
      const question = { reference, userId }
      const key = `${userId} ${reference}`
      const found = await known.fetch(key, { context: question })
      if (!found) return null
      if (found.project.visibility === 'private' && (found.memberLevel ?? 0) < accessLevels.reporter) {
        known.delete(key)
      }
      return changed.has(found.project.id) ? ask(question) : found
    },
    /**
     * Call it when a request of this process is about to change the project or its members, or has just done
     * so.
     */
    noteChange(projectId: number): void {
      changed.set(projectId, true)
    },
  }
}

/**
 * Returns the project path in the address of a repository. The address may end in `.git`, which a project
 * path never does.
 */
export const projectPathOf = ({ namespace, project }: Record<string, string>): string =>
  `${namespace}/${project?.replace(/\.git$/, '')}`

/** Returns the project that a request names in its path, by id or full path; undefined: none. */
export const projectNamedBy = ({ path }: Route, params: Call['params']): string | undefined => {
  if (path.startsWith('/projects/:id')) return params.id
  return path.startsWith('/:namespace/:project') ? projectPathOf(params) : undefined
}

/**
 * Guards of clones and pushes. git asks its user for a name and a password only after a 401, so an anonymous
 * caller gets 401 wherever a token might help, and never learns whether a project exists.
 */
export function createGitGuards(guards: Pick<ProjectGuards, 'authorizeProject'>) {
  /**
   * Returns a guard that checks the scope of the token, then the right of its holder in the project. A deploy
   * token has no scope and may fetch.
   */
  const guard =
    (right: ProjectRight, ...scopes: Scope[]): Guard<ProjectCall> =>
    async (call) => {
      const { caller } = call
      const fetches = right === 'read_code' && caller?.token.deploy
      if (caller && !fetches) requireScope(caller, ...scopes)
      try {
        return await guards.authorizeProject(call, right, projectPathOf(call.params))
      } catch (error) {
        const mightSignIn = caller === null && isRefusal(error, 'not-found')
        throw mightSignIn ? unauthenticated() : error
      }
    }

  const fetch = guard('read_code', 'read_api', 'read_repository', 'write_repository')
  const push = guard('push_code', 'write_repository') as Guard<ProjectCall<Caller>>

  return {
    fetch,
    push,
    fetchOrPush: ((call) =>
      call.raw.request.query.service === 'git-receive-pack'
        ? push(call)
        : fetch(call)) satisfies Guard<ProjectCall>,
  }
}
