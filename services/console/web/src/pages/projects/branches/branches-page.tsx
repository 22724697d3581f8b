import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { getPage, segment, send } from '../../../api/client'
import { ActionDialog } from '../../../components/action-dialog'
import { Badge } from '../../../components/badge'
import { Button } from '../../../components/button'
import { PagedTable } from '../../../components/data-table'
import { Page, Panel } from '../../../components/page'
import { SearchBox } from '../../../components/search-box'
import { Empty } from '../../../components/states'
import type { Branch, Tag } from '../../../generated/types.gen'
import { pageOf } from '../../../lib/search-params'
import { useMayChange } from '../project-data'
import { useProject, useProjectPath } from '../project-frame'
import { LastCommitCell, NewRefDialog, RefLinks, RefName } from './ref-parts'

const route = getRouteApi('/projects/$namespace/$name/branches')

type Kind = 'branches' | 'tags'
type Row = Branch | Tag

export function BranchesPage() {
  const { path_with_namespace, empty_repo } = useProject()
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = useMayChange('developer') && !empty_repo
  const [isNew, setIsNew] = useState<Kind>()
  const [deleted, setDeleted] = useState<{ kind: Kind; name: string }>()
  const search = useCallback(
    (value: string | undefined) => void navigate({ search: { q: value }, replace: true }),
    [navigate],
  )
  const actions = mayWrite && (
    <>
      <Button onClick={() => setIsNew('tags')}>New tag</Button>
      <Button look="primary" onClick={() => setIsNew('branches')}>
        New branch
      </Button>
    </>
  )
  const onDelete = (kind: Kind) => (mayWrite ? (name: string) => setDeleted({ kind, name }) : undefined)
  return (
    <Page title={`Branches of ${path_with_namespace}`} heading="Branches and tags" actions={actions}>
      <div className="mb-4">
        <SearchBox value={q} onChange={search} placeholder="Part of the name" />
      </div>
      <Refs kind="branches" onDelete={onDelete('branches')} />
      <Refs kind="tags" onDelete={onDelete('tags')} />
      {isNew && <NewRefDialog kind={isNew} onClose={() => setIsNew(undefined)} />}
      {deleted && <DeleteDialog {...deleted} onClose={() => setDeleted(undefined)} />}
    </Page>
  )
}

const newestFirst = {
  branches: { sort: 'updated_desc' },
  tags: { order_by: 'updated', sort: 'desc' },
}

const words = {
  branches: {
    name: 'Branches',
    pageName: 'page',
    one: 'branch',
    none: 'There are no branches.',
    todo: 'The first push or commit makes one.',
  },
  tags: {
    name: 'Tags',
    pageName: 'tagsPage',
    one: 'tag',
    none: 'There are no tags.',
    todo: 'A push or the button New tag makes one.',
  },
} as const

function Refs({ kind, onDelete }: { kind: Kind; onDelete: ((name: string) => void) | undefined }) {
  const { name, pageName, none, todo } = words[kind]
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const project = useProjectPath()
  const page = pageOf(search[pageName])
  const refs = useQuery({
    queryKey: [project, kind, search.q, page],
    queryFn: ({ signal }) =>
      getPage<Row>(`${project}/repository/${kind}`, { search: search.q, page, ...newestFirst[kind] }, signal),
    placeholderData: keepPreviousData,
  })
  return (
    <Panel name={name} flush busy={refs.isFetching}>
      <PagedTable
        label={name}
        query={refs}
        page={page}
        onMove={(to) => void navigate({ search: { ...search, [pageName]: String(to) } })}
        columns={columnsFor(kind, onDelete)}
        rowKey={(row) => row.name}
        empty={search.q ? <Empty title="No name contains this text." /> : <Empty title={none}>{todo}</Empty>}
      />
    </Panel>
  )
}

const columnsFor = (kind: Kind, onDelete: ((name: string) => void) | undefined) => [
  {
    header: 'Name',
    cell: (row: Row) => (
      <span className="flex flex-wrap items-center gap-2">
        <RefName name={row.name} />
        {'default' in row && row.default && <Badge tone="busy">default</Badge>}
        {row.protected && <Badge>protected</Badge>}
        {'merged' in row && row.merged && <Badge tone="good">merged</Badge>}
        {'release' in row && row.release && <Badge tone="good">release</Badge>}
        {'message' in row && row.message && (
          <span dir="auto" className="w-full max-w-xl truncate text-quiet">
            {row.message}
          </span>
        )}
      </span>
    ),
  },
  { header: 'Newest commit', wide: true, cell: ({ commit }: Row) => <LastCommitCell commit={commit} /> },
  {
    header: 'Actions',
    cell: (row: Row) => (
      <span className="flex flex-wrap items-center gap-3">
        <RefLinks name={row.name} />
        {onDelete && !('default' in row && row.default) && (
          <Button
            aria-label={`Delete ${words[kind].one} ${row.name}`}
            look="quiet"
            onClick={() => onDelete(row.name)}
          >
            Delete
          </Button>
        )}
      </span>
    ),
  },
]

function DeleteDialog({ kind, name, onClose }: { kind: Kind; name: string; onClose: () => void }) {
  const client = useQueryClient()
  const project = useProjectPath()
  const remove = async () => {
    await send('DELETE', `${project}/repository/${kind}/${segment(name)}`)
    await client.invalidateQueries({ queryKey: [project] })
    onClose()
  }
  return (
    <ActionDialog
      title={`Delete ${words[kind].one} ${name}`}
      action="Delete"
      look="danger"
      run={remove}
      onClose={onClose}
    >
      <p>
        {kind === 'branches'
          ? 'Commits that no other branch or tag contains can no longer be found.'
          : 'A release of this tag is deleted with it.'}
      </p>
    </ActionDialog>
  )
}
