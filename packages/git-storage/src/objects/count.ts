import type { Cancellable } from '../cancellable.js'
import { DateQueue } from './date-queue.js'
import { createTurns } from './turns.js'
import { type History, Nodes } from './walk.js'

export interface CountQuery {
  tip: string
  firstParent: boolean
  /** Most commits outside the graph that are read one by one. */
  outsideMax: number
}

/**
 * The number of ancestors of the tip, the tip included.
 *
 * @returns null when too many commits are outside the graph
 */
export async function countCommits(
  history: History,
  query: CountQuery,
  cancellable?: Cancellable,
): Promise<number | null> {
  const count: Count = {
    history,
    query,
    nodes: new Nodes(history),
    turns: createTurns(cancellable),
    inside: new DateQueue(),
    outside: [],
  }
  const first = await count.nodes.meet(query.tip)
  if (first !== null) enter(count, first)
  const outside = await countOutside(count)
  return outside === null ? null : outside + (await countInside(count))
}

interface Count {
  history: History
  query: CountQuery
  nodes: Nodes
  turns: ReturnType<typeof createTurns>
  /** Uncounted commits of the graph, highest generation first. */
  inside: DateQueue
  outside: number[]
}

function enter({ history, inside, outside }: Count, node: number): void {
  if (node < 0) outside.push(node)
  else inside.push(node, history.graph?.generationAt(node) ?? 0)
}

/** Counts the commits outside the graph first: a graph holds every ancestor of its commits. */
async function countOutside(count: Count): Promise<number | null> {
  const { nodes, outside, query, turns } = count
  let counted = 0
  for (let node = outside.pop(); node !== undefined; node = outside.pop()) {
    counted += 1
    await nodes.readParents(node, query.firstParent, (parent) => enter(count, parent))
    if (nodes.outsideCount > query.outsideMax) return null
    if (turns.isOver()) await turns.yieldToEventLoop()
  }
  return counted
}

/**
 * Counts in the order of generations, so no remaining commit is a descendant of a counted one. When exactly one commit
 * remains, the rest of the count is the number of its ancestors. That number is stored, and later counts stop there.
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
    nodes.visitParents(node, query.firstParent, (parent) => enter(count, parent))
    if (turns.isOver()) await turns.yieldToEventLoop()
  }
  for (const [node, before] of alone) totals[node] = counted - before
  return counted
}
