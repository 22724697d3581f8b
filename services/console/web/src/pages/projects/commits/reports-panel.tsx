import { queryOptions, useQuery } from '@tanstack/react-query'
import { ApiError, get, segment } from '../../../api/client'
import { Badge, type Tone } from '../../../components/badge'
import { DataTable } from '../../../components/data-table'
import { Panel } from '../../../components/page'
import { Problem } from '../../../components/states'
import { TextLink } from '../../../components/text-link'
import type { CountedTests, StatusReportChanges, TestCase } from '../../../generated/types.gen'
import { count, countOf, duration, shortSha } from '../../../lib/format'
import { FindingLevel } from '../code/finding-parts'
import type { Finding } from '../code/findings-context'
import { useProjectParams } from '../project-frame'

export const reportChangesQuery = (project: string, sha: string) =>
  queryOptions({
    queryKey: [project, 'commit', sha, 'report-changes'],
    queryFn: ({ signal }) =>
      get<StatusReportChanges[]>(`${project}/statuses/${segment(sha)}/report_changes`, {}, signal),
  })

/** The results of a commit's tests and analyses, compared with its parent; nothing without a report. */
export function ReportsPanel({ project, sha }: { project: string; sha: string }) {
  const { data = [], error, refetch } = useQuery(reportChangesQuery(project, sha))
  const problem = isRefusal(error) ? null : error
  if (data.length === 0 && !problem) return null
  return (
    <Panel name="Reports">
      {problem && <Problem error={problem} retry={refetch} />}
      {data.map((changes) => (
        <Report key={changes.report.id} changes={changes} sha={sha} />
      ))}
    </Panel>
  )
}

/**
 * Returns whether an error is a refusal. A viewer of a commit in a public project may not be allowed to see
 * its reports.
 */
const isRefusal = (error: unknown) => error instanceof ApiError && [401, 403, 404].includes(error.status)

function Report({ changes, sha }: { changes: StatusReportChanges; sha: string }) {
  const { report, parent_sha } = changes
  return (
    <section aria-label={`Report ${report.name} (${report.format})`} className="mb-5 last:mb-0">
      <h3 className="flex flex-wrap items-baseline gap-x-2 font-medium">
        <span dir="auto">{report.name}</span>
        {report.ref !== null && (
          <span dir="auto" className="font-mono text-[13px] text-quiet">
            {report.ref}
          </span>
        )}
      </h3>
      <p className="mb-2 text-sm text-quiet">
        {totalOf(changes)}
        {parent_sha === null ? ' The parent has no such report.' : ` Compared with ${shortSha(parent_sha)}.`}
      </p>
      {kinds.map(({ name, tone, of }) => (
        <Tests key={name} name={name} tone={tone} tests={of(changes)} />
      ))}
      {changes.results.length > 0 && (
        <DataTable
          label={`Findings of ${report.name}`}
          columns={columnsOf(sha)}
          rows={changes.results.map((finding, index) => ({ ...finding, index }))}
          rowKey={({ index }) => index}
        />
      )}
    </section>
  )
}

function totalOf({ report: { tests, findings }, fixed_results, new_results }: StatusReportChanges): string {
  if (tests) {
    const { total, success, failed, error, skipped, time } = tests
    const counts = `${count(success)} passed, ${count(failed + error)} failed, ${count(skipped)} skipped`
    return `${countOf(total, 'test')} in ${duration(time * 1000)}: ${counts}.`
  }
  return `${countOf(findings?.total ?? 0, 'finding')}, ${count(new_results)} new, ${count(fixed_results)} fixed.`
}

const kinds: { name: string; tone: Tone; of: (changes: StatusReportChanges) => CountedTests }[] = [
  { name: 'Newly failed', tone: 'bad', of: (changes) => changes.new_failures },
  { name: 'Still failing', tone: 'bad', of: (changes) => changes.existing_failures },
  { name: 'Flaky', tone: 'warn', of: (changes) => changes.flaky },
  { name: 'Fixed', tone: 'good', of: (changes) => changes.fixed },
  { name: 'New', tone: 'plain', of: (changes) => changes.new_tests },
]

function Tests({
  name,
  tone,
  tests: { count: total, tests },
}: {
  name: string
  tone: Tone
  tests: CountedTests
}) {
  if (total === 0) return null
  return (
    <details className="mb-2" open={tone === 'bad' && total <= 10}>
      <summary className="cursor-pointer">
        {name} <Badge tone={tone}>{count(total)}</Badge>
      </summary>
      <ul className="mt-1 flex flex-col gap-1 pl-4 text-sm">
        {tests.map((test, index) => (
          <Test key={index} test={test} />
        ))}
        {total > tests.length && <li className="text-quiet">The first {count(tests.length)} are shown.</li>}
      </ul>
    </details>
  )
}

const Test = ({ test: { classname, name, message, details } }: { test: TestCase }) => (
  <li className="min-w-0">
    <span dir="auto" className="font-mono text-[13px] break-all">
      {classname && <span className="text-quiet">{classname} › </span>}
      {name}
    </span>
    {message && (
      <span dir="auto" className="block break-words text-quiet">
        {message}
      </span>
    )}
    {details && (
      <pre className="mt-1 max-h-60 overflow-auto rounded bg-raised p-2 text-[12px] whitespace-pre-wrap">
        {details}
      </pre>
    )}
  </li>
)

const columnsOf = (sha: string) => [
  {
    header: 'Level',
    cell: ({ level, new: isNew }: Finding) => (
      <>
        <FindingLevel level={level} /> {isNew && <Badge tone="busy">new</Badge>}
      </>
    ),
  },
  { header: 'Place', cell: (finding: Finding) => <Place finding={finding} sha={sha} /> },
  { header: 'Finding', cell: ({ message }: Finding) => <span dir="auto">{message}</span> },
  { header: 'Rule', wide: true, cell: ({ rule }: Finding) => <span dir="auto">{rule ?? '–'}</span> },
]

function Place({ finding: { path, line }, sha }: { finding: Finding; sha: string }) {
  const { namespace, name } = useProjectParams()
  if (path === null) return <>–</>
  return (
    <TextLink
      to="/projects/$namespace/$name/files/$ref/$"
      params={{ namespace, name, ref: sha, _splat: path }}
      {...(line !== null && { hash: `L${line}` })}
      className="font-mono text-[13px] break-all"
    >
      {line === null ? path : `${path}:${line}`}
    </TextLink>
  )
}
