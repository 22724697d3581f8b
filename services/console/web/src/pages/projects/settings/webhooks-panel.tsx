import { getRouteApi } from '@tanstack/react-router'
import { send } from '../../../api/client'
import { textOf } from '../../../components/action-dialog'
import { CheckboxField, SelectField, TextField } from '../../../components/fields'
import { Empty } from '../../../components/states'
import { ButtonLink, TextLink } from '../../../components/text-link'
import type { ProjectHook, WebhookPreview } from '../../../generated/types.gen'
import { pageOf } from '../../../lib/search-params'
import { BodyFields, bodyChoice, storedBodyChoice } from '../../webhooks/body-fields'
import { DeliveriesPanel } from '../../webhooks/deliveries-panel'
import { type WebhookKind, WebhooksPanel } from '../../webhooks/webhooks-panel'
import { useProjectParams, useProjectPath } from '../project-frame'

const route = getRouteApi('/projects/$namespace/$name/settings')

const events = {
  push_events: 'push',
  tag_push_events: 'tag',
  note_events: 'comment',
  job_events: 'job',
  pipeline_events: 'pipeline',
  deployment_events: 'deployment',
  deployment_impact_events: 'impact of a deployment',
  impact_rule_events: 'applied rule',
  releases_events: 'release',
} as const

type EventName = keyof typeof events
const eventNames = Object.keys(events) as EventName[]

const flagsOf = (isTold: (name: EventName) => boolean) =>
  Object.fromEntries(eventNames.map((name) => [name, isTold(name)]))

/** The webhooks of a project. */
export function ProjectWebhooksPanel({ mayChange }: { mayChange: boolean }) {
  const address = `${useProjectPath()}/hooks`
  const kind: WebhookKind<ProjectHook> = {
    address,
    empty: (
      <Empty title="There are no webhooks.">
        A webhook tells another system of pushes, statuses and so on.
      </Empty>
    ),
    eventsOf: (hook) => eventNames.filter((name) => hook[name]).map((name) => events[name]),
    fields: (hook) => <Fields hook={hook} address={address} />,
    bodyOf: (form) => ({
      url: textOf(form, 'url'),
      token: textOf(form, 'token') || null,
      ...bodyChoice(form),
      ...flagsOf((name) => form.has(name)),
    }),
    storedOf: (hook) => ({
      url: hook.url,
      token: null,
      ...storedBodyChoice(hook),
      ...flagsOf((name) => hook[name]),
    }),
    deliveries: (hook) => <DeliveriesLink hook={hook} />,
    test: {
      sends: 'The newest event of the chosen kind',
      fields: testFields,
      below: (form) => `/test/${textOf(form, 'trigger')}`,
    },
  }
  return <WebhooksPanel kind={kind} mayChange={mayChange} />
}

/** The deliveries of a webhook of a project. */
export function ProjectDeliveriesPanel({ hook, mayChange }: { hook: string; mayChange: boolean }) {
  const address = `${useProjectPath()}/hooks`
  const params = useProjectParams()
  const navigate = route.useNavigate()
  return (
    <DeliveriesPanel
      kind={{ address }}
      hook={hook}
      page={pageOf(route.useSearch().page)}
      onMove={(to) => void navigate({ search: { hook, page: String(to) }, resetScroll: false })}
      close={
        <ButtonLink to="/projects/$namespace/$name/settings" params={params}>
          Close
        </ButtonLink>
      }
      mayChange={mayChange}
    />
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

/** The fields of a webhook, with a preview of the newest event of the first chosen kind. */
const Fields = ({ hook, address }: { hook: ProjectHook | undefined; address: string }) => (
  <>
    <TextField
      label="Address"
      name="url"
      type="url"
      required
      placeholder="https://ci.example.com/hook"
      defaultValue={hook?.url}
    />
    <TextField
      label="Secret token"
      name="token"
      type="password"
      autoComplete="new-password"
      hint={
        hook
          ? 'Leave it empty to keep the stored one.'
          : 'Sent along, so that the receiver knows the sender. It is not shown again.'
      }
    />
    <fieldset>
      <legend className="mb-1 text-sm font-medium">Events</legend>
      {eventNames.map((name) => (
        <CheckboxField
          key={name}
          label={events[name]}
          name={name}
          defaultChecked={hook ? hook[name] : name === 'push_events'}
        />
      ))}
    </fieldset>
    <BodyFields
      hook={hook}
      example={'{ "text": "{{user_name}} pushed to {{ref}}" }'}
      preview={(form) =>
        send<WebhookPreview>('POST', `${address}/preview`, {
          trigger: eventNames.find((name) => form.has(name)) ?? 'push_events',
          ...bodyChoice(form),
        })
      }
    />
  </>
)

const testFields = (hook: ProjectHook) => (
  <SelectField label="Event" name="trigger" defaultValue={eventNames.find((name) => hook[name])}>
    {eventNames.map((name) => (
      <option key={name} value={name}>
        {events[name]}
      </option>
    ))}
  </SelectField>
)
