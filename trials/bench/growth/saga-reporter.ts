import { createDatabase } from '@switchyard/db'
import { createClient } from '../git/load.js'
import { startReporter } from '../saga/subjects.js'
import { createToken } from '../saga-reads/service.js'

export interface Reporter {
  grpcPort: number
  httpPort: number
  pid: number
  /** Token with the right to read sagas. */
  token: string
  client: ReturnType<typeof createClient>
}

/** Runs work with a saga-reporter. */
export async function withReporter<Result>(
  url: string,
  settings: Record<string, string>,
  run: (reporter: Reporter) => Promise<Result>,
): Promise<Result> {
  const database = createDatabase({ url, poolSizeMax: 1, applicationName: 'bench' })
  const token = await createToken(database)
  await database.close()
  const reporter = await startReporter(url, { RATE_LIMIT_PER_MINUTE: '0', ...settings })
  const client = createClient([reporter.httpPort], token)
  const { port: grpcPort, httpPort, pid } = reporter
  try {
    return await run({ grpcPort, httpPort, pid, token, client })
  } finally {
    client.close()
    await reporter.stop()
  }
}
