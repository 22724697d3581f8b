// An orchestrator that does what operators ask: for each command it writes `begun ID` and then, as its
// effect, `done ID` into a file. It takes its time before and after, so that whatever is killed is often
// killed between the lease and the answer.
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
