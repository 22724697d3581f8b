import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createBackgroundWork } from './background-work.js'

it('work in the background closes only when all its work has ended', async () => {
  const backgroundWork = createBackgroundWork()
  const done: string[] = []
  backgroundWork.run(delay(50).then(() => void done.push('work')))
  await backgroundWork.close()
  expect(done).toEqual(['work'])
})
