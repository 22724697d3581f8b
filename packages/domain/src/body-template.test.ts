import { expect, test } from 'vitest'
import { bodyTemplateProblem, renderBody } from './body-template.js'

const event = JSON.stringify({
  object_kind: 'push',
  total: 2,
  message: 'says "hi"\n\\',
  project: { name: 'Engine' },
  commits: [{ id: 'abc' }],
  nothing: null,
})

test.each([
  ['{"kind": "{{object_kind}}", "of": "{{project.name}}"}', { kind: 'push', of: 'Engine' }],
  ['{"text": "A {{object_kind}} of {{ commits.0.id }}"}', { text: 'A push of abc' }],
  ['{"total": {{total}}, "kind": {{object_kind}}}', { total: 2, kind: 'push' }],
  ['{"commits": {{commits}}, "count": "{{total}}"}', { commits: [{ id: 'abc' }], count: '2' }],
  ['{"m": "{{message}}", "\\"q": {{message}}}', { m: 'says "hi"\n\\', '"q': 'says "hi"\n\\' }],
  ['{"a": "{{missing.deep}}", "b": {{missing}}, "c": {{nothing}}}', { a: '', b: null, c: null }],
  ['{"a": "{{constructor.name}}", "b": {{__proto__}}}', { a: '', b: null }],
  ['["{{project}}"]', ['{"name":"Engine"}']],
])('%s becomes JSON with the values of the event', (template, body) => {
  expect(bodyTemplateProblem(template)).toBeNull()
  expect(JSON.parse(renderBody(template, event))).toEqual(body)
})

test.each([
  ['{"a": {{object_kind}', /must be JSON/],
  ['kind={{object_kind}}', /must be JSON/],
  [`"${'x'.repeat(4096)}"`, /too long/],
])('%.20s is no template', (template, problem) => {
  expect(bodyTemplateProblem(template)).toMatch(problem)
})

test('a body stays bounded, however often a template names a large value', () => {
  const large = JSON.stringify({ text: 'x'.repeat(700_000) })
  const template = `[${Array.from({ length: 200 }, () => '"{{text}}"').join(',')}]`
  const body = renderBody(template, large)
  expect(JSON.parse(body)).toHaveLength(200)
  expect(body.length).toBeLessThan(1_100_000)
})
