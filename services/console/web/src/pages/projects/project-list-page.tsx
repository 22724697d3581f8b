import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useEffect } from 'react'
import { getPage } from '../../api/client'
import { noteUnauthorized } from '../../api/session-end'
import { Badge } from '../../components/badge'
import { PagedTable } from '../../components/data-table'
import { FilterSelect } from '../../components/fields'
import { guarded } from '../../components/guarded'
import { Page } from '../../components/page'
import { SearchBox } from '../../components/search-box'
import { Empty } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { Time } from '../../components/time'
import type { Project } from '../../generated/types.gen'
import { oneOf, pageOf } from '../../lib/search-params'
import { NewProject } from './new-project'

const route = getRouteApi('/projects')

const orders = {
  activity: { order_by: 'last_activity_at', sort: 'desc' },
  newest: { order_by: 'id', sort: 'desc' },
  name: { order_by: 'name', sort: 'asc' },
} as const

type Order = keyof typeof orders

const orderNames: { value: Order; label: string }[] = [
  { value: 'newest', label: 'Newest first' },
  { value: 'name', label: 'By name' },
]

export const ProjectListPage = guarded('projects', () => {
  const { q, sort, page: pageText } = route.useSearch()
  const navigate = route.useNavigate()
  const page = pageOf(pageText)
  const order = oneOf(Object.keys(orders) as Order[], sort) ?? 'activity'
  const projects = useQuery({
    queryKey: ['projects', q, order, page],
    queryFn: ({ signal }) =>
      getPage<Project>('/projects', { search: q, search_namespaces: true, page, ...orders[order] }, signal),
    placeholderData: keepPreviousData,
  })
  // Without a session, the API does not refuse the list: it returns the public projects.
  useEffect(noteUnauthorized, [])
  const search = useCallback(
    (value: string | undefined) =>
      void navigate({ search: (before) => ({ ...before, q: value, page: undefined }), replace: true }),
    [navigate],
  )
  return (
    <Page title="Projects" actions={<NewProject />}>
      <div className="rounded-lg border bg-panel">
        <div className="flex flex-wrap gap-2 border-b p-3">
          <SearchBox value={q} onChange={search} placeholder="Name or path" />
          <FilterSelect
            label="Order"
            all="Latest activity first"
            value={order === 'activity' ? undefined : order}
            options={orderNames}
            onChange={(value) =>
              void navigate({ search: (before) => ({ ...before, sort: value, page: undefined }) })
            }
          />
        </div>
        <PagedTable
          label="Projects"
          query={projects}
          page={page}
          onMove={(to) => void navigate({ search: (before) => ({ ...before, page: String(to) }) })}
          columns={columns}
          rowKey={(project) => project.id}
          empty={q ? noneFound : none}
        />
      </div>
    </Page>
  )
})

const noneFound = (
  <Empty title="No project has this name.">Search for another part of its name or path.</Empty>
)
const none = (
  <Empty title="There are no projects that you may see.">
    Make one with ‘New project’, then push to it with git.
  </Empty>
)

const columns = [
  {
    header: 'Project',
    cell: ({ path_with_namespace, namespace, path, description }: Project) => (
      <>
        <TextLink
          to="/projects/$namespace/$name"
          params={{ namespace: namespace.full_path, name: path }}
          className="font-medium"
        >
          {path_with_namespace}
        </TextLink>
        {description && (
          <span dir="auto" className="block max-w-xl text-quiet">
            {description}
          </span>
        )}
      </>
    ),
  },
  {
    header: 'Visibility',
    cell: ({ visibility, archived }: Project) => (
      <span className="flex flex-wrap gap-1">
        <Badge>{visibility}</Badge>
        {archived && <Badge tone="warn">archived</Badge>}
      </span>
    ),
  },
  {
    header: 'Default branch',
    wide: true,
    cell: ({ default_branch, empty_repo }: Project) => (
      <span dir="auto" className="font-mono text-[13px]">
        {empty_repo ? <span className="font-sans text-quiet">empty</span> : default_branch}
      </span>
    ),
  },
  { header: 'Last activity', cell: ({ last_activity_at }: Project) => <Time at={last_activity_at} /> },
  { header: 'Created', wide: true, cell: ({ created_at }: Project) => <Time at={created_at} /> },
]
