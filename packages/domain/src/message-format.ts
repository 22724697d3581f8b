import { type BodyForm, renderBody } from './body-template.js'

/** Forms of messages for people, which webhooks send instead of the event. */
export const messageFormats = ['slack', 'teams', 'mattermost', 'plain'] as const

export type MessageFormat = (typeof messageFormats)[number]

/** Longest message, in characters. Receivers cut or refuse longer ones: Teams takes 28 KB. */
const addedLengthMax = 8_000

type Link = (text: string, url: string) => string

const markdownLink: Link = (text, url) => `[${text}](${url})`

/** Escapes the three characters that Slack reads as markup. Links need no other escapes. */
const escapeSlack = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Escapes Markdown. A zero-width space keeps `@all` from notifying everybody. */
const escapeMarkdown = (text: string, kind: 'text' | 'url') =>
  kind === 'url'
    ? text.replace(/[()<>\s]/g, encodeURIComponent)
    : text.replace(/[\\`*_{}[\]<>#|~]/g, '\\$&').replaceAll('@', '@\u200b')

interface Format {
  link: Link
  form: BodyForm
  /** Returns the body around a line, which is a text of JSON in it. */
  body: (line: string) => string
}

const textBody = (line: string) => JSON.stringify({ text: line })

const formats: Record<MessageFormat, Format> = {
  slack: {
    link: (text, url) => `<${url}|${text}>`,
    form: {
      json: true,
      escape: (text, kind) => escapeSlack(kind === 'url' ? text.replaceAll('|', '%7C') : text),
    },
    body: textBody,
  },
  mattermost: { link: markdownLink, form: { json: true, escape: escapeMarkdown }, body: textBody },
  teams: {
    link: markdownLink,
    form: { json: true, escape: escapeMarkdown },
    body: (line) =>
      JSON.stringify({
        type: 'message',
        attachments: [
          {
            contentType: 'application/vnd.microsoft.card.adaptive',
            content: {
              $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
              type: 'AdaptiveCard',
              version: '1.4',
              body: [{ type: 'TextBlock', text: line, wrap: true }],
            },
          },
        ],
      }),
  },
  plain: { link: (text, url) => `${text} ${url}`, form: { json: false }, body: (line) => line },
}

const project = (link: Link) => link('{{project.path_with_namespace}}', '{{project.web_url}}')

const deployment = (link: Link) =>
  `{{#console_url}}${link('a deployment', '{{console_url}}')}{{/console_url}}{{^console_url}}a deployment{{/console_url}}`

const findings =
  '{{#findings}}\n- {{service_name}} of tenant {{tenant}}: {{measure}}{{#fingerprint}} {{fingerprint}}{{/fingerprint}}{{/findings}}'

/** The line for each event of a project. */
const lines: Record<string, (link: Link) => string> = {
  push: (link) =>
    `{{user_name}} pushed to {{ref}} of ${project(link)}, commits: {{total_commits_count}}` +
    `{{#commits}}\n- ${link('{{title}}', '{{url}}')} ({{author.name}}){{/commits}}`,
  tag_push: (link) => `{{user_name}} pushed {{ref}} of ${project(link)}`,
  note: (link) =>
    `{{user.name}} commented on ${link('{{commit.title}}', '{{object_attributes.url}}')} of ${project(link)}:\n{{object_attributes.note}}`,
  job: () => '{{build_name}} of {{ref}} in {{project_name}}: {{build_status}}',
  pipeline: (link) =>
    `${link('Pipeline {{object_attributes.id}}', '{{object_attributes.url}}')} of {{object_attributes.ref}} in ${project(link)}: {{object_attributes.status}}`,
  deployment: (link) =>
    `Deployment of ${link('{{short_sha}}', '{{commit_url}}')} of ${project(link)} to {{environment}}: {{status}} ({{user.name}})`,
  deployment_impact: (link) =>
    `Services became worse with ${deployment(link)} of {{project.path_with_namespace}} to {{environment}}:${findings}`,
  impact_rule: (link) =>
    `Rule {{rule.name}}: services became worse with ${deployment(link)} of {{project.path_with_namespace}} to {{environment}}` +
    `{{#freeze}}, which is frozen now{{/freeze}}:${findings}`,
  releases: (link) => `Release ${link('{{name}}', '{{url}}')} of ${project(link)}: {{action}}`,
  test: () => 'A test of Switchyard',
}

/** Returns the line for an event of a saga. */
const sagaLine = (link: Link) =>
  `{{event}}: {{#saga}}saga {{#url}}${link('{{saga_id}}', '{{url}}')}{{/url}}{{^url}}{{saga_id}}{{/url}}` +
  `{{#service_name}} of {{.}}{{/service_name}}, {{status}}{{/saga}}{{#flag}}{{^saga}}activity {{activity_id}}{{/saga}}{{/flag}}` +
  `{{#activities}}\n- {{activity_id}}: {{status}} {{#execute_errors}}{{execute_errors}}{{/execute_errors}}` +
  '{{#compensate_errors}} {{compensate_errors}}{{/compensate_errors}}{{/activities}}'

/**
 * Returns the message about an event.
 *
 * @param payload the event as JSON
 */
export function renderMessage(name: MessageFormat, event: string, payload: string): string {
  const { link, form, body } = formats[name]
  const line = (lines[event] ?? sagaLine)(link)
  return renderBody(body(line), payload, { ...form, addedLengthMax })
}

/** The choice of a webhook how the body of its requests is written. */
export interface BodyChoice {
  bodyTemplate: string | null
  messageFormat: string | null
}

/**
 * Returns the body of a request, and its type when it is not JSON.
 *
 * @param sharedBy number of bodies by templates that share their limits. Unset: 1
 */
export function writtenBody(
  { bodyTemplate, messageFormat }: BodyChoice,
  { event, payload }: { event: string; payload: string },
  sharedBy = 1,
): { payload: string; contentType?: string } {
  if (bodyTemplate !== null) return { payload: renderBody(bodyTemplate, payload, { json: true, sharedBy }) }
  const format = messageFormats.find((name) => name === messageFormat)
  if (format === undefined) return { payload }
  const message = renderMessage(format, event, payload)
  return format === 'plain'
    ? { payload: message, contentType: 'text/plain; charset=utf-8' }
    : { payload: message }
}
