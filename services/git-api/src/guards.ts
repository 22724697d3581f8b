import { type Database, findProjectForUser, type Project } from '@switchyard/db'
import { forbidden, notFound } from '@switchyard/domain'
import {
  accessLevels,
  type Caller,
  callerIn,
  canReadCode,
  canReadStatuses,
  canSeeProject,
  effectiveLevel,
  type ProjectAccess,
  requireScope,
  type Scope,
} from '@switchyard/domain/access'
import { type Call, type Guard, readingScopes } from '@switchyard/service-kit/http'

/** What a project guard hands to its endpoint. */
export interface ProjectCall<Who extends Caller | null = Caller | null> {
  project: Project
  /** The caller's access level in the project, 0 to 50. */
  level: number
  caller: Who
}

/** A project as one caller sees it. */
export interface VisibleProject extends ProjectCall {
  /** Access level of the caller's own membership; null without one. */
  memberLevel: number | null
}

/**
 * @param reference numeric id or full path, in any case
 * @param sender whoever sends the request; nobody here, when their token is another project's
 * @throws DomainError not-found for a missing project and for one the caller may not know of, alike
 */
export async function getVisibleProject(
  database: Database,
  reference: string,
  sender: Caller | null,
): Promise<VisibleProject> {
  const found = await findProjectForUser(database, reference, sender?.user.id ?? null)
  if (!found) throw notFound('Project')
  const { project, memberLevel } = found
  const caller = callerIn(project.id, sender)
  const access = accessOf(project)
  if (!canSeeProject(access, caller, memberLevel)) throw notFound('Project')
  return { project, caller, memberLevel, level: effectiveLevel(access, caller, memberLevel) }
}

/** The columns of a project that its access rules look at. */
export const accessOf = (project: Project): ProjectAccess => ({
  ownerId: project.ownerId,
  visibility: project.visibility as ProjectAccess['visibility'],
})

export type ProjectGuards = ReturnType<typeof createGuards>

/**
 * Who may do what in the project that `:id` names. Each guard refuses in this order: 401 for an anonymous
 * caller where one must sign in, 403 for a token without the scope, 404 for a project the caller cannot
 * see, 403 for a role too low.
 */
export function createGuards(database: Database) {
  /** Everybody who passes the rule, signed in or not. */
  const open =
    (allows: (found: VisibleProject) => boolean, ...scopes: Scope[]): Guard<VisibleProject> =>
    async (call) => {
      if (call.caller) requireScope(call.caller, ...acceptedScopes(call, scopes))
      const found = await getVisibleProject(database, projectReference(call), call.caller)
      if (!allows(found)) throw forbidden()
      return found
    }

  /** Only those who are signed in and pass the rule. */
  const closed =
    (allows: (found: VisibleProject) => boolean): Guard<ProjectCall<Caller>> =>
    async (call) => {
      const caller = requireScope(call.caller, ...readingScopes(call))
      const found = await getVisibleProject(database, projectReference(call), caller)
      if (found.caller === null || !allows(found)) throw forbidden()
      return { ...found, caller }
    }

  const readsCode = ({ project, caller, memberLevel }: VisibleProject) =>
    canReadCode(accessOf(project), caller, memberLevel)
  const readsStatuses = ({ project, caller, memberLevel }: VisibleProject) =>
    canReadStatuses(accessOf(project), caller, memberLevel)
  const atLeast =
    (level: number) =>
    (found: VisibleProject): boolean =>
      found.level >= level

  return {
    /** The project itself: anonymous callers see public ones. */
    readProject: open(() => true),
    /** Commits, diffs, comments: anonymous callers read public projects, private ones need a reporter. */
    readCode: open(readsCode, 'read_repository'),
    /** Write a comment: whoever may read the code and is signed in. */
    comment: closed(readsCode),
    /** Developers and above; protected branches are checked where the branch is known. */
    pushCode: closed(atLeast(accessLevels.developer)),
    readStatuses: closed(readsStatuses),
    writeStatuses: closed(atLeast(accessLevels.developer)),
    maintain: closed(atLeast(accessLevels.maintainer)),
    own: closed(atLeast(accessLevels.owner)),
  }
}

const projectReference = (call: Call): string => call.params.id ?? ''

function acceptedScopes(call: Call, scopes: Scope[]): Scope[] {
  const reading = readingScopes(call)
  return reading.length > 0 ? [...reading, ...scopes] : []
}
