import { useMutation } from '@tanstack/react-query'
import { send } from '../../../api/client'
import { ActionDialog, textOf } from '../../../components/action-dialog'
import { Button } from '../../../components/button'
import { SelectField, TextArea } from '../../../components/fields'
import { Problem } from '../../../components/states'
import { TextBox } from '../../../components/text-box'
import type { ProjectHook, WebhookPreview } from '../../../generated/types.gen'
import { useProjectPath } from '../project-frame'

export const events = {
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

export type EventName = keyof typeof events
export const eventNames = Object.keys(events) as EventName[]

const formats = { slack: 'Slack', teams: 'Teams', mattermost: 'Mattermost', plain: 'plain text' }

/** How the body of the requests is written, as the API takes it. */
export const bodyChoice = (form: FormData) => ({
  message_format: textOf(form, 'message_format') || null,
  custom_webhook_template: textOf(form, 'custom_webhook_template') || null,
})

/** The fields of the body, and a button that shows the body for the newest event of the first chosen kind. */
export function BodyFields() {
  const address = `${useProjectPath()}/hooks/preview`
  const preview = useMutation({
    mutationFn: (form: FormData) =>
      send<WebhookPreview>('POST', address, {
        trigger: eventNames.find((name) => form.has(name)) ?? 'push_events',
        ...bodyChoice(form),
      }),
  })
  return (
    <>
      <SelectField label="Message" name="message_format" hint="What the receiver gets instead of the event.">
        <option value="">The event as JSON</option>
        {Object.entries(formats).map(([format, label]) => (
          <option key={format} value={format}>
            For {label}
          </option>
        ))}
      </SelectField>
      <TextArea
        label="Template"
        name="custom_webhook_template"
        maxLength={4096}
        className="font-mono text-[13px]"
        placeholder={'{ "text": "{{user_name}} pushed to {{ref}}" }'}
        hint="JSON with {{path.of.a.field}} for values of the event. It needs the choice “The event as JSON” above."
      />
      <Button
        onClick={({ currentTarget: { form } }) => form && preview.mutate(new FormData(form))}
        disabled={preview.isPending}
      >
        Preview
      </Button>
      {preview.isError && (
        <div className="mt-2">
          <Problem error={preview.error} />
        </div>
      )}
      {preview.data && (
        <TextBox label="Preview of the body" className="mt-2 max-h-48 border p-2">
          {preview.data.body}
        </TextBox>
      )}
    </>
  )
}

/** Sends the newest event of a kind to a webhook once more. */
export function TestDialog({ hook, onClose }: { hook: ProjectHook; onClose: () => void }) {
  const address = `${useProjectPath()}/hooks/${hook.id}/test`
  return (
    <ActionDialog
      title="Test the webhook"
      action="Send"
      onClose={onClose}
      run={async (form) => {
        await send('POST', `${address}/${textOf(form, 'trigger')}`)
        onClose()
      }}
    >
      <p className="mb-3 text-sm text-quiet">
        The newest event of the chosen kind is sent to{' '}
        <span dir="auto" className="break-all">
          {hook.url}
        </span>
        . The list of its deliveries shows the answer.
      </p>
      <SelectField label="Event" name="trigger" defaultValue={eventNames.find((name) => hook[name])}>
        {eventNames.map((name) => (
          <option key={name} value={name}>
            {events[name]}
          </option>
        ))}
      </SelectField>
    </ActionDialog>
  )
}
