import { createHash, randomBytes } from 'node:crypto'
import type { DatabaseOrTransaction, PersonalAccessToken, Project, ProjectMember, User } from '@switchyard/db'
import type { Scope, Visibility } from '@switchyard/domain/access'

let sequence = 0

/** Creates a user. Missing fields get values that are unique in this process. */
export async function createUser(
  { prisma }: DatabaseOrTransaction,
  given: Partial<Pick<User, 'username' | 'name' | 'email' | 'admin' | 'state'>> = {},
): Promise<User> {
  sequence += 1
  const username = given.username ?? `user-${sequence}`
  const email = given.email ?? `${username.toLowerCase()}@example.com`
  return prisma.user.create({
    data: {
      name: `User ${sequence}`,
      ...given,
      username,
      usernameKey: username.toLowerCase(),
      email,
      emailKey: email.toLowerCase(),
    },
  })
}

export interface GivenToken {
  name?: string
  scopes?: Scope[]
  /** The only tenants of sagas that the token may name. */
  tenants?: string[]
  /** Last day on which the token works. */
  expiresAt?: Date | null
  revokedAt?: Date | null
  /** The one project in which the token works. */
  projectId?: number
}

/**
 * Creates a personal access token of `user`, by default with the scope `api`. Only the result contains the
 * secret.
 */
export async function createToken(
  { prisma }: DatabaseOrTransaction,
  user: Pick<User, 'id'>,
  given: GivenToken = {},
): Promise<{ secret: string; token: PersonalAccessToken }> {
  const secret = `glpat-${randomBytes(20).toString('base64url')}`
  const tokenHash = new Uint8Array(createHash('sha256').update(secret).digest())
  const token = await prisma.personalAccessToken.create({
    data: { name: 'test', scopes: ['api'], ...given, userId: user.id, tokenHash },
  })
  return { secret, token }
}

/**
 * Signs in a browser with a token.
 *
 * @returns the `Cookie` header of its requests
 */
export async function createSession(
  { prisma }: DatabaseOrTransaction,
  token: Pick<PersonalAccessToken, 'id'>,
): Promise<string> {
  const secret = randomBytes(32).toString('base64url')
  const secretHash = new Uint8Array(createHash('sha256').update(secret).digest())
  const end = new Date(Date.now() + 3_600_000)
  await prisma.session.create({ data: { tokenId: token.id, secretHash, idleUntil: end, expiresAt: end } })
  return `switchyard_session=${secret}`
}

export interface GivenProject {
  path?: string
  name?: string
  description?: string | null
  visibility?: Visibility
  defaultBranch?: string
}

/** Creates the row of a project of `owner`. The caller creates the repository below the storage root. */
export async function createProject(
  { prisma }: DatabaseOrTransaction,
  owner: Pick<User, 'id' | 'username'>,
  given: GivenProject = {},
): Promise<Project> {
  sequence += 1
  const path = given.path ?? `project-${sequence}`
  const pathWithNamespace = `${owner.username}/${path}`
  // The id is reserved first, because the path on disk depends on it.
  const [drawn] = await prisma.$queryRaw<{ id: bigint }[]>`SELECT nextval('projects_id_seq') AS id`
  const id = Number(drawn?.id)
  return prisma.project.create({
    data: {
      name: path,
      ...given,
      id,
      path,
      pathWithNamespace,
      pathKey: pathWithNamespace.toLowerCase(),
      ownerId: owner.id,
      diskPath: hashedDiskPath(id),
    },
  })
}

/** Makes `user` a member of `project` at an access level of the domain's `accessLevels`. */
export async function addMember(
  { prisma }: DatabaseOrTransaction,
  project: Pick<Project, 'id'>,
  user: Pick<User, 'id'>,
  accessLevel: number,
): Promise<ProjectMember> {
  return prisma.projectMember.create({ data: { projectId: project.id, userId: user.id, accessLevel } })
}

function hashedDiskPath(projectId: number): string {
  const hash = createHash('sha256').update(String(projectId)).digest('hex')
  return `@hashed/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}.git`
}
