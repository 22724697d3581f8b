// An orchestrator that executes operators' commands: for each it appends `begun ID` and then, as its effect,
// `done ID` to a file. It pauses before and after, so that a kill often comes between the lease and the
// answer.
import { appendFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { createSagaClient } from '../../../packages/saga-client/src/index.js'

const { ADDRESS = '', EFFECTS = '' } = process.env
const pauseMs = 60

const client = createSagaClient({
  address: ADDRESS,
  serviceName: 'commanded',
  tenant: 'commands',
  deadlineMs: 1500,
  retryDelayMs: 20,
  retryDelayMsMax: 200,
})
client.onCommand(
  {
    cancel: async ({ id }) => {
      appendFileSync(EFFECTS, `begun ${id}\n`)
      await delay(pauseMs)
      appendFileSync(EFFECTS, `done ${id}\n`)
      await delay(pauseMs)
    },
  },
  { leaseSeconds: 5 },
)
process.once('SIGTERM', () => void client.close().then(() => process.exit()))
