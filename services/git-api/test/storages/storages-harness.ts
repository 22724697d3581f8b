import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, type Database, type Project } from '@switchyard/db'
import {
  bundled,
  createProject,
  createTestDatabase,
  createToken,
  createUser,
  getFreePort,
  isolatedGitEnv,
  waitFor,
} from '@switchyard/testing'
import { execa } from 'execa'

export const storageNames = ['default', 'second'] as const
export type StorageName = (typeof storageNames)[number]

export const secret = 'secret-of-the-storages-of-the-tests-0123456789'

/** Starts the git-api processes, one for each storage. */
async function startProcesses(databaseUrl: string, folder: string) {
  const ports = { default: await getFreePort(), second: await getFreePort() }
  const urlOf = (name: StorageName) => `http://127.0.0.1:${ports[name]}`

  async function start(name: StorageName) {
    const child = execa(process.execPath, [await bundled('services/git-api')], {
      env: {
        DATABASE_URL: databaseUrl,
        REDIS_URL: 'redis://127.0.0.1:1',
        SWITCHYARD_STORAGE_ROOT: join(folder, name),
        SWITCHYARD_STORAGE: name,
        SWITCHYARD_STORAGES: storageNames.map((one) => `${one}=${urlOf(one)}`).join(','),
        SWITCHYARD_STORAGES_SECRET: secret,
        SWITCHYARD_ROOT_TOKEN: 'root-token-of-the-tests-0123456789',
        STORAGE_MOVE_GRACE_SECONDS: '0',
        PORT: String(ports[name]),
        RATE_LIMIT_PER_MINUTE: '0',
        LOG_LEVEL: 'silent',
      },
      reject: false,
      stdout: 'ignore',
      stderr: 'inherit',
    })
    const isReady = async () => (await fetch(`${urlOf(name)}/-/readiness`)).ok
    await waitFor(isReady, { what: `git-api of ${name} to be ready` })
    // The child is in an object, because a promise of it would be awaited to its end.
    return { child }
  }

  const children = new Map(
    await Promise.all(storageNames.map(async (name) => [name, await start(name)] as const)),
  )
  return {
    urlOf,
    async kill(name: StorageName) {
      children.get(name)?.child.kill('SIGKILL')
      await children.get(name)?.child
    },
    async restart(name: StorageName) {
      children.set(name, await start(name))
    },
    async close() {
      for (const { child } of children.values()) child.kill('SIGTERM')
      await Promise.all([...children.values()].map(({ child }) => child))
    },
  }
}

async function createCallers(database: Database) {
  const owner = await createUser(database, { username: 'olga' })
  const admin = await createUser(database, { username: 'adam', admin: true })
  const stranger = await createUser(database, { username: 'stan' })
  const secretOf = async (user: typeof owner) => (await createToken(database, user)).secret
  const tokens = {
    owner: await secretOf(owner),
    admin: await secretOf(admin),
    stranger: await secretOf(stranger),
  }
  return { owner, tokens }
}

type Tokens = Awaited<ReturnType<typeof createCallers>>['tokens']

function requests(urlOf: (name: StorageName) => string, tokens: Tokens) {
  async function send(
    name: StorageName,
    method: string,
    path: string,
    { who = 'owner' as keyof Tokens | null, body = undefined as unknown, headers = {} } = {},
  ) {
    return fetch(`${urlOf(name)}/api/v4${path}`, {
      method,
      headers: {
        ...(who && { 'PRIVATE-TOKEN': tokens[who] }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }
  async function ask(...request: Parameters<typeof send>) {
    const response = await send(...request)
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
  }
  return { send, ask }
}

/** Starts two git-api processes with one folder each on one database. */
export async function startStorages() {
  const testDatabase = await createTestDatabase()
  const database = createDatabase({ url: testDatabase.url, poolSizeMax: 4, applicationName: 'test' })
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-storages-'))
  const processes = await startProcesses(testDatabase.urlOf('git-api'), folder)
  const { owner, tokens } = await createCallers(database)
  const { send, ask } = requests(processes.urlOf, tokens)
  return {
    ...processes,
    database,
    tokens,
    send,
    ask,
    /** Creates a project with one commit through the git-api of a storage. */
    async project(name: StorageName, path: string): Promise<Project> {
      const answer = await ask(name, 'POST', '/projects', { body: { path, initialize_with_readme: true } })
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
      return database.prisma.project.findUniqueOrThrow({ where: { pathKey: `olga/${path}` } })
    },
    createRow: (given: { path: string }) => createProject(database, owner, given),
    pathOf: (name: StorageName, { diskPath }: Project) => join(folder, name, diskPath),
    remote(name: StorageName, { pathWithNamespace }: Project) {
      const url = new URL(`${processes.urlOf(name)}/${pathWithNamespace}.git`)
      return Object.assign(url, { username: 'any', password: tokens.owner }).href
    },
    async move(project: Project, to: StorageName): Promise<{ id: number }> {
      const path = `/projects/${project.id}/repository_storage_moves`
      const body = { destination_storage_name: to }
      const answer = await ask(to, 'POST', path, { who: 'admin', body })
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
      return answer.body
    },
    /** Waits until a move has ended. */
    ended: (id: number) =>
      waitFor(
        async () => {
          const move = await database.prisma.repositoryStorageMove.findUniqueOrThrow({ where: { id } })
          return move.finishedAt && move
        },
        { what: 'the move to end' },
      ),
    git: (path: string, ...args: string[]) =>
      execa('git', ['--git-dir', path, ...args], { env: isolatedGitEnv(), extendEnv: false }),
    async close() {
      await processes.close()
      await database.close()
      await testDatabase.close()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

export type StoragesHarness = Awaited<ReturnType<typeof startStorages>>
