import { randomBytes, randomUUID } from 'node:crypto'
import { SagaClient } from '@switchyard/contracts/saga'
import { expect } from 'vitest'
import { insecure } from './grpc.js'
import type { ServiceName, startServices } from './services.js'

type Services = Awaited<ReturnType<typeof startServices>>

/** The part of JSON Schema that the OpenAPI documents of the services use for parameters and bodies. */
export interface Schema {
  $ref?: string
  deprecated?: boolean
  type?: string | string[]
  enum?: unknown[]
  format?: string
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  anyOf?: Schema[]
  oneOf?: Schema[]
}

export interface Parameter {
  name: string
  in: string
  schema?: Schema
}

export interface Operation {
  service: ServiceName
  method: string
  path: string
  parameters: Parameter[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
}

const documented = ['git-api', 'saga-reporter', 'admin-broadcast', 'jobqueue-metrics'] as const

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** Returns the OpenAPI document of each service. */
export async function documentsOf(services: Services): Promise<Partial<Record<ServiceName, Document>>> {
  const documents = documented.map(async (service) => {
    const answer = await fetch(`http://127.0.0.1:${services.ports[service]}/-/openapi.json`)
    return [service, (await answer.json()) as Document] as const
  })
  return Object.fromEntries(await Promise.all(documents))
}

/** Returns every operation of every service, from its OpenAPI document. */
export const operationsOf = (documents: Partial<Record<ServiceName, Document>>): Operation[] =>
  documented.flatMap((service) =>
    Object.entries(documents[service]?.paths ?? {}).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
        service,
        method,
        path,
        parameters,
        ...(requestBody && { requestBody }),
      })),
    ),
  )

/** Creates a row for every path parameter, and returns their names by parameter. */
export async function makeRows(services: Services): Promise<Record<string, string>> {
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
  const comment = await of('/repository/commits/main/comments', { note: 'A note' })
  const status = await of('/statuses/main', { state: 'success', name: 'build' })
  await of('/protected_branches', { name: 'release/*' })
  await of('/protected_tags', { name: 'release/*' })
  await of('/releases', { tag_name: 'v1', ref: 'main' })
  const link = await of('/releases/v1/assets/links', { name: 'app', url: 'https://example.com/app' })
  const token = await of('/access_tokens', { name: 'ci', scopes: ['api'], access_level: 30 })
  const hook = await of('/hooks', { url: 'https://ci.example.com/hook' })
  const environment = await of('/environments', { name: 'review' })
  const rule = await of('/impact_rules', { name: 'Stop', freeze: true })
  await post('admin-broadcast', '/broadcast_messages', { message: 'Hello' })
  const saga = randomBytes(8).toString('hex')
  const client = new SagaClient(`127.0.0.1:${services.ports['saga-reporter-grpc']}`, insecure)
  await new Promise((resolve) => client.sagaStarted({ sagaId: saga, serviceName: 'orders' }, resolve))
  client.close()
  const given = {
    sha: 'main',
    user_id: '1',
    name: 'release/*',
    activity_id: 'a',
    kind: 'result',
    provider: 'sso',
    submodule: 'vendor/lib',
  }
  return {
    ...given,
    project: String(project),
    saga,
    token_id: String(token.id),
    hook_id: String(hook.id),
    tag_name: 'v1',
    pipeline_id: String(status.pipeline_id),
    link_id: String(link.id),
    environment_id: String(environment.id),
    delivery_id: '1',
    deployment_id: '1',
    rule_id: String(rule.id),
    run_id: '1',
    batch_id: randomUUID(),
    discussion_id: comment.id.toString(16).padStart(40, '0'),
    note_id: String(comment.id),
  }
}

/**
 * Returns the value of a path parameter: `{id}` is a project below /projects, a saga below /sagas, otherwise
 * a row.
 */
export function valueOfParameter(path: string, name: string, values: Record<string, string>): string {
  const id = path.startsWith('/projects') ? values.project : path.startsWith('/sagas/{') ? values.saga : '1'
  return (name === 'id' ? id : values[name]) ?? ''
}
