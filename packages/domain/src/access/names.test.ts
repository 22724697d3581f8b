import { describe, expect, it } from 'vitest'
import { mayBeUsername, pathOfName, projectProblems, userProblems } from './names.js'

const user = { username: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' }

describe('userProblems', () => {
  it.each(['ada', 'a', '_ada', 'Ada.Love-lace_9'])('accepts the username %s', (username) => {
    expect(userProblems({ ...user, username })).toEqual({})
  })

  it.each(['', '-ada', '.ada', 'ada.', 'ada-', 'ada.git', 'ada.ATOM', 'a/b', 'a b', 'é', 'a\n', '..'])(
    'refuses the username %j',
    (username) => {
      expect(Object.keys(userProblems({ ...user, username }))).toEqual(['username'])
    },
  )

  it.each([
    'API',
    'api',
    'console',
    'Console',
    'assets',
    'ASSETS',
    'health',
    'metrics',
    'favicon.ico',
    'sign-in',
  ])('keeps the first path segment %s of the site itself', (username) => {
    expect(userProblems({ ...user, username })).toEqual({ username: ['is a reserved name'] })
    expect(mayBeUsername(username)).toBe(false)
  })

  it.each(['-', '.well-known'])('reports that %s is reserved, too', (username) => {
    expect(userProblems({ ...user, username }).username).toContain('is a reserved name')
    expect(mayBeUsername(username)).toBe(false)
  })

  it.each(['ada', 'root', 'consoles', 'api-2'])('finds that a user may have the name %s', (username) => {
    expect(mayBeUsername(username)).toBe(true)
  })

  it('refuses what would break the header of a commit', () => {
    expect(userProblems({ ...user, email: 'a>b@example.com', name: 'Ada\nauthor' })).toEqual({
      email: ['is invalid'],
      name: ['is invalid'],
    })
    expect(userProblems({ ...user, email: 'nobody' })).toEqual({ email: ['is invalid'] })
  })

  it('refuses names over 255 characters', () => {
    const long = 'a'.repeat(256)
    const text = ['is too long (maximum is 255 characters)']
    expect(userProblems({ username: long, name: long, email: `a@${long}` })).toEqual({
      username: text,
      name: text,
      email: text,
    })
  })
})

describe('projectProblems', () => {
  it.each(['My Project', 'c++', 'Größe 🚀', '_x', '2.0'])('accepts the name %s', (name) => {
    expect(projectProblems({ name, path: 'p' })).toEqual({})
  })

  it.each(['', ' x', '-x', 'a/b', 'a<b', 'a\0b'])('refuses the name %j', (name) => {
    expect(Object.keys(projectProblems({ name, path: 'p' }))).toEqual(['name'])
  })

  it.each([
    `${'1'.repeat(60)}/`,
    'ℹ'.repeat(254),
    `${'👩‍🚀'.repeat(50)}/`,
    'a'.repeat(1_000_000),
    `${'-'.repeat(900_000)}/`,
  ])('judges a name that was made to be slow without delay', (name) => {
    const startedAt = performance.now()
    projectProblems({ name, path: pathOfName(name) })
    userProblems({ username: name, name, email: name })
    expect(performance.now() - startedAt).toBeLessThan(1000)
  })

  it('refuses a name over 255 characters for its length alone', () => {
    expect(projectProblems({ name: '/'.repeat(256), path: 'p' })).toEqual({
      name: ['is too long (maximum is 255 characters)'],
    })
  })

  it.each(['', 'a.git', '-a', '../a', 'a/b', '.'])('refuses the path %j', (path) => {
    expect(Object.keys(projectProblems({ name: 'p', path }))).toEqual(['path'])
  })
})

describe('pathOfName', () => {
  it.each([
    ['My Project!', 'my-project'],
    ['  Größe 2.0 ', 'gro-e-2.0'],
    ['--x..', 'x'],
    ['🚀', ''],
    ['...-a.-b-.-', 'a.-b'],
  ])('%j becomes %j', (name, path) => {
    expect(pathOfName(name)).toBe(path)
  })
})
