import type { Api } from '../../support/api.js'

interface Commit {
  id: string
}

export interface ExampleData {
  /** Commits of the project root/shop, oldest first. */
  commits: string[]
  /** Tokens of users who are not administrators. */
  tokens: { developer: string; outsider: string; sagaReader: string }
  developerId: number
}

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

/**
 * Fills an empty installation with the data of a team: a project with history, sagas in every state,
 * messages, users.
 */
export async function writeExampleData(api: Api): Promise<ExampleData> {
  const users = await writeUsers(api)
  const commits = await writeProject(api, users.developerId)
  await writeSagas(api)
  await api('POST', '/broadcast_messages', {
    message: 'Deploys **pause** at noon for the database upgrade',
    starts_at: inHours(-1),
    ends_at: inHours(30),
    color: '#1D4ED8',
    font: '#FFFFFF',
    dismissable: true,
  })
  await api('POST', '/broadcast_messages', {
    message: 'Payments are read-only on Sunday, see [the plan](https://status.example.com)',
    starts_at: inHours(60),
    ends_at: inHours(90),
    color: '#9A3412',
    font: '#FFFFFF',
  })
  return { commits, ...users }
}

async function writeUsers(api: Api) {
  const user = async (username: string, name: string) =>
    api<{ id: number }>('POST', '/users', { username, name, email: `${username}@example.com` })
  const token = async (id: number, scopes: string[], name: string) =>
    (await api<{ token: string }>('POST', `/users/${id}/personal_access_tokens`, { name, scopes })).token
  const developer = await user('ada', 'Ada Lovelace')
  const outsider = await user('grace', 'Grace Hopper')
  return {
    developerId: developer.id,
    tokens: {
      developer: await token(developer.id, ['api'], 'laptop'),
      outsider: await token(outsider.id, ['read_api'], 'reading'),
      sagaReader: await token(outsider.id, ['read_sagas'], 'dashboard'),
    },
  }
}

const readme = `# Shop

The **shop** takes orders and books payments.

| part | language |
| ---- | -------- |
| api  | TypeScript |
| web  | CSS |

- [x] orders
- [ ] refunds

\`\`\`ts
const total = items.reduce((sum, { price }) => sum + price, 0)
\`\`\`
`

const orders = (rate: string, lines: number) => `import { book } from './booking.js'

/** In cents. */
export interface Item {
  name: string
  price: number
}

export function total(items: Item[]): number {
  const net = items.reduce((sum, { price }) => sum + price, 0)
  return Math.round(net * ${rate})
}

${Array.from({ length: lines }, (_, line) => `export const step${line} = (order: string) => book(order, ${line})`).join('\n')}
`

async function writeProject(api: Api, developerId: number): Promise<string[]> {
  const project = '/projects/root%2Fshop'
  await api('POST', '/projects', { name: 'shop', description: 'Orders and payments', visibility: 'private' })
  await api('POST', '/projects', { name: 'website', description: 'The public pages', visibility: 'public' })
  await api('POST', `${project}/members`, { user_id: developerId, access_level: 30 })
  const commit = async (branch: string, message: string, actions: object[], more: object = {}) =>
    (
      await api<Commit>('POST', `${project}/repository/commits`, {
        branch,
        commit_message: message,
        actions,
        ...more,
      })
    ).id
  const create = (file_path: string, content: string) => ({ action: 'create', file_path, content })
  const update = (file_path: string, content: string) => ({ action: 'update', file_path, content })
  const commits = [
    await commit('main', 'Begin the shop', [
      create('README.md', readme),
      create('src/orders.ts', orders('1.19', 4)),
      create(
        'src/booking.ts',
        'export const book = (order: string, step: number) => [order, step].join("/")\n',
      ),
      create('web/style.css', 'body {\n  margin: 0;\n}\n'),
    ]),
    await commit('main', 'Lower the tax rate for the summer', [update('src/orders.ts', orders('1.16', 6))]),
    await commit('main', 'Round prices, and style the list\n\nCustomers saw fractions of a cent.', [
      update('src/orders.ts', orders('1.07', 8)),
      update('web/style.css', 'body {\n  margin: 0 auto;\n  max-width: 60rem;\n}\n'),
      { action: 'move', file_path: 'src/bookings.ts', previous_path: 'src/booking.ts' },
    ]),
  ]
  const [, second = '', third = ''] = commits
  await commit(
    'feature/refunds',
    'Give money back',
    [create('src/refunds.ts', 'export const refund = 1\n')],
    {
      start_branch: 'main',
    },
  )
  await writeTags(api, project, second)
  await writeOpinions(api, project, second, third)
  await writeDeployments(api, project, second, third)
  return commits
}

/** Creates a release with its tag. */
async function writeTags(api: Api, project: string, second: string): Promise<void> {
  await api('POST', `${project}/repository/tags`, {
    tag_name: 'v1.0.0',
    ref: second,
    message: 'The first release',
  })
  await api('POST', `${project}/releases`, {
    tag_name: 'v1.0.0',
    name: 'Summer',
    description: '## New\n\n- the **lower** tax rate\n- see [the readme](README.md)',
    assets: { links: [{ name: 'Manual', url: 'https://shop.example.com/manual.pdf' }] },
  })
  await api('POST', `${project}/protected_tags`, { name: 'v*' })
}

/** Creates statuses of commits, and comments on them. */
async function writeOpinions(api: Api, project: string, second: string, third: string): Promise<void> {
  const status = (sha: string, state: string, name: string, description: string) =>
    api('POST', `${project}/statuses/${sha}`, { state, name, description, ref: 'main', coverage: 87.5 })
  await status(second, 'success', 'build', 'built in 41 s')
  await status(second, 'success', 'test', '212 passed')
  await status(third, 'success', 'build', 'built in 39 s')
  await status(third, 'failed', 'test', '3 of 215 failed')
  await api('POST', `${project}/repository/commits/${third}/comments`, {
    note: 'Should this not be a constant with a name?',
    path: 'src/orders.ts',
    line: 11,
    line_type: 'new',
  })
  await api('POST', `${project}/repository/commits/${third}/comments`, { note: 'Ships on Friday.' })
}

async function writeDeployments(api: Api, project: string, second: string, third: string): Promise<void> {
  for (const [name, tier] of [
    ['production', 'production'],
    ['staging', 'staging'],
  ])
    await api('POST', `${project}/environments`, { name, tier, external_url: `https://${name}.example.com` })
  const deployment = (environment: string, sha: string, status: string, more: object = {}) =>
    api('POST', `${project}/deployments`, {
      environment,
      sha,
      ref: 'main',
      tag: false,
      status,
      services: ['booking'],
      ...more,
    })
  await deployment('production', second, 'success')
  await deployment('staging', third, 'running', { saga_id: 'order-1003' })
  await api('POST', `${project}/freeze_periods`, {
    freeze_start: '0 18 * * 5',
    freeze_end: '0 6 * * 1',
    cron_timezone: 'Europe/Berlin',
  })
}

interface Event {
  operation: string
  saga_id?: string
  [field: string]: unknown
}

/**
 * Reports sagas that succeeded, run, failed and were compensated, with payloads and errors. Each request has
 * the next event of every saga, so that sagas take some time.
 */
async function writeSagas(api: Api): Promise<void> {
  const sagas = Array.from({ length: 24 }, (_, number) => sagaOf(1000 + number))
  const steps = Math.max(...sagas.map(({ length }) => length))
  for (let step = 0; step < steps; step += 1)
    await api('POST', '/saga_events', { events: sagas.flatMap((events) => events[step] ?? []) })
  await api('POST', '/sagas/order-1007/commands', { kind: 'cancel', reason: 'The customer has called' })
}

/** Returns the events of an order, whose number determines its outcome. */
function sagaOf(number: number): Event[] {
  const saga_id = `order-${number}`
  const service_name = number % 3 === 0 ? 'payments' : 'booking'
  let next = 0
  const event = (operation: string, fields: object = {}): Event => {
    next += 1
    return { operation, event_id: `${saga_id}-${next}`, saga_id, ...fields }
  }
  const step = (name: string, order: number) => ({ activity_id: `${saga_id}-${name}`, order })
  const flight = step('flight', 1)
  const hotel = step('hotel', 2)
  const begin = [
    event('SagaStarted', { service_name, tags: [`customer=${number % 7}`] }),
    event('ActivityExecuteStarted', {
      ...flight,
      time_out_seconds: 30,
      parameter: { seats: 2, from: 'TXL', to: 'LIS' },
    }),
    event('ActivityEnded', { activity_id: flight.activity_id, result: { seat: '14A', price: 21_900 } }),
    event('ActivityExecuteStarted', { ...hotel, time_out_seconds: 60, parameter: { nights: 3 } }),
  ]
  if (number % 4 === 3) return begin
  if (number % 4 === 2) {
    return [
      ...begin,
      event('ActivityExecuteAborted', {
        activity_id: hotel.activity_id,
        errors: `No room left for order ${number}`,
      }),
      event('ActivityCompensated', { activity_id: hotel.activity_id, result: 'nothing to cancel' }),
      event('ActivityCompensated', { activity_id: flight.activity_id, result: 'seat released' }),
      event('SagaEnded'),
    ]
  }
  return [
    ...begin,
    event('ActivityEnded', { activity_id: hotel.activity_id, result: 'room 12' }),
    event('SagaEnded'),
  ]
}
