import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { getPage, send } from '../../../api/client'
import { ActionDialog } from '../../../components/action-dialog'
import { Badge, State } from '../../../components/badge'
import { Button } from '../../../components/button'
import { type Column, DataTable } from '../../../components/data-table'
import { Panel } from '../../../components/page'
import { Pager } from '../../../components/pager'
import { SearchBox } from '../../../components/search-box'
import { Empty, Shown } from '../../../components/states'
import { TextLink } from '../../../components/text-link'
import { Time } from '../../../components/time'
import type { EnvironmentWithProject, Freeze } from '../../../generated/types.gen'
import { isWebAddress } from '../../../lib/format'
import { pageOf } from '../../../lib/search-params'
import { useMayChange } from '../project-data'
import { useProjectParams, useProjectPath } from '../project-frame'
import { isFrozen, useFreezes } from './freezes-panel'

const route = getRouteApi('/projects/$namespace/$name/deployments')
const perPage = 20
/** Shortest text that the API can search for. */
const searchedCharsMin = 3

type Environment = EnvironmentWithProject
type Action = 'Stop' | 'Delete'

export function EnvironmentsPanel() {
  const project = useProjectPath()
  const given = route.useSearch()
  const navigate = route.useNavigate()
  const page = pageOf(given.environments)
  const search = (given.q?.length ?? 0) < searchedCharsMin ? undefined : given.q
  const query = useQuery({
    queryKey: [project, 'environments', search, page],
    queryFn: ({ signal }) =>
      getPage<Environment>(`${project}/environments`, { search, page, per_page: perPage }, signal),
    placeholderData: keepPreviousData,
  })
  const change = (part: typeof given) => void navigate({ search: { ...given, ...part }, resetScroll: false })
  const { data: freezes } = useFreezes()
  const mayChange = useMayChange('developer')
  const [chosen, setChosen] = useState<{ environment: Environment; action: Action }>()
  const columns = [
    ...factColumns(freezes),
    ...(mayChange
      ? [
          {
            header: 'Actions',
            cell: (environment: Environment) => {
              const action = environment.state === 'available' ? 'Stop' : 'Delete'
              return (
                <Button
                  aria-label={`${action} ${environment.name}`}
                  onClick={() => setChosen({ environment, action })}
                >
                  {action}
                </Button>
              )
            },
          },
        ]
      : []),
  ]
  return (
    <Panel
      name="Environments"
      flush
      busy={query.isPending}
      actions={
        <SearchBox
          value={given.q}
          placeholder="Part of the name"
          onChange={(q) => change({ q, environments: undefined })}
        />
      }
    >
      <Shown query={query}>
        {({ rows, total, nextPage }) => (
          <>
            <DataTable
              label="Environments"
              columns={columns}
              rows={rows}
              rowKey={({ id }) => id}
              empty={given.q ? noneFound : none}
            />
            <Pager
              page={page}
              nextPage={nextPage}
              total={total}
              onMove={(to) => change({ environments: String(to) })}
            />
          </>
        )}
      </Shown>
      {chosen && <ChangeDialog {...chosen} onClose={() => setChosen(undefined)} />}
    </Panel>
  )
}

const factColumns = (freezes: readonly Freeze[] | undefined): Column<Environment>[] => [
  { header: 'Name', cell: (environment: Environment) => <Name environment={environment} /> },
  {
    header: 'State',
    cell: ({ name, state }: Environment) => (
      <span className="flex flex-wrap gap-1">
        <State of={state} />
        {isFrozen(name, freezes) && <Badge tone="warn">frozen</Badge>}
      </span>
    ),
  },
  { header: 'Tier', wide: true, cell: ({ tier }: Environment) => <Badge>{tier}</Badge> },
  {
    header: 'Description',
    wide: true,
    cell: ({ description }: Environment) => <span dir="auto">{description ?? '–'}</span>,
  },
  { header: 'Changed', wide: true, cell: ({ updated_at }: Environment) => <Time at={updated_at} /> },
]

const none = <Empty title="There are no environments.">The first deployment to one makes it.</Empty>
const noneFound = <Empty title="No environment has this in its name.">Search for another text.</Empty>

function Name({ environment: { name, external_url } }: { environment: Environment }) {
  const params = useProjectParams()
  return (
    <span className="flex flex-wrap gap-x-3">
      <TextLink
        to="/projects/$namespace/$name/deployments"
        params={params}
        search={{ environment: name }}
        dir="auto"
      >
        {name}
      </TextLink>
      {external_url && isWebAddress(external_url) && (
        <a href={external_url} rel="noreferrer" className="text-quiet break-all hover:underline">
          {external_url}
        </a>
      )}
    </span>
  )
}

function ChangeDialog({
  environment: { id, name },
  action,
  onClose,
}: {
  environment: Environment
  action: Action
  onClose: () => void
}) {
  const client = useQueryClient()
  const project = useProjectPath()
  const run = async () => {
    const address = `${project}/environments/${id}`
    await (action === 'Stop' ? send('POST', `${address}/stop`, {}) : send('DELETE', address))
    await client.invalidateQueries()
    onClose()
  }
  return (
    <ActionDialog title={`${action} ${name}`} action={action} look="danger" run={run} onClose={onClose}>
      <p>
        {action === 'Stop'
          ? 'The environment is noted as stopped. The next successful deployment starts it again.'
          : 'The environment and all of its deployments are deleted.'}
      </p>
    </ActionDialog>
  )
}
