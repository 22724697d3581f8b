import { duration } from '@switchyard/domain/display'
import {
  type SagaOutcome,
  type SagaStatus,
  sagaFlagKinds,
  sagaOutcomes,
  sagaStatuses,
} from '@switchyard/domain/saga'
import { type Command, Option } from 'commander'
import { dataOf, type Schemas } from './api.js'
import { facts, instant, severalLines, table } from './output.js'
import { examples, sessionOf, tenantOption, wholeNumber } from './session.js'
import { addWatchCommand } from './watch.js'

const flags = [...sagaFlagKinds, 'late'] as const

export function addSagaCommands(program: Command): void {
  const saga = program.command('saga').description('Read sagas, and act on them')
  saga
    .command('ls')
    .description('List sagas, the newest first')
    .addOption(tenantOption())
    .addOption(new Option('-s, --status <status>', 'that they have').choices(sagaStatuses))
    .addOption(new Option('--outcome <outcome>', 'that they ended with').choices(sagaOutcomes))
    .addOption(new Option('--flag <flag>', 'that they have').choices(flags))
    .option('--service <name>', 'that reports them')
    .option('-q, --search <text>', 'in their ids, tags and errors')
    .option('--since <time>', 'created after it, like 2026-11-27T08:00:00Z')
    .option('-n, --limit <number>', 'at most so many, up to 100', wholeNumber, 20)
    .addHelpText('after', examples('saga ls --status Error', 'saga ls --flag stuck --service booking --json'))
    .action(listSagas)
  saga
    .command('show')
    .argument('<saga>', 'its id')
    .description('Show a saga with its activities and notes')
    .addOption(tenantOption())
    .addHelpText('after', examples('saga show booking-1', 'saga show booking-1 --tenant eu --json'))
    .action(showSaga)
  addWatchCommand(saga)
  saga
    .command('resolve')
    .argument('<saga>', 'its id')
    .description('Mark a saga with the status Error as resolved')
    .requiredOption('--note <text>', 'what was done')
    .addOption(tenantOption())
    .addHelpText('after', examples('saga resolve booking-1 --note "Refunded by hand"'))
    .action(resolveSaga)
  saga
    .command('note')
    .argument('<saga>', 'its id')
    .argument('<text>')
    .description('Create a note about a saga')
    .addOption(tenantOption())
    .addHelpText('after', examples('saga note booking-1 "Asked the bank"'))
    .action(writeNote)
}

interface ListOptions {
  tenant?: string
  status?: SagaStatus
  outcome?: SagaOutcome
  flag?: (typeof flags)[number]
  service?: string
  search?: string
  since?: string
  limit: number
}

async function listSagas(options: ListOptions, command: Command) {
  const { api, show } = sessionOf(command)
  const { tenant, status, outcome, flag, service, search, since, limit } = options
  const query = {
    tenant,
    status,
    outcome,
    search,
    service_name: service,
    created_after: since,
    per_page: limit,
    ...(flag && { [flag]: true }),
  }
  const sagas = await dataOf(api.GET('/sagas', { params: { query } }))
  const rows = sagas.map((saga) => [
    saga.saga_id,
    saga.service_name,
    saga.status,
    saga.outcome,
    flagsOf(saga),
    duration(saga.duration_ms ?? 0),
    instant(saga.first_seen_at),
  ])
  const headings = ['SAGA', 'SERVICE', 'STATUS', 'OUTCOME', 'FLAGS', 'DURATION', 'FIRST SEEN']
  show(sagas, sagas.length > 0 ? table(headings, rows) : 'No saga is found.')
}

const flagsOf = ({ flags, late }: Pick<Schemas['Saga'], 'flags' | 'late'>) =>
  [...new Set([...flags.map(({ kind }) => kind), ...(late ? ['late'] : [])])].join(', ')

interface TenantOptions {
  tenant?: string
}

async function showSaga(id: string, { tenant }: TenantOptions, command: Command) {
  const { api, show } = sessionOf(command)
  const saga = await dataOf(api.GET('/sagas/{id}', { params: { path: { id }, query: { tenant } } }))
  show(saga, describeSaga(saga))
}

function describeSaga(saga: Schemas['SagaDetail']): string {
  const { resolution } = saga
  const parts = [
    facts({
      saga: saga.saga_id,
      tenant: saga.tenant,
      service: saga.service_name,
      status: saga.status,
      outcome: saga.outcome,
      flags: flagsOf(saga),
      tags: saga.tags.join(', '),
      parent: saga.parent_saga_id,
      started: instant(saga.started_at),
      ended: instant(saga.ended_at),
      duration: saga.duration_ms === null ? undefined : duration(saga.duration_ms),
      resolved: resolution && `${instant(resolution.at)} by ${resolution.by ?? 'a former user'}`,
    }),
  ]
  if (saga.activities.length > 0)
    parts.push(table(['ACTIVITY', 'STATUS', 'ATTEMPTS', 'ERROR'], saga.activities.map(rowOf)))
  for (const note of saga.notes)
    parts.push(
      `${facts({ note: `${instant(note.created_at)} ${note.author.username}` })}\n${severalLines(note.body)}`,
    )
  return parts.join('\n\n')
}

function rowOf(activity: Schemas['SagaActivity']) {
  const { activity_id: id, status, execute_attempts: tries, compensate_attempts: undone } = activity
  const error = activity.compensate_errors ?? activity.execute_errors
  return [id, status, undone ? `${tries} + ${undone}` : tries, error?.text]
}

async function resolveSaga(id: string, options: TenantOptions & { note: string }, command: Command) {
  const { api, show } = sessionOf(command)
  const { tenant, note } = options
  const saga = await dataOf(
    api.POST('/sagas/{id}/resolve', { params: { path: { id } }, body: { tenant, note } }),
  )
  show(saga, facts({ saga: saga.saga_id, status: saga.status, resolved: instant(saga.resolution?.at) }))
}

async function writeNote(id: string, body: string, { tenant }: TenantOptions, command: Command) {
  const { api, show } = sessionOf(command)
  const note = await dataOf(
    api.POST('/sagas/{id}/notes', { params: { path: { id } }, body: { tenant, body } }),
  )
  show(note, facts({ note: note.id, author: note.author.username, written: instant(note.created_at) }))
}
