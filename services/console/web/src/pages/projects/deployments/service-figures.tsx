import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { get } from '../../../api/client'
import { useMay } from '../../../api/session'
import { Badge } from '../../../components/badge'
import { type Column, DataTable } from '../../../components/data-table'
import { TextLink } from '../../../components/text-link'
import { Time } from '../../../components/time'
import type { DeploymentImpact, ImpactFigures, ImpactFinding, SagaStats } from '../../../generated/types.gen'
import { firstLine } from '../../../lib/format'
import type { SagaSearch } from '../../sagas/saga-filter'
import { beganText, changeText, confidenceText, failedOf, secondsText, shareText } from './impact-text'

type Service = DeploymentImpact['services'][number]
type Side = 'before' | 'after'

/** A figure before and after a deployment, with its findings. */
interface Row {
  name: string
  show: (figures: ImpactFigures, list: SagaSearch) => ReactNode
  findings: ImpactFinding[]
}

/** The figures of a service before and after a deployment, with links to the counted sagas. */
export function ServiceFigures({
  service,
  impact,
  finishedAt,
}: {
  service: Service
  impact: DeploymentImpact
  finishedAt: string | null
}) {
  const { service_name, tenant, common_cause } = service
  const place = { service: service_name, tenant: tenant === 'default' ? undefined : tenant }
  const listOf = (side: Side): SagaSearch => ({ ...place, from: impact[side]?.from, to: impact[side]?.to })
  const columns: Column<Row>[] = [
    { header: 'Figure', cell: ({ name }) => <span className="wrap-normal">{name}</span> },
    { header: 'Before', cell: ({ show }) => show(service.before, listOf('before')) },
    {
      header: 'After',
      cell: ({ show, findings }) => (
        <>
          {show(service.after, listOf('after'))}
          {findings.map((finding) => (
            <Proof key={finding.measure} finding={finding} finishedAt={finishedAt} />
          ))}
        </>
      ),
    },
  ]
  const heading = tenant === 'default' ? service_name : `${service_name} of ${tenant}`
  return (
    <section aria-label={`Figures of ${heading}`}>
      <h3 className="mb-1 font-medium">
        <bdi>{heading}</bdi>
      </h3>
      {common_cause && <CommonCause />}
      <DataTable
        label={`Figures of ${heading}`}
        columns={columns}
        rows={rowsOf(service)}
        rowKey={({ name }) => name}
      />
      <NewFailures
        service={service}
        list={listOf('after')}
        began={impact.before?.from}
        finishedAt={finishedAt}
      />
    </section>
  )
}

function rowsOf({ findings }: Service): Row[] {
  const found = (measure: ImpactFinding['measure']) => findings.filter((each) => each.measure === measure)
  return [
    {
      name: 'Failed or compensated',
      show: (figures, list) => (
        <>
          {shareText(failedOf(figures), figures.sagas)}
          <Lists
            lists={[
              ['failed', figures.failed, { ...list, status: 'Error' }],
              ['compensated', figures.compensated, { ...list, outcome: 'compensated' }],
            ]}
          />
        </>
      ),
      findings: found('failures'),
    },
    {
      name: 'Stuck',
      show: (figures, list) => (
        <>
          {shareText(figures.stuck, figures.sagas)}
          <Lists lists={[['stuck', figures.stuck, { ...list, flag: 'stuck' }]]} />
        </>
      ),
      findings: found('stuck'),
    },
    {
      name: 'Duration, median',
      show: (figures, list) => (
        <>
          {secondsText(figures.duration_p50, figures.timed_sagas, 'saga')}
          <Lists lists={[['ended', figures.timed_sagas, { ...list, outcome: 'succeeded' }]]} />
        </>
      ),
      findings: found('duration'),
    },
    {
      name: 'Duration, 95th percentile',
      show: ({ duration_p95, timed_sagas }) => secondsText(duration_p95, timed_sagas, 'saga'),
      findings: [],
    },
  ]
}

/** Links to lists of sagas that began in the window. */
function Lists({ lists }: { lists: [name: string, sagas: number, search: SagaSearch][] }) {
  const maySeeSagas = useMay('sagas')
  const some = lists.filter(([, sagas]) => sagas > 0)
  if (!maySeeSagas || some.length === 0) return null
  return (
    <span className="flex flex-wrap gap-x-2">
      {some.map(([name, , search]) => (
        <TextLink key={name} to="/sagas" search={search}>
          {name}
        </TextLink>
      ))}
    </span>
  )
}

export const CommonCause = () => (
  <p className="mb-1 text-sm">
    Services that were not deployed became worse at the same moment, so the deployment is not blamed.
  </p>
)

export const Proof = ({ finding, finishedAt }: { finding: ImpactFinding; finishedAt: string | null }) => (
  <div className="md:min-w-40">
    <Badge tone="bad">worse</Badge> {beganText(finding.began_at, finishedAt)} the deployment
    <p className="text-quiet">
      {changeText(finding)}; confidence {confidenceText(finding.chance)} ({finding.test}).{' '}
      {finding.recovered_at ? (
        <>
          Back as before: <Time at={finding.recovered_at} />.
        </>
      ) : (
        'Not back as before yet, which shows after 15 good minutes at the earliest.'
      )}
    </p>
  </div>
)

const sampleCharsMax = 200

/** Reads the texts of failures by their fingerprints; nothing for sessions that may not read sagas. */
function useSamples(
  { service, tenant, to }: SagaSearch,
  began: string | undefined,
  enabled: boolean,
): ReadonlyMap<string, string> {
  const question = { service_name: service, tenant, created_after: began, created_before: to }
  const { data } = useQuery({
    queryKey: ['sagas', 'stats', question],
    queryFn: ({ signal }) => get<SagaStats>('/sagas/stats', question, signal),
    enabled,
  })
  const failures = data?.failures ?? []
  return new Map(failures.map(({ fingerprint, sample }) => [fingerprint, firstLine(sample, sampleCharsMax)]))
}

function NewFailures({
  service: { new_failures, findings, after },
  list,
  began,
  finishedAt,
}: {
  service: Service
  list: SagaSearch
  /**
   * Start of the window before the deployment, because sagas that failed after it may have begun before it.
   */
  began: string | undefined
  finishedAt: string | null
}) {
  const maySeeSagas = useMay('sagas')
  const samples = useSamples(list, began, maySeeSagas && new_failures.length > 0)
  if (new_failures.length === 0) return null
  return (
    <>
      <h4 className="mt-2 text-sm font-medium">Failures that did not occur in the two weeks before</h4>
      <ul className="grid gap-2 text-sm">
        {new_failures.map(({ fingerprint, sagas }) => {
          const finding = findings.find((each) => each.fingerprint === fingerprint)
          return (
            <li key={fingerprint} className="flex flex-wrap items-baseline gap-x-3">
              {maySeeSagas ? (
                <TextLink
                  to="/sagas"
                  search={{ ...list, fingerprint }}
                  dir="auto"
                  className="font-mono wrap-anywhere"
                >
                  {samples.get(fingerprint) || fingerprint}
                </TextLink>
              ) : (
                <span className="font-mono">{fingerprint}</span>
              )}
              <span>{shareText(sagas, after.sagas)}</span>
              {finding && <Proof finding={finding} finishedAt={finishedAt} />}
            </li>
          )
        })}
      </ul>
    </>
  )
}
