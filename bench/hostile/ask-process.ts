import { setTimeout as wait } from 'node:timers/promises'

/** What the neighbour asks, and how often. */
export interface Question {
  url: string
  token: string
  everyMs: number
}

/** How the neighbour's questions were answered. */
export interface Answers {
  worstMs: number
  count: number
  /** Answers that were no success, and requests without an answer. */
  failures: number
}

const { url, token, everyMs } = JSON.parse(process.argv[2] ?? '') as Question
const answers: Answers = { worstMs: 0, count: 0, failures: 0 }
const asked: Promise<void>[] = []

async function ask(): Promise<void> {
  const startedMs = performance.now()
  const answer = await fetch(url, { headers: { 'PRIVATE-TOKEN': token } }).catch(() => null)
  await answer?.arrayBuffer().catch(() => null)
  answers.worstMs = Math.max(answers.worstMs, performance.now() - startedMs)
  answers.count += 1
  if (!answer?.ok) answers.failures += 1
}

// Loading and the first connection are no part of what is measured.
await ask()
Object.assign(answers, { worstMs: 0, count: 0, failures: 0 })
process.send?.('ready')
let isOver = false
process.once('message', () => {
  isOver = true
})
while (!isOver) {
  asked.push(ask())
  await wait(everyMs)
}
await Promise.all(asked)
process.send?.(answers, () => process.disconnect())
