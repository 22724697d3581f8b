import { State } from '../../../components/badge'
import { type Column, DataTable } from '../../../components/data-table'
import { TextLink } from '../../../components/text-link'
import { Time } from '../../../components/time'
import type { EndedDeployment } from '../../../generated/types.gen'
import { count, duration, firstLine } from '../../../lib/format'
import { isBlamed } from '../../projects/deployments/became-worse'
import { BandLink } from './band-lane'
import type { Band } from './bands'
import { deploymentKey, deploymentParams, endOf, findingsText } from './deployment-lane'
import type { Cause, Span } from './time-line-model'

interface Content {
  span: Span
  deployments: readonly EndedDeployment[]
  bands: readonly Band[]
  causes: readonly Cause[] | undefined
  latencies: readonly (number | null)[]
}

/** The content of the picture as tables. */
export const TimeLineTables = (content: Content) => (
  <details className="mt-2">
    <summary className="w-fit text-sm text-accent">As tables</summary>
    <div className="mt-2 grid grid-cols-[minmax(0,1fr)] gap-4">
      <Events {...content} />
      <Figures {...content} />
    </div>
  </details>
)

interface Event {
  key: string
  at: number
  deployment?: EndedDeployment
  band?: Band
}

function Events({ deployments, bands }: Content) {
  const events: Event[] = [
    ...deployments.map((deployment) => ({
      key: deploymentKey(deployment),
      at: endOf(deployment),
      deployment,
    })),
    ...bands.map((band) => ({ key: band.key, at: band.from, band })),
  ]
  return (
    <DataTable
      label="Deployments, freezes and broadcasts"
      columns={eventColumns}
      rows={events.sort((a, b) => b.at - a.at)}
      rowKey={({ key }) => key}
      empty={<p className="text-sm text-quiet">No deployment, freeze or broadcast was in this time.</p>}
    />
  )
}

const eventColumns: Column<Event>[] = [
  {
    header: 'What',
    cell: ({ deployment, band }) => (
      <div className="min-w-32">
        {deployment && (
          <TextLink
            to="/projects/$namespace/$name/deployments/$deploymentId"
            params={deploymentParams(deployment)}
          >
            Deployment {deployment.iid} of <bdi>{deployment.project.path_with_namespace}</bdi>
          </TextLink>
        )}
        {band && (
          <BandLink band={band}>
            <bdi>{band.text}</bdi>
          </BandLink>
        )}
      </div>
    ),
  },
  {
    header: 'Details',
    cell: ({ deployment, band }) => (
      <>
        {deployment && (
          <>
            <State of={deployment.status} /> to <bdi>{deployment.environment.name}</bdi>
            {isBlamed(deployment) && <>, worse since then: {findingsText(deployment)}</>}
          </>
        )}
        {band && Number.isFinite(band.to) && (
          <>
            until <Time at={new Date(band.to).toISOString()} absolute />
          </>
        )}
      </>
    ),
  },
  { header: 'Time', cell: ({ at }) => <Time at={new Date(at).toISOString()} absolute /> },
]

const headerCharsMax = 40

interface Bucket {
  at: number
  index: number
}

function Figures({ span, causes = [], latencies }: Content) {
  const buckets = Array.from({ length: span.buckets }, (_, index) => ({
    index,
    at: span.from + index * span.bucketMs,
  }))
  const columns: Column<Bucket>[] = [
    { header: 'From', cell: ({ at }) => <Time at={new Date(at).toISOString()} absolute /> },
    ...causes.map(({ name, counts }, number) => ({
      header: `${number + 1}. ${firstLine(name, headerCharsMax)}`,
      numeric: true,
      cell: ({ index }: Bucket) => count(counts[index] ?? 0),
    })),
    { header: 'Latency of queues', numeric: true, cell: ({ index }) => latencyText(latencies[index]) },
  ]
  return (
    <DataTable
      label="Failures of sagas and latency of queues"
      columns={columns}
      rows={buckets.reverse()}
      rowKey={({ index }) => index}
    />
  )
}

const latencyText = (seconds: number | null | undefined): string =>
  seconds === null || seconds === undefined ? 'unknown' : duration(seconds * 1000)
