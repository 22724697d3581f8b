import { parseArgs } from 'node:util'
import { commandLineProblem, databaseUrl, loadConfig } from '@switchyard/config'
import { createDatabase } from '@switchyard/db'
import { z } from 'zod'
import { differenceText } from './differences.js'
import { rebuildSagas } from './rebuild.js'
import { RebuildSession } from './store.js'

const usage = 'Usage: npm run saga:rebuild -- [--verify] [--tenant TENANT]'

function readOptions() {
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean', default: false },
        verify: { type: 'boolean', default: false },
        tenant: { type: 'string' },
      },
    }).values
  } catch (error) {
    process.stderr.write(`✗ ${commandLineProblem(error)}\n${usage}\n`)
    process.exit(2)
  }
}

const values = readOptions()
if (values.help) {
  process.stdout.write(`${usage}\n`)
  process.exit(0)
}
const config = loadConfig('saga:rebuild', z.object({ DATABASE_URL: databaseUrl() }), process.env)
const print = (line: string) => process.stdout.write(`${line}\n`)

const database = createDatabase({
  url: config.DATABASE_URL.reveal(),
  poolSizeMax: 1,
  applicationName: 'saga-rebuild',
  answerTimeoutMs: 0,
})
try {
  const session = await RebuildSession.open(database, values.tenant ?? null)
  let refused = 0
  const counts = await rebuildSagas({
    session,
    repair: !values.verify,
    onDifference: (difference) => print(differenceText(difference)),
    onRefused: (id) => {
      refused += 1
      print(`saga_events ${id}: is refused by today's rules`)
    },
  }).finally(() => session.close())
  const { sagas, activities, differences, repaired } = counts
  print(
    `${sagas} sagas and ${activities} activities follow from the log; ${differences} differences, ${repaired} repaired`,
  )
  process.exitCode = differences - repaired + refused > 0 ? 1 : 0
} finally {
  await database.close()
}
