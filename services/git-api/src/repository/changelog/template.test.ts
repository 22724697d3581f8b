import { describe, expect, it, test } from 'vitest'
import { parseTemplate, renderTemplate } from './template.js'

const data = {
  categories: [
    { title: 'Bugs', single_change: true, count: 1, entries: [{ title: 'Fix', commit: { trailers: {} } }] },
    {
      title: 'Features',
      single_change: false,
      count: 2,
      entries: ['Add', 'More'].map((title) => ({ title, commit: { trailers: { Issue: '7' } } })),
    },
  ],
  names: ['a', 'b'],
  empty: '',
  none: [],
}
const render = (text: string) => renderTemplate(parseTemplate(text), data)

test.each([
  ['{{ categories.1.title }}, {{names.0}}', 'Features, a'],
  ['{% each names %}\n- {{ it }}\n{% end %}\n', '- a\n- b\n'],
  ['{% if empty %}\nyes\n{% else %}\nno\n{% end %}\n', 'no\n'],
  ['{% if none %}yes{% end %}{% if missing.deep.er %}yes{% end %}{% if names %}names{% end %}', 'names'],
  ['one \\\ntwo \\three { } {a} %}', 'one two \\three { } {a} %}'],
  ['{{ categories }}{{ constructor }}{{ names.length }}{{ __proto__ }}', ''],
  ['{% each names.0 %}x{% end %}{% each missing %}x{% end %}', ''],
  [
    '{% each categories %}\n### {{ title }} ({% if single_change %}1 change{% else %}{{ count }} changes{% end %})\n{% each entries %}\n- {{ title }}\\\n{% if commit.trailers.Issue %} #{{ commit.trailers.Issue }}{% end %}\n\n{% end %}\n{% end %}',
    '### Bugs (1 change)\n- Fix\n### Features (2 changes)\n- Add #7\n- More #7\n',
  ],
])('the template %j is written as GitLab does', (text, expected) => {
  expect(render(text)).toBe(expected)
})

describe('refused', () => {
  it.each([
    ['{% if a %}', 'an end is missing'],
    ['{% end %}', 'an end has no beginning'],
    ['{% else %}', 'an else has no if'],
    ['{% each a %}{% else %}{% end %}', 'an else has no if'],
    ['{% if a %}{% else %}{% else %}{% end %}', 'an else has no if'],
    ['{% for a %}', '{% begins nothing that is known'],
    ['{{ a | upper }}', '{{ begins nothing that is known'],
    ['{{ a..b }}', 'a..b names nothing'],
    ['{% if a %}'.repeat(30), 'it is nested more than 20 levels deep'],
    [`{%${' '.repeat(60_000)}`, '{% begins nothing that is known'],
  ])('is %j', (text, reason) => {
    const error = expect.objectContaining({ detail: `Failed to parse the template: ${reason}` })
    expect(() => parseTemplate(text)).toThrow(error)
  })

  it('a template that writes too much', () => {
    const loop = `{% each categories %}{% each entries %}${'x'.repeat(1000)}{% end %}{% end %}`
    expect(() => render(loop.repeat(1_500))).toThrow(expect.objectContaining({ kind: 'unprocessable' }))
    expect(() => render('{% if names %}{% end %}'.repeat(600_000))).toThrow(
      expect.objectContaining({ detail: 'The changelog is too large' }),
    )
  })
})
