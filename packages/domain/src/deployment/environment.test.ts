import fc from 'fast-check'
import { expect, test } from 'vitest'
import { environmentNameProblem, environmentProblems, environmentSlug, guessTier } from './index.js'

test.each([
  ['review/feature-1', 'development'],
  ['DEV', 'development'],
  ['devtest', 'development'],
  ['integration', 'testing'],
  ['qa-2', 'testing'],
  ['Staging', 'staging'],
  ['pre-prod', 'staging'],
  ['non-production', 'staging'],
  ['production', 'production'],
  ['eu-live', 'production'],
  ['gamma', 'other'],
])('the tier of %s is %s', (name, tier) => {
  expect(guessTier(name)).toBe(tier)
})

test.each([
  ['production', /^production$/],
  ['review/a', /^review-a-[a-z0-9]{6}$/],
  ['Staging', /^staging-[a-z0-9]{6}$/],
  ['1.2', /^env-1-2-[a-z0-9]{6}$/],
  ['/', /^env-[a-z0-9]{6}$/],
  ['a-very-long-name-of-an-environment', /^a-very-long-name--?[a-z0-9]{6}$/],
])('the slug of %s', (name, slug) => {
  expect(environmentSlug(name)).toMatch(slug)
})

test('every name has a slug of at most 24 characters that begins with a letter and does not end in a dash', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 60, unit: 'binary' }), (name) => {
      expect(environmentSlug(name)).toMatch(/^[a-z](?:[a-z0-9-]{0,22}[a-z0-9])?$/)
    }),
  )
})

test.each(['', '/a', 'a/', 'a,b', 'ä', 'a\nb', 'a'.repeat(256)])('%j is not a valid name', (name) => {
  expect(environmentNameProblem(name)).not.toBe(null)
})

test.each(['production', 'review/feature-1', '{ci}$', 'a b', '2.0', 'a'.repeat(255)])(
  '%j is a valid name',
  (name) => {
    expect(environmentNameProblem(name)).toBe(null)
  },
)

test('each field with a problem is named', () => {
  const externalUrl = 'javascript:alert(1)'
  expect(environmentProblems({ name: '/', externalUrl, description: 'x'.repeat(10_001) })).toEqual({
    name: [expect.stringContaining('can contain only')],
    external_url: ['is blocked: Only allowed schemes are http, https'],
    description: ['is too long (maximum is 10000 characters)'],
  })
  expect(environmentProblems({ externalUrl: `https://x/${'x'.repeat(255)}` })).toEqual({
    external_url: ['is too long (maximum is 255 characters)'],
  })
  expect(
    environmentProblems({ name: 'qa', externalUrl: 'https://qa.example.com', description: null }),
  ).toEqual({})
})
