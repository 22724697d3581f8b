import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getFreePort } from '@switchyard/local-servers/free-port'
import pg from 'pg'
import { startDatabases } from '../../support/databases.js'
import { startRedis } from '../../support/redis.js'
import { createClient } from './load.js'
import { dataDir, type RepositoryPlan, repositoryOf } from './make-repository.js'

export interface Project {
  name: string
  id: number
  /** Path of its repository, which is a writable copy. */
  path: string
}

/** The report of a process for the time since its last report. */
export interface ProcessFigures {
  residentMiB: number
  /** p99 delay of the event loop. */
  delayP99Ms: number
  delayMaxMs: number
}

export interface Processes {
  ports: number[]
  figures(): Promise<ProcessFigures[]>
  stop(): Promise<void>
}

/** Starts two git-api processes with their own PostgreSQL and Redis, and a project for each repository. */
export async function startService(plans: readonly RepositoryPlan[]) {
  mkdirSync(dataDir, { recursive: true })
  const storageRoot = mkdtempSync(join(dataDir, 'storage-'))
  const databases = await startDatabases(['git'])
  const redis = await startRedis()
  const token = randomBytes(20).toString('hex')
  const environment = {
    ...process.env,
    NODE_ENV: 'production',
    DATABASE_URL: databases.urls.git,
    REDIS_URL: `unix://${redis.path}`,
    SWITCHYARD_STORAGE_ROOT: storageRoot,
    SWITCHYARD_ROOT_TOKEN: token,
    RATE_LIMIT_PER_MINUTE: '0',
  }
  /** @param cacheBytes 0: no answer is cached */
  const gitApi = (cacheBytes?: number) => {
    const cache = cacheBytes === undefined ? {} : { GIT_CACHE_BYTES_MAX: String(cacheBytes) }
    return startTwo('../../../services/git-api/dist/bundle/main.js', { ...environment, ...cache }, [
      '--import',
      new URL('./git-api-figures.mjs', import.meta.url).href,
    ])
  }
  const first = await gitApi()
  const projects = await makeProjects(plans, {
    ports: first.ports,
    token,
    databaseUrl: databases.urls.git,
    storageRoot,
  })
  await first.stop()
  return {
    token,
    projects,
    databaseUrl: databases.urls.git,
    storageRoot,
    gitApi,
    /** Starts processes that each send the output of one `git cat-file --batch` in a repository. */
    catFile: (path: string) =>
      startTwo('../../dist/bundle/cat-file-process.js', { ...environment, CAT_FILE_REPOSITORY: path }),
    /** Adds a project with a copy of a prepared repository. */
    async addProject(ports: number[], name: string, prepared: string): Promise<Project> {
      const client = createClient(ports, token)
      const database = new pg.Client({ connectionString: databases.urls.git })
      await database.connect()
      try {
        return await placeProject({ client, database, storageRoot }, name, prepared)
      } finally {
        await database.end()
        client.close()
      }
    },
    bare: (answers: Record<string, string>) =>
      startTwo('../../dist/bundle/bare-process.js', {
        ...environment,
        BARE_ANSWERS: JSON.stringify(answers),
      }),
    async close() {
      await redis.stop()
      await databases.close()
      rmSync(storageRoot, { recursive: true, force: true })
    },
  }
}

export type Service = Awaited<ReturnType<typeof startService>>

/**
 * Starts bundles with plain Node, as in production, because the code that tsx adds to functions slows
 * requests down.
 */
async function startTwo(file: string, env: NodeJS.ProcessEnv, execArgv: string[] = []): Promise<Processes> {
  const children = await Promise.all(
    [0, 1].map(async () => {
      const child = fork(fileURLToPath(new URL(file, import.meta.url)), [], {
        env: { ...env, PORT: String(await getFreePort()) },
        execArgv,
        // Log lines go to the null device, as they go to a pipe in production.
        stdio: ['ignore', openSync(devNull, 'w'), 'inherit', 'ipc'],
      })
      const [port] = await once(child, 'message')
      return { child, port: Number(port) }
    }),
  )
  return {
    ports: children.map(({ port }) => port),
    figures: () => Promise.all(children.map(({ child }) => figuresOf(child))),
    async stop() {
      await Promise.all(
        children.map(async ({ child }) => {
          child.disconnect()
          await once(child, 'exit')
        }),
      )
    },
  }
}

async function figuresOf(child: ChildProcess): Promise<ProcessFigures> {
  const answer = once(child, 'message')
  child.send('figures')
  const [figures] = await answer
  return figures as ProcessFigures
}

/** Creates the projects over HTTP, and replaces their repositories by the prepared ones. */
async function makeProjects(
  plans: readonly RepositoryPlan[],
  {
    ports,
    token,
    databaseUrl,
    storageRoot,
  }: { ports: number[]; token: string; databaseUrl: string; storageRoot: string },
) {
  const client = createClient(ports, token)
  const database = new pg.Client({ connectionString: databaseUrl })
  await database.connect()
  const projects: Project[] = []
  for (const plan of plans) {
    const prepared = await repositoryOf(plan)
    projects.push(await placeProject({ client, database, storageRoot }, plan.name, prepared))
  }
  await database.end()
  client.close()
  return projects
}

interface Place {
  client: ReturnType<typeof createClient>
  database: pg.Client
  storageRoot: string
}

async function placeProject(
  { client, database, storageRoot }: Place,
  name: string,
  prepared: string,
): Promise<Project> {
  const { status, text } = await client.post('/api/v4/projects', { name })
  if (status !== 201) throw new Error(text)
  const { id } = JSON.parse(text) as { id: number }
  const { rows } = await database.query('SELECT disk_path AS "diskPath" FROM projects WHERE id = $1', [id])
  const path = join(storageRoot, rows[0].diskPath)
  rmSync(path, { recursive: true })
  // Packs are never modified, so a copy can share them.
  execFileSync('cp', ['-al', prepared, path])
  return { name, id, path }
}
