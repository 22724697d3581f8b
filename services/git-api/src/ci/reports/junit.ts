import { excerpt } from '@switchyard/domain'
import { type SaxesAttributePlain, SaxesParser, type SaxesTagPlain } from 'saxes'
import {
  createBudget,
  detailsCharsMax,
  messageCharsMax,
  nameCharsMax,
  type TestCase,
  type TestStatus,
  unreadable,
} from './entries.js'

const depthMax = 50
const secondsMax = 1e9

/**
 * Elements within a test, and the status that each gives it. Elements of repeated attempts are not here,
 * because the last attempt decides.
 */
const statusOfElement = new Map<string, TestStatus>([
  ['failure', 'failed'],
  ['error', 'error'],
  ['skipped', 'skipped'],
])
/** Elements of an attempt that failed before one that passed, as Maven writes them. */
const failedAttempts = ['flakyFailure', 'flakyError']

export interface JunitCase extends TestCase {
  /** The texts that distinguish the test from others, in full length. */
  identity: string[]
  /** Whether an attempt in this report failed before one that passed. */
  failedBefore: boolean
}

/** The element that is open within a test, and its text so far. */
interface Open {
  element: string
  depth: number
  text: string
}

/**
 * Returns the tests of JUnit XML: each `testcase` below `testsuites` or `testsuite`. A document type is
 * refused, so nothing is expanded except XML's five predefined entities.
 *
 * @throws DomainError invalid-parameters, too-large
 */
export function parseJunit(xml: string): JunitCase[] {
  const reader = createReader()
  const parser = new SaxesParser({ position: true })
  parser.on('error', ({ message }) => {
    throw unreadable(`is no well-formed XML: line ${message.replace(/^(\d+):(\d+): /, '$1, column $2: ')}`)
  })
  parser.on('doctype', () => {
    throw unreadable('has a document type (DOCTYPE), which is not accepted')
  })
  parser.on('opentag', (tag) => reader.open(tag as SaxesTagPlain))
  parser.on('text', (text) => reader.text(text))
  parser.on('cdata', (text) => reader.text(text))
  parser.on('closetag', () => reader.close())
  parser.write(xml).close()
  return reader.cases
}

function createReader() {
  const budget = createBudget('tests')
  const cases: JunitCase[] = []
  const suites: string[] = []
  const path: string[] = []
  let current: JunitCase | null = null
  let inner: Open | null = null

  function openCase(attributes: SaxesTagPlain['attributes']) {
    const test = caseOf(suites.at(-1) ?? '', attributes)
    budget.entry()
    budget.texts(test.suite, test.classname, test.name, test.file)
    cases.push(test)
    return test
  }

  function endInner({ element, text }: Open, test: JunitCase) {
    const status = statusOfElement.get(element)
    if (status && test.status === status && test.details === null)
      test.details = budget.details(excerpt(text.trim(), detailsCharsMax) || null)
  }

  return {
    cases,
    open({ name, attributes }: SaxesTagPlain) {
      if (path.length === 0 && name !== 'testsuites' && name !== 'testsuite')
        throw unreadable('has another root element than testsuites or testsuite')
      path.push(name)
      if (path.length > depthMax) throw unreadable('is nested too deeply')
      if (current) {
        inner ??= { element: name, depth: path.length, text: '' }
        if (inner.depth === path.length) noteElement(name, attributes, current, budget.texts)
      } else if (name === 'testsuite') suites.push(attributeOf(attributes, 'name'))
      else if (name === 'testcase') current = openCase(attributes)
    },
    text(text: string) {
      if (inner && statusOfElement.has(inner.element) && inner.text.length < detailsCharsMax)
        inner.text += text
    },
    close() {
      const name = path.pop()
      if (current && inner && inner.depth > path.length) {
        endInner(inner, current)
        inner = null
      } else if (name === 'testcase') current = null
      else if (name === 'testsuite') suites.pop()
    },
  }
}

function caseOf(suite: string, attributes: SaxesTagPlain['attributes']): JunitCase {
  const [classname, name, file] = ['classname', 'name', 'file'].map((key) =>
    attributeOf(attributes, key),
  ) as [string, string, string]
  if (name === '') throw unreadable('has a testcase without a name')
  return {
    identity: [suite, classname, name],
    suite: excerpt(suite, nameCharsMax),
    classname: excerpt(classname, nameCharsMax),
    name: excerpt(name, nameCharsMax),
    file: file === '' ? null : excerpt(file, nameCharsMax),
    status: 'success',
    time: secondsOf(attributeOf(attributes, 'time')),
    message: null,
    details: null,
    failedBefore: false,
  }
}

function noteElement(
  element: string,
  attributes: SaxesTagPlain['attributes'],
  test: JunitCase,
  count: (...texts: string[]) => void,
): void {
  if (failedAttempts.includes(element)) test.failedBefore = true
  const status = statusOfElement.get(element)
  // The first of several elements decides, because a failure of the test comes before an error of its
  // cleanup.
  if (!status || test.status !== 'success') return
  test.status = status
  test.message =
    excerpt(attributeOf(attributes, 'message') || attributeOf(attributes, 'type'), messageCharsMax) || null
  if (test.message) count(test.message)
}

const attributeOf = (attributes: SaxesTagPlain['attributes'], name: string): string =>
  Object.hasOwn(attributes, name) ? String(attributes[name] as SaxesAttributePlain['value']) : ''

/** Parses seconds. Some tools write `1,234.5`. A text that is no number counts as 0. */
function secondsOf(text: string): number {
  const seconds = text.length > 30 ? 0 : Number(text.replaceAll(',', ''))
  return seconds >= 0 && seconds <= secondsMax ? seconds : 0
}
