import { type Caller, callerIn } from './caller.js'
import { accessLevels, effectiveLevel, type ProjectAccess, type Visibility } from './project-roles.js'

const { guest, reporter, developer, maintainer, owner } = accessLevels

/** Everybody, including anonymous callers. */
const anyone = 'anyone'

type Lowest = number | typeof anyone

/**
 * The role matrix: the lowest access level for each right in a project, by the project's visibility. Every
 * signed-in user is a guest of internal and public projects.
 */
export const projectRights = {
  /** Allows a caller to see the project. Without it, the answer is that there is no such project. */
  read_project: { private: guest, internal: guest, public: anyone },
  read_members: { private: guest, internal: guest, public: guest },
  /** Read commits, diffs and comments, clone and fetch. */
  read_code: { private: reporter, internal: guest, public: anyone },
  comment: { private: reporter, internal: guest, public: guest },
  read_statuses: { private: reporter, internal: guest, public: guest },
  /** Create commits, cherry-pick and push. A protected branch may require a higher level. */
  push_code: { private: developer, internal: developer, public: developer },
  write_statuses: { private: developer, internal: developer, public: developer },
  /** Read environments, deployments and freeze periods. */
  read_deployments: { private: reporter, internal: reporter, public: reporter },
  /** Write environments and deployments. */
  deploy: { private: developer, internal: developer, public: developer },
  /** Manage members, protected branches, project tokens, freeze periods and webhooks. */
  maintain: { private: maintainer, internal: maintainer, public: maintainer },
  /** Delete the project. */
  own: { private: owner, internal: owner, public: owner },
} as const satisfies Record<string, Record<Visibility, Lowest>>

export type ProjectRight = keyof typeof projectRights

/**
 * The decision of the matrix. `unauthenticated`: the caller has to sign in first. `hidden`: the caller must
 * not learn that the project exists. `forbidden`: the role is too low.
 */
export type ProjectDecision = 'allowed' | 'unauthenticated' | 'hidden' | 'forbidden'

/**
 * Decides whether a caller has a right in a project.
 *
 * @param memberLevel the access level of the caller's membership row, null without one
 */
export function decideProjectRight(
  right: ProjectRight,
  project: ProjectAccess,
  sender: Caller | null,
  memberLevel: number | null,
): ProjectDecision {
  const caller = callerIn(project.id, sender)
  const level = effectiveLevel(project, caller, memberLevel)
  const has = (asked: ProjectRight) => {
    const lowest: Lowest = projectRights[asked][visibilityFor(asked, project)]
    return lowest === anyone || (caller !== null && level >= lowest)
  }
  if (sender === null && !mayBeAnonymous(right)) return 'unauthenticated'
  if (!has('read_project')) return 'hidden'
  if (sender === null && !has(right)) return 'unauthenticated'
  return has(right) && !isArchivedFor(right, project) ? 'allowed' : 'forbidden'
}

/** Rights about the code. A project that is not private may reserve them for its members. */
const rightsInCode: readonly ProjectRight[] = ['read_code', 'comment', 'read_statuses']

const visibilityFor = (right: ProjectRight, { visibility, settings }: ProjectAccess): Visibility =>
  rightsInCode.includes(right) && settings?.repository_access_level === 'private' ? 'private' : visibility

/** Rights that nobody has in an archived project. Its settings can still be changed. */
const refusedWhenArchived: readonly ProjectRight[] = ['comment', 'push_code', 'write_statuses', 'deploy']

const isArchivedFor = (right: ProjectRight, { archived }: ProjectAccess): boolean =>
  archived && refusedWhenArchived.includes(right)

const roleNames = new Map<Lowest, string>([
  [guest, 'Guest'],
  [reporter, 'Reporter'],
  [developer, 'Developer'],
  [maintainer, 'Maintainer'],
  [owner, 'Owner'],
])

/** Returns the reason for the decision `forbidden`, as a text for the caller. */
export function projectDenial(right: ProjectRight, project: ProjectAccess, sender: Caller | null): string {
  if (callerIn(project.id, sender) === null) return 'This token works in another project only'
  if (isArchivedFor(right, project)) return 'The project is archived'
  return `You need at least the role ${roleNames.get(projectRights[right][visibilityFor(right, project)])} in this project`
}

/** Returns whether anonymous callers can have the right in any project. */
export const mayBeAnonymous = (right: ProjectRight): boolean =>
  Object.values<Lowest>(projectRights[right]).includes(anyone)
