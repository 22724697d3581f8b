import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesTargetPath } from '../broadcast/index.js'
import { bannerMessage, findingsForRule, impactRuleProblems, projectPagesTarget } from './impact-rule.js'

const anything = {
  services: [],
  measures: [],
  environments: [],
  tiers: [],
  ratioMin: null,
  confidenceMin: null,
}
const production = { name: 'production/eu', tier: 'production' }
const failures = { serviceName: 'billing', measure: 'failures', before: 0.01, after: 0.05, pValue: 1e-6 }
const isFor = (condition: object, finding: object = {}) =>
  findingsForRule({ ...anything, ...condition }, production, [{ ...failures, ...finding }]).length === 1

describe('a rule applies to findings', () => {
  it.each([
    [{}, true],
    [{ services: ['mail', 'billing'] }, true],
    [{ services: ['mail'] }, false],
    [{ measures: ['failures'] }, true],
    [{ measures: ['stuck', 'duration'] }, false],
    [{ environments: ['production/eu'] }, true],
    [{ environments: ['production/us'] }, false],
    [{ tiers: ['production'] }, true],
    [{ tiers: ['staging'] }, false],
    [{ environments: ['production/us'], tiers: ['production'] }, true],
    [{ ratioMin: 5 }, true],
    [{ ratioMin: 5.1 }, false],
    [{ confidenceMin: 0.999 }, true],
    [{ confidenceMin: 0.9999999 }, false],
    [{ ratioMin: 5, confidenceMin: 0.9999999 }, false],
  ])('of %j: %j', (condition, expected) => {
    expect(isFor(condition)).toBe(expected)
  })

  it.each([null, 0])('whose figure before is %j, whatever growth the rule requires', (before) => {
    expect(isFor({ ratioMin: 1000 }, { before })).toBe(true)
  })
})

describe('the message of a banner', () => {
  const values = {
    rule: 'Stop',
    project: 'ada/engine',
    environment: 'production',
    deployment: 12,
    ref: 'main',
    services: ['billing', 'mail', 'billing'],
    url: 'https://switchyard.example.com/console/projects/ada/engine/deployments/7',
  }

  it('names the deployment, the services that became worse and the page of the deployment', () => {
    expect(bannerMessage('**{{environment}}**: [#{{deployment}}]({{url}}) of {{services}}', values)).toBe(
      `**production**: [#12](${values.url}) of billing\\, mail`,
    )
    const many = { ...values, services: ['a', 'b', 'c', 'd', 'e', 'f', 'g'], url: null }
    expect(bannerMessage('{{services}}{{#url}} {{url}}{{/url}}', many)).toBe(
      'a\\, b\\, c\\, d\\, e and 2 more',
    )
  })

  it('has no markup, link or line break of a value, and makes hidden characters visible', () => {
    const services = ['[x](https://evil.example)', 'www.evil.example', 'a@evil.example', '\u202ea\nb']
    expect(bannerMessage('{{services}}', { ...values, services })).toBe(
      '\\[x\\]\\(https\\:\\/\\/evil\\.example\\)\\, www\\.evil\\.example\\, a\\@evil\\.example\\, U\\+202Ea b',
    )
  })

  it('is bounded, however long the names are', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 128 }), { maxLength: 50 }), (services) => {
        expect(bannerMessage('{{services}}{{ref}}', { ...values, services }).length).toBeLessThan(4100)
      }),
      { numRuns: 50 },
    )
  })
})

it.each([
  [{ name: 'x'.repeat(256) }, 'name'],
  [{ ratioMin: 0.5 }, 'ratio_min'],
  [{ ratioMin: Number.POSITIVE_INFINITY }, 'ratio_min'],
  [{ confidenceMin: 1.1 }, 'confidence_min'],
  [{ freezes: false }, 'freeze'],
  [{ banner: { message: '{{secret}}', targetPath: null } }, 'banner_message'],
  [{ banner: { message: '{{{ref}}}', targetPath: null } }, 'banner_message'],
  [{ banner: { message: '{{#ref}}', targetPath: null } }, 'banner_message'],
  [{ banner: { message: 'x'.repeat(1001), targetPath: null } }, 'banner_message'],
  [{ banner: { message: 'x', targetPath: 'x'.repeat(256) } }, 'banner_target_path'],
])('a rule with %j has a problem of its %s', (fields, field) => {
  const good = { ...anything, name: 'Stop', freezes: true, banner: null, notifiesWebhooks: false }
  expect(impactRuleProblems(good)).toEqual({})
  expect(Object.keys(impactRuleProblems({ ...good, ...fields }))).toEqual([field])
})

it('a banner without a target is shown on the console pages of its project', () => {
  const target = projectPagesTarget('Ada/engine')
  const isOn = (path: string) => matchesTargetPath(target, path)
  expect(['/console/projects/ada/engine', '/console/projects/Ada/engine/files/main/a'].map(isOn)).toEqual([
    true,
    true,
  ])
  const others = ['/console', '/console/projects/ada/boat', '/console/projects/ada/engine-room', '/shop']
  expect(others.filter(isOn)).toEqual([])
})
