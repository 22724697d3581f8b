import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { get, getPage, segment, send } from '../../api/client'
import { State } from '../../components/badge'
import { Button } from '../../components/button'
import { PagedTable } from '../../components/data-table'
import { Modal, ModalActions } from '../../components/modal'
import { Panel } from '../../components/page'
import { Empty, Problem, Shown } from '../../components/states'
import { Time } from '../../components/time'
import type { Delivery, ListedDelivery } from '../../generated/types.gen'
import { duration } from '../../lib/format'
import { indentJson } from '../sagas/payload-text'
import { pathOf, type WebhookKind } from './webhooks-panel'

const refreshMs = 5000

/**
 * The deliveries of a webhook, newest first.
 *
 * @param hook its id, from the address of the page
 * @param close a link to the page without this list
 */
export function DeliveriesPanel({
  kind,
  hook,
  page,
  onMove,
  close,
  mayChange,
}: {
  kind: Pick<WebhookKind<never>, 'address' | 'query'>
  hook: string
  page: number
  onMove: (page: number) => void
  close: ReactNode
  mayChange: boolean
}) {
  const address = pathOf(kind, segment(hook), '/deliveries')
  const addressOfOne = (id: string, below = '') =>
    pathOf(kind, segment(hook), `/deliveries/${segment(id)}${below}`)
  const client = useQueryClient()
  const [shown, setShown] = useState<string>()
  const deliveries = useQuery({
    queryKey: [address, page],
    queryFn: ({ signal }) => getPage<ListedDelivery>(address, { page }, signal),
    placeholderData: (before) => before,
    refetchInterval: refreshMs,
  })
  const redeliver = useMutation({
    mutationFn: (id: string) => send('POST', addressOfOne(id, '/redeliver')),
    onSettled: () => client.invalidateQueries({ queryKey: [address] }),
  })
  const columns = [
    { header: 'Event', cell: ({ event }: ListedDelivery) => event },
    { header: 'State', cell: ({ state }: ListedDelivery) => <State of={state} /> },
    { header: 'Answer', cell: (delivery: ListedDelivery) => <Answer delivery={delivery} /> },
    { header: 'Attempts', numeric: true, wide: true, cell: ({ attempts }: ListedDelivery) => attempts },
    { header: 'Created', cell: ({ created_at }: ListedDelivery) => <Time at={created_at} /> },
    {
      header: 'Actions',
      cell: ({ id, event, state }: ListedDelivery) => (
        <span className="flex flex-wrap gap-2">
          <Button aria-label={`Show the delivery of ${event}`} onClick={() => setShown(id)}>
            Show
          </Button>
          {mayChange && state !== 'pending' && (
            <Button
              aria-label={`Redeliver ${event}`}
              disabled={redeliver.isPending}
              onClick={() => redeliver.mutate(id)}
            >
              Redeliver
            </Button>
          )}
        </span>
      ),
    },
  ]
  return (
    <div id="deliveries" className="scroll-mt-16">
      <Panel name={`Deliveries of webhook ${hook}`} flush busy={deliveries.isPending} actions={close}>
        {redeliver.isError && <Problem error={redeliver.error} />}
        <PagedTable
          label="Deliveries"
          query={deliveries}
          page={page}
          onMove={onMove}
          columns={columns}
          rowKey={({ id }) => id}
          empty={<Empty title="Nothing has been sent yet." />}
        />
      </Panel>
      {shown !== undefined && (
        <DeliveryDialog address={addressOfOne(shown)} onClose={() => setShown(undefined)} />
      )}
    </div>
  )
}

function Answer({ delivery: { response_status, error, duration_ms } }: { delivery: ListedDelivery }) {
  if (error) return <span className="text-bad">{error}</span>
  if (response_status === null) return <span className="text-quiet">–</span>
  return (
    <>
      {response_status}
      {duration_ms !== null && <span className="text-quiet"> in {duration(duration_ms)}</span>}
    </>
  )
}

function DeliveryDialog({ address, onClose }: { address: string; onClose: () => void }) {
  const delivery = useQuery({
    queryKey: [address],
    queryFn: ({ signal }) => get<Delivery>(address, {}, signal),
  })
  return (
    <Modal title="Delivery" onClose={onClose} wide>
      <Shown query={delivery}>
        {(delivery) => (
          <>
            <Text title="Sent headers" text={indented(delivery.request_headers)} />
            <Text title="Sent body" text={indented(delivery.request_body)} />
            <Text title="Answered headers" text={indented(delivery.response_headers)} />
            <Text title="Answered body" text={delivery.response_body ?? ''} />
          </>
        )}
      </Shown>
      <ModalActions>
        <Button look="primary" onClick={onClose}>
          Close
        </Button>
      </ModalActions>
    </Modal>
  )
}

const Text = ({ title, text }: { title: string; text: string }) => (
  <>
    <h3 className="mb-1 font-semibold">{title}</h3>
    <pre className="mb-4 max-h-72 overflow-auto rounded-md bg-raised p-3 font-mono text-[13px] break-all whitespace-pre-wrap">
      {text || '–'}
    </pre>
  </>
)

function indented(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'string') return JSON.stringify(value, null, 2)
  try {
    JSON.parse(value)
    // The text itself is indented, because parsing rounds long numbers.
    return indentJson(value)
  } catch {
    return value
  }
}
