import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { getPage } from '../../api/client'
import { useMay } from '../../api/session'
import { type Column, DataTable } from '../../components/data-table'
import { FilterSelect } from '../../components/fields'
import { guarded } from '../../components/guarded'
import { Page, Panel } from '../../components/page'
import { Pager } from '../../components/pager'
import { Empty, Shown } from '../../components/states'
import { TextLink } from '../../components/text-link'
import type { SagaCommand } from '../../generated/types.gen'
import { oneOf, pageOf } from '../../lib/search-params'
import { BatchPanel } from './command-batch'
import { commandColumns, commandStates, type Deciding, DecisionDialog, openPeriodMs } from './command-parts'
import { SagaListBar } from './saga-filters'

const route = getRouteApi('/commands')
const perPage = 50

export const CommandsPage = guarded('sagas', Commands)

/** The commands of operators to orchestrators, with the decisions about waiting ones. */
function Commands() {
  const search = route.useSearch()
  const { tenant, batch } = search
  const navigate = route.useNavigate()
  const mayChange = useMay('sagas.change')
  const [deciding, setDeciding] = useState<Deciding>()
  const page = pageOf(search.page)
  const state = oneOf(
    commandStates.map(({ value }) => value),
    search.state,
  )
  const query = useQuery({
    queryKey: ['saga-commands', tenant ?? '', '', state, batch, page],
    queryFn: ({ signal }) =>
      getPage<SagaCommand>(
        '/sagas/commands',
        { tenant, state, batch_id: batch, page, per_page: perPage },
        signal,
      ),
    placeholderData: (before) => before,
    refetchInterval: openPeriodMs,
  })
  return (
    <Page title="Commands">
      <SagaListBar tenant={tenant} onTenant={(given) => void navigate({ search: { tenant: given, state } })}>
        <FilterSelect
          label="State"
          all="All states"
          value={state}
          options={commandStates}
          onChange={(given) => void navigate({ search: { tenant, state: given, batch } })}
        />
      </SagaListBar>
      {batch !== undefined && <BatchPanel tenant={tenant} batch={batch} />}
      <Panel name="Commands" flush busy={query.isPending}>
        <Shown query={query}>
          {({ rows, nextPage, total }) => (
            <>
              <DataTable
                label="Commands"
                rows={rows}
                rowKey={({ id }) => id}
                columns={[sagaColumn, batchColumn, ...commandColumns(mayChange ? setDeciding : undefined)]}
                empty={
                  <Empty title="Nobody has asked anything of an orchestrator">
                    Ask on the page of a saga, under Commands.
                  </Empty>
                }
              />
              <Pager
                page={page}
                nextPage={nextPage}
                total={total}
                onMove={(next) => void navigate({ search: { ...search, page: String(next) } })}
              />
            </>
          )}
        </Shown>
      </Panel>
      {deciding && <DecisionDialog {...deciding} onClose={() => setDeciding(undefined)} />}
    </Page>
  )
}

const sagaColumn: Column<SagaCommand> = {
  header: 'Saga',
  cell: ({ saga_id, tenant }) => (
    <TextLink to="/sagas/$sagaId" params={{ sagaId: saga_id }} search={{ tenant }}>
      <span dir="auto" className="wrap-anywhere">
        {saga_id}
      </span>
    </TextLink>
  ),
}

const batchColumn: Column<SagaCommand> = {
  header: 'Batch',
  wide: true,
  cell: ({ batch_id, tenant }) =>
    batch_id !== null && (
      <TextLink to="/commands" search={{ tenant, batch: batch_id }} className="font-mono text-[13px]">
        {batch_id.slice(0, 8)}
      </TextLink>
    ),
}
