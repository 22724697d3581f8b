import { createDatabase, type Database } from '@switchyard/db'
import { startDatabases } from '../../support/databases.js'
import { createClient } from '../git/load.js'
import { startReporter } from '../saga/subjects.js'
import { createToken } from '../saga-reads/service.js'

export interface Reporter {
  grpcPort: number
  httpPort: number
  pid: number
  /** It may read sagas. */
  token: string
  client: ReturnType<typeof createClient>
}

/** Runs something beside saga-reporter with a database of its own. @param fill called before the service starts */
export async function withReporter<Result>(
  fill: (database: Database, url: string) => Promise<void>,
  settings: Record<string, string>,
  run: (reporter: Reporter) => Promise<Result>,
): Promise<Result> {
  const databases = await startDatabases(['sagas'])
  // Filling takes minutes.
  const pool = { url: databases.urls.sagas, poolSizeMax: 2, applicationName: 'bench', answerTimeoutMs: 0 }
  const database = createDatabase(pool)
  try {
    await fill(database, databases.urls.sagas)
    const token = await createToken(database)
    const reporter = await startReporter(databases.urls.sagas, { RATE_LIMIT_PER_MINUTE: '0', ...settings })
    const client = createClient([reporter.httpPort], token)
    const { port: grpcPort, httpPort, pid } = reporter
    try {
      return await run({ grpcPort, httpPort, pid, token, client })
    } finally {
      client.close()
      await reporter.stop()
    }
  } finally {
    await database.close()
    await databases.close()
  }
}
