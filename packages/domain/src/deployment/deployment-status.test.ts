import fc from 'fast-check'
import { expect, test } from 'vitest'
import { beginDeployment, type DeploymentProgress, deploymentStatuses, moveDeployment } from './index.js'

const finals: readonly string[] = ['success', 'failed', 'canceled']
const moves = new Set([
  'created running',
  'created blocked',
  'created success',
  'created failed',
  'created canceled',
  'blocked running',
  'blocked failed',
  'blocked canceled',
  'running success',
  'running failed',
  'running canceled',
])
const status = fc.constantFrom(...deploymentStatuses)

function tryMove(current: DeploymentProgress, next: DeploymentProgress['status'], now: Date) {
  try {
    return moveDeployment(current, next, now)
  } catch (error) {
    return (error as Error).message
  }
}

test('a deployment makes only documented changes of its status, and a refused change alters nothing', () => {
  fc.assert(
    fc.property(status, fc.array(status, { maxLength: 12 }), (first, asked) => {
      let current = beginDeployment(first, new Date(0))
      for (const [index, next] of asked.entries()) {
        const before = structuredClone(current)
        const moved = tryMove(current, next, new Date(index + 1))
        expect(current).toEqual(before)
        if (next === current.status) expect(moved).toBe(current)
        else if (moves.has(`${current.status} ${next}`)) {
          expect(moved).toMatchObject({ status: next, updatedAt: new Date(index + 1) })
        } else {
          expect(moved).toBe(JSON.stringify({ status: [`cannot change from ${current.status} to ${next}`] }))
        }
        if (typeof moved === 'object') current = moved
      }
    }),
  )
})

test('a deployment has an end time exactly when it is finished, and keeps that time', () => {
  fc.assert(
    fc.property(status, fc.array(status, { maxLength: 12 }), (first, asked) => {
      let current = beginDeployment(first, new Date(0))
      let ended: Date | null = null
      for (const [index, next] of [first, ...asked].entries()) {
        const moved = tryMove(current, next, new Date(index))
        if (typeof moved === 'object') current = moved
        expect(current.finishedAt !== null).toBe(finals.includes(current.status))
        if (ended) expect(current.finishedAt).toBe(ended)
        ended = current.finishedAt
      }
    }),
  )
})
