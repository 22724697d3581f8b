import { setImmediate as yieldToOthers } from 'node:timers/promises'

/**
 * Begins work on items part by part, without waiting for one part to end before the next begins; others have their
 * turn in between. Answers in the order of the items.
 *
 * @param begin work on the items from the index `start` on; one answer for each
 */
export async function inParts<Item, Answer>(
  items: readonly Item[],
  partLength: number,
  begin: (part: readonly Item[], start: number) => Promise<Answer[]>,
): Promise<Answer[]> {
  if (items.length <= partLength) return await begin(items, 0)
  const answers: Promise<Answer[]>[] = []
  for (let start = 0; start < items.length; start += partLength) {
    if (start > 0) await yieldToOthers()
    const part = begin(items.slice(start, start + partLength), start)
    // Whoever awaits them below learns of it; until then a failure is nobody's.
    part.catch(() => {})
    answers.push(part)
  }
  return ([] as Answer[]).concat(...(await Promise.all(answers)))
}
