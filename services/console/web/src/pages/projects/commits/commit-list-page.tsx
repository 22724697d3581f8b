import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { getPage } from '../../../api/client'
import { Page } from '../../../components/page'
import { Pager } from '../../../components/pager'
import { SearchBox } from '../../../components/search-box'
import { Empty, isMissing, Shown } from '../../../components/states'
import { ButtonLink, TextLink } from '../../../components/text-link'
import type { Commit } from '../../../generated/types.gen'
import { pageOf } from '../../../lib/search-params'
import { EmptyRepository } from '../empty-repository'
import { FilterBox } from '../filter-box'
import { useMayChange } from '../project-data'
import { useProject, useProjectParams, useProjectPath } from '../project-frame'
import { BranchBox } from '../ref-field'
import { layOut } from './commit-graph'
import { CommitTable } from './commit-table'
import { useCommitStates } from './use-commit-states'

const route = getRouteApi('/projects/$namespace/$name/')
const perPage = 50

export function CommitListPage() {
  const params = useProjectParams()
  const project = useProject()
  const mayWrite = useMayChange('developer')
  const { ref } = route.useSearch()
  if (project.empty_repo) {
    return (
      <Page title={`Commits of ${project.path_with_namespace}`} heading="Commits">
        <EmptyRepository />
      </Page>
    )
  }
  const actions = mayWrite && (
    <ButtonLink
      to="/projects/$namespace/$name/new-commit"
      params={params}
      search={{ ref: ref ?? project.default_branch }}
      look="primary"
    >
      New commit
    </ButtonLink>
  )
  return (
    <Page title={`Commits of ${project.path_with_namespace}`} heading="Commits" actions={actions}>
      <Commits />
    </Page>
  )
}

function Commits() {
  const { default_branch } = useProject()
  const project = useProjectPath()
  const { ref = default_branch, path, author, q, page: pageText } = route.useSearch()
  const page = pageOf(pageText)
  const navigate = route.useNavigate()
  const commits = useQuery({
    queryKey: [project, 'commits', ref, path, author, q, page],
    queryFn: ({ signal }) =>
      getPage<Commit>(
        `${project}/repository/commits`,
        { ref_name: ref, path, author, search: q, page, per_page: perPage },
        signal,
      ),
    placeholderData: keepPreviousData,
  })
  const rows = commits.data?.rows
  const states = useCommitStates(project, ref, rows)
  const isFiltered = path !== undefined || author !== undefined || q !== undefined
  const graph = useMemo(() => (rows && !isFiltered ? layOut(rows) : undefined), [rows, isFiltered])
  const change = useCallback(
    (values: Partial<Record<'ref' | 'path' | 'author' | 'q', string | undefined>>) =>
      void navigate({ search: (before) => ({ ...before, ...values, page: undefined }) }),
    [navigate],
  )
  const search = useCallback((value: string | undefined) => change({ q: value }), [change])
  return (
    <div className="rounded-lg border bg-panel">
      <div className="flex flex-wrap gap-2 border-b p-3">
        <BranchBox value={ref} onChange={(value) => change({ ref: value })} />
        <SearchBox value={q} onChange={search} placeholder="Text of the message" />
        <FilterBox label="Path" value={path} onChange={(value) => change({ path: value })} />
        <FilterBox label="Author" value={author} onChange={(value) => change({ author: value })} />
      </div>
      {isMissing(commits.error) ? (
        <NoSuchRef name={ref} />
      ) : (
        <Shown query={commits}>
          {({ rows, total, nextPage }) => (
            <>
              <CommitTable
                commits={rows}
                graph={graph}
                states={states}
                busy={commits.isPlaceholderData}
                isFiltered={isFiltered}
              />
              <Pager
                page={page}
                nextPage={nextPage}
                total={total}
                onMove={(to) => void navigate({ search: (before) => ({ ...before, page: String(to) }) })}
              />
            </>
          )}
        </Shown>
      )}
    </div>
  )
}

function NoSuchRef({ name }: { name: string }) {
  const params = useProjectParams()
  const { default_branch } = useProject()
  return (
    <Empty title={`There is no branch, tag or commit ‘${name}’.`}>
      Choose another one, or go to{' '}
      <TextLink to="/projects/$namespace/$name" params={params} search={{ ref: default_branch }}>
        {default_branch}
      </TextLink>
      .
    </Empty>
  )
}
