import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { type CommonResponse, SagaClient } from '@switchyard/contracts/saga'
import { type ReportEventsResponse, ReportedEvent, SagaIngestClient } from '@switchyard/contracts/saga-ingest'
import { SagaQueryClient } from '@switchyard/contracts/saga-query'
import { findRecentNginx } from '@switchyard/local-servers'
import { getFreePort, waitFor } from '@switchyard/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Gateway, gatewayFolder, gatewayTools, startGateway } from './support/gateway.js'
import { insecure } from './support/grpc.js'
import { rawRequest } from './support/raw-request.js'
import { startServices } from './support/services.js'

const program = await findRecentNginx(gatewayTools, console.error)

/** Returns the nginx file that docs/scaling.md shows. */
function documented(): string {
  const text = readFileSync(resolve(gatewayFolder, '../../docs/scaling.md'), 'utf8')
  const [, shown] = /```nginx\n([\s\S]*?)```/.exec(text) ?? []
  if (shown === undefined) throw new Error('docs/scaling.md shows no nginx file')
  return shown
}

interface Router {
  httpPort: number
  grpcAddress: string
  stop: () => Promise<void>
}

/** Starts the documented nginx, on loopback, in front of the gateways of two installations. */
async function startRouter(first: Gateway, second: Gateway): Promise<Router> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-tenants-'))
  // Under root the workers run as another user, who must reach the folder.
  await chmod(folder, 0o755)
  const httpPort = await getFreePort()
  const grpcPort = await getFreePort()
  const own = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`)
  const places: [string, string][] = [
    ['http {\n', `http {\naccess_log off; ${own.join(' ')}\n`],
    ['listen 8080;', `listen 127.0.0.1:${httpPort};`],
    ['listen 50051;', `listen 127.0.0.1:${grpcPort};`],
    ['gateway-first:8080', `127.0.0.1:${first.httpPort}`],
    ['gateway-second:8080', `127.0.0.1:${second.httpPort}`],
    ['gateway-first:50051', first.grpcAddress],
    ['gateway-second:50051', second.grpcAddress],
  ]
  let text = documented()
  for (const [shown, here] of places) {
    expect(text.split(shown), shown).toHaveLength(2)
    text = text.replace(shown, here)
  }
  await writeFile(join(folder, 'nginx.conf'), text)
  const options = ['-p', `${folder}/`, '-c', 'nginx.conf', '-e', 'stderr', '-g', 'daemon off; pid nginx.pid;']
  const child = spawn(program ?? '', options, { stdio: ['ignore', 'ignore', 'inherit'] })
  const exited = once(child, 'exit')
  const answers = async () =>
    child.exitCode !== null || (await rawRequest(httpPort, '/-/gateway/liveness')).status === 200
  await waitFor(answers, { what: 'nginx to answer' })
  return {
    httpPort,
    grpcAddress: `127.0.0.1:${grpcPort}`,
    async stop() {
      child.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

describe.skipIf(!program)('the nginx of docs/scaling.md, in front of two installations', () => {
  type Installation = Awaited<ReturnType<typeof startServices>> & { gateway: Gateway }
  let first: Installation
  let second: Installation
  let router: Router

  async function startInstallation(): Promise<Installation> {
    const services = await startServices({ SAGA_AUTH: 'token' }, ['git-api', 'saga-reporter'])
    return { ...services, gateway: await startGateway(services.ports) }
  }
  beforeAll(async () => {
    if (!program) return
    ;[first, second] = await Promise.all([startInstallation(), startInstallation()])
    router = await startRouter(first.gateway, second.gateway)
  })
  afterAll(async () => {
    await router?.stop()
    for (const installation of [first, second]) {
      await installation?.gateway.stop()
      await installation?.stop()
    }
  })

  function metadataOf({ rootToken }: Installation, ...tenants: string[]): Metadata {
    const metadata = new Metadata()
    metadata.set('private-token', rootToken)
    for (const tenant of tenants) metadata.add('x-tenant', tenant)
    return metadata
  }

  const within = () => ({ deadline: Date.now() + 20_000 })

  function reportStart(sagaId: string, metadata: Metadata): Promise<CommonResponse> {
    const client = new SagaClient(router.grpcAddress, insecure)
    return new Promise<CommonResponse>((done, fail) => {
      const answered = (error: ServiceError | null, response: CommonResponse) =>
        error ? fail(error) : done(response)
      client.sagaStarted({ sagaId, serviceName: 'booking' }, metadata, within(), answered)
    }).finally(() => client.close())
  }

  /** Asks an installation directly, without the router. */
  async function sagasIn({ gateway, rootToken }: Installation, tenant: string): Promise<string[]> {
    const headers = { 'PRIVATE-TOKEN': rootToken }
    const { status: code, body } = await rawRequest(gateway.httpPort, `/api/v4/sagas?tenant=${tenant}`, {
      headers,
    })
    expect(code, body).toBe(200)
    return (JSON.parse(body) as { saga_id: string }[]).map(({ saga_id: id }) => id).sort()
  }

  it('routes single events to the installation of their tenant, and those without a tenant to the first', async () => {
    expect(await reportStart('alone', metadataOf(second, 'acme'))).toMatchObject({ isSuccess: true })
    expect(await reportStart('unnamed', metadataOf(first))).toMatchObject({ isSuccess: true })
    expect(await reportStart('unlisted', metadataOf(first, 'initech'))).toMatchObject({ isSuccess: true })
    expect(await sagasIn(second, 'acme')).toContain('alone')
    expect(await sagasIn(first, 'acme')).toEqual([])
    expect(await sagasIn(first, 'default')).toEqual(['unnamed'])
    expect(await sagasIn(first, 'initech')).toEqual(['unlisted'])
    expect(await sagasIn(second, 'default')).toEqual([])
  })

  it('routes batches over gRPC and HTTP to that installation, too', async () => {
    const ingest = new SagaIngestClient(router.grpcAddress, insecure)
    const started = { sagaId: 'batch', serviceName: 'booking' }
    const events = [ReportedEvent.fromPartial({ tenant: 'globex', sagaStarted: started })]
    const { results } = await new Promise<ReportEventsResponse>((done, fail) => {
      ingest.reportEvents({ events }, metadataOf(second, 'globex'), within(), (error, response) =>
        error ? fail(error) : done(response),
      )
    }).finally(() => ingest.close())
    expect(results.map(({ message }) => message)).toEqual(['recorded'])
    const answer = await rawRequest(router.httpPort, '/api/v4/saga_events', {
      method: 'POST',
      headers: {
        'PRIVATE-TOKEN': second.rootToken,
        'X-Tenant': 'globex',
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({
        events: [{ operation: 'SagaStarted', saga_id: 'http', service_name: 'booking' }],
      }),
    })
    expect(answer.status, answer.body).toBe(200)
    expect(await sagasIn(second, 'globex')).toEqual(['batch', 'http'])
    expect(await sagasIn(first, 'globex')).toEqual([])
  })

  it('routes reads over HTTP by the header, and everything else to the first', async () => {
    await reportStart('read', metadataOf(second, 'acme'))
    const headers = { 'PRIVATE-TOKEN': second.rootToken }
    const read = (more: Record<string, string>) =>
      rawRequest(router.httpPort, '/api/v4/sagas/read?tenant=acme', { headers: { ...headers, ...more } })
    const found = await read({ 'X-Tenant': 'acme' })
    expect([found.status, JSON.parse(found.body).saga_id]).toEqual([200, 'read'])
    expect((await read({})).status).toBe(401)
    const projects = await rawRequest(router.httpPort, '/api/v4/projects', {
      headers: { 'PRIVATE-TOKEN': first.rootToken },
    })
    expect(projects.status).toBe(200)
  })

  it('routes a stream over gRPC, whose messages arrive as they are sent', async () => {
    const query = new SagaQueryClient(router.grpcAddress, insecure)
    const watch = query.watchSagas(
      { tenant: 'acme', statuses: [], operations: [] },
      metadataOf(second, 'acme'),
    )
    try {
      const messages = watch[Symbol.asyncIterator]()
      await messages.next()
      await reportStart('watched', metadataOf(second, 'acme'))
      const { value } = await messages.next()
      expect(value).toMatchObject({ event: { sagaId: 'watched', operation: 'SagaStarted' } })
    } finally {
      watch.on('error', () => {})
      watch.cancel()
      query.close()
    }
  })

  it('an installation refuses tokens of another one', async () => {
    const stray = reportStart('stray', metadataOf(first, 'acme'))
    await expect(stray).rejects.toMatchObject({ code: status.UNAUTHENTICATED })
  })

  it('a call that names two tenants is not stored', async () => {
    const torn = reportStart('torn', metadataOf(first, 'acme', 'initech'))
    await expect(torn).rejects.toMatchObject({ code: status.INVALID_ARGUMENT })
    expect(await sagasIn(first, 'acme')).toEqual([])
    expect(await sagasIn(first, 'initech')).not.toContain('torn')
    expect(await sagasIn(second, 'acme')).not.toContain('torn')
  })
})
