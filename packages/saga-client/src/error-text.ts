import { inspect, types } from 'node:util'

/** Most errors inside each other that are written, and most characters of all of them together. */
const depthMax = 5
const innerMax = 10
const charsMax = 64 * 1024

const inspection = {
  depth: 4,
  maxArrayLength: 50,
  maxStringLength: 4096,
  breakLength: Number.POSITIVE_INFINITY,
}

/**
 * Returns a readable text of anything that was thrown: a text as it is, an Error with its stack, its code and
 * the errors inside it, any other value as `util.inspect` shows it. Further fields of an Error are omitted,
 * because those of HTTP clients hold headers and tokens.
 */
export function errorText(error: unknown): string {
  if (error === undefined) return ''
  if (typeof error === 'string') return error
  return textWithCauses(error, 0, new Set()).slice(0, charsMax)
}

function textWithCauses(error: unknown, depth: number, seen: Set<unknown>): string {
  if (typeof error === 'string') return error
  try {
    if (!isError(error)) return inspect(error, inspection)
    if (seen.has(error)) return '[circular]'
    seen.add(error)
    return [headOf(error), ...innerTexts(error, depth, seen)].join('\n')
  } catch {
    return '[an error that cannot be read]'
  }
}

/** Returns whether a value is an Error, even one of another realm, such as a sandbox of tests. */
const isError = (error: unknown): error is Error => error instanceof Error || types.isNativeError(error)

function headOf(error: Error): string {
  const head = (error.stack || `${error.name}: ${error.message}`).slice(0, charsMax)
  const code: unknown = Reflect.get(error, 'code')
  const isNews = (typeof code === 'string' || typeof code === 'number') && !head.includes(`${code}`)
  return isNews ? `${head}\n    code: ${code}` : head
}

/**
 * Returns the texts of the errors inside: the cause, and the errors of an AggregateError, as of a refused
 * connection to several addresses.
 */
function innerTexts(error: Error, depth: number, seen: Set<unknown>): string[] {
  const { cause, errors } = error as Error & { errors?: unknown }
  const listed: unknown[] = Array.isArray(errors) ? errors : []
  const inner: [name: string, error: unknown][] = listed.slice(0, innerMax).map((each) => ['error', each])
  if (cause !== undefined) inner.unshift(['cause', cause])
  if (inner.length > 0 && depth >= depthMax) return ['  […]']
  const texts = inner.map(
    ([name, each]) => `  [${name}] ${textWithCauses(each, depth + 1, seen).replaceAll('\n', '\n  ')}`,
  )
  return listed.length > innerMax ? [...texts, `  [${listed.length - innerMax} further errors]`] : texts
}
