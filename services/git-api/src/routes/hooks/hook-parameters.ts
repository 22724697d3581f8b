import { filledText, flag, rowId, text } from '@switchyard/service-kit/http'
import { type ProjectWebhookEvent, projectWebhookEvents } from '@switchyard/webhooks'
import { z } from 'zod'
import { optional } from '../optional.js'

export const hookId = { hook_id: rowId() }

/** Other events that GitLab knows are not, so nothing is ever told of them. */
const eventFlags = {
  push_events: optional(flag()),
  tag_push_events: optional(flag()),
  note_events: optional(flag()),
  job_events: optional(flag()),
  pipeline_events: optional(flag()),
} satisfies Record<`${ProjectWebhookEvent}_events`, unknown>

/** What a webhook is made of, as far as it was given; an empty token is none. */
export const optionalHookParameters = {
  url: filledText().optional(),
  token: text().nullish(),
  enabled: optional(flag()),
  ...eventFlags,
}

type EventFlags = { [Name in keyof typeof eventFlags]: boolean | undefined }

/** The events that are wanted, where what is not said stays as it was. */
export const wantedEvents = (flags: EventFlags, before: readonly string[]): ProjectWebhookEvent[] =>
  projectWebhookEvents.filter((event) => flags[`${event}_events`] ?? before.includes(event))

/** Undefined: it stays as it was. */
export const secretOf = (token: string | null | undefined): string | null | undefined =>
  token === '' ? null : token

export const trigger = () =>
  z.enum([
    'push_events',
    'tag_push_events',
    'note_events',
    'job_events',
    'pipeline_events',
  ] satisfies (keyof EventFlags)[])
