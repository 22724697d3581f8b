import type { During } from '../during.js'
import { DateQueue } from './date-queue.js'
import { createTurns, type History, Nodes } from './walk.js'

export interface CountQuery {
  tip: string
  firstParent: boolean
  /** Commits outside the graph that are read one by one. */
  outsideMax: number
}

/**
 * How many commits lead to the tip, itself included.
 *
 * @returns null when too many commits are outside the graph
 */
export async function countCommits(
  history: History,
  query: CountQuery,
  during?: During,
): Promise<number | null> {
  const count: Count = {
    history,
    query,
    nodes: new Nodes(history),
    turns: createTurns(during),
    inside: new DateQueue(),
    outside: [],
  }
  // A turn of its own: the first question of a process has kept others waiting by now, as its code was compiled.
  await count.turns.pass()
  const first = count.nodes.meet(query.tip)
  if (first !== null) enter(count, first)
  const outside = await countOutside(count)
  return outside === null ? null : outside + (await countInside(count))
}

interface Count {
  history: History
  query: CountQuery
  nodes: Nodes
  turns: ReturnType<typeof createTurns>
  /** Commits of the graph that are still to be counted, by generation. */
  inside: DateQueue
  outside: number[]
}

function enter({ history, inside, outside }: Count, node: number): void {
  if (node < 0) outside.push(node)
  else inside.push(node, history.graph?.generationAt(node) ?? 0)
}

/** A graph holds all that leads to its commits, so those outside of it come first. */
async function countOutside(count: Count): Promise<number | null> {
  const { nodes, outside, query, turns } = count
  let counted = 0
  for (let node = outside.pop(); node !== undefined; node = outside.pop()) {
    counted += 1
    nodes.eachNewParent(node, query.firstParent, (parent) => enter(count, parent))
    if (nodes.outsideCount > query.outsideMax) return null
    if (turns.isOver()) await turns.pass()
  }
  return counted
}

/**
 * By generation: none of the commits that are left leads back to one that was counted. Wherever a single one
 * is left, all that remains is what leads to it, so its own number is known in the end, and later counts stop
 * there.
 */
async function countInside(count: Count): Promise<number> {
  const { nodes, inside, query, turns } = count
  const totals = count.history.graph?.totals(query.firstParent) ?? new Int32Array(0)
  const alone: [node: number, before: number][] = []
  let counted = 0
  for (let node = inside.pop(); node !== null; node = inside.pop()) {
    const known = inside.isEmpty ? totals[node] : 0
    if (known) {
      counted += known
      break
    }
    if (inside.isEmpty) alone.push([node, counted])
    counted += 1
    nodes.eachNewParent(node, query.firstParent, (parent) => enter(count, parent))
    if (turns.isOver()) await turns.pass()
  }
  for (const [node, before] of alone) totals[node] = counted - before
  return counted
}
