import { performance } from 'node:perf_hooks'
import { median } from '../../support/statistics.js'

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

export interface Cost {
  /** Elapsed time. */
  ms: number
  /** CPU time of this process, which other load on the machine does not change. */
  cpuMs: number
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const before = process.cpuUsage()
  const ms = await timed(work)
  return { ms, cpuMs: cpuMsSince(before) }
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const medianCost = (costs: Cost[]): Cost => ({
  ms: median(costs.map(({ ms }) => ms)),
  cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
})

/**
 * Returns medians of some work alone; the same number of runs before do not count, so that code is compiled.
 */
export async function measure(work: () => Promise<unknown>, rounds: number): Promise<Cost> {
  await costsOf(work, rounds)
  return medianCost(await costsOf(work, rounds))
}

/**
 * Number of runs of a side in a turn. It is small, so that collecting the garbage of a side takes little of
 * the other side's time.
 */
const runsInTurn = 5

/** Runs both sides in turn, the first turn of each without counting, and returns medians. */
export async function compare(
  ours: () => Promise<unknown>,
  theirs: () => Promise<unknown>,
  rounds: number,
): Promise<{ ours: Cost; theirs: Cost }> {
  const costs = { ours: [] as Cost[], theirs: [] as Cost[] }
  for (let round = -runsInTurn; round < rounds; round += runsInTurn) {
    const [ourCosts, theirCosts] = [await costsOf(ours, runsInTurn), await costsOf(theirs, runsInTurn)]
    if (round < 0) continue
    costs.ours.push(...ourCosts)
    costs.theirs.push(...theirCosts)
  }
  return { ours: medianCost(costs.ours), theirs: medianCost(costs.theirs) }
}

async function costsOf(work: () => Promise<unknown>, runs: number): Promise<Cost[]> {
  const costs: Cost[] = []
  for (let run = 0; run < runs; run += 1) costs.push(await costOf(work))
  return costs
}

/** Returns the longest turn of the event loop during some work, in which nothing else could run. */
export async function longestTurn(work: () => Promise<unknown>): Promise<Cost> {
  const longest: Cost = { ms: 0, cpuMs: 0 }
  let lastMs = performance.now()
  let lastCpu = process.cpuUsage()
  let over = false
  const check = () => {
    const nowMs = performance.now()
    longest.ms = Math.max(longest.ms, nowMs - lastMs)
    longest.cpuMs = Math.max(longest.cpuMs, cpuMsSince(lastCpu))
    lastMs = nowMs
    lastCpu = process.cpuUsage()
    if (!over) setImmediate(check)
  }
  setImmediate(check)
  await work()
  over = true
  return longest
}
