import { median } from '../../../support/statistics.js'
import { gitText } from '../baselines.js'
import { createClient } from '../load.js'
import { type Context, pathTo, type Sample, say } from '../samples.js'

const filesMax = 12

/** Measures first reads of the commits of a file, with renames followed, beside `git log --follow`. */
export async function pathReads({ service, samples }: Context): Promise<void> {
  say('commits of a file, first time', 'ours ms', 'git ms', 'files')
  const processes = await service.gitApi()
  const client = createClient(processes.ports.slice(0, 1), service.token)
  for (const sample of samples) {
    const times = { ours: [] as number[], git: [] as number[] }
    for (const file of await filesOf(sample)) {
      const startedMs = performance.now()
      const { text } = await client.get(pathTo(sample, `?path=${encodeURIComponent(file)}&per_page=100`))
      const answeredMs = performance.now()
      const git = await gitText(sample.project.path, 'log', ['--follow', '--format=%H'], ['main', '--', file])
      times.ours.push(answeredMs - startedMs)
      times.git.push(performance.now() - answeredMs)
      const ours = (JSON.parse(text) as { id: string }[]).map(({ id }) => id).join('\n')
      if (ours !== git.split('\n').filter(Boolean).slice(0, 100).join('\n'))
        throw new Error(`the API and git list different commits of ${file}`)
    }
    say(sample.project.name, median(times.ours), median(times.git), times.git.length)
  }
  await pages(samples.at(-1) as Sample, client)
  client.close()
  await processes.stop()
}

async function pages(sample: Sample, client: ReturnType<typeof createClient>): Promise<void> {
  for (const page of [1, 100, 1000]) {
    const times: number[] = []
    for (let round = 0; round < 20; round += 1) {
      const startedMs = performance.now()
      await client.get(pathTo(sample, `?page=${page}&per_page=20`))
      times.push(performance.now() - startedMs)
    }
    say(`list, page ${page}, large`, median(times))
  }
}

async function filesOf({ project }: Sample): Promise<string[]> {
  const files = (await gitText(project.path, 'ls-tree', ['-r', '--name-only'], ['main'])).split('\n')
  const step = Math.ceil(files.length / filesMax)
  return files.filter((file, index) => file !== '' && index % step === 0)
}
