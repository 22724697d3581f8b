import { type Column, DataTable } from '../../../components/data-table'
import type { DeploymentImpact, ImpactFinding, ImpactQueueFigures } from '../../../generated/types.gen'
import { secondsText, shareText } from './impact-text'
import { CommonCause, Proof } from './service-figures'

type Queues = DeploymentImpact['queues'][number]

interface Row {
  name: string
  show: (figures: ImpactQueueFigures) => string
  measure?: ImpactFinding['measure']
}

const rows: Row[] = [
  {
    name: 'Latency, median',
    show: ({ latency_p50, samples }) => secondsText(latency_p50, samples, 'sample'),
    measure: 'queue_latency',
  },
  {
    name: 'Latency, 95th percentile',
    show: ({ latency_p95, samples }) => secondsText(latency_p95, samples, 'sample'),
  },
  {
    name: 'Failed attempts',
    show: ({ failed_jobs, jobs }) => shareText(failed_jobs, jobs, 'job'),
    measure: 'failed_jobs',
  },
]

/** The figures of the queues of a service before and after a deployment. */
export function QueueFigures({ queues, finishedAt }: { queues: Queues; finishedAt: string | null }) {
  const { service_name, common_cause, before, after, findings } = queues
  const heading = `Queues of ${service_name}`
  const columns: Column<Row>[] = [
    { header: 'Figure', cell: ({ name }) => <span className="wrap-normal">{name}</span> },
    { header: 'Before', cell: ({ show }) => show(before) },
    {
      header: 'After',
      cell: ({ show, measure }) => (
        <>
          {show(after)}
          {findings
            .filter((finding) => finding.measure === measure)
            .map((finding) => (
              <Proof key={finding.measure} finding={finding} finishedAt={finishedAt} />
            ))}
        </>
      ),
    },
  ]
  return (
    <section aria-label={heading}>
      <h3 className="mb-1 font-medium">
        <bdi>{heading}</bdi>
      </h3>
      {common_cause && <CommonCause />}
      <DataTable label={heading} columns={columns} rows={rows} rowKey={({ name }) => name} />
    </section>
  )
}
