import fc from 'fast-check'
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
])('%.20s is refused as a template', (template, problem) => {
  expect(bodyTemplateProblem(template)).toMatch(problem)
})

test('a body stays bounded, however often a template names a large value', () => {
  const large = JSON.stringify({ text: 'x'.repeat(700_000) })
  const template = `[${Array.from({ length: 200 }, () => '"{{text}}"').join(',')}]`
  const body = renderBody(template, large)
  expect(JSON.parse(body)).toHaveLength(200)
  expect(body.length).toBeLessThan(1_100_000)
})

const list = JSON.stringify({
  ref: 'main',
  commits: [
    { title: 'a "b"', author: { name: 'Ada' } },
    { title: 'c', author: { name: 'Bo' } },
  ],
  none: [],
  zero: 0,
  words: ['x', 'y'],
})

test.each([
  [
    '{"t": "{{#commits}}{{title}} by {{author.name}} on {{ref}}; {{/commits}}"}',
    { t: 'a "b" by Ada on main; c by Bo on main; ' },
  ],
  ['[{{#commits}}{"t": {{title}}},{{/commits}}null]', [{ t: 'a "b"' }, { t: 'c' }, null]],
  [
    '{"t": "{{#none}}some{{/none}}{{^none}}none{{/none}}{{^zero}} zero{{/zero}}{{^missing}} missing{{/missing}}"}',
    { t: 'none zero missing' },
  ],
  ['["{{#words}}{{.}},{{/words}}", "{{words.length}}"]', ['x,y,', '2']],
  ['{"t": "{{! a comment }}{{#ref}}{{.}}{{/ref}}"}', { t: 'main' }],
  ['{"t": "{{ two words }}"}', { t: '{{ two words }}' }],
  [
    '{"t": "{{#words.constructor}}x{{/words.constructor}}{{words.map.name}}{{ref.length}}{{ref.at.name}}"}',
    { t: '' },
  ],
])('%s writes sections', (template, body) => {
  expect(bodyTemplateProblem(template)).toBeNull()
  expect(JSON.parse(renderBody(template, list))).toEqual(body)
})

test.each([
  ['{"t": "{{#a}}"}', /end of each/],
  ['{"t": "{{/a}}"}', /end of each/],
  ['{"t": "{{#a}}{{#b}}{{/a}}{{/b}}"}', /end of each/],
  ['{"t": "{{{a}}}"}', /always escaped/],
  ['{"t": "{{&a}}"}', /always escaped/],
  ['{"t": "{{>a}}"}', /no other templates/],
  ['{"t": "{{=<% %>=}}<%a%>"}', /delimiters/],
  [`{"t": "${'{{#a}}'.repeat(9)}${'{{/a}}'.repeat(9)}"}`, /more than 8 sections/],
  ['[{{#a}}1,{{/a}}]', /sections are written or not/],
  ['{"t": {{#a}}1{{/a}}}', /sections are written or not/],
])('%s is refused with its reason', (template, problem) => {
  expect(bodyTemplateProblem(template)).toMatch(problem)
})

test('nested lists end, however often the template multiplies them', () => {
  const many = JSON.stringify({ a: Array.from({ length: 1000 }, () => 'x'.repeat(10)) })
  const depth = 8
  const empty = `{"t": "${'{{#a}}'.repeat(depth)}${'{{/a}}'.repeat(depth)}"}`
  const full = `{"t": "${'{{#a}}'.repeat(depth)}{{.}}{{/a}}${'{{/a}}'.repeat(depth - 1)}"}`
  for (const template of [empty, full]) {
    expect(bodyTemplateProblem(template)).toBeNull()
    const body = renderBody(template, many)
    expect(JSON.parse(body)).toHaveProperty('t')
    expect(body.length).toBeLessThan(1_100_000)
  }
})

test('bodies share the limits of length and of parts, and each has 64 KiB and 5,000 parts', () => {
  const many = JSON.stringify({ a: Array.from({ length: 1000 }, () => 'x') })
  const rendered = (within: string, sharedBy: number): unknown[] =>
    JSON.parse(renderBody(`[{{#a}}{{#a}}${within},{{/a}}{{/a}}0]`, many, { json: true, sharedBy }))
  const ofText = `"${'x'.repeat(1000)}"`
  expect(rendered(ofText, 10).length).toBeLessThan(rendered(ofText, 1).length / 9)
  expect(rendered('1', 10).length).toBeLessThan(rendered('1', 1).length / 9)
  expect(rendered(ofText, 100).length).toBeGreaterThan(60)
  expect(rendered('1', 100).length).toBeGreaterThan(2_000)
})

test('a long path counts as several parts', () => {
  const many = JSON.stringify({ a: Array.from({ length: 1000 }, () => 'x') })
  const rendered = (path: string): unknown[] =>
    JSON.parse(renderBody(`[{{#a}}{{#a}}{{${path}}},{{/a}}{{/a}}0]`, many))
  expect(rendered(`${'b.'.repeat(1000)}b`).length).toBeLessThan(rendered('b').length / 10)
})

test('an unclosed section, which cannot be stored any more, is sent as text', () => {
  expect(renderBody('{"t": "{{#a"}', '{}')).toBe('{"t": "{{#a"}')
})

test('every accepted template makes JSON of bounded length from every event', () => {
  const name = fc.constantFrom('a', 'b', 'a.b', '.', 'a.0', 'constructor', '__proto__', 'a.length')
  const text = fc.stringMatching(/^[a-z ,]{0,5}$/)
  const template = fc.letrec<{ part: string }>((tie) => ({
    part: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      text,
      name.map((each) => `{{${each}}}`),
      fc
        .tuple(fc.constantFrom('#', '^'), name, tie('part'), tie('part'))
        .map(([kind, each, one, other]) => `{{${kind}${each}}}${one}${other}{{/${each}}}`),
    ),
  })).part
  fc.assert(
    fc.property(template, fc.json({ maxDepth: 3 }), fc.json({ maxDepth: 3 }), (part, a, b) => {
      const whole = `{"t": "${part}", "u": "${part}"}`
      fc.pre(bodyTemplateProblem(whole) === null)
      const body = renderBody(whole, `{"a": ${a}, "b": ${b}}`)
      const { t, u } = JSON.parse(body) as { t: string; u: string }
      expect(u).toBe(t)
    }),
    { numRuns: 200 },
  )
})
