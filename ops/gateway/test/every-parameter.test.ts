import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  documentsOf,
  makeRows,
  type Operation,
  operationsOf,
  type Schema,
  valueOfParameter,
} from './support/operations.js'
import { startServices } from './support/services.js'

/** Time after which a request counts as hanging, far longer than any answer takes. */
const hangMs = 120_000

let services: Awaited<ReturnType<typeof startServices>>
let operations: Operation[]
let documents: Awaited<ReturnType<typeof documentsOf>>
let values: Record<string, string>

beforeAll(async () => {
  services = await startServices({ RATE_LIMIT_PER_MINUTE: '0' })
  documents = await documentsOf(services)
  operations = operationsOf(documents)
  values = await makeRows(services)
})
afterAll(() => services?.stop())

/** Returns the path with a value for each parameter. */
const pathOf = ({ path }: Operation) =>
  path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(valueOfParameter(path, name, values)))

/** Returns a number, a regular expression that does not end, and a pattern. */
const longQueries = (name: string, length: number) =>
  ['1', '(', '*'].map((character) => `?${name}=${character.repeat(length)}`)

interface Answer {
  status: number
  text: string
}

/** Parts of answers that differ each time: request ids, and times of the answer. */
const passing = /"request_id":"[^"]*"|\d{4}-\d\d-\d\dT[\d:.]+Z/g

/** Returns status and body of an answer; only the status of a stream, which has no end. */
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

/** Sends each query: at once, or one after another where a user may have few answers at once. */
async function sendEach(operation: Operation, queries: string[]): Promise<Answer[]> {
  if (operation.path !== '/sagas/export') return Promise.all(queries.map((query) => send(operation, query)))
  const answers: Answer[] = []
  for (const query of queries) answers.push(await send(operation, query))
  return answers
}

const questions = () => operations.filter(({ method }) => method === 'get')
const parametersOf = ({ parameters }: Operation) =>
  parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)

/** Returns the fields of a body. */
function bodyOf({ requestBody, service }: Operation): Record<string, Schema> {
  const schema = requestBody?.content['application/json']?.schema
  const name = schema?.$ref?.split('/').at(-1) ?? ''
  return documents[service]?.components.schemas[name]?.properties ?? {}
}

/** Returns bodies with the long text in one field each, and in all fields; other values are ordinary. */
function bodiesWith(operation: Operation, long: string): object[] {
  const { path } = operation
  const names = Object.keys(bodyOf(operation))
  // Without a wrong parameter, the request would be executed.
  if (names.length === 0) return []
  const usual: Record<string, unknown> = { branch: 'main', ref: 'main', tag_name: 'v2', name: path.slice(-5) }
  const filled = Object.fromEntries(names.map((each) => [each, usual[each] ?? 'main']))
  const actions = ['create', 'move', 'delete', 'chmod'].map((action) => ({
    branch: 'main',
    commit_message: 'A',
    actions: [{ action, file_path: long, previous_path: long, content: 'x', last_commit_id: long }],
  }))
  return [
    ...names.map((each) => ({ ...filled, [each]: long })),
    Object.fromEntries(names.map((each) => [each, long])),
    Object.fromEntries(names.map((each) => [each, [long]])),
    Object.fromEntries(names.map((each) => [each, { [long]: long }])),
    ...(names.includes('actions') ? actions : []),
  ]
}

describe('every parameter of a query', () => {
  it('is treated as left out when it is empty', async () => {
    const different: string[] = []
    for (const operation of questions()) {
      // Metrics of job queues change from one answer to the next.
      const seen = ({ status, text }: Answer) =>
        operation.service === 'jobqueue-metrics' ? status : `${status} ${text}`
      const without = seen(await send(operation, ''))
      const queries = parametersOf(operation).flatMap((name) => [`?${name}=`, `?${name}`, `?${name}[]=`])
      const answers = await sendEach(operation, queries)
      for (const [index, answer] of answers.entries()) {
        if (seen(answer) !== without)
          different.push(`${operation.path}${queries[index]}: ${without} / ${seen(answer)}`)
      }
    }
    expect(different).toEqual([])
  })

  it.each([4_000, 50_000, 100_000])(
    'may have %i characters without a failure of a service',
    async (length) => {
      const expected = length > 4_096 ? /^4/ : /^[234]/
      const failed: string[] = []
      for (const operation of questions()) {
        const queries = parametersOf(operation).flatMap((name) => longQueries(name, length))
        const answers = await sendEach(operation, queries)
        for (const [index, { status, text }] of answers.entries()) {
          if (!expected.test(String(status)))
            failed.push(`${operation.path}${queries[index]?.slice(0, 30)}: ${status} ${text}`)
        }
      }
      expect(failed).toEqual([])
    },
  )

  it('appears in an error with its first 200 characters, and so does every text of a body', async () => {
    const long = 'z'.repeat(3_000)
    const repeating: string[] = []
    let refusals = 0
    for (const operation of operations) {
      const queries = parametersOf(operation).map((name) => `?${name}=${long}`)
      const bodies = bodiesWith(operation, long).map((body) => JSON.stringify(body))
      const answers = await Promise.all([
        sendEach(operation, queries),
        ...bodies.map((body) => send(operation, '', body)),
      ])
      for (const { status, text } of answers.flat()) {
        if (status === 400) refusals += 1
        if (status >= 400 && text.includes('z'.repeat(201)))
          repeating.push(`${operation.method} ${operation.path}: ${text.slice(0, 300)}`)
      }
    }
    expect(repeating).toEqual([])
    expect(refusals).toBeGreaterThan(500)
  })

  it('is refused by its name when it is declared as not supported, and may be empty', async () => {
    const named = operations.flatMap((operation) => {
      const inQuery = operation.parameters.filter(({ schema }) => schema?.deprecated).map(({ name }) => name)
      const inBody = Object.entries(bodyOf(operation)).filter(([, { deprecated }]) => deprecated)
      return [...inQuery, ...inBody.map(([name]) => name)].map((name) => ({ operation, name }))
    })
    const wrong: string[] = []
    for (const { operation, name } of named) {
      const { status, text } = await (operation.method === 'get'
        ? send(operation, `?${name}=refused`)
        : send(operation, '', JSON.stringify({ [name]: 'refused' })))
      const isNamed = status === 400 && new RegExp(`"error":"[^"]*\\b${name} is `).test(text)
      // Not every path names an existing row.
      if (!isNamed && status !== 404) wrong.push(`${operation.path} ${name}: ${status} ${text.slice(0, 200)}`)
    }
    expect(wrong).toEqual([])
    expect(named.length).toBeGreaterThan(40)
  })

  it('never acts for another user', async () => {
    const [operation] = operations.filter(({ method, path }) => method === 'get' && path === '/user')
    const answer = await send(operation as Operation, '?sudo=somebody')
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('sudo is not supported') })
    const headers = { 'PRIVATE-TOKEN': services.rootToken, Sudo: 'somebody' }
    const address = `http://127.0.0.1:${services.ports['git-api']}/api/v4/user`
    expect((await fetch(address, { headers })).status).toBe(400)
  })

  it('is tested here for every service', () => {
    const services = new Set(questions().map(({ service }) => service))
    expect(services.size).toBe(4)
    expect(questions().flatMap(parametersOf).length).toBeGreaterThan(150)
  })
})
