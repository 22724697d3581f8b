import { type Database, findProjectForUser, type Project, type ProjectForUser } from '@switchyard/db'
import { forbidden, notFound, unauthenticated } from '@switchyard/domain'
import {
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
import { type Call, documented, type Guard, readingScopes } from '@switchyard/service-kit/http'
import { createProjectLookup } from './project-lookup.js'

/** What a project guard hands to its endpoint. */
export interface ProjectCall<Who extends Caller | null = Caller | null> {
  project: Project
  /** The caller's access level in the project, 0 to 50. */
  level: number
  caller: Who
  /** Access level of the caller's own membership; null without one. */
  memberLevel: number | null
}

/**
 * The project, for somebody who has the right in it.
 *
 * @param reference numeric id or full path, in any case
 * @param sender whoever sends the request; nobody here, when their token is another project's
 * @throws DomainError unauthenticated; not-found for a missing project and for one the sender may not know of, alike;
 *   forbidden
 */
export async function getProjectFor(
  database: Database,
  reference: string,
  right: ProjectRight,
  sender: Caller | null,
): Promise<ProjectCall> {
  return decide(await findProjectForUser(database, reference, sender?.user.id ?? null), right, sender)
}

function decide(found: ProjectForUser | null, right: ProjectRight, sender: Caller | null): ProjectCall {
  const access = found ? accessOf(found.project) : nowhere
  const decision = decideProjectRight(right, access, sender, found?.memberLevel ?? null)
  if (decision === 'unauthenticated') throw unauthenticated()
  if (!found || decision === 'hidden') throw notFound('Project')
  if (decision === 'forbidden') throw forbidden(projectDenial(right, access, sender))
  const { project, memberLevel } = found
  const caller = callerIn(project.id, sender)
  return { project, caller, memberLevel, level: effectiveLevel(access, caller, memberLevel) }
}

/** The columns of a project that its access rules look at. */
const accessOf = ({ id, ownerId, visibility }: Project): ProjectAccess => ({
  id,
  ownerId,
  visibility: visibility as ProjectAccess['visibility'],
})

/** What the API's documentation says of who may. */
const holdersOf: Record<ProjectRight, string> = {
  read_project: 'everybody who may see the project',
  read_code: 'everybody who may read the code of the project',
  read_statuses: 'everybody signed in who may read the code of the project',
  comment: 'everybody signed in who may read the code of the project',
  push_code: 'developers of the project',
  write_statuses: 'developers of the project',
  maintain: 'maintainers of the project',
  own: 'the owner of the project',
}

const documentsOf = (right: ProjectRight) => ({
  who: holdersOf[right],
  anonymous: mayBeAnonymous(right),
  parameters: { id: 'The id of the project, or its full path, e.g. `ada%2Fengine`' },
})

/** A missing project is like a private one of somebody else. */
const nowhere: ProjectAccess = { id: 0, ownerId: 0, visibility: 'private' }

export type ProjectGuards = ReturnType<typeof createGuards>

/**
 * Who may do what in the project that `:id` names, as `projectRights` says. Each guard refuses in this order: 403 for
 * a token without the scope, 401 for an anonymous caller where one must sign in, 404 for a project the caller cannot
 * see, 403 for a role too low.
 */
export function createGuards(database: Database) {
  const lookup = createProjectLookup(database)
  async function readCode({ params, caller }: Call): Promise<ProjectCall> {
    return decide(await lookup.find(params.id ?? '', caller?.user.id ?? null), 'read_code', caller)
  }

  async function change({ params, caller }: Call, right: ProjectRight): Promise<ProjectCall> {
    const found = await getProjectFor(database, params.id ?? '', right, caller)
    lookup.noteChange(found.project.id)
    return found
  }

  /** @param scopes of tokens, that suffice to read besides `api` and `read_api` */
  const open = (right: ProjectRight, ...scopes: Scope[]): Guard<ProjectCall> =>
    documented(documentsOf(right), (call) => {
      const reading = readingScopes(call)
      if (call.caller) requireScope(call.caller, ...reading, ...(reading.length > 0 ? scopes : []))
      if (reading.length === 0) return change(call, right)
      if (right === 'read_code') return readCode(call)
      return getProjectFor(database, call.params.id ?? '', right, call.caller)
    })
  /** Rights that nobody has without signing in. */
  const closed = (right: ProjectRight) => open(right) as Guard<ProjectCall<Caller>>

  return {
    /** To be called when a change of a project or of its members is committed: this process asks the database anew. */
    noteChange: (projectId: number) => lookup.noteChange(projectId),
    readProject: open('read_project'),
    readCode: open('read_code', 'read_repository'),
    comment: closed('comment'),
    pushCode: closed('push_code'),
    readStatuses: closed('read_statuses'),
    writeStatuses: closed('write_statuses'),
    maintain: closed('maintain'),
    own: closed('own'),
  }
}
