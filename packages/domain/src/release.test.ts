import { expect, it } from 'vitest'
import { DomainError } from './errors.js'
import { type ReleaseLinkFields, validateLink, validateRelease } from './release.js'

const problemsOf = (work: () => void): unknown => {
  try {
    work()
  } catch (error) {
    return error instanceof DomainError ? error.detail : error
  }
  return {}
}
const link = (fields: Partial<ReleaseLinkFields> = {}): ReleaseLinkFields => ({
  name: 'app',
  url: 'https://example.com/app.zip',
  filePath: null,
  linkType: 'other',
  ...fields,
})
const problemsOfLink = (fields: Partial<ReleaseLinkFields>, others: ReleaseLinkFields[] = []) =>
  problemsOf(() => validateLink(link(fields), others))

it('texts have a longest length, counted in characters', () => {
  expect(problemsOf(() => validateRelease({ name: '\u{1f600}'.repeat(255), description: null }))).toEqual({})
  expect(
    problemsOf(() => validateRelease({ name: 'x'.repeat(256), description: 'x'.repeat(125_001) })),
  ).toEqual({
    name: ['is too long (maximum is 255 characters)'],
    description: ['is too long (maximum is 125000 characters)'],
  })
})

it.each(['javascript:alert(1)', 'https://', 'http://exa\nmple.com', '/relative', 'file:///etc/passwd'])(
  'a link may not lead to %j',
  (url) => {
    expect(problemsOfLink({ url })).toEqual({
      url: ['is blocked: Only allowed schemes are http, https, ftp'],
    })
  },
)

it('an address may have 2048 bytes', () => {
  const of = (bytes: number) => `ftp://example.com/${'é'.repeat((bytes - 18) / 2)}`
  expect(problemsOfLink({ url: of(2048) })).toEqual({})
  expect(problemsOfLink({ url: of(2050) })).toEqual({ url: ['is too long (maximum is 2048 bytes)'] })
})

it.each(['/a', '/bin/app-1.2_linux.zip', `/${'a'.repeat(127)}`])('a path may be %j', (filePath) => {
  expect(problemsOfLink({ filePath })).toEqual({})
})

it.each(['a', '/', '/a/', '/a//b', '/../b', '/./b', '/a b', '/ä', '/a%2f', `/${'a'.repeat(128)}`])(
  'a path may not be %j',
  (filePath) => {
    expect(problemsOfLink({ filePath })).toEqual({ filepath: ['is in an invalid format'] })
  },
)

it('names each field that another link of the release has, too', () => {
  const other = link({ filePath: '/app' })
  expect(problemsOfLink({ filePath: '/app' }, [other])).toEqual({
    name: ['has already been taken'],
    url: ['has already been taken'],
    filepath: ['has already been taken'],
  })
  const without = link({ name: 'other', url: 'https://example.com/other' })
  expect(problemsOfLink({}, [without])).toEqual({})
})
