import { queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { get } from '../../api/client'
import { Button } from '../../components/button'
import { Page, Panel } from '../../components/page'
import { Empty, isMissing, Shown } from '../../components/states'
import type { Comparison } from '../../generated/types.gen'
import { count } from '../../lib/format'
import { oneOf } from '../../lib/search-params'
import { DiffFiles } from './code/diff-files'
import { diffViews } from './code/diff-rows'
import { CommitTable } from './commits/commit-table'
import type { FileChange } from './project-data'
import { useProject, useProjectPath } from './project-frame'
import { RefField } from './ref-field'

const route = getRouteApi('/projects/$namespace/$name/compare')

type Compared = Omit<Comparison, 'diffs'> & { diffs: FileChange[] }

const comparisonQuery = (project: string, revisions: { from: string; to: string }, part: { stat?: true }) =>
  queryOptions({
    queryKey: [project, 'compare', revisions, part],
    queryFn: ({ signal }) =>
      get<Compared>(`${project}/repository/compare`, { ...revisions, ...part }, signal),
    staleTime: 10_000,
  })

export function ComparePage() {
  const { path_with_namespace, default_branch } = useProject()
  const { from = default_branch, to } = route.useSearch()
  return (
    <Page
      title={to ? `${from}…${to}` : `Compare in ${path_with_namespace}`}
      heading={to ? <>Compare</> : 'Compare'}
    >
      <Choice key={`${from}\n${to}`} from={from} to={to ?? ''} />
      {to === undefined ? (
        <Empty title="Choose two branches, tags or commits.">
          You see the commits that the second has and the first has not, and the files that they change.
        </Empty>
      ) : (
        <Result from={from} to={to} />
      )}
    </Page>
  )
}

function Choice({ from, to }: { from: string; to: string }) {
  const navigate = route.useNavigate()
  const [values, setValues] = useState({ from, to })
  const show = (search: { from: string; to: string }) =>
    void navigate({ search: (before) => ({ ...before, ...search }) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    show(values)
  }
  return (
    <form
      onSubmit={submit}
      className="mb-5 flex flex-wrap items-end gap-x-4 rounded-lg border bg-panel p-4 pb-1"
    >
      <div className="min-w-52 flex-1">
        <RefField
          label="From"
          required
          value={values.from}
          onChange={(from) => setValues({ ...values, from })}
        />
      </div>
      <div className="min-w-52 flex-1">
        <RefField label="To" required value={values.to} onChange={(to) => setValues({ ...values, to })} />
      </div>
      <div className="mb-3 flex gap-2">
        <Button disabled={to === ''} onClick={() => show({ from: to, to: from })}>
          Swap
        </Button>
        <Button type="submit" look="primary">
          Compare
        </Button>
      </div>
    </form>
  )
}

function Result({ from, to }: { from: string; to: string }) {
  const project = useProjectPath()
  const list = useQuery(comparisonQuery(project, { from, to }, { stat: true }))
  // The texts come with a second answer, so that the list of files is usable earlier.
  const texts = useQuery(comparisonQuery(project, { from, to }, {}))
  if (isMissing(list.error)) {
    return (
      <Empty title="One of the two does not exist.">Choose a branch, a tag, or the id of a commit.</Empty>
    )
  }
  return (
    <Shown query={list}>
      {(comparison) => (
        <>
          <Panel name="Commits" flush>
            <CommitTable commits={comparison.commits.toReversed()} />
            {comparison.commits_truncated && (
              <p className="border-t px-4 py-2 text-sm text-quiet">
                The newest {count(comparison.commits.length)} of {count(comparison.commits_total)} commits are
                shown.
              </p>
            )}
          </Panel>
          <Files from={from} to={to} comparison={comparison} texts={texts.data} />
        </>
      )}
    </Shown>
  )
}

function Files({
  from,
  to,
  comparison,
  texts,
}: {
  from: string
  to: string
  comparison: Compared
  texts: Compared | undefined
}) {
  const project = useProjectPath()
  const navigate = route.useNavigate()
  const { view } = route.useSearch()
  const textByPath = new Map(texts?.diffs.map((change) => [change.new_path, change]))
  const changes = comparison.diffs.map((change): FileChange => {
    const text = textByPath.get(change.new_path)
    return text && !text.too_large ? { ...change, ...text } : change
  })
  if (changes.length === 0 && comparison.compare_timeout) {
    return <p className="text-quiet">The two differ in more than can be compared. Compare them with git.</p>
  }
  return (
    <DiffFiles
      changes={changes}
      view={oneOf(diffViews, view) ?? 'unified'}
      onView={(value) => void navigate({ search: (before) => ({ ...before, view: value }), replace: true })}
      source={
        texts && {
          key: [project, 'compare', from, to],
          load: async (path, signal) =>
            (await get<Compared>(`${project}/repository/compare`, { from, to, path }, signal)).diffs,
        }
      }
    />
  )
}
