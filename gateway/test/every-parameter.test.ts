import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { SagaClient } from '@switchyard/contracts/saga'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insecure } from './support/grpc.js'
import { type ServiceName, startServices } from './support/services.js'

interface Parameter {
  name: string
  in: string
}

interface Operation {
  service: ServiceName
  method: string
  path: string
  parameters: Parameter[]
}

/** Far above what any answer takes: it ends a request that would hang. */
const hangMs = 20_000

let services: Awaited<ReturnType<typeof startServices>>
let operations: Operation[]
let values: Record<string, string>

beforeAll(async () => {
  services = await startServices({ RATE_LIMIT_PER_MINUTE: '0' })
  operations = (
    await Promise.all(
      (['git-api', 'saga-reporter', 'admin-broadcast', 'jobqueue-metrics'] as const).map(operationsOf),
    )
  ).flat()
  values = await makeRows()
}, 120_000)
afterAll(() => services?.stop())

async function operationsOf(service: ServiceName): Promise<Operation[]> {
  const answer = await fetch(`http://127.0.0.1:${services.ports[service]}/-/openapi.json`)
  const document = (await answer.json()) as { paths: Record<string, Record<string, Operation>> }
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [] }]) => ({ service, method, path, parameters })),
  )
}

/** Something for every path parameter to name. */
async function makeRows(): Promise<Record<string, string>> {
  const post = async (service: ServiceName, path: string, body: object) => {
    const answer = await fetch(`http://127.0.0.1:${services.ports[service]}/api/v4${path}`, {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': services.rootToken, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(answer.status, await answer.clone().text()).toBe(201)
    return (await answer.json()) as { id: number; pipeline_id?: number }
  }
  const project = (await post('git-api', '/projects', { name: 'demo', initialize_with_readme: true })).id
  const of = (path: string, body: object) => post('git-api', `/projects/${project}${path}`, body)
  await of('/repository/commits/main/comments', { note: 'A note' })
  const status = await of('/statuses/main', { state: 'success', name: 'build' })
  await of('/protected_branches', { name: 'release/*' })
  await of('/protected_tags', { name: 'release/*' })
  await of('/releases', { tag_name: 'v1', ref: 'main' })
  const link = await of('/releases/v1/assets/links', { name: 'app', url: 'https://example.com/app' })
  const token = await of('/access_tokens', { name: 'ci', scopes: ['api'], access_level: 30 })
  const hook = await of('/hooks', { url: 'https://ci.example.com/hook' })
  await post('admin-broadcast', '/broadcast_messages', { message: 'Hello' })
  const saga = randomBytes(8).toString('hex')
  const client = new SagaClient(`127.0.0.1:${services.ports['saga-reporter-grpc']}`, insecure)
  await new Promise((resolve) => client.sagaStarted({ sagaId: saga, serviceName: 'orders' }, resolve))
  client.close()
  const given = { sha: 'main', user_id: '1', name: 'release/*', activity_id: 'a', kind: 'result' }
  return {
    ...given,
    project: String(project),
    saga,
    token_id: String(token.id),
    hook_id: String(hook.id),
    tag_name: 'v1',
    pipeline_id: String(status.pipeline_id),
    link_id: String(link.id),
    delivery_id: '1',
  }
}

/** The path with a value in each place; `{id}` is a project below /projects, a saga below /sagas, else a row. */
function pathOf({ path }: Operation): string {
  return path.replace(/\{(\w+)\}/g, (_all, name: string) => {
    const id = path.startsWith('/projects') ? values.project : path.startsWith('/sagas/{') ? values.saga : '1'
    return encodeURIComponent((name === 'id' ? id : values[name]) ?? '')
  })
}

/** A number, a regular expression that does not end, and a pattern. */
const longQueries = (name: string, length: number) =>
  ['1', '(', '*'].map((character) => `?${name}=${character.repeat(length)}`)

interface Answer {
  status: number
  text: string
}

/** Request ids, and the times of answers that show when they were made. */
const passing = /"request_id":"[^"]*"|\d{4}-\d\d-\d\dT[\d:.]+Z/g

/** Status and body of an answer; only the status of a stream, which has no end. */
function send({ service, method, ...operation }: Operation, query: string, body?: string) {
  return new Promise<Answer>((resolve, reject) => {
    const headers = {
      'PRIVATE-TOKEN': services.rootToken,
      ...(body === undefined
        ? {}
        : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
    }
    const path = `/api/v4${pathOf({ service, method, ...operation })}${query}`
    const options = { host: '127.0.0.1', port: services.ports[service], method, path, headers }
    const outgoing = request({ ...options, signal: AbortSignal.timeout(hangMs) }, async (answer) => {
      const status = answer.statusCode ?? 0
      const isStream = answer.headers['content-type']?.startsWith('text/event-stream')
      let text = ''
      if (!isStream) for await (const chunk of answer) text += chunk
      answer.destroy()
      resolve({ status, text: text.replace(passing, '') })
    })
    outgoing.on('error', (cause) => reject(new Error(`${method} ${path.slice(0, 100)}`, { cause })))
    outgoing.end(body)
  })
}

const questions = () => operations.filter(({ method }) => method === 'get')
const parametersOf = ({ parameters }: Operation) =>
  parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)

describe('every parameter of a query', () => {
  it('is as if left out when it is empty', async () => {
    const different: string[] = []
    for (const operation of questions()) {
      // Figures of job queues change from one answer to the next.
      const seen = ({ status, text }: Answer) =>
        operation.service === 'jobqueue-metrics' ? status : `${status} ${text}`
      const without = seen(await send(operation, ''))
      for (const name of parametersOf(operation)) {
        for (const query of [`?${name}=`, `?${name}`, `?${name}[]=`]) {
          const answer = seen(await send(operation, query))
          if (answer !== without) different.push(`${operation.path}${query}: ${without} / ${answer}`)
        }
      }
    }
    expect(different).toEqual([])
  })

  it.each([4_000, 50_000, 100_000])('may have %i characters, and no service fails', async (length) => {
    const expected = length > 4_096 ? /^4/ : /^[234]/
    const failed: string[] = []
    for (const operation of questions()) {
      for (const query of parametersOf(operation).flatMap((name) => longQueries(name, length))) {
        const { status, text } = await send(operation, query)
        if (!expected.test(String(status)))
          failed.push(`${operation.path}${query.slice(0, 30)}: ${status} ${text}`)
      }
    }
    expect(failed).toEqual([])
  })

  it('is looked at here for every service', () => {
    const services = new Set(questions().map(({ service }) => service))
    expect(services.size).toBe(4)
    expect(questions().flatMap(parametersOf).length).toBeGreaterThan(150)
  })
})
