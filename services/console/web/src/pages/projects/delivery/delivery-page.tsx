import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo } from 'react'
import { Chart } from '../../../components/chart'
import { ChoiceFilter } from '../../../components/choice-field'
import { DataTable } from '../../../components/data-table'
import { FilterSelect } from '../../../components/fields'
import { Page, Panel } from '../../../components/page'
import { NotAllowed, Shown } from '../../../components/states'
import { oneOf } from '../../../lib/search-params'
import { serverNow } from '../../../lib/server-clock'
import { environmentNamesQuery } from '../deployments/environment-names'
import { useHasRole } from '../project-data'
import { useProject, useProjectPath } from '../project-frame'
import { figureText, type KeyFigures } from './four-keys'
import { fourKeysQuery } from './four-keys-query'

const route = getRouteApi('/projects/$namespace/$name/delivery')
const tiers = ['production', 'staging', 'testing', 'development', 'other'] as const
const spans = ['13', '26', '52'] as const

export const DeliveryPage = () => (useHasRole('reporter') ? <Delivery /> : <NotAllowed />)

function Delivery() {
  const { path_with_namespace } = useProject()
  const project = useProjectPath()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { environment } = search
  const tier = oneOf(tiers, search.tier) ?? 'production'
  const weeks = Number(oneOf(spans, search.weeks) ?? '26')
  const query = useQuery({
    ...fourKeysQuery(project, { weeks, tier, environment }, serverNow()),
    placeholderData: keepPreviousData,
  })
  const filter = (part: typeof search) => void navigate({ search: { ...search, ...part } })
  const filters = (
    <>
      <ChoiceFilter
        label="Environment"
        all="Every environment"
        value={environment}
        onChange={(value) => filter({ environment: value })}
        find={(text) => environmentNamesQuery(project, text)}
      />
      {environment === undefined && (
        <FilterSelect
          label="Tier"
          all="production"
          value={tier === 'production' ? undefined : tier}
          options={tiers.slice(1)}
          onChange={(value) => filter({ tier: value })}
        />
      )}
      <FilterSelect
        label="Time"
        all="26 weeks"
        value={weeks === 26 ? undefined : String(weeks)}
        options={spans
          .filter((span) => span !== '26')
          .map((span) => ({ value: span, label: `${span} weeks` }))}
        onChange={(value) => filter({ weeks: value })}
      />
    </>
  )
  return (
    <Page title={`Delivery of ${path_with_namespace}`} heading="Delivery">
      <Panel name="Four keys" actions={filters} flush busy={query.isFetching}>
        <Shown query={query}>
          {(figures) => (
            <DataTable
              label="Four keys"
              columns={columns(weeks)}
              rows={figures}
              rowKey={({ key }) => key.metric}
              busy={query.isPlaceholderData}
            />
          )}
        </Shown>
      </Panel>
      {query.data && <Weeks figures={query.data} />}
    </Page>
  )
}

const columns = (weeks: number) => [
  {
    header: 'Figure',
    cell: ({ key }: KeyFigures) => (
      <>
        <div className="font-medium">{key.name}</div>
        <div className="text-quiet">{key.definition}</div>
      </>
    ),
  },
  {
    header: `In ${weeks} weeks`,
    numeric: true,
    cell: ({ key, overall }: KeyFigures) => figureText(key, overall),
  },
  {
    header: 'This week',
    numeric: true,
    cell: ({ key, weeks }: KeyFigures) => figureText(key, weeks.at(-1)?.value ?? null),
  },
]

const Weeks = ({ figures }: { figures: KeyFigures[] }) => (
  <Panel name="Week by week">
    <div className="grid gap-6 md:grid-cols-2">
      {figures.map((each) => (
        <KeyChart key={each.key.metric} figures={each} />
      ))}
    </div>
  </Panel>
)

function KeyChart({ figures: { key, weeks } }: { figures: KeyFigures }) {
  const { times, series } = useMemo(
    () => ({
      times: weeks.map(({ date }) => Date.parse(date ?? '')),
      series: [
        {
          name: key.name,
          color: key.color,
          values: weeks.map(({ value }) => (value === null ? null : key.drawn(value))),
        },
      ],
    }),
    [key, weeks],
  )
  const { chart, axis, steps } = key
  return <Chart name={chart} times={times} series={series} format={axis} steps={steps} weekly />
}
