import pg from 'pg'
import type { Tree } from '../support/tree.js'

/** Services without the console, whose metrics no token may read. */
export const services = ['git-api', 'saga-reporter', 'worker', 'admin-broadcast', 'jobqueue-metrics'] as const

/** The measured figures of a service, by the name of the column. */
export const figures = {
  'RSS, MB': { metric: 'process_resident_memory_bytes', scale: 1e-6 },
  'heap, MB': { metric: 'nodejs_heap_size_used_bytes', scale: 1e-6 },
  'open files': { metric: 'process_open_fds', scale: 1 },
  'event-loop delay p99, ms': { metric: 'nodejs_eventloop_lag_p99_seconds', scale: 1000 },
} as const

export type Figure = keyof typeof figures | 'connections to PostgreSQL'

export interface Sample {
  seconds: number
  subject: string
  figure: Figure
  value: number
}

/** Takes the figures of the services and of PostgreSQL at one moment. */
export async function takeSamples(tree: Tree, databaseUrl: string, seconds: number): Promise<Sample[]> {
  const ofServices = await Promise.all(services.map((service) => samplesOf(tree, service, seconds)))
  return [...ofServices.flat(), ...(await connectionsOf(databaseUrl, seconds))]
}

async function samplesOf(tree: Tree, subject: string, seconds: number): Promise<Sample[]> {
  const headers = { 'PRIVATE-TOKEN': tree.rootToken }
  const text = await (await fetch(`${tree.url}/-/${subject}/metrics`, { headers })).text()
  return Object.entries(figures).map(([figure, { metric, scale }]) => {
    const found = new RegExp(`^${metric}\\{[^}]*\\} (\\S+)$`, 'm').exec(text)
    if (!found) throw new Error(`${subject} has no ${metric}`)
    return { seconds, subject, figure: figure as Figure, value: Number(found[1]) * scale }
  })
}

async function connectionsOf(databaseUrl: string, seconds: number): Promise<Sample[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string; count: number }>(
      `SELECT application_name AS name, count(*)::integer AS count FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() GROUP BY 1`,
    )
    return services.map((subject) => ({
      seconds,
      subject,
      figure: 'connections to PostgreSQL',
      value: rows.filter(({ name }) => name.startsWith(subject)).reduce((sum, { count }) => sum + count, 0),
    }))
  } finally {
    await client.end()
  }
}
