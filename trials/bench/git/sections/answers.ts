import { gitText } from '../baselines.js'
import { createClient } from '../load.js'
import { type Context, pathTo, type Sample, say } from '../samples.js'

interface Entry {
  diff: string
  too_large: boolean
}

/** Compares the answers before the measurement with git's output. Throws when one differs. */
export async function checkAnswers({ service, samples }: Context): Promise<void> {
  const processes = await service.gitApi()
  const client = createClient(processes.ports, service.token)
  const get = async <T>(path: string): Promise<T> => JSON.parse((await client.get(path)).text) as T
  for (const sample of samples) {
    const { path } = sample.project
    let renames = 0
    const ids = await withRenames(sample)
    for (const id of ids) {
      const list = await get<{ id: string; title: string }[]>(pathTo(sample, `?ref_name=${id}`))
      const git = await gitText(path, 'rev-list', ['--max-count=20'], [id])
      expectSame(id, `${list.map((commit) => commit.id).join('\n')}\n`, git)

      const flags = ['-M', '--format=', '--no-color', '--full-index']
      const { stats } = await get<{ stats: { additions: number; deletions: number } }>(
        pathTo(sample, `/${id}`),
      )
      const numbers = (await gitText(path, 'show', [...flags, '--numstat'], [id])).trim().split('\n')
      const sum = (column: number) =>
        numbers.reduce((total, line) => total + (Number(line.split('\t')[column]) || 0), 0)
      expectSame(id, `${stats.additions} ${stats.deletions}`, `${sum(0)} ${sum(1)}`)

      const entries = await get<Entry[]>(pathTo(sample, `/${id}/diff?unidiff=true`))
      const shown = await gitText(path, 'show', [...flags, '--patch'], [id])
      if (shown.includes('\nrename from ')) renames += 1
      if (!entries.some((entry) => entry.too_large))
        expectSame(id, entries.map(({ diff }) => diff).join(''), withoutHeaders(shown))
    }
    say(`answers as git's, ${sample.project.name}`, `${ids.length} commits`, `${renames} renaming`)
  }
  client.close()
  await processes.stop()
}

/** Returns the sampled commits, and others that rename files, because engines differ there. */
async function withRenames({ project, fewIds }: Sample): Promise<string[]> {
  const flags = ['-M', '--diff-filter=R', '--format=%H', '--no-merges', '--max-count=60']
  const renaming = (await gitText(project.path, 'log', flags, ['main'])).split('\n').filter(Boolean)
  return [...fewIds.filter((_id, index) => index % 3 === 0), ...renaming]
}

function expectSame(id: string, ours: string, git: string): void {
  if (ours !== git)
    throw new Error(`${id}: the API says ${ours.slice(0, 300)}\ngit says ${git.slice(0, 300)}`)
}

function withoutHeaders(text: string): string {
  let within = false
  const kept = text.split(/(?<=\n)/).filter((line) => {
    if (line.startsWith('diff --git ')) within = false
    else if (line.startsWith('--- ') || line.startsWith('Binary files ')) within = true
    return within
  })
  return kept.join('')
}
