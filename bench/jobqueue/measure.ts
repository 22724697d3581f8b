import { performance } from 'node:perf_hooks'

export const median = (values: number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

/** Runs both sides in turn, after a few runs that do not count; medians in ms. */
export async function compare(
  ours: () => Promise<unknown>,
  theirs: () => Promise<unknown>,
  rounds: number,
): Promise<{ ours: number; theirs: number; ratio: number }> {
  const figures = { ours: [] as number[], theirs: [] as number[] }
  for (let round = -5; round < rounds; round += 1) {
    const [ourMs, theirMs] = [await timed(ours), await timed(theirs)]
    if (round < 0) continue
    figures.ours.push(ourMs)
    figures.theirs.push(theirMs)
  }
  const [ourMedian, theirMedian] = [median(figures.ours), median(figures.theirs)]
  return { ours: ourMedian, theirs: theirMedian, ratio: ourMedian / theirMedian }
}

/** The longest time, in ms, that nothing else could run while some work was done. */
export async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0
  let lastMs = performance.now()
  let over = false
  const look = () => {
    const nowMs = performance.now()
    longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = nowMs
    if (!over) setImmediate(look)
  }
  setImmediate(look)
  await work()
  over = true
  return longestMs
}
