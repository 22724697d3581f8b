import { describe, expect, it } from 'vitest'
import { claimPatternsProblem, jobIdentityOf, matchesClaims } from './job-identity.js'

describe('the claims of a rule', () => {
  it.each([
    [{ sub: 'repo:acme/engine:ref:refs/heads/main' }],
    [{ repository: 'acme/*', ref: 'refs/tags/v*' }],
    [{ project_path: 'acme/engine', ref_protected: 'true' }],
  ])('%j identify the owner of the job', (claims) => {
    expect(claimPatternsProblem(claims)).toBeNull()
  })

  it.each([
    [{}, 'must have one of sub'],
    [{ ref: 'refs/heads/main' }, 'must have one of sub'],
    [{ repository: '*' }, 'must have one of sub'],
    [{ repository: '*/engine' }, 'must have one of sub'],
    [{ sub: 'a', 'a b': 'c' }, 'invalid name'],
    [{ sub: '' }, 'empty pattern for sub'],
    [{ sub: 'a'.repeat(256) }, 'too long'],
    [Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`c${at}`, 'x'])), 'more than 10'],
    [JSON.parse('{"__proto__": "x"}'), 'must have one of sub'],
  ])('%j are refused', (claims, problem) => {
    expect(claimPatternsProblem(claims)).toContain(problem)
  })

  it('match by case, whole values, and only claims that the token itself has', () => {
    const claims = { repository: 'acme/engine', ref: 'refs/heads/main', run_id: 7, protected: true }
    expect(matchesClaims({ repository: 'acme/engine' }, claims)).toBe(true)
    expect(matchesClaims({ repository: 'acme/*', ref: 'refs/heads/*' }, claims)).toBe(true)
    expect(matchesClaims({ run_id: '7', protected: 'true' }, claims)).toBe(true)
    expect(matchesClaims({ repository: 'acme/engin' }, claims)).toBe(false)
    expect(matchesClaims({ repository: 'Acme/engine' }, claims)).toBe(false)
    expect(matchesClaims({ environment: '*' }, claims)).toBe(false)
    expect(matchesClaims({ toString: '*' }, claims)).toBe(false)
    expect(matchesClaims({ groups: '*' }, { groups: ['a'] })).toBe(false)
  })
})

describe('the job', () => {
  it('is read from the claims of each issuer', () => {
    const of = { iss: 'https://ci.example.com', sub: 's' }
    const github = { ...of, repository: 'acme/engine', ref: 'refs/heads/main', run_id: '9' }
    expect(jobIdentityOf(github)).toEqual({
      issuer: 'https://ci.example.com',
      subject: 's',
      repository: 'acme/engine',
      ref: 'refs/heads/main',
      run: '9',
      url: null,
    })
    expect(jobIdentityOf({ ...of, project_path: 'a/b', ref: 'main', pipeline_id: 4 })).toMatchObject({
      repository: 'a/b',
      run: '4',
    })
    expect(jobIdentityOf({ ...of, build_number: 12 })).toMatchObject({
      repository: null,
      ref: null,
      run: '12',
    })
  })

  it.each([
    [
      { iss: 'https://token.actions.githubusercontent.com', repository: 'acme/engine', run_id: '9' },
      'https://github.com/acme/engine/actions/runs/9',
    ],
    [
      { iss: 'https://gitlab.example.com', project_path: 'acme/sub/engine', pipeline_id: 4 },
      'https://gitlab.example.com/acme/sub/engine/-/pipelines/4',
    ],
    [
      { sub: 'https://jenkins.example.com/job/engine/', build_number: 12 },
      'https://jenkins.example.com/job/engine/12/',
    ],
    [{ run_url: 'http://ci.internal/runs/1' }, 'http://ci.internal/runs/1'],
    [{ run_url: 'javascript:alert(1)' }, null],
    [{ run_url: `https://ci.example.com/${'x'.repeat(2000)}` }, null],
    [{ run_url: 'https://ci.example.com/\n' }, null],
    [{ sub: 'javascript:alert(1)', build_number: 12 }, null],
    [{ iss: 'https://gitlab.example.com', project_path: 'a?b=<img>', pipeline_id: 4 }, null],
    [{ repository: 'acme/engine', run_id: '9' }, null],
  ])('%j has the page %s', (claims, url) => {
    expect(jobIdentityOf({ iss: 'https://ci.example.com', sub: 's', ...claims }).url).toBe(url)
  })

  it('has short texts that can be stored, whatever the claims are', () => {
    expect(jobIdentityOf({ iss: 'i', sub: 'x'.repeat(5000) }).subject).toHaveLength(255)
    expect(jobIdentityOf({ iss: 'i', sub: 'a\0b\ud800' }).subject).toBe('a\ufffdb\ufffd')
  })
})
