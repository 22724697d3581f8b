import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, type Database, type Project } from '@switchyard/db'
import { accessLevels } from '@switchyard/domain/access'
import { createGit } from '@switchyard/git-storage/git'
import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import {
  addMember,
  createGitRepository,
  createProject,
  createTestDatabase,
  createToken,
  createUser,
  type GivenProject,
} from '@switchyard/testing'
import { execa } from 'execa'
import { type Config, configSchema } from '../src/config.js'
import { createService } from '../src/service.js'

/** Starts the service on its own database and storage, with one caller of each role. */
export async function startGitHarness({
  redisUrl = 'redis://127.0.0.1:1',
  env = {},
  storageRoot: given = '',
} = {}) {
  const testDatabase = await createTestDatabase()
  const storageRoot = given || (await mkdtemp(join(tmpdir(), 'switchyard-storage-')))
  const database = createDatabase({ url: testDatabase.url, poolSizeMax: 2, applicationName: 'test' })
  const config = configSchema.parse({
    DATABASE_URL: testDatabase.urlOf('git-api'),
    REDIS_URL: redisUrl,
    SWITCHYARD_STORAGE_ROOT: storageRoot,
    SWITCHYARD_ROOT_TOKEN: 'root-token-of-the-tests-0123456789',
    SHUTDOWN_TIMEOUT_MS: '2000',
    PORT: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    ...env,
  })
  const instances = instancesOf(config)
  const baseUrl = await instances.start()
  const git = createGit(storageRoot)

  const { owner, guest, reporter, developer, tokens } = await createCallers(database)

  return {
    baseUrl,
    /** Starts another instance of the service on the same database and storage. */
    start: instances.start,
    database,
    databaseUrl: testDatabase.url,
    storageRoot,
    tokens,
    async project(given: GivenProject = {}): Promise<Project> {
      const project = await createProject(database, owner, given)
      await git.createRepository(project.diskPath, project.defaultBranch)
      await addMember(database, project, guest, accessLevels.guest)
      await addMember(database, project, reporter, accessLevels.reporter)
      await addMember(database, project, developer, accessLevels.developer)
      return project
    },
    pathOf: (project: Project) => join(storageRoot, project.diskPath),
    /** Returns the address for git, with the caller's token in it. */
    remote: (who: keyof typeof tokens | 'anonymous', { pathWithNamespace }: Project) => {
      const url = new URL(`${baseUrl}/${pathWithNamespace}.git`)
      if (who !== 'anonymous') Object.assign(url, { username: 'any', password: tokens[who] })
      return url.href
    },
    /** Sends a request as one of the callers, and reads its JSON; null for an answer without a body. */
    async ask(who: keyof typeof tokens | 'anonymous', method: string, path: string, body?: unknown) {
      const response = await this.send(who, method, path, body)
      const text = await response.text()
      const { status, headers } = response
      return { status, headers, body: text === '' ? null : JSON.parse(text) }
    },
    /** Sends a request as one of the callers. */
    send(
      who: keyof typeof tokens | 'anonymous',
      method: string,
      path: string,
      body?: unknown,
      base = baseUrl,
    ) {
      const headers = new Headers(body === undefined ? {} : { 'Content-Type': 'application/json' })
      if (who !== 'anonymous') headers.set('PRIVATE-TOKEN', tokens[who])
      const init = { method, headers, body: body === undefined ? null : JSON.stringify(body) }
      return fetch(`${base}/api/v4${path}`, init)
    },
    async close() {
      await instances.close()
      await database.close()
      await testDatabase.close()
      await rm(storageRoot, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function instancesOf(config: Config) {
  const contexts: ReturnType<typeof createServiceContext>[] = []
  return {
    async start() {
      const context = createServiceContext('git-api', 'silent')
      contexts.push(context)
      const { port } = await createService(config, context)
      return `http://127.0.0.1:${port}`
    },
    async close() {
      for (const context of contexts) await context.lifecycle.close()
    },
  }
}

/** Creates one caller of each role. */
async function createCallers(database: Database) {
  const owner = await createUser(database, { username: 'olga', name: 'Olga Owner' })
  const guest = await createUser(database, { username: 'gus' })
  const reporter = await createUser(database, { username: 'rita' })
  const developer = await createUser(database, { username: 'dora', name: 'Dora Developer' })
  const stranger = await createUser(database, { username: 'stan' })
  const secretOf = async (user: typeof owner) => (await createToken(database, user)).secret
  const tokens = {
    owner: await secretOf(owner),
    developer: await secretOf(developer),
    reporter: await secretOf(reporter),
    guest: await secretOf(guest),
    stranger: await secretOf(stranger),
    narrow: (await createToken(database, developer, { scopes: ['read_user'] })).secret,
    readsRepository: (await createToken(database, developer, { scopes: ['read_repository'] })).secret,
  }
  return { owner, guest, reporter, developer, tokens }
}

export type GitHarness = Awaited<ReturnType<typeof startGitHarness>>

/** Pushes a small history with difficult diffs to a new project, with real git. */
export async function pushSample(harness: GitHarness, given: GivenProject = {}) {
  const project = await harness.project(given)
  const work = await createGitRepository()
  const first = await work.commit({
    files: {
      'README.md': '# Sample\n',
      'src/a.txt': 'one\ntwo\nthree\nfour\nfive\n',
      'bin.dat': Buffer.from([0, 1, 2]),
    },
    message: 'First\n\nBody line\n\nSigned-off-by: Someone <s@example.com>\n',
    date: '2026-01-01T10:00:00+05:30',
    author: { name: 'Jörg Ä', email: 'jorg@example.com' },
  })
  await work.git('mv', 'src/a.txt', 'src/b c.txt')
  const second = await work.commit({
    files: { 'src/b c.txt': 'one\ntwo\nthree\nfour\nfive\nsix\n', 'bin.dat': Buffer.from([0, 9]) },
    message: 'Rename and grow',
    date: '2026-01-02T00:00:00Z',
  })
  const side = await work.commit({
    branch: 'feature/x.y',
    files: { 'side.txt': 'side' },
    date: '2026-01-03T00:00:00-08:00',
  })
  await work.git('switch', '--quiet', 'main')
  const third = await work.commit({ files: { 'README.md': null }, date: '2026-01-04T00:00:00Z' })
  await work.git('tag', 'v1.0', second)
  await work.git('push', '--quiet', harness.remote('owner', project), 'refs/heads/*', 'refs/tags/*')
  return { project, work, commits: { first, second, third, side } }
}

/** Lists the git processes that serve a client of this repository. */
export async function sessionsOf(
  harness: GitHarness,
  project: Parameters<GitHarness['pathOf']>[0],
): Promise<string[]> {
  const { stdout } = await execa('ps', ['-eo', 'args'])
  const path = harness.pathOf(project)
  return stdout.split('\n').filter((line) => line.includes(path) && line.includes('--stateless-rpc'))
}
