import { describe, expect, it } from 'vitest'
import { type MessageFormat, messageFormats, renderMessage, writtenBody } from './message-format.js'

const project = { path_with_namespace: 'ada/engine', web_url: 'https://switchyard.example/ada/engine' }
const push = {
  user_name: '<!channel> & @all',
  ref: 'refs/heads/main',
  total_commits_count: 1,
  project,
  commits: [{ title: '*bold* [x](y) "q"', url: 'https://switchyard.example/c/1', author: { name: 'Ada' } }],
}
const events: Record<string, object> = {
  push,
  tag_push: { ...push, ref: 'refs/tags/v1', commits: [] },
  note: {
    user: { name: 'Ada' },
    project,
    commit: { title: 'Fix' },
    object_attributes: { note: 'Good', url: 'https://s.example/n' },
  },
  job: { build_name: 'test', ref: 'main', project_name: 'ada / engine', build_status: 'failed' },
  pipeline: {
    project,
    object_attributes: { id: 7, url: 'https://s.example/p', ref: 'main', status: 'success' },
  },
  deployment: {
    project,
    short_sha: '0123abcd',
    commit_url: 'https://s.example/c',
    environment: 'production',
    status: 'success',
    user: { name: 'Ada' },
  },
  deployment_impact: {
    project: { path_with_namespace: 'ada/engine' },
    environment: 'production',
    console_url: 'https://s.example/d/7',
    findings: [
      { service_name: 'booking', tenant: 'default', measure: 'failures', fingerprint: null },
      { service_name: 'booking', tenant: 'acme', measure: 'new_failure', fingerprint: '9390298f3fb0c5b1' },
    ],
  },
  impact_rule: {
    rule: { id: 1, name: 'Stop' },
    freeze: true,
    project: { path_with_namespace: 'ada/engine' },
    environment: 'production',
    console_url: 'https://s.example/d/7',
    findings: [{ service_name: 'booking', tenant: 'default', measure: 'failures', fingerprint: null }],
  },
  releases: { project, name: 'One', url: 'https://s.example/r', action: 'create' },
  'saga.error': {
    event: 'saga.error',
    saga: { saga_id: '42', service_name: 'booking', status: 'Error', url: null },
    flag: null,
    activities: [
      {
        activity_id: '42-hotel',
        status: 'CompensateAborted',
        execute_errors: null,
        compensate_errors: 'no such booking',
      },
    ],
  },
  'saga.parked': {
    event: 'saga.parked',
    saga: null,
    flag: { kind: 'parked', activity_id: 'a-1' },
    activities: [],
  },
  test: { event: 'test' },
}
const message = (format: MessageFormat, event: string) =>
  renderMessage(format, event, JSON.stringify(events[event]))
const textOf = (format: MessageFormat, event: string): string => {
  if (format === 'plain') return message(format, event)
  const body = JSON.parse(message(format, event))
  return format === 'teams' ? body.attachments[0].content.body[0].text : body.text
}

describe.each(messageFormats)('%s', (format) => {
  it.each(Object.keys(events))(
    'describes %s in one body of its form, with every value filled in',
    (event) => {
      const text = textOf(format, event)
      expect(text.length).toBeGreaterThan(5)
      expect(text).not.toMatch(/\{\{|undefined|null|\(\)|<\||\[\]/)
    },
  )

  it('stays short, whatever the event contains', () => {
    const many = {
      ...push,
      commits: Array.from({ length: 20 }, () => ({ ...push.commits[0], title: '<'.repeat(5000) })),
    }
    expect(renderMessage(format, 'push', JSON.stringify(many)).length).toBeLessThan(10_000)
  })
})

it('names what became worse with a deployment, even when the installation does not know its own address', () => {
  const findings =
    '\n- booking of tenant default: failures\n- booking of tenant acme: new_failure 9390298f3fb0c5b1'
  expect(textOf('slack', 'deployment_impact')).toBe(
    `Services became worse with <https://s.example/d/7|a deployment> of ada/engine to production:${findings}`,
  )
  const unlinked = JSON.stringify({ ...events.deployment_impact, console_url: null })
  expect(renderMessage('plain', 'deployment_impact', unlinked)).toBe(
    `Services became worse with a deployment of ada/engine to production:${findings}`,
  )
})

describe('a text that a person wrote', () => {
  it('is not read as markup by Slack, and notifies nobody', () => {
    expect(textOf('slack', 'push')).toBe(
      '&lt;!channel&gt; &amp; @all pushed to refs/heads/main of <https://switchyard.example/ada/engine|ada/engine>, commits: 1\n' +
        '- <https://switchyard.example/c/1|*bold* [x](y) "q"> (Ada)',
    )
  })

  it('is not read as markup by Mattermost and Teams, and notifies nobody', () => {
    const text = textOf('mattermost', 'push')
    expect(text).toContain('[\\*bold\\* \\[x\\](y) "q"](https://switchyard.example/c/1)')
    expect(text).not.toMatch(/@all/)
    expect(textOf('teams', 'push')).toBe(text)
  })

  it('is unchanged in plain text', () => {
    expect(textOf('plain', 'push')).toContain('<!channel> & @all pushed')
  })
})

describe('the body of a request', () => {
  const event = { event: 'test', payload: '{"event":"test"}' }

  it('is the event itself without a choice, and for an unknown choice', () => {
    expect(writtenBody({ bodyTemplate: null, messageFormat: null }, event)).toEqual({
      payload: event.payload,
    })
    expect(writtenBody({ bodyTemplate: null, messageFormat: 'pigeon' }, event)).toEqual({
      payload: event.payload,
    })
  })

  it('follows the template or the format, and has the type of plain text for it', () => {
    expect(writtenBody({ bodyTemplate: '["{{event}}"]', messageFormat: null }, event)).toEqual({
      payload: '["test"]',
    })
    expect(writtenBody({ bodyTemplate: null, messageFormat: 'plain' }, event)).toEqual({
      payload: 'A test of Switchyard',
      contentType: 'text/plain; charset=utf-8',
    })
  })
})
