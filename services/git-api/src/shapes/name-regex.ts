import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { invalid } from '@switchyard/domain'
import { RE2JS, RE2JSException } from 're2js'

/** Longest regular expression. */
export const regexCharsMax = 200
/**
 * Most instructions of a compiled expression. The time for a name is proportional to them, and to the length
 * of the name.
 */
const instructionsMax = 2000
/** Time of work after which other requests get a turn. */
const sliceMs = 10
/** Longest time for all names. */
const matchingMsMax = 2000

/**
 * Returns the items whose name a regular expression matches anywhere, in the syntax of RE2. The time is
 * proportional to the length of the names, whatever the expression is.
 *
 * @throws DomainError invalid for an expression that is malformed, too large, or too slow
 */
export async function matchingNames<Item extends { name: string }>(
  items: readonly Item[],
  regex: string,
): Promise<Item[]> {
  const expression = compileRegex(regex)
  const found: Item[] = []
  await visitInSlices(items, (item) => {
    if (expression.test(item.name)) found.push(item)
  })
  return found
}

/**
 * Visits the items in order, and lets other requests have a turn in between.
 *
 * @throws DomainError invalid when it takes too long
 */
export async function visitInSlices<Item>(
  items: readonly Item[],
  visit: (item: Item) => void,
): Promise<void> {
  const startedMs = performance.now()
  let sliceEndsMs = startedMs + sliceMs
  for (const item of items) {
    visit(item)
    if (performance.now() < sliceEndsMs) continue
    await yieldToEventLoop()
    const nowMs = performance.now()
    if (nowMs - startedMs > matchingMsMax) throw invalid('Regex takes too long')
    sliceEndsMs = nowMs + sliceMs
  }
}

/** @throws DomainError invalid for an expression that is malformed or too large */
export function compileRegex(regex: string): RE2JS {
  let expression: RE2JS
  try {
    expression = RE2JS.compile(regex)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    throw invalid('Regex is invalid', { cause: error })
  }
  if (expression.programSize() > instructionsMax) throw invalid('Regex is too large')
  return expression
}
