import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { getPage, send } from '../../api/client'
import { useSession } from '../../api/session'
import { Badge } from '../../components/badge'
import { Button } from '../../components/button'
import { type Column, PagedTable } from '../../components/data-table'
import { guarded } from '../../components/guarded'
import { MessageText, plainText } from '../../components/message-text'
import { Modal, ModalActions } from '../../components/modal'
import { Page, Panel } from '../../components/page'
import { Empty, Problem } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { Time, useNow } from '../../components/time'
import type { BroadcastMessage } from '../../generated/types.gen'
import { pageOf } from '../../lib/search-params'
import { BroadcastCalendar } from './broadcast-calendar'
import { BroadcastEditor } from './broadcast-editor'

const route = getRouteApi('/broadcasts')
const perPage = 50

export const BroadcastsPage = guarded('broadcasts', Broadcasts)

function Broadcasts() {
  const { edit, page: pageText } = route.useSearch()
  const navigate = route.useNavigate()
  const { scopes } = useSession()
  const mayChange = scopes.includes('api') || scopes.includes('manage_broadcasts')
  const page = pageOf(pageText)
  const [removed, setRemoved] = useState<BroadcastMessage>()
  const messages = useQuery({
    queryKey: ['broadcasts', page],
    queryFn: ({ signal }) =>
      getPage<BroadcastMessage>('/broadcast_messages', { page, per_page: perPage }, signal),
    refetchInterval: 15_000,
  })
  return (
    <Page
      title="Broadcasts"
      actions={
        mayChange && (
          <Button look="primary" onClick={() => void navigate({ search: { edit: 'new' } })}>
            New broadcast
          </Button>
        )
      }
    >
      {edit && mayChange && (
        <BroadcastEditor key={edit} edit={edit} onClose={() => void navigate({ search: {} })} />
      )}
      {messages.data && messages.data.rows.length > 0 && <BroadcastCalendar messages={messages.data.rows} />}
      <Panel name="All broadcasts" flush busy={messages.isPending}>
        <PagedTable
          label="Broadcasts"
          query={messages}
          page={page}
          onMove={(next) => void navigate({ search: { page: String(next) } })}
          rowKey={({ id }) => id}
          columns={columnsFor(mayChange, setRemoved)}
          empty={
            <Empty title="No broadcast was ever written.">
              A broadcast is a banner on every site that carries the script of Switchyard, from the second it
              starts to the second it ends.
            </Empty>
          }
        />
      </Panel>
      {removed && <RemoveBroadcast message={removed} onClose={() => setRemoved(undefined)} />}
    </Page>
  )
}

function columnsFor(
  mayChange: boolean,
  onRemove: (message: BroadcastMessage) => void,
): Column<BroadcastMessage>[] {
  const shown: Column<BroadcastMessage>[] = [
    {
      header: 'Message',
      cell: (message) => (
        <>
          {mayChange ? (
            <TextLink to="/broadcasts" search={{ edit: String(message.id) }}>
              {plainText(message.message)}
            </TextLink>
          ) : (
            <MessageText text={message.message} />
          )}
          {message.impact_rule_run && (
            <span className="block text-quiet">
              by a rule of project {message.impact_rule_run.project_id}, until that ends it
            </span>
          )}
        </>
      ),
    },
    { header: 'State', cell: (message) => <BroadcastState message={message} /> },
    { header: 'Starts', wide: true, cell: ({ starts_at }) => <Time at={starts_at} /> },
    { header: 'Ends', cell: ({ ends_at }) => <Time at={ends_at} /> },
    {
      header: 'Pages',
      wide: true,
      cell: ({ target_path }) => (
        <span className="whitespace-pre-line wrap-anywhere">{target_path || 'all'}</span>
      ),
    },
  ]
  const actions: Column<BroadcastMessage> = {
    header: 'Actions',
    cell: (message) => <Button onClick={() => onRemove(message)}>Delete</Button>,
  }
  return mayChange ? [...shown, actions] : shown
}

function BroadcastState({ message: { starts_at, ends_at } }: { message: BroadcastMessage }) {
  const now = useNow(1000)
  if (new Date(ends_at).getTime() <= now) return <Badge>over</Badge>
  return new Date(starts_at).getTime() <= now ? (
    <Badge tone="good">shown now</Badge>
  ) : (
    <Badge tone="busy">planned</Badge>
  )
}

function RemoveBroadcast({ message, onClose }: { message: BroadcastMessage; onClose: () => void }) {
  const client = useQueryClient()
  const [problem, setProblem] = useState<unknown>()
  const remove = async () => {
    try {
      await send('DELETE', `/broadcast_messages/${message.id}`)
      await client.invalidateQueries()
      onClose()
    } catch (error) {
      setProblem(error)
    }
  }
  return (
    <Modal title="Delete broadcast" onClose={onClose}>
      <p className="mb-3">Nobody sees this message any more:</p>
      <p className="rounded-md bg-raised px-3 py-2">
        <MessageText text={message.message} />
      </p>
      {problem !== undefined && <Problem error={problem} />}
      <ModalActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button look="danger" onClick={() => void remove()}>
          Delete
        </Button>
      </ModalActions>
    </Modal>
  )
}
