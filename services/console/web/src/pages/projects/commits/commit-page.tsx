import { usePrefetchQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useMay } from '../../../api/session'
import { Button } from '../../../components/button'
import { CopyButton } from '../../../components/copy-button'
import { Page } from '../../../components/page'
import { isMissing, Loading, NotFound, Problem } from '../../../components/states'
import { ButtonLink, TextLink } from '../../../components/text-link'
import { oneOf } from '../../../lib/search-params'
import { CommentsContext } from '../code/comments-context'
import { DiffFiles } from '../code/diff-files'
import { type DiffView, diffViews } from '../code/diff-rows'
import { ShowMore } from '../code/file-diff'
import { FindingsContext } from '../code/findings-context'
import { commitQuery, useMayChange } from '../project-data'
import { useProjectPath } from '../project-frame'
import { type Action, ApplyDialog } from './apply-dialog'
import { CommentsPanel } from './comments-panel'
import { CommitFacts, referencesQuery } from './commit-facts'
import { ReportsPanel, reportChangesQuery } from './reports-panel'
import { StatusesPanel, statusesQuery } from './statuses-panel'
import { useComments } from './use-comments'
import { useCommitDiff } from './use-commit-diff'

const route = getRouteApi('/projects/$namespace/$name/commits/$sha')

export function CommitPage() {
  const { sha, ...params } = route.useParams()
  const project = useProjectPath()
  const commit = useQuery(commitQuery(project, sha))
  const diff = useCommitDiff(project, sha)
  const comments = useComments(project, sha)
  usePrefetchQuery(statusesQuery(project, sha))
  usePrefetchQuery(referencesQuery(project, sha))
  const reports = useQuery(reportChangesQuery(project, sha)).data
  const findings = useMemo(() => reports?.flatMap(({ results }) => results) ?? [], [reports])
  const mayWrite = useMayChange('developer')
  const [action, setAction] = useState<Action>()
  if (isMissing(commit.error)) return <NotFound />
  if (!commit.data) {
    return commit.isError ? <Problem error={commit.error} retry={commit.refetch} /> : <Loading />
  }
  const actions = (
    <>
      {mayWrite && <Button onClick={() => setAction('cherry_pick')}>Cherry-pick…</Button>}
      {mayWrite && <Button onClick={() => setAction('revert')}>Revert…</Button>}
      <ButtonLink
        to="/projects/$namespace/$name/files/$ref/$"
        params={{ ...params, ref: commit.data.id, _splat: '' }}
      >
        Browse files
      </ButtonLink>
      <CopyButton label="Copy id" text={() => commit.data.id} />
    </>
  )
  return (
    <Page title={commit.data.title || commit.data.short_id} actions={actions}>
      <CommitFacts commit={commit.data} sha={sha} />
      <StatusesPanel project={project} sha={sha} />
      <ReportsPanel project={project} sha={sha} />
      <FindingsContext.Provider value={findings}>
        <DiffWithComments sha={sha} diff={diff} comments={comments} />
      </FindingsContext.Provider>
      {action && <ApplyDialog action={action} sha={commit.data.id} onClose={() => setAction(undefined)} />}
    </Page>
  )
}

const nothing = { add: undefined, reply: undefined }

function DiffWithComments({
  sha,
  diff: { list, changes, total, source },
  comments: { query, add, reply, drafts, changesOf },
}: {
  sha: string
  diff: ReturnType<typeof useCommitDiff>
  comments: ReturnType<typeof useComments>
}) {
  const { view, path } = route.useSearch()
  const { namespace, name } = route.useParams()
  const navigate = route.useNavigate()
  const mayComment = useMay('projects.change')
  const all = query.data ?? []
  const paths = new Set(changes?.map((change) => change.new_path))
  const unplaced = all.filter(({ path: commented }) => commented === null || !paths.has(commented))
  const tools = { threads: all, drafts, changesOf, ...(mayComment ? { add, reply } : nothing) }
  return (
    <CommentsContext.Provider value={tools}>
      {list.isError && <Problem error={list.error} retry={list.refetch} />}
      {!changes && !list.isError && <Loading what="Loading the files…" />}
      {changes && (
        <DiffFiles
          changes={changes}
          total={total}
          view={oneOf(diffViews, view) ?? 'unified'}
          onView={(value: DiffView) =>
            void navigate({ search: (before) => ({ ...before, view: value }), replace: true })
          }
          path={path}
          onPath={(value) =>
            void navigate({
              search: (before) => ({ ...before, path: value }),
              replace: true,
              resetScroll: false,
            })
          }
          source={source}
          fileActions={(change) =>
            change.deleted_file ? null : (
              <TextLink
                to="/projects/$namespace/$name/files/$ref/$"
                params={{ namespace, name, ref: sha, _splat: change.new_path }}
                className="text-sm"
              >
                View file
              </TextLink>
            )
          }
          more={
            list.hasNextPage && (
              <ShowMore busy={list.isFetchingNextPage} onClick={() => list.fetchNextPage()} />
            )
          }
        />
      )}
      {query.isError && <Problem error={query.error} retry={query.refetch} />}
      <CommentsPanel threads={unplaced} add={mayComment ? (note) => add(note) : undefined} />
    </CommentsContext.Provider>
  )
}
