import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Metadata, type ServiceError } from '@grpc/grpc-js'
import { type CommonResponse, SagaClient, SagaService } from '@switchyard/contracts/saga'
import { SagaQueryClient } from '@switchyard/contracts/saga-query'
import { type ClaimResponse, SagaRecoveryClient } from '@switchyard/contracts/saga-recovery'
import { createGitRepository, isolatedGitEnv, type TestGitRepository } from '@switchyard/testing'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expressions, problemsOf, readFigures } from './support/figures.js'
import { type Gateway, startGateway } from './support/gateway.js'
import { insecure } from './support/grpc.js'
import { rawRequest } from './support/raw-request.js'
import { startServices } from './support/services.js'

/** The origin of a web page that may call the API. */
const page = 'https://console.example.com'
const names = ['git-api', 'saga-reporter', 'admin-broadcast', 'jobqueue-metrics'] as const
let services: Awaited<ReturnType<typeof startServices>>
let rootToken: string
let gateway: Gateway

beforeAll(async () => {
  services = await startServices({ CORS_ALLOWED_ORIGINS: page }, [...names, 'worker', 'console'])
  rootToken = services.rootToken
  asRoot['PRIVATE-TOKEN'] = rootToken
  gateway = await startGateway(services.ports)
})

afterAll(async () => {
  await gateway?.stop()
  await services?.stop()
})

const asRoot = { 'PRIVATE-TOKEN': '' }

async function get<T>(path: string): Promise<T> {
  const { status, body } = await rawRequest(gateway.httpPort, path, { headers: asRoot })
  expect(status, body).toBe(200)
  return JSON.parse(body) as T
}

async function post<T>(path: string, body: unknown): Promise<T> {
  const answer = await rawRequest(gateway.httpPort, path, {
    method: 'POST',
    headers: { ...asRoot, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(answer.status, answer.body).toBe(201)
  return JSON.parse(answer.body) as T
}

it.each(names)('%s is ready behind the gateway', async (name) => {
  expect(await get(`/-/${name}/readiness`)).toMatchObject({ status: 'ok' })
})

describe('git', () => {
  let repository: TestGitRepository
  beforeAll(async () => {
    repository = await createGitRepository()
  })
  afterAll(() => repository?.close())

  it('a push of 24 MB arrives unchanged', async () => {
    await post('/api/v4/projects', { name: 'big', visibility: 'private' })
    // Random bytes do not compress, so the pack has their size.
    const sha = await repository.commit({
      files: { 'data/blob.bin': randomBytes(24 * 1024 * 1024), 'a b/c.txt': 'x\n' },
      message: 'Large',
      branch: 'feature/large',
    })
    const remote = `http://any:${rootToken}@127.0.0.1:${gateway.httpPort}/root/big.git`
    await repository.git('push', '--quiet', remote, 'feature/large', 'feature/large:main')

    const clone = await mkdtemp(join(tmpdir(), 'switchyard-clone-'))
    try {
      const options = { env: isolatedGitEnv(), extendEnv: false }
      await execa('git', ['clone', '--quiet', '--branch', 'feature/large', remote, clone], options)
      const { stdout } = await execa('git', ['-C', clone, 'rev-parse', 'HEAD', 'HEAD^{tree}'], options)
      expect(stdout.split('\n')).toEqual([sha, await repository.git('rev-parse', 'HEAD^{tree}')])
      await execa('git', ['-C', clone, 'fsck', '--full'], options)
    } finally {
      await rm(clone, { recursive: true, force: true })
    }
  })

  it('REST finds the project by its encoded path and the commit by an encoded branch', async () => {
    const commit = await get<{ id: string; title: string }>(
      '/api/v4/projects/root%2Fbig/repository/commits/feature%2Flarge',
    )
    expect(commit).toMatchObject({ id: await repository.git('rev-parse', 'HEAD'), title: 'Large' })
    const list = await get<{ id: string }[]>(
      '/api/v4/projects/root%2Fbig/repository/commits?ref_name=feature%2Flarge&path=a%20b%2Fc.txt',
    )
    expect(list.map(({ id }) => id)).toEqual([commit.id])
  })

  it('a commit with 20 MB of content succeeds', async () => {
    const content = 'x'.repeat(20 * 1024 * 1024)
    const commit = await post<{ title: string }>('/api/v4/projects/root%2Fbig/repository/commits', {
      branch: 'main',
      commit_message: 'By REST',
      actions: [{ action: 'create', file_path: 'large.txt', content }],
    })
    expect(commit.title).toBe('By REST')
  })
})

describe('several slashes in a row count as one', () => {
  it('for REST, with links that have one', async () => {
    const answer = await rawRequest(gateway.httpPort, '//api//v4/projects?per_page=1', { headers: asRoot })
    expect(answer.status).toBe(200)
    expect(answer.headers.link).toContain(`<http://127.0.0.1:${gateway.httpPort}/api/v4/projects?`)
  })

  it('for git', async () => {
    const remote = `http://any:${rootToken}@127.0.0.1:${gateway.httpPort}//root/big.git`
    const { stdout } = await execa('git', ['ls-remote', remote, 'main'], {
      env: isolatedGitEnv(),
      extendEnv: false,
    })
    expect(stdout).toMatch(/refs\/heads\/main$/)
  })

  it('but an encoded slash stays', async () => {
    const answer = await rawRequest(gateway.httpPort, '/api/v4/projects/root%2F%2Fbig', { headers: asRoot })
    expect(answer.status).toBe(404)
  })
})

describe('a web page of an allowed origin', () => {
  it.each([
    ['git-api', '/api/v4/projects'],
    ['saga-reporter', '/api/v4/sagas'],
    ['admin-broadcast', '/api/v4/broadcast_messages'],
    ['jobqueue-metrics', '/api/v4/jobqueue/job_stats'],
  ])('can call %s with a token, and reads its errors too', async (_service, path) => {
    const preflight = await rawRequest(gateway.httpPort, path, {
      method: 'OPTIONS',
      headers: {
        Origin: page,
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'private-token',
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers['access-control-allow-headers']).toContain('PRIVATE-TOKEN')
    for (const [token, status] of [
      [rootToken, 200],
      ['wrong', 401],
    ] as const) {
      const answer = await rawRequest(gateway.httpPort, path, {
        headers: { Origin: page, 'PRIVATE-TOKEN': token },
      })
      expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([status, page])
    }
    const stranger = await rawRequest(gateway.httpPort, path, {
      method: 'OPTIONS',
      headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'GET' },
    })
    expect(stranger.status).toBe(405)
    expect(stranger.headers).not.toHaveProperty('access-control-allow-origin')
  })
})

describe('the other services', () => {
  it('a broadcast message is created and read', async () => {
    const { id } = await post<{ id: number }>('/api/v4/broadcast_messages', {
      message: 'Through the gateway',
    })
    expect(await get(`/api/v4/broadcast_messages/${id}`)).toMatchObject({ message: 'Through the gateway' })
  })

  it('job-queue metrics answer under both names', async () => {
    expect(await get('/api/v4/sidekiq/job_stats')).toEqual(await get('/api/v4/jobqueue/job_stats'))
  })

  it.each(['svc.Sagas.Server.Grpc.Saga', 'pole.Sagas.Server.Grpc.Saga'])(
    'a saga reported over gRPC as %s is read over HTTP',
    async (service) => {
      const client = new SagaClient(gateway.grpcAddress, insecure)
      const sagaId = randomBytes(8).toString('hex')
      const { sagaStarted } = SagaService
      const response = await new Promise<CommonResponse>((resolve, reject) => {
        client.makeUnaryRequest(
          sagaStarted.path.replace(/^\/.*\//, `/${service}/`),
          sagaStarted.requestSerialize,
          sagaStarted.responseDeserialize,
          { sagaId, serviceName: 'orders' },
          (error: ServiceError | null, value?: CommonResponse) => (value ? resolve(value) : reject(error)),
        )
      })
      client.close()
      expect(response).toMatchObject({ isSuccess: true })
      expect(await get(`/api/v4/sagas/${sagaId}`)).toMatchObject({ saga_id: sagaId, service_name: 'orders' })
    },
  )

  it('sagas are followed over gRPC and as server-sent events, and claimed', async () => {
    const metadata = new Metadata()
    metadata.set('private-token', rootToken)
    const query = new SagaQueryClient(gateway.grpcAddress, insecure)
    const recovery = new SagaRecoveryClient(gateway.grpcAddress, insecure)
    const reporter = new SagaClient(gateway.grpcAddress, insecure)
    const leaving = new AbortController()
    try {
      const watch = query.watchSagas({ tenant: '', statuses: [], operations: [] }, metadata)
      const messages = watch[Symbol.asyncIterator]()
      await messages.next()
      const response = await fetch(`${gateway.url}/api/v4/sagas/stream`, {
        headers: asRoot,
        signal: leaving.signal,
      })
      const serviceName = randomBytes(8).toString('hex')
      await new Promise((resolve) => {
        reporter.sagaStarted({ sagaId: `live-${serviceName}`, serviceName }, resolve)
      })
      const { value } = await messages.next()
      expect(value).toMatchObject({ event: { sagaId: `live-${serviceName}`, operation: 'SagaStarted' } })
      watch.on('error', () => {})
      watch.cancel()
      let text = ''
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk
        if (text.includes(`live-${serviceName}`)) break
      }
      expect(text).toMatch(/^retry: \d+\n(.*\n)*id: \d+\ndata: \{"seq":/)
      const claim = { ...claimOfOne, serviceName }
      const { sagas } = await new Promise<ClaimResponse>((resolve, reject) => {
        recovery.claim(claim, metadata, (error, answer) => (error ? reject(error) : resolve(answer)))
      })
      expect(sagas.map(({ saga }) => saga?.sagaId)).toEqual([`live-${serviceName}`])
    } finally {
      leaving.abort()
      for (const client of [query, recovery, reporter]) client.close()
    }
  })
})

const claimOfOne = {
  tenant: '',
  max: 1,
  leaseSeconds: 0,
  minIdleSeconds: 0,
  worker: '',
  includeErrors: false,
}

describe('metrics are only served inside', () => {
  it.each([
    '/metrics',
    '//metrics',
    '/./metrics',
    '/%2e/metrics',
    '/metrics;x',
    '/%6detrics',
    '/METRICS',
    '/-/../metrics',
    '/-/metrics',
    '//-/metrics',
    '/-/git-api/metrics',
  ])('%s', async (path) => {
    const { status, body } = await rawRequest(gateway.httpPort, path, { headers: asRoot })
    expect(status).toBeGreaterThanOrEqual(400)
    expect(body).not.toContain('# HELP')
  })
})

/** The tests of storages in services/git-api/test have the metrics of several storages. */
const inOtherTests = /: git_api_(forwarded_requests|refused_forwards|repository_moves)_total is not served$/

it('every metric of the alerts and dashboards is served, with the labels that they name', async () => {
  const { 'saga-reporter-grpc': _grpc, ...ports } = services.ports
  const served = await readFigures(Object.values(ports))
  const problems = expressions.flatMap((expression) => problemsOf(expression, served))
  expect(problems.filter((problem) => !inOtherTests.test(problem))).toEqual([])
})
