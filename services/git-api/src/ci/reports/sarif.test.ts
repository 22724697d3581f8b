import { DomainError } from '@switchyard/domain'
import { describe, expect, it } from 'vitest'
import { parseSarif } from './sarif.js'

const logOf = (results: unknown, rules: unknown = []) => ({
  version: '2.1.0',
  runs: [{ tool: { driver: { name: 'scan', rules } }, results }],
})
const parse = (log: unknown) => parseSarif(JSON.stringify(log))
const at = (uri: string, region: object = { startLine: 3 }) => [
  { physicalLocation: { artifactLocation: { uri }, region } },
]
const refusal = (json: string): unknown => {
  try {
    parseSarif(json)
  } catch (error) {
    return error instanceof DomainError ? [error.kind, error.detail] : error
  }
  return undefined
}

describe('SARIF', () => {
  it('returns the findings of all runs, with the level and the text of their rule', () => {
    const rules = [
      {
        id: 'R1',
        defaultConfiguration: { level: 'error' },
        messageStrings: { m: { text: '{0} hides {1} and {7}' } },
      },
    ]
    const found = parse(
      logOf(
        [
          { ruleId: 'R1', message: { id: 'm', arguments: ['a', 'b'] }, locations: at('src/a%20b.ts') },
          { ruleIndex: 0, message: { text: 'plain' }, locations: at('./x.c', { startLine: 9, endLine: 4 }) },
          { rule: { id: 'other' }, level: 'note', message: { text: 'no location' } },
          { message: { text: 'hidden' }, suppressions: [{ kind: 'inSource' }] },
          { kind: 'pass', message: { text: 'fine' } },
          { kind: 'review', message: { text: 'look' } },
        ],
        rules,
      ),
    )
    expect(found).toMatchObject([
      {
        tool: 'scan',
        rule: 'R1',
        level: 'error',
        message: 'a hides b and {7}',
        path: 'src/a b.ts',
        line: 3,
        end_line: 3,
      },
      { rule: 'R1', level: 'error', message: 'plain', path: 'x.c', line: 9, end_line: 9 },
      { rule: 'other', level: 'note', message: 'no location', path: null, line: null, end_line: null },
      { rule: null, level: 'none', message: 'look' },
    ])
    expect(found[0]?.identity).toEqual(['scan', 'R1', 'src/a b.ts', 'a hides b and {7}'])
  })

  it.each([
    ['%SRCROOT%/a.ts', 'a.ts'],
    ['file:///%SRCROOT%/a.ts', 'a.ts'],
    ['file:///src/a.ts', 'src/a.ts'],
    ['../a.ts', null],
    ['a/../../b', null],
    ['%2e%2e/b', null],
    ['/etc/passwd', null],
    ['C:\\a.ts', null],
    ['javascript:alert(1)', null],
    ['https://x.example/a', null],
    ['a%00b', null],
    ['100%/a', '100%/a'],
    ['x'.repeat(1025), null],
  ])('the location %s is %s', (uri, path) => {
    expect(parse(logOf([{ message: { text: 'm' }, locations: at(uri) }]))[0]?.path).toBe(path)
  })

  it('inserts arguments into a text of bounded length', () => {
    const rules = [{ id: 'R', messageStrings: { m: { text: '{0}'.repeat(10_000) } } }]
    const message = { id: 'm', arguments: ['x'.repeat(100_000)] }
    expect(parse(logOf([{ ruleId: 'R', message }], rules))[0]?.message).toHaveLength(2000)
  })

  const bad = 'has a character that cannot be stored: NUL, or half of a surrogate pair'
  const invalid = (problem: string) => ['invalid-parameters', `the report ${problem}`]
  it.each([
    ['no JSON', '<testsuites/>', invalid('is no valid JSON')],
    ['a list', '[]', invalid('is no SARIF 2.1.0: it is no object')],
    [
      'another version',
      '{"version":"2.0.0","runs":[]}',
      invalid('is no SARIF 2.1.0: version is missing or invalid'),
    ],
    ['no runs', '{"version":"2.1.0"}', invalid('is no SARIF 2.1.0: runs is missing or invalid')],
    [
      'a wrong type',
      JSON.stringify(logOf({})),
      invalid('is no SARIF 2.1.0: runs[0][results] is missing or invalid'),
    ],
    [
      'a wrong line',
      JSON.stringify(logOf([{ message: {}, locations: at('a', { startLine: '1' }) }])),
      invalid(
        'is no SARIF 2.1.0: runs[0][results][0][locations][0][physicalLocation][region][startLine] is missing or invalid',
      ),
    ],
    [
      'NUL',
      JSON.stringify(logOf([{ message: { text: 'a\0' } }])),
      invalid(`is no SARIF 2.1.0: runs[0][results][0][message][text] ${bad}`),
    ],
    [
      'half of a surrogate pair',
      '{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"\\ud83d"}}}]}',
      invalid(`is no SARIF 2.1.0: runs[0][tool][driver][name] ${bad}`),
    ],
    ['deep nesting', '['.repeat(1_000_000), invalid('is nested too deeply')],
    ['too many values', `[${'0,'.repeat(1_000_001)}0]`, ['too-large', '413 Request Entity Too Large']],
    [
      'too many findings',
      JSON.stringify(logOf(Array(20_001).fill({ message: { text: '' } }))),
      ['too-large', 'the report has more than 20000 findings'],
    ],
  ])('is refused with %s', (_what, json, problem) => {
    expect(refusal(json)).toEqual(problem)
  })
})
