import { auditedEntities } from '@switchyard/domain/audit'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Fragment } from 'react'
import { getPage } from '../../api/client'
import { Badge } from '../../components/badge'
import { Button } from '../../components/button'
import { ByJob } from '../../components/by-job'
import { type Column, DataTable } from '../../components/data-table'
import { FilterSelect } from '../../components/fields'
import { guarded } from '../../components/guarded'
import { Page, Panel } from '../../components/page'
import { TokenPager } from '../../components/pager'
import { SearchBox } from '../../components/search-box'
import { Empty, Shown } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { Time } from '../../components/time'
import type { AuditEvent, JobIdentity } from '../../generated/types.gen'

const route = getRouteApi('/admin/audit')

export const AuditPage = guarded('audit', Audit)

const filters = [
  'entity_type',
  'entity_id',
  'author_id',
  'event_name',
  'created_after',
  'created_before',
] as const

const searchedCharsMin = 3

function Audit() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { q, page_token, ...asked } = search
  const token = page_token && /^\d{1,9}$/.test(page_token) ? page_token : undefined
  // The API refuses a shorter text, so it does not filter the list.
  const text = q && q.trim().length >= searchedCharsMin ? q : undefined
  const events = useQuery({
    queryKey: ['audit', search],
    queryFn: ({ signal }) =>
      getPage<AuditEvent>(
        '/audit_events',
        { ...asked, search: text, pagination: 'keyset', page_token: token, per_page: 50 },
        signal,
      ),
    placeholderData: (before) => before,
  })
  return (
    <Page title="Audit log">
      <AuditFilters />
      <Shown query={events}>
        {({ rows, nextToken }) => (
          <Panel name="Events" flush busy={events.isFetching}>
            <DataTable
              label="Audit log"
              rows={rows}
              rowKey={({ id }) => id}
              columns={columns}
              empty={
                <Empty title="No event fits.">
                  Every change of users, tokens, members, protections, webhooks, messages and sagas is written
                  here.
                </Empty>
              }
            />
            <TokenPager
              token={token}
              nextToken={nextToken}
              onMove={(next) => void navigate({ search: { ...search, page_token: next } })}
            />
          </Panel>
        )}
      </Shown>
    </Page>
  )
}

function AuditFilters() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const used = filters.filter((name) => search[name] !== undefined)
  const isShort = search.q !== undefined && search.q.trim().length < searchedCharsMin
  return (
    <div className="mb-4 flex flex-wrap items-center gap-2">
      <SearchBox
        value={search.q}
        placeholder="Event, entity or author"
        onChange={(q) => void navigate({ search: { ...search, page_token: undefined, q } })}
      />
      <FilterSelect
        label="Kind"
        all="Every kind"
        value={search.entity_type}
        options={auditedEntities}
        onChange={(entity_type) =>
          void navigate({ search: { ...search, page_token: undefined, entity_id: undefined, entity_type } })
        }
      />
      {isShort && (
        <p role="status" className="text-sm text-quiet">
          The search begins with {searchedCharsMin} characters.
        </p>
      )}
      {used.map((name) => (
        <Button
          key={name}
          onClick={() => void navigate({ search: { ...search, page_token: undefined, [name]: undefined } })}
          aria-label={`Remove the filter ${name}`}
        >
          {name.replaceAll('_', ' ')}: {search[name]} ✕
        </Button>
      ))}
      {used.length > 0 ? (
        <Button look="quiet" onClick={() => void navigate({ search: {} })}>
          Remove all filters
        </Button>
      ) : (
        <p className="text-sm text-quiet">A link in a row shows the events like it.</p>
      )}
    </div>
  )
}

const columns: Column<AuditEvent>[] = [
  { header: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    header: 'Event',
    cell: ({ event_name }) => (
      <TextLink to="/admin/audit" search={{ event_name }}>
        {event_name.split(/(?<=_)/).map((word) => (
          <Fragment key={word}>
            <span className="whitespace-nowrap">{word}</span>
            <wbr />
          </Fragment>
        ))}
      </TextLink>
    ),
  },
  {
    header: 'Who',
    wide: true,
    cell: ({ author_id, details }) =>
      author_id === null ? (
        <span dir="auto">{details.author_name}</span>
      ) : (
        <TextLink to="/admin/audit" search={{ author_id: String(author_id) }} dir="auto">
          {details.author_name}
        </TextLink>
      ),
  },
  {
    header: 'What',
    cell: ({ entity_type, entity_id }) => (
      <TextLink to="/admin/audit" search={{ entity_type, entity_id }}>
        <Badge>{entity_type}</Badge> <span dir="auto">{entity_id}</span>
      </TextLink>
    ),
  },
  { header: 'Details', wide: true, cell: ({ details }) => <Details details={details} /> },
]

function Details({ details }: { details: AuditEvent['details'] }) {
  const { author_name: _name, token_id, ip_address, ...changed } = details
  const job = jobOf(details)
  const parts = Object.entries({ ...changed, ip_address, token_id }).filter(
    ([name, value]) => value !== null && !(job && shownOfJob.has(name)),
  )
  return (
    <>
      <ByJob job={job} />
      <DetailList parts={parts} />
    </>
  )
}

/** Details that the line about the job already shows. */
const shownOfJob = new Set(['job_repository', 'job_ref', 'job_run', 'job_url'])

/** Returns the CI job that acted; null: none. */
function jobOf(details: Record<string, unknown>): JobIdentity | null {
  const text = (name: string) => {
    const value = details[`job_${name}`]
    return typeof value === 'string' ? value : null
  }
  const [issuer, subject] = [text('issuer'), text('subject')]
  if (issuer === null || subject === null) return null
  return {
    issuer,
    subject,
    repository: text('repository'),
    ref: text('ref'),
    run: text('run'),
    url: text('url'),
  }
}

function DetailList({ parts }: { parts: [string, unknown][] }) {
  return (
    <dl className="grid max-w-xl grid-cols-[auto_1fr] gap-x-3 text-xs text-quiet">
      {parts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt>{name}</dt>
          <dd className="break-all" dir="auto">
            {typeof value === 'string' ? value : JSON.stringify(value)}
          </dd>
        </div>
      ))}
    </dl>
  )
}
