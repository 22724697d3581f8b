import { useQueries, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { get } from '../../api/client'
import { Badge } from '../../components/badge'
import { type Column, DataTable } from '../../components/data-table'
import { guarded } from '../../components/guarded'
import { Page, Panel } from '../../components/page'
import { Shown } from '../../components/states'
import { Time } from '../../components/time'
import type { System } from '../../generated/types.gen'
import { bytes, count, duration } from '../../lib/format'

const refetchMs = 10_000
const services = ['git-api', 'saga-reporter', 'admin-broadcast', 'jobqueue-metrics', 'worker', 'console']

interface Readiness {
  status: string
  checks: Record<string, unknown>
}

interface ServiceRow {
  name: string
  state: 'ready' | 'not ready' | 'away' | 'unknown'
  problems: string[]
}

export const SystemPage = guarded('system', SystemState)

function SystemState() {
  const system = useQuery({
    queryKey: ['system'],
    queryFn: ({ signal }) => get<System>('/system', {}, signal),
    refetchInterval: refetchMs,
  })
  const readiness = useQueries({
    queries: services.map((name) => ({
      queryKey: ['system', 'readiness', name],
      queryFn: ({ signal }: { signal: AbortSignal }) => askReadiness(name, signal),
      refetchInterval: refetchMs,
    })),
  })
  const rows = services.map(
    (name, index): ServiceRow => readiness[index]?.data ?? { name, state: 'unknown', problems: [] },
  )
  return (
    <Page title="System">
      <Panel name="All services" flush busy={readiness.some(({ isPending }) => isPending)}>
        <DataTable label="Services" rows={rows} rowKey={({ name }) => name} columns={serviceColumns} />
      </Panel>
      <Shown query={system}>{(found) => <Figures system={found} />}</Shown>
    </Page>
  )
}

/** Reads which parts of a service fail. For an unreachable service, the gateway answers. */
async function askReadiness(name: string, signal: AbortSignal): Promise<ServiceRow> {
  const response = await fetch(`/-/${name}/readiness`, { signal }).catch(() => undefined)
  if (response?.ok) return { name, state: 'ready', problems: [] }
  if (response?.status !== 503) return { name, state: 'away', problems: [] }
  const { checks = {} } = (await response.json().catch(() => ({}))) as Partial<Readiness>
  const problems = Object.entries(checks).flatMap(([part, said]) => (said === 'ok' ? [] : [part]))
  return { name, state: problems.length > 0 ? 'not ready' : 'away', problems }
}

const tones = { ready: 'good', 'not ready': 'bad', away: 'bad', unknown: 'plain' } as const

const serviceColumns: Column<ServiceRow>[] = [
  { header: 'Service', cell: ({ name }) => name },
  { header: 'State', cell: ({ state }) => <Badge tone={tones[state]}>{state}</Badge> },
  {
    header: 'What fails',
    cell: ({ problems, state }) =>
      problems.length > 0
        ? problems.join(', ')
        : state === 'away'
          ? 'It does not answer; its log says why.'
          : '–',
  },
]

function Figures({ system }: { system: System }) {
  const { database, redis, storage } = system
  return (
    <>
      <div className="grid gap-x-5 md:grid-cols-2">
        <Panel name="Versions">
          <Facts
            facts={[
              ['Switchyard', system.version],
              ['Commit', system.revision.slice(0, 11)],
              ['Commit of', system.revision_at && <Time key="revision" at={system.revision_at} />],
              ['Node', system.node_version],
              ['git', system.git_version],
              ['PostgreSQL', database?.version],
              ['Redis', redis?.version],
              ['git-api started', <Time key="started" at={system.started_at} />],
            ]}
          />
        </Panel>
        <Panel name="Space">
          <Facts
            facts={[
              ['Repositories: free', storage && bytes(storage.free_bytes)],
              ['Repositories: disk', storage && bytes(storage.total_bytes)],
              ['Database', database && bytes(database.size_bytes)],
              ['Connections', database && `${database.connections} of ${database.connections_max}`],
              ['Redis', redis && bytes(redis.used_memory_bytes)],
              ['Users, projects', database && `${count(database.users)}, ${count(database.projects)}`],
            ]}
          />
          {storage && <FreeSpace {...storage} />}
        </Panel>
      </div>
      {database && (
        <Panel name="Largest tables" flush>
          <DataTable
            label="Tables"
            rows={database.tables}
            rowKey={({ name }) => name}
            columns={tableColumns}
          />
        </Panel>
      )}
      {system.audit_exports !== null && system.audit_exports.length > 0 && (
        <Panel name="Audit log to other systems" flush>
          <DataTable
            label="Destinations of the audit log"
            rows={system.audit_exports}
            rowKey={({ destination }) => destination}
            columns={exportColumns}
          />
        </Panel>
      )}
      <p className="text-sm text-quiet">Up for {duration(system.uptime_seconds * 1000)}.</p>
    </>
  )
}

const tableColumns: Column<NonNullable<System['database']>['tables'][number]>[] = [
  { header: 'Table', cell: ({ name }) => <code>{name}</code> },
  { header: 'Size', numeric: true, cell: ({ size_bytes }) => bytes(size_bytes) },
  { header: 'Rows, about', numeric: true, cell: ({ rows_estimate }) => count(Math.max(0, rows_estimate)) },
]

const exportColumns: Column<NonNullable<System['audit_exports']>[number]>[] = [
  { header: 'Destination', cell: ({ destination }) => destination },
  {
    header: 'State',
    cell: ({ failing_since, waiting_since }) =>
      failing_since !== null ? (
        <Badge tone="bad">fails</Badge>
      ) : (
        <Badge tone={waiting_since === null ? 'good' : 'plain'}>
          {waiting_since === null ? 'up to date' : 'sending'}
        </Badge>
      ),
  },
  {
    header: 'Last entry',
    wide: true,
    cell: ({ exported_at }) => (exported_at ? <Time at={exported_at} /> : '–'),
  },
  {
    header: 'Lacks entries since',
    wide: true,
    cell: ({ waiting_since }) => (waiting_since ? <Time at={waiting_since} /> : '–'),
  },
  { header: 'Last error', cell: ({ last_error }) => last_error ?? '–' },
]

const Facts = ({ facts }: { facts: [string, ReactNode][] }) => (
  <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1">
    {facts.map(([name, value]) => (
      <div key={name} className="contents">
        <dt className="text-quiet">{name}</dt>
        <dd className="text-right tabular-nums">{value ?? 'does not answer'}</dd>
      </div>
    ))}
  </dl>
)

const lowSpace = 0.1

function FreeSpace({ free_bytes, total_bytes }: { free_bytes: number; total_bytes: number }) {
  if (free_bytes / total_bytes > lowSpace) return null
  return (
    <p role="alert" className="mt-3 rounded-md bg-bad-soft px-3 py-2 text-bad">
      Less than a tenth of the disk is free. Pushes fail when it is full.
    </p>
  )
}
