import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { getVersioned, type Query, send, type Versioned, withQuery } from '../../api/client'
import { ActionDialog } from '../../components/action-dialog'
import { Badge } from '../../components/badge'
import { Button } from '../../components/button'
import type { Column } from '../../components/data-table'
import { Problem } from '../../components/states'
import type { SagaWebhook } from '../../generated/types.gen'
import { changeShown, useEdit } from '../../lib/edit-version'
import { ResourcePanel } from '../projects/resource-panel'

/** The common fields of all webhooks. */
export type Hook = Pick<SagaWebhook, 'id' | 'url' | 'enabled' | 'disabled_reason' | 'consecutive_failures'>

/** The differences between the webhooks of projects and of sagas. */
export interface WebhookKind<Shown extends Hook> {
  /** Address of the list in the API. */
  address: string
  /** Parameters of every request about a webhook. */
  query?: Query
  empty: ReactNode
  /** Returns the names of the events to which a webhook subscribes. */
  eventsOf: (hook: Shown) => string[]
  /** Columns after the address. */
  columns?: Column<Shown>[]
  /** The fields of the form. @param hook the initial values; unset: a new webhook */
  fields: (hook?: Shown) => ReactNode
  /** Returns the values of the form, as the API has them. */
  bodyOf: (form: FormData) => object
  /** Returns the same values of a stored webhook. */
  storedOf: (hook: Shown) => object
  /** A link to the deliveries of a webhook. */
  deliveries: (hook: Shown) => ReactNode
  /** The test: the start of a sentence about it, its fields, and its path below the webhook's path. */
  test: { sends: ReactNode; fields?: (hook: Shown) => ReactNode; below: (form: FormData) => string }
}

/** Returns the address of a webhook in the API, or of a path below it. */
export const pathOf = (
  { address, query }: Pick<WebhookKind<never>, 'address' | 'query'>,
  id: number | string,
  below = '',
) => withQuery(`${address}/${id}${below}`, query)

/** The webhooks of a kind (project or sagas), with actions to create, change, test, pause and delete them. */
export function WebhooksPanel<Shown extends Hook>({
  kind,
  mayChange,
}: {
  kind: WebhookKind<Shown>
  mayChange: boolean
}) {
  const { address, query } = kind
  const client = useQueryClient()
  const [tested, setTested] = useState<Shown>()
  const [edited, setEdited] = useState<Versioned<Shown>>()
  const refresh = () => client.invalidateQueries({ queryKey: [address] })
  const enable = useMutation({
    mutationFn: (hook: Shown) => changeShown<Hook>(pathOf(kind, hook.id), hook, { enabled: !hook.enabled }),
    onSettled: refresh,
  })
  const edit = useMutation({
    mutationFn: (hook: Shown) => getVersioned<Shown>(pathOf(kind, hook.id)),
    onSuccess: setEdited,
  })
  return (
    <>
      {enable.isError && <Problem error={enable.error} />}
      {edit.isError && <Problem error={edit.error} />}
      {tested && <TestDialog kind={kind} hook={tested} onClose={() => setTested(undefined)} />}
      {edited && (
        <EditDialog kind={kind} edited={edited} onSaved={refresh} onClose={() => setEdited(undefined)} />
      )}
      <ResourcePanel<Shown>
        name="Webhooks"
        address={address}
        {...(query && { query })}
        rowKey={({ id }) => id}
        empty={kind.empty}
        columns={columnsOf(kind)}
        rowActions={(hook) => (
          <>
            {kind.deliveries(hook)}
            {mayChange && (
              <Actions hook={hook} onTest={setTested} onEdit={edit.mutate} onEnable={enable.mutate} />
            )}
          </>
        )}
        add={mayChange ? { title: 'New webhook', fields: kind.fields(), bodyOf: kind.bodyOf } : undefined}
        remove={
          mayChange
            ? {
                action: 'Delete',
                nameOf: ({ url }) => url,
                idOf: ({ id }) => id,
                effect: 'Its log of deliveries is deleted with it.',
              }
            : undefined
        }
      />
    </>
  )
}

function Actions<Shown extends Hook>({
  hook,
  onTest,
  onEdit,
  onEnable,
}: {
  hook: Shown
  onTest: (hook: Shown) => void
  onEdit: (hook: Shown) => void
  onEnable: (hook: Shown) => void
}) {
  const { url, enabled } = hook
  return (
    <>
      {enabled && (
        <Button aria-label={`Test ${url}`} onClick={() => onTest(hook)}>
          Test…
        </Button>
      )}
      <Button aria-label={`Edit ${url}`} onClick={() => onEdit(hook)}>
        Edit…
      </Button>
      <Button aria-label={`${enabled ? 'Pause' : 'Resume'} ${url}`} onClick={() => onEnable(hook)}>
        {enabled ? 'Pause' : 'Resume'}
      </Button>
    </>
  )
}

function TestDialog<Shown extends Hook>({
  kind,
  hook,
  onClose,
}: {
  kind: WebhookKind<Shown>
  hook: Shown
  onClose: () => void
}) {
  const { sends, fields, below } = kind.test
  const run = async (form: FormData) => {
    await send('POST', pathOf(kind, hook.id, below(form)))
    onClose()
  }
  return (
    <ActionDialog title="Test the webhook" action="Send" run={run} onClose={onClose}>
      <p className="mb-3 text-sm text-quiet">
        {sends} is sent to{' '}
        <span dir="auto" className="break-all">
          {hook.url}
        </span>
        . The list of its deliveries shows the answer.
      </p>
      {fields?.(hook)}
    </ActionDialog>
  )
}

function EditDialog<Shown extends Hook>({
  kind,
  edited,
  onSaved,
  onClose,
}: {
  kind: WebhookKind<Shown>
  edited: Versioned<Shown>
  onSaved: () => Promise<void>
  onClose: () => void
}) {
  const { save } = useEdit<Shown, object>(pathOf(kind, edited.resource.id), edited, kind.storedOf)
  const run = async (form: FormData) => {
    await save(kind.bodyOf(form))
    await onSaved()
    onClose()
  }
  return (
    <ActionDialog title="Edit webhook" action="Save" run={run} onClose={onClose}>
      {kind.fields(edited.resource)}
    </ActionDialog>
  )
}

const columnsOf = <Shown extends Hook>({ columns = [], eventsOf }: WebhookKind<Shown>): Column<Shown>[] => [
  {
    header: 'Address',
    cell: ({ url, disabled_reason }) => (
      <>
        <span dir="auto" className="font-mono text-[13px] break-all">
          {url}
        </span>
        {disabled_reason && <span className="block text-bad">{disabled_reason}</span>}
      </>
    ),
  },
  ...columns,
  {
    header: 'Events',
    wide: true,
    cell: (hook) => (
      <span className="flex flex-wrap gap-1">
        {eventsOf(hook).map((event) => (
          <Badge key={event}>{event}</Badge>
        ))}
      </span>
    ),
  },
  { header: 'State', cell: (hook) => <HookState hook={hook} /> },
]

function HookState({ hook: { enabled, consecutive_failures } }: { hook: Hook }) {
  if (!enabled) return <Badge tone="warn">paused</Badge>
  return consecutive_failures > 0 ? (
    <Badge tone="bad">failing {consecutive_failures}×</Badge>
  ) : (
    <Badge tone="good">enabled</Badge>
  )
}
