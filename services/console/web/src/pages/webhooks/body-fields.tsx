import { useMutation } from '@tanstack/react-query'
import { textOf } from '../../components/action-dialog'
import { Button } from '../../components/button'
import { SelectField, TextArea } from '../../components/fields'
import { Problem } from '../../components/states'
import { TextBox } from '../../components/text-box'
import type { SagaWebhook, WebhookPreview } from '../../generated/types.gen'

const formats = { slack: 'Slack', teams: 'Teams', mattermost: 'Mattermost', plain: 'plain text' }

type Body = Pick<SagaWebhook, 'message_format' | 'custom_webhook_template'>

/** Returns the choice of the body in a form, as the API has it. */
export const bodyChoice = (form: FormData) => ({
  message_format: textOf(form, 'message_format') || null,
  custom_webhook_template: textOf(form, 'custom_webhook_template') || null,
})

/** Returns the choice of the body of a stored webhook. */
export const storedBodyChoice = ({ message_format, custom_webhook_template }: Body) => ({
  message_format,
  // Fields return their text trimmed.
  custom_webhook_template: custom_webhook_template?.trim() || null,
})

/**
 * The fields of the body, and a button that shows the resulting body.
 *
 * @param hook the webhook with the initial choice
 * @param example a template for users who have not written one
 */
export function BodyFields({
  hook,
  example,
  preview: ask,
}: {
  hook: Body | undefined
  example: string
  preview: (form: FormData) => Promise<WebhookPreview>
}) {
  const preview = useMutation({ mutationFn: ask })
  return (
    <>
      <SelectField
        label="Message"
        name="message_format"
        hint="What the receiver gets instead of the event."
        defaultValue={hook?.message_format ?? ''}
      >
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
        placeholder={example}
        defaultValue={hook?.custom_webhook_template ?? ''}
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
