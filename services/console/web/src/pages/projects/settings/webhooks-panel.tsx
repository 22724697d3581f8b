import { useMutation, useQueryClient } from '@tanstack/react-query'
import { textOf } from '../../../components/action-dialog'
import { Badge } from '../../../components/badge'
import { Button } from '../../../components/button'
import { CheckboxField, TextField } from '../../../components/fields'
import { Empty, Problem } from '../../../components/states'
import { TextLink } from '../../../components/text-link'
import type { ProjectHook } from '../../../generated/types.gen'
import { changeShown } from '../../../lib/edit-version'
import { useProjectParams, useProjectPath } from '../project-frame'
import { ResourcePanel } from '../resource-panel'

const events = {
  push_events: 'push',
  tag_push_events: 'tag',
  note_events: 'comment',
  job_events: 'job',
  pipeline_events: 'pipeline',
  deployment_events: 'deployment',
  deployment_impact_events: 'impact of a deployment',
  releases_events: 'release',
} as const

type EventName = keyof typeof events
const eventNames = Object.keys(events) as EventName[]

export function WebhooksPanel({ mayChange }: { mayChange: boolean }) {
  const address = `${useProjectPath()}/hooks`
  const client = useQueryClient()
  const enable = useMutation({
    mutationFn: (hook: ProjectHook) => changeShown(`${address}/${hook.id}`, hook, { enabled: !hook.enabled }),
    onSettled: () => client.invalidateQueries({ queryKey: [address] }),
  })
  return (
    <>
      {enable.isError && <Problem error={enable.error} />}
      <ResourcePanel<ProjectHook>
        name="Webhooks"
        address={address}
        rowKey={({ id }) => id}
        empty={
          <Empty title="There are no webhooks.">
            A webhook tells another system of pushes, statuses and so on.
          </Empty>
        }
        columns={columns}
        rowActions={(hook) => (
          <>
            <DeliveriesLink hook={hook} />
            {mayChange && (
              <Button
                aria-label={`${hook.enabled ? 'Pause' : 'Resume'} ${hook.url}`}
                onClick={() => enable.mutate(hook)}
              >
                {hook.enabled ? 'Pause' : 'Resume'}
              </Button>
            )}
          </>
        )}
        add={
          mayChange
            ? {
                title: 'New webhook',
                fields: <Fields />,
                bodyOf: (form) => ({
                  url: textOf(form, 'url'),
                  token: textOf(form, 'token') || null,
                  ...Object.fromEntries(eventNames.map((name) => [name, form.get(name) !== null])),
                }),
              }
            : undefined
        }
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

const DeliveriesLink = ({ hook: { id, url } }: { hook: ProjectHook }) => (
  <TextLink
    to="/projects/$namespace/$name/settings"
    params={useProjectParams()}
    search={{ hook: String(id) }}
    hash="deliveries"
    aria-label={`Deliveries to ${url}`}
    className="inline-flex min-h-8 items-center"
  >
    Deliveries
  </TextLink>
)

const columns = [
  {
    header: 'Address',
    cell: ({ url, disabled_reason }: ProjectHook) => (
      <>
        <span dir="auto" className="font-mono text-[13px] break-all">
          {url}
        </span>
        {disabled_reason && <span className="block text-bad">{disabled_reason}</span>}
      </>
    ),
  },
  {
    header: 'Events',
    wide: true,
    cell: (hook: ProjectHook) => (
      <span className="flex flex-wrap gap-1">
        {eventNames
          .filter((name) => hook[name])
          .map((name) => (
            <Badge key={name}>{events[name]}</Badge>
          ))}
      </span>
    ),
  },
  { header: 'State', cell: (hook: ProjectHook) => <HookState hook={hook} /> },
]

function HookState({ hook: { enabled, consecutive_failures } }: { hook: ProjectHook }) {
  if (!enabled) return <Badge tone="warn">paused</Badge>
  return consecutive_failures > 0 ? (
    <Badge tone="bad">failing {consecutive_failures}×</Badge>
  ) : (
    <Badge tone="good">enabled</Badge>
  )
}

const Fields = () => (
  <>
    <TextField label="Address" name="url" type="url" required placeholder="https://ci.example.com/hook" />
    <TextField
      label="Secret token"
      name="token"
      type="password"
      autoComplete="new-password"
      hint="Sent along, so that the receiver knows the sender. It is not shown again."
    />
    <fieldset>
      <legend className="mb-1 text-sm font-medium">Events</legend>
      {eventNames.map((name) => (
        <CheckboxField key={name} label={events[name]} name={name} defaultChecked={name === 'push_events'} />
      ))}
    </fieldset>
  </>
)
