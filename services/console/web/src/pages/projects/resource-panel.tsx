import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { getPage, type Query, send, withQuery } from '../../api/client'
import { ActionDialog } from '../../components/action-dialog'
import { Button } from '../../components/button'
import { type Column, PagedTable } from '../../components/data-table'
import { Panel } from '../../components/page'
import { pageOf } from '../../lib/search-params'

export interface ResourcePanelProps<Row, Made> {
  /** Name of the region and the table. */
  name: string
  /** Address of the list in the API. */
  address: string
  /** Parameters of the list, which the removal also sends. */
  query?: Query
  columns: Column<Row>[]
  rowKey: (row: Row) => string | number
  empty: ReactNode
  /** Unset when the session may not add. */
  add?:
    | {
        /** Title of the button and the dialog. */
        title: string
        fields: ReactNode
        bodyOf: (form: FormData) => unknown
        onMade?: (made: Made) => void
      }
    | undefined
  /** Unset when the session may not remove. */
  remove?:
    | {
        action: string
        /** Returns the name of the row for the button and the dialog. */
        nameOf: (row: Row) => string
        idOf: (row: Row) => string | number
        /** Unset: every row can be removed. */
        isRemovable?: (row: Row) => boolean
        /** The effect of the removal. */
        effect: string
      }
    | undefined
  /** Further buttons of a row. */
  rowActions?: (row: Row) => ReactNode
}

/** A list of the API as a table with rows that can be added and removed. */
export function ResourcePanel<Row, Made = unknown>(props: ResourcePanelProps<Row, Made>) {
  const { name, address, query, columns, rowKey, empty, add, remove, rowActions } = props
  // Each list has its own parameter for the page number, because several lists are on one page.
  const parameter = address.slice(address.lastIndexOf('/') + 1)
  const search: Record<string, string> = useSearch({ strict: false })
  const page = pageOf(search[parameter])
  const navigate = useNavigate()
  const setPage = (next: number) =>
    void navigate({ to: '.', search: { ...search, [parameter]: next === 1 ? undefined : String(next) } })
  const [isAdding, setIsAdding] = useState(false)
  const [removed, setRemoved] = useState<Row>()
  const list = useQuery({
    queryKey: [address, page, query],
    queryFn: ({ signal }) => getPage<Row>(address, { ...query, page, per_page: 50 }, signal),
    placeholderData: (before) => before,
  })
  const actions: Column<Row> = {
    header: 'Actions',
    cell: (row) => (
      <span className="flex flex-wrap gap-2">
        {rowActions?.(row)}
        {remove && (remove.isRemovable?.(row) ?? true) && (
          <Button aria-label={`${remove.action} ${remove.nameOf(row)}`} onClick={() => setRemoved(row)}>
            {remove.action}
          </Button>
        )}
      </span>
    ),
  }
  return (
    <Panel
      name={name}
      flush
      busy={list.isPending}
      actions={add && <Button onClick={() => setIsAdding(true)}>{add.title}</Button>}
    >
      <PagedTable
        label={name}
        query={list}
        page={page}
        onMove={setPage}
        columns={remove || rowActions ? [...columns, actions] : columns}
        rowKey={rowKey}
        empty={empty}
      />
      {isAdding && add && <AddDialog address={address} add={add} onClose={() => setIsAdding(false)} />}
      {removed !== undefined && remove && (
        <RemoveDialog
          address={address}
          query={query}
          remove={remove}
          row={removed}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </Panel>
  )
}

function AddDialog<Made>({
  address,
  add: { title, fields, bodyOf, onMade },
  onClose,
}: {
  address: string
  add: NonNullable<ResourcePanelProps<never, Made>['add']>
  onClose: () => void
}) {
  const client = useQueryClient()
  const run = async (form: FormData) => {
    const made = await send<Made>('POST', address, bodyOf(form))
    // Other parts of the page may show the same data.
    await client.invalidateQueries()
    onClose()
    onMade?.(made)
  }
  return (
    <ActionDialog title={title} action="Create" run={run} onClose={onClose}>
      {fields}
    </ActionDialog>
  )
}

function RemoveDialog<Row>({
  address,
  query,
  remove: { action, nameOf, idOf, effect },
  row,
  onClose,
}: {
  address: string
  query: Query | undefined
  remove: NonNullable<ResourcePanelProps<Row, never>['remove']>
  row: Row
  onClose: () => void
}) {
  const client = useQueryClient()
  const run = async () => {
    await send('DELETE', withQuery(`${address}/${encodeURIComponent(idOf(row))}`, query))
    await client.invalidateQueries()
    onClose()
  }
  return (
    <ActionDialog
      title={`${action} ${nameOf(row)}`}
      action={action}
      look="danger"
      run={run}
      onClose={onClose}
    >
      <p>{effect}</p>
    </ActionDialog>
  )
}
