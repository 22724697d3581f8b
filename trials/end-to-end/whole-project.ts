import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Instance {
  url: string
  token: string
}

export interface Answer {
  status: number
  body: unknown
}

type Sent = Record<string, unknown> | string | FormData

export async function ask(
  { url, token }: Instance,
  method: string,
  path: string,
  sent?: Sent,
): Promise<Answer> {
  const isJson = sent !== undefined && typeof sent !== 'string' && !(sent instanceof FormData)
  const type = isJson ? 'application/json' : typeof sent === 'string' ? 'application/xml' : undefined
  const response = await fetch(`${url}/api/v4/${path}`, {
    method,
    headers: { 'PRIVATE-TOKEN': token, ...(type && { 'Content-Type': type }) },
    ...(sent !== undefined && { body: isJson ? JSON.stringify(sent) : (sent as string | FormData) }),
    redirect: 'manual',
    signal: AbortSignal.timeout(30_000),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const isText = response.headers.get('Content-Type')?.startsWith('application/json')
  const hash = createHash('sha256').update(bytes).digest('hex')
  return { status: response.status, body: isText ? JSON.parse(bytes.toString()) : hash }
}

/** Creates a project with an example of every resource. @returns its id */
export async function makeWholeProject(instance: Instance, name: string, userId: number): Promise<number> {
  const create = async (path: string, sent: Sent, method = 'POST') => {
    const { status, body } = await ask(instance, method, path, sent)
    if (status > 201) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`)
    return body as Record<string, string & number>
  }
  const { id = 0 } = await create('projects', { name: 'Everything', path: name, topics: ['one'] })
  const of = (path: string, sent: Sent, method?: string) => create(`projects/${id}/${path}`, sent, method)
  const actions = [{ action: 'create', file_path: 'a.txt', content: 'text' }]
  const { id: sha = '' } = await of('repository/commits', {
    branch: 'main',
    commit_message: 'First',
    actions,
  })
  const comments = `repository/commits/${sha}`
  const { id: comment = 0 } = await of(`${comments}/comments`, {
    note: 'A note',
    path: 'a.txt',
    line: 1,
    line_type: 'new',
  })
  const discussion = Number(comment).toString(16).padStart(40, '0')
  if (comment) await of(`${comments}/discussions/${discussion}/notes`, { body: 'A reply' })
  for (const state of ['pending', 'success'])
    await of(`statuses/${sha}`, { state, name: 'build', ref: 'main' })
  await of(
    `statuses/${sha}/report?name=build&ref=main&format=junit`,
    '<testsuite><testcase name="a"/></testsuite>',
  )
  await of('members', { user_id: userId, access_level: 30 })
  await of('protected_branches', { name: 'rel-*' })
  await of('protected_tags', { name: 'v*' })
  await of('environments', { name: 'staging', external_url: 'https://staging.example.com' })
  const deployed = {
    environment: 'staging',
    sha,
    ref: 'main',
    tag: false,
    status: 'success',
    services: ['shop'],
  }
  await of('deployments', deployed)
  await of('protected_environments', { name: 'production', deploy_access_levels: [{ user_id: userId }] })
  await of('freeze_periods', { freeze_start: '0 23 * * 5', freeze_end: '0 7 * * 1', cron_timezone: 'UTC' })
  await of('packages/generic/app/1.0/app.bin', 'bytes of a package', 'PUT')
  const form = new FormData()
  form.append('file', new Blob(['bytes of an upload']), 'a.bin')
  await of('uploads', form)
  const link = { name: 'app', url: `${instance.url}/api/v4/projects/${id}/packages/generic/app/1.0/app.bin` }
  await of('releases', { tag_name: 'v1', ref: 'main', name: 'One', assets: { links: [link] } })
  await of('hooks', { url: 'https://hooks.example.com/x', token: 'secret-of-the-hook', push_events: true })
  return id
}

const document = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../packages/contracts/openapi.json'), 'utf8'),
) as { paths: Record<string, Record<string, unknown>> }

const fixed: Record<string, string> = {
  branch: 'main',
  tag_name: 'v1',
  file_path: 'a.txt',
  format: 'tar',
  rest: 'assets/links',
  filename: 'a.bin',
  package_name: 'app',
  package_version: '1.0',
  file_name: 'app.bin',
}
/** For path parameters: the list whose first row has the value, and the field. */
const listed: Record<string, [string, string]> = {
  sha: ['repository/commits', 'id'],
  user_id: ['members', 'id'],
  link_id: ['releases/v1/assets/links', 'id'],
  pipeline_id: ['pipelines', 'id'],
  job_id: ['jobs', 'id'],
  hook_id: ['hooks', 'id'],
  package_id: ['packages', 'id'],
  upload_id: ['uploads', 'id'],
  environment_id: ['environments', 'id'],
  deployment_id: ['deployments', 'id'],
  freeze_period_id: ['freeze_periods', 'id'],
}

/**
 * Reads every readable answer about a project, by path template, except archives, whose folders have its
 * name, and impacts, which count the deployments of the copy beside it. Ids are replaced by their order
 * within an answer, and parts of paths that name the project are left out.
 */
export async function readWholeProject(instance: Instance, path: string): Promise<Record<string, Answer>> {
  const base = `projects/${encodeURIComponent(path)}`
  const values: Record<string, string> = { ...fixed }
  for (const [name, [list, field]] of Object.entries(listed)) {
    const { body } = await ask(instance, 'GET', `${base}/${list}`)
    values[name] = String((body as Record<string, unknown>[])[0]?.[field])
  }
  const templates = Object.keys(document.paths).filter(
    (template) =>
      /^\/projects\/\{id\}(?!.*\/(?:archive|impact))(?:\/|$)/.test(template) && document.paths[template]?.get,
  )
  const answers: Record<string, Answer> = {}
  for (const template of templates) {
    const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).slice(1)
    if (names.some((name) => values[name] === undefined)) continue
    const rest = template
      .replace('/projects/{id}', '')
      .replaceAll(/\{(\w+)\}/g, (_, name) => values[name] ?? '')
    const { status, body } = await ask(instance, 'GET', base + rest)
    // A refusal contains the id of its request, so its body is left out.
    answers[template] = { status, body: status < 400 ? withoutIds(body, path) : null }
  }
  return answers
}

function withoutIds(given: unknown, path: string): unknown {
  const seen = new Map<string, Map<unknown, number>>()
  const orderOf = (place: string, value: unknown) => {
    const order = seen.get(place) ?? new Map<unknown, number>()
    seen.set(place, order)
    if (!order.has(value)) order.set(value, order.size)
    return `id ${order.get(value)}`
  }
  const walk = (value: unknown, place: string): unknown => {
    if (Array.isArray(value)) return value.map((each) => walk(each, place))
    if (typeof value === 'string') return walkText(value, path)
    if (typeof value === 'number' && /(?:[._]|\.i)ids?$/.test(place)) return orderOf(place, value)
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, walk(each, `${place}.${key}`)]),
    )
  }
  return walk(given, '')
}

/** Removes the project from addresses, and ids from discussions. */
const walkText = (text: string, path: string) =>
  text
    .replaceAll(path.split('/')[1] ?? path, 'NAME')
    .replaceAll(/(?<=\/|_|^)(?:\d+|0{20}[0-9a-f]{20})(?=[/#?.]|$)/g, 'N')
