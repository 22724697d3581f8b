import { DomainError } from '@switchyard/domain'
import { describe, expect, it } from 'vitest'
import { decode } from './entries.js'
import { parseJunit } from './junit.js'

const refusal = (xml: string): unknown => {
  try {
    parseJunit(xml)
  } catch (error) {
    return error instanceof DomainError ? [error.kind, error.detail] : error
  }
  return undefined
}
const inSuite = (tests: string) => `<testsuite name="s">${tests}</testsuite>`

describe('JUnit XML', () => {
  it('returns the tests of all suites with their outcomes and messages', () => {
    const cases = parseJunit(`<?xml version="1.0" encoding="UTF-8"?>
      <testsuites><properties><property name="a" value="b"/></properties>
        <testsuite name="outer"><testsuite name="inner">
          <testcase classname="a.B" name="works &amp; &#x263A;" time="1,000.5" file="src/b.ts"/>
        </testsuite>
        <testcase name="fails"><failure message="1 &lt; 2" type="E">at a.ts:1<![CDATA[ <here>]]></failure>
          <error message="second"/><system-out>lots</system-out></testcase>
        <testcase name="breaks" time="-1"><error type="Boom"/></testcase>
        <testcase name="waits" time="x"><skipped>not <b>now</b></skipped></testcase>
        <testcase name="again"><flakyFailure message="once">stack</flakyFailure></testcase>
      </testsuite></testsuites>`)
    expect(
      cases.map(({ suite, name, status, time, message, details }) => [
        suite,
        name,
        status,
        time,
        message,
        details,
      ]),
    ).toEqual([
      ['inner', 'works & ☺', 'success', 1000.5, null, null],
      ['outer', 'fails', 'failed', 0, '1 < 2', 'at a.ts:1 <here>'],
      ['outer', 'breaks', 'error', 0, 'Boom', null],
      ['outer', 'waits', 'skipped', 0, null, 'not now'],
      ['outer', 'again', 'success', 0, null, null],
    ])
    expect(cases[0]).toMatchObject({
      classname: 'a.B',
      file: 'src/b.ts',
      identity: ['inner', 'a.B', 'works & ☺'],
    })
    expect(cases.map(({ failedBefore }) => failedBefore)).toEqual([false, false, false, false, true])
  })

  it('returns no test for an empty suite', () => {
    expect(parseJunit('<testsuites/>')).toEqual([])
  })

  it('keeps the beginning of long texts, and compares names in full length', () => {
    const [one] = parseJunit(
      inSuite(
        `<testcase name="${'n'.repeat(5000)}"><failure message="${'m'.repeat(5000)}">${'😀'.repeat(9000)}</failure></testcase>`,
      ),
    )
    expect(one?.name).toHaveLength(1024)
    expect(one?.identity[2]).toHaveLength(5000)
    expect(one?.message).toHaveLength(2000)
    expect(one?.details).toMatch(/^(?:😀)+…$/)
  })

  const laughs = `<!DOCTYPE l [<!ENTITY a "ha">${'bcdefghi'.replace(/./g, (name) => `<!ENTITY ${name} "${`&${String.fromCharCode(name.charCodeAt(0) - 1)};`.repeat(10)}">`)}]>`
  const doctype = 'the report has a document type (DOCTYPE), which is not accepted'
  it.each([
    ['a billion laughs', `${laughs}${inSuite('<testcase name="&i;"/>')}`, doctype],
    ['an outside entity', `<!DOCTYPE x SYSTEM "file:///etc/passwd">${inSuite('')}`, doctype],
    [
      'an unknown entity',
      inSuite('<testcase name="&x;"/>'),
      /no well-formed XML: line 1, column \d+: undefined entity/,
    ],
    ['a tag that does not end', '<testsuite>', /no well-formed XML/],
    ['two roots', '<testsuite/><testsuite/>', /no well-formed XML/],
    ['NUL', inSuite('<testcase name="a\0"/>'), /no well-formed XML/],
    ['a reference to NUL', inSuite('<testcase name="&#0;"/>'), /no well-formed XML/],
    ['a reference to half of a surrogate pair', inSuite('<testcase name="&#xD83D;"/>'), /no well-formed XML/],
    ['half of a surrogate pair', inSuite('<testcase name="\ud83d"/>'), /no well-formed XML/],
    ['no XML', '{"a": 1}', /no well-formed XML/],
    ['nothing', ' ', /no well-formed XML/],
    [
      'HTML',
      '<html><testcase name="a"/></html>',
      'the report has another root element than testsuites or testsuite',
    ],
    ['a test without a name', inSuite('<testcase/>'), 'the report has a testcase without a name'],
    ['deep nesting', '<testsuite>'.repeat(100_000), 'the report is nested too deeply'],
    [
      'deep nesting in a test',
      inSuite(`<testcase name="a">${'<b>'.repeat(100_000)}`),
      'the report is nested too deeply',
    ],
  ])('is refused with %s', (_what, xml, problem) => {
    expect(refusal(xml)).toEqual([
      'invalid-parameters',
      typeof problem === 'string' ? problem : expect.stringMatching(problem),
    ])
  })

  it('is refused when it has too many tests or its names are too long in total', () => {
    expect(refusal(inSuite('<testcase name="a"/>'.repeat(20_001)))).toEqual([
      'too-large',
      'the report has more than 20000 tests',
    ])
    const suite = `<testsuite name="${'s'.repeat(1024)}">${'<testcase name="a"/>'.repeat(10_000)}</testsuite>`
    expect(refusal(suite)).toEqual([
      'too-large',
      'the names and messages of the report have more than 5000000 characters',
    ])
  })
})

it('a report is text in UTF-8, or in UTF-16 with a byte order mark', () => {
  expect(decode(Buffer.from('\ufeff<é/>'))).toBe('<é/>')
  expect(decode(Buffer.from('\ufeff<é/>', 'utf16le'))).toBe('<é/>')
  for (const bytes of [
    [0x3c, 0xe9],
    [0xed, 0xa0, 0xbd],
    [0xff, 0xfe, 0x3d, 0xd8],
  ]) {
    expect(() => decode(Uint8Array.from(bytes))).toThrow('the report is no text in UTF-8')
  }
})
