import { randomBytes } from 'node:crypto'
import { gitText } from '../baselines.js'
import { type Answer, createClient } from '../load.js'
import { type Context, pathsOf, pathTo, reads, type Sample, say } from '../samples.js'
import type { Processes } from '../service.js'

const megabyte = 1_000_000

/**
 * Measures single cold requests of each kind, and the longest block of the event loop. The process gets no
 * other requests, so the time is that of the request alone.
 */
export async function requestsAlone({ service, samples }: Context): Promise<void> {
  say('one request at a time', 'requests', 'longest ms', 'loop max')
  for (const sample of samples) {
    const processes = await service.gitApi(0)
    const client = createClient(processes.ports.slice(0, 1), service.token)
    const measure = measuring(sample, processes)
    const lists = pathsOf(sample, 'list')
    await measure('first of the process', [() => client.get(lists[0] ?? '')])
    for (const kind of reads) {
      const paths = pathsOf(sample, kind).slice(1, 401)
      await measure(
        kind,
        paths.map((path) => () => client.get(path)),
      )
    }
    const longReads = await longReadsOf(sample)
    for (const [what, rest] of Object.entries(longReads))
      await measure(
        what,
        [1, 2, 3].map(() => () => client.get(pathTo(sample, rest))),
      )

    let branches = 0
    const commit = (actions: object[]) => () => {
      branches += 1
      const branch = `alone-${branches}`
      const body = { branch, start_branch: 'main', commit_message: 'Add files', actions }
      return client.post(pathTo(sample, ''), body)
    }
    await measure('commit of 3 files', [commit(textFiles(3)), commit(textFiles(3))])
    await measure('commit of 1,000 files', [commit(textFiles(1000)), commit(textFiles(1000))])
    for (const size of [1, 10, 70]) {
      const content = randomBytes(size * megabyte).toString('base64')
      const large = [{ action: 'create', file_path: 'large', encoding: 'base64', content }]
      await measure(`commit of ${size} MB`, [commit(large), commit(large)])
    }
    client.close()
    await processes.stop()
  }
}

const measuring =
  (sample: Sample, processes: Processes) => async (what: string, asks: (() => Promise<Answer>)[]) => {
    const times: number[] = []
    const stops: number[] = []
    for (const ask of asks) {
      await processes.figures()
      const sentMs = performance.now()
      const { status, text } = await ask()
      times.push(performance.now() - sentMs)
      if (status >= 300) throw new Error(`${what}: ${status} ${text}`)
      stops.push((await processes.figures())[0]?.delayMaxMs ?? Number.NaN)
    }
    say(`${what}, ${sample.project.name}`, `${asks.length}`, Math.max(...times), Math.max(...stops))
  }

async function longReadsOf({ project }: Sample): Promise<Record<string, string>> {
  const root = (await gitText(project.path, 'rev-list', ['--max-parents=0'], ['main'])).trim()
  const [file] = (await gitText(project.path, 'ls-tree', ['-r', '--name-only'], ['main'])).split('\n')
  return {
    'diff of the first commit': `/${root}/diff`,
    'list of 100 with stats': '?with_stats=true&per_page=100',
    'list by an author without commits': '?author=nobody-of-this-name',
    'list of all branches': '?all=true&page=100',
    'list of a file': `?path=${encodeURIComponent(file ?? '')}`,
  }
}

const textFiles = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    action: 'create',
    file_path: `added/${index % 37}/${index}`,
    content: `line of file ${index}\n`.repeat(100),
  }))
