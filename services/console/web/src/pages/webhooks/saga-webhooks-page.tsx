import { getRouteApi } from '@tanstack/react-router'
import { send } from '../../api/client'
import { useMay } from '../../api/session'
import { textOf } from '../../components/action-dialog'
import { CheckboxField, TextField } from '../../components/fields'
import { guarded } from '../../components/guarded'
import { Page } from '../../components/page'
import { Empty } from '../../components/states'
import { ButtonLink, TextLink } from '../../components/text-link'
import type { SagaWebhook, WebhookPreview } from '../../generated/types.gen'
import { pageOf } from '../../lib/search-params'
import { SagaListBar } from '../sagas/saga-filters'
import { BodyFields, bodyChoice, storedBodyChoice } from './body-fields'
import { DeliveriesPanel } from './deliveries-panel'
import { type WebhookKind, WebhooksPanel } from './webhooks-panel'

const route = getRouteApi('/saga-webhooks')
const address = '/sagas/webhooks'

const events = {
  'saga.error': 'error',
  'saga.ended': 'ended',
  'saga.resolved': 'resolved',
  'saga.overdue': 'overdue',
  'saga.stuck': 'stuck',
  'saga.settled': 'settled',
  'saga.inconsistent': 'inconsistent',
  'saga.parked': 'parked',
} as const satisfies Record<SagaWebhook['events'][number], string>

const eventNames = Object.keys(events) as (keyof typeof events)[]

export const SagaWebhooksPage = guarded('sagas.webhooks', SagaWebhooks)

/** The webhooks about sagas. */
function SagaWebhooks() {
  const { tenant, hook, page } = route.useSearch()
  const navigate = route.useNavigate()
  const mayChange = useMay('sagas.change')
  const kind = kindOf(tenant)
  return (
    <Page title="Webhooks of sagas">
      <SagaListBar tenant={tenant} onTenant={(given) => void navigate({ search: { tenant: given } })} />
      <WebhooksPanel kind={kind} mayChange={mayChange} />
      {hook !== undefined && (
        <DeliveriesPanel
          key={hook}
          kind={kind}
          hook={hook}
          page={pageOf(page)}
          onMove={(to) => void navigate({ search: { tenant, hook, page: String(to) }, resetScroll: false })}
          close={
            <ButtonLink to="/saga-webhooks" search={{ tenant }}>
              Close
            </ButtonLink>
          }
          mayChange={mayChange}
        />
      )}
    </Page>
  )
}

/** Returns the tenant. An empty field leaves the choice to the API. */
function tenantIn(form: FormData): { tenant?: string } {
  const tenant = textOf(form, 'tenant')
  return tenant === '' ? {} : { tenant }
}

/**
 * @param tenant the tenant whose webhooks are shown. Unset: every tenant that the token may access
 */
const kindOf = (tenant: string | undefined): WebhookKind<SagaWebhook> => ({
  address,
  query: { tenant },
  empty: (
    <Empty title="There are no webhooks.">
      A webhook tells another system, or people in a chat, of sagas that fail, end or are stuck.
    </Empty>
  ),
  columns: [
    { header: 'Tenant', cell: (hook) => <bdi>{hook.tenant}</bdi> },
    { header: 'Service', wide: true, cell: (hook) => <bdi>{hook.service_name ?? 'every one'}</bdi> },
  ],
  eventsOf: (hook) => hook.events.map((event) => events[event]),
  fields: (hook) => <Fields hook={hook} tenant={tenant} />,
  bodyOf: (form) => ({
    url: textOf(form, 'url'),
    secret: textOf(form, 'secret'),
    service_name: textOf(form, 'service_name') || null,
    events: eventNames.filter((name) => form.has(name)),
    ...tenantIn(form),
    ...bodyChoice(form),
  }),
  storedOf: (hook) => ({
    url: hook.url,
    secret: '',
    service_name: hook.service_name,
    events: eventNames.filter((name) => hook.events.includes(name)),
    ...storedBodyChoice(hook),
  }),
  deliveries: ({ id, url }) => (
    <TextLink
      to="/saga-webhooks"
      search={{ tenant, hook: String(id) }}
      hash="deliveries"
      aria-label={`Deliveries to ${url}`}
      className="inline-flex min-h-8 items-center"
    >
      Deliveries
    </TextLink>
  ),
  test: {
    sends: (
      <>
        The event <code>test</code>
      </>
    ),
    below: () => '/test',
  },
})

/** The fields of a webhook, with a preview of the first chosen event for an invented saga. */
const Fields = ({ hook, tenant }: { hook: SagaWebhook | undefined; tenant: string | undefined }) => (
  <>
    <TextField
      label="Address"
      name="url"
      type="url"
      required
      placeholder="https://hooks.example.com/sagas"
      defaultValue={hook?.url}
    />
    <TextField
      label="Secret"
      name="secret"
      type="password"
      autoComplete="new-password"
      required={!hook}
      minLength={16}
      maxLength={255}
      hint={
        hook
          ? 'Leave it empty to keep the stored one.'
          : 'Signs what is sent, so that the receiver knows the sender. It is not shown again.'
      }
    />
    {!hook && (
      <TextField
        label="Tenant"
        name="tenant"
        hint="Whose sagas. It cannot be changed later. Empty: default, or the only one that your token is bound to."
        defaultValue={tenant ?? ''}
      />
    )}
    <TextField
      label="Service"
      name="service_name"
      hint="Only sagas of this service. Empty: of every one."
      defaultValue={hook?.service_name ?? ''}
    />
    <fieldset>
      <legend className="mb-1 text-sm font-medium">Events</legend>
      {eventNames.map((name) => (
        <CheckboxField
          key={name}
          label={events[name]}
          name={name}
          defaultChecked={hook ? hook.events.includes(name) : name === 'saga.error'}
        />
      ))}
    </fieldset>
    <BodyFields
      hook={hook}
      example={'{ "text": "{{event}}: {{saga.saga_id}} of {{saga.service_name}}" }'}
      preview={(form) =>
        send<WebhookPreview>('POST', `${address}/preview`, {
          event: eventNames.find((name) => form.has(name)) ?? 'saga.error',
          ...(hook ? { tenant: hook.tenant } : tenantIn(form)),
          ...bodyChoice(form),
        })
      }
    />
  </>
)
