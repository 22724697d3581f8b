import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase } from '@switchyard/db'
import { hashToken } from '@switchyard/service-kit/http'
import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import { createTestDatabase, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configSchema } from '../../src/config.js'
import { createService } from '../../src/service.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'switchyard-administrator-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function start(databaseUrl: string, env: Record<string, string> = {}) {
  const context = createServiceContext('git-api', 'silent')
  const config = configSchema.parse({
    DATABASE_URL: databaseUrl,
    REDIS_URL: 'redis://127.0.0.1:1',
    SWITCHYARD_STORAGE_ROOT: join(folder, 'repositories'),
    PORT: '0',
    ...env,
  })
  const { port } = await createService(config, context)
  const baseUrl = `http://127.0.0.1:${port}`
  return {
    readiness: async () => {
      const response = await fetch(`${baseUrl}/-/readiness`)
      const { checks } = (await response.json()) as { checks: Record<string, string> }
      return { status: response.status, checks }
    },
    ready: () => waitFor(async () => (await fetch(`${baseUrl}/-/readiness`)).ok, { what: 'git-api' }),
    whoIs: async (token: string) => {
      const response = await fetch(`${baseUrl}/api/v4/user`, { headers: { 'PRIVATE-TOKEN': token } })
      return response.ok ? ((await response.json()) as Record<string, unknown>) : response.status
    },
    call: (method: string, path: string, token: string) =>
      fetch(`${baseUrl}/api/v4${path}`, { method, headers: { 'PRIVATE-TOKEN': token } }),
    close: () => context.lifecycle.close(),
  }
}

/** Starts, waits until ready, does the work, stops. */
async function withService<T>(
  databaseUrl: string,
  env: Record<string, string>,
  work: (service: Awaited<ReturnType<typeof start>>) => Promise<T>,
): Promise<T> {
  const service = await start(databaseUrl, env)
  try {
    await service.ready()
    return await work(service)
  } finally {
    await service.close()
  }
}

async function withDatabase(work: (url: string) => Promise<void>) {
  const database = await createTestDatabase()
  try {
    await work(database.url)
  } finally {
    await database.close()
  }
}

const root = { username: 'root', is_admin: true }
const read = async (file: string) => (await readFile(file, 'utf8')).trim()

describe('a generated token', () => {
  it('is written to a file for its owner only, kept by the next start, and replaced when it is lost', () =>
    withDatabase(async (url) => {
      const file = join(folder, 'kept', 'root-token')
      const env = { SWITCHYARD_ROOT_TOKEN_KEPT_IN: file }
      await withService(url, env, async ({ whoIs }) =>
        expect(await whoIs(await read(file))).toMatchObject(root),
      )
      expect((await stat(file)).mode & 0o777).toBe(0o600)
      const first = await read(file)
      expect(first).toMatch(/^glpat-[\w-]{27}$/)

      await withService(url, env, async () => expect(await read(file)).toBe(first))
      await rm(file)
      await withService(url, env, async ({ whoIs }) => {
        expect(await read(file)).not.toBe(first)
        expect(await whoIs(await read(file))).toMatchObject(root)
      })
      await writeFile(file, 'glpat-of-another-database\n')
      await withService(url, env, async ({ whoIs }) =>
        expect(await whoIs(await read(file))).toMatchObject(root),
      )
    }))

  it('is created once, however many replicas start at the same time', () =>
    withDatabase(async (url) => {
      const file = join(folder, 'shared-token')
      const services = await Promise.all(
        Array.from({ length: 4 }, () => start(url, { SWITCHYARD_ROOT_TOKEN_KEPT_IN: file })),
      )
      await Promise.all(services.map(({ ready }) => ready()))
      const database = createDatabase({ url, poolSizeMax: 1, applicationName: 'test' })
      expect(await database.prisma.user.count()).toBe(1)
      expect(await database.prisma.personalAccessToken.count()).toBe(1)
      await database.close()
      const token = await read(file)
      for (const { whoIs } of services) expect(await whoIs(token)).toMatchObject(root)
      await Promise.all(services.map(({ close }) => close()))
    }))
})

describe('SWITCHYARD_ROOT_TOKEN', () => {
  const [one, two] = ['root-token-number-one', 'root-token-number-two']

  it('is the token, also in the file; a new value replaces it; the former value works again when it comes back', () =>
    withDatabase(async (url) => {
      const file = join(folder, 'configured-token')
      const env = (token: string) => ({ SWITCHYARD_ROOT_TOKEN: token, SWITCHYARD_ROOT_TOKEN_KEPT_IN: file })
      await withService(url, env(one), async ({ whoIs }) => {
        expect(await whoIs(one)).toMatchObject(root)
        expect(await read(file)).toBe(one)
        expect((await stat(file)).mode & 0o777).toBe(0o600)
      })
      await withService(url, env(two), async ({ whoIs }) => {
        expect(await whoIs(two)).toMatchObject(root)
        expect(await whoIs(one)).toBe(401)
      })
      await withService(url, env(one), async ({ whoIs }) => expect(await whoIs(one)).toMatchObject(root))
    }))

  it('stays revoked once it was revoked', () =>
    withDatabase(async (url) => {
      const env = { SWITCHYARD_ROOT_TOKEN: one }
      await withService(url, env, async ({ call }) => {
        expect((await call('DELETE', '/personal_access_tokens/self', one)).status).toBe(204)
      })
      await withService(url, env, async ({ whoIs }) => expect(await whoIs(one)).toBe(401))
    }))

  it('is stored only as its hash', () =>
    withDatabase(async (url) => {
      await withService(url, { SWITCHYARD_ROOT_TOKEN: one }, async () => {
        const database = createDatabase({ url, poolSizeMax: 1, applicationName: 'test' })
        const [token] = await database.prisma.personalAccessToken.findMany()
        await database.close()
        expect(Buffer.from(token?.tokenHash ?? [])).toEqual(Buffer.from(hashToken(one)))
      })
    }))
})

describe('the start of the service', () => {
  it('survives an unreachable database, says what is missing, and catches up', () =>
    withDatabase(async (url) => {
      const name = new URL(url).pathname.slice(1)
      const adminUrl = Object.assign(new URL(url), { pathname: '/postgres' }).href
      const admin = createDatabase({ url: adminUrl, poolSizeMax: 1, applicationName: 'test' })
      await admin.pool.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`)
      const service = await start(url, { SWITCHYARD_ROOT_TOKEN: 'root-token-when-late' })
      const { status, checks } = await service.readiness()
      expect(status).toBe(503)
      expect(checks.storage).toBe('ok')
      expect(checks.postgres).toContain('database does not answer')
      expect(checks.provisioning).toBe('the administrator is not provisioned yet')

      await admin.pool.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`)
      await service.ready()
      expect(await service.whoIs('root-token-when-late')).toMatchObject(root)
      await service.close()
      await admin.close()
    }))

  it('names the storage when it is unusable', () =>
    withDatabase(async (url) => {
      const file = join(folder, 'no-folder')
      await writeFile(file, '')
      const service = await start(url, { SWITCHYARD_STORAGE_ROOT: join(file, 'root') })
      const { status, checks } = await service.readiness()
      expect(status).toBe(503)
      expect(checks.storage).toMatch(/^SWITCHYARD_STORAGE_ROOT cannot be written/)
      await service.close()
    }))

  it.each([
    { SWITCHYARD_ROOT_TOKEN: 'too-short' },
    { SWITCHYARD_ROOT_TOKEN: 'with a blank in the middle' },
    { SWITCHYARD_ROOT_TOKEN_KEPT_IN: 'relative/path' },
    { SWITCHYARD_STORAGE_ROOT: 'relative/path' },
  ])('refuses the environment %j', (env) => {
    const given = {
      DATABASE_URL: 'postgresql://u@127.0.0.1/d',
      REDIS_URL: 'redis://127.0.0.1',
      SWITCHYARD_STORAGE_ROOT: '/srv',
      ...env,
    }
    const { error } = configSchema.safeParse(given)
    expect(error?.issues.map(({ path }) => path[0])).toEqual(Object.keys(env))
  })
})
