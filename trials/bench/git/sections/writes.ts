import { execFileSync } from 'node:child_process'
import { median } from '../../../support/statistics.js'
import { commitByPlumbing, gitText, libgit2 } from '../baselines.js'
import { createClient, type Load, workThrough } from '../load.js'
import { type Context, pathTo, type Sample, say } from '../samples.js'

const rounds = Number(process.env.ROUNDS ?? 3)
/** Warm-up, because the code of a new process is several times slower until it is compiled. */
const warmUpRounds = 2
const seconds = 3
const workers = 4
let lastBranch = 0

const refUpdates = (lines: string[]) => (path: string) =>
  execFileSync('git', [`--git-dir=${path}`, 'update-ref', '--stdin'], { input: `${lines.join('\n')}\n` })

/** Creates branches at commits. */
function branchesAt(sample: Sample, ids: string[]): string[] {
  const names = ids.map(() => {
    lastBranch += 1
    return `bench-${lastBranch}`
  })
  refUpdates(names.map((name, index) => `create refs/heads/${name} ${ids[index]}`))(sample.project.path)
  return names
}

const filesOf = (worker: number, index: number) =>
  Object.fromEntries(
    [1, 2, 3].map((file) => [`made/${worker}/${index}/file-${file}.txt`, `Text ${index}\n`.repeat(30)]),
  )

/** Measures commits of three new files, with a branch for each worker, beside git's plumbing. */
export async function creates({ service, samples }: Context): Promise<void> {
  const processes = await service.gitApi()
  const client = createClient(processes.ports, service.token)
  say('commits of 3 files, 4 workers', 'ours', 'p50 ms', 'p99 ms', 'plumbing', '÷ plumbing')
  const all: number[] = []
  for (const sample of samples) {
    const loads: { ours: Load; theirs: Load }[] = []
    for (let round = -warmUpRounds; round < rounds; round += 1) {
      const ours = await run(sample, async (branch, worker, index) => {
        const actions = Object.entries(filesOf(worker, index)).map(([file_path, content]) => ({
          action: 'create',
          file_path,
          content,
        }))
        const { status, text } = await client.post(pathTo(sample, ''), {
          branch,
          commit_message: 'Add files',
          actions,
        })
        if (status !== 201) throw new Error(text)
      })
      const theirs = await run(sample, (branch, worker, index) =>
        commitByPlumbing(sample.project.path, branch, filesOf(worker, index)),
      )
      if (round >= 0) loads.push({ ours, theirs })
    }
    all.push(median(loads.map(({ ours }) => ours.perSecond)))
    say(
      sample.project.name,
      median(loads.map(({ ours }) => ours.perSecond)),
      median(loads.map(({ ours }) => ours.p50Ms)),
      median(loads.map(({ ours }) => ours.p99Ms)),
      median(loads.map(({ theirs }) => theirs.perSecond)),
      median(loads.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond)),
    )
    await checkSound(sample)
  }
  say('create: small ÷ large', (all[0] ?? 0) / (all[1] ?? 1))
  client.close()
  await processes.stop()
}

/** Each worker has its own branch, and commits to it one by one. */
async function run(
  sample: Sample,
  commit: (branch: string, worker: number, index: number) => Promise<void>,
): Promise<Load> {
  const branches = branchesAt(
    sample,
    Array.from({ length: workers }, () => sample.tip),
  )
  const free = branches.map((branch, worker) => ({ branch, worker }))
  return workThrough(
    async (index) => {
      const slot = free.pop() as (typeof free)[number]
      await commit(slot.branch, slot.worker, index)
      free.push(slot)
    },
    { workers, seconds },
  )
}

async function checkSound({ project, tip }: Sample): Promise<void> {
  const made = await gitText(project.path, 'rev-list', ['--count', '--branches'], [`^${tip}`])
  const connected = await gitText(project.path, 'fsck', ['--connectivity-only', '--no-dangling'])
  if (connected.trim() !== '' || Number(made) === 0) throw new Error(`fsck says ${connected}`)
}

/** Measures cherry-picks, each to its own branch, some commits before the picked one. */
export async function cherryPicks({ service, samples, withLibgit2 }: Context): Promise<void> {
  const processes = await service.gitApi()
  const client = createClient(processes.ports, service.token)
  say('cherry-picks, 4 workers', 'ours', 'p50 ms', 'p99 ms', 'libgit2', '÷ libgit2')
  for (const sample of samples) {
    const bases = await basesOf(sample)
    const ids = sample.fewIds.filter((id) => bases.has(id))
    const onto = ids.map((id) => bases.get(id) ?? '')
    const loads: { ours: Load; theirs: number }[] = []
    for (let round = -warmUpRounds; round < rounds; round += 1) {
      const ours = branchesAt(sample, onto)
      const load = await workThrough(
        async (index) => {
          const { status, text } = await client.post(pathTo(sample, `/${ids[index]}/cherry_pick`), {
            branch: ours[index],
          })
          if (status !== 201 && !/"error_code":"(?:conflict|empty)"/.test(text)) throw new Error(text)
        },
        { workers, seconds, most: ids.length },
      )
      if (round < 0) continue
      const theirs = branchesAt(sample, onto)
      const lines = ids.map((id, index) => `${id} ${onto[index]} refs/heads/${theirs[index]}`)
      loads.push({
        ours: load,
        theirs: withLibgit2 ? await libgit2(sample.project.path, 'pick', lines, seconds) : Number.NaN,
      })
    }
    say(
      sample.project.name,
      median(loads.map(({ ours }) => ours.perSecond)),
      median(loads.map(({ ours }) => ours.p50Ms)),
      median(loads.map(({ ours }) => ours.p99Ms)),
      median(loads.map(({ theirs }) => theirs)),
      median(loads.map(({ ours, theirs }) => ours.perSecond / theirs)),
    )
    await checkSound(sample)
  }
  client.close()
  await processes.stop()
}

/** Returns for each sampled commit an ancestor some generations before it. */
async function basesOf(sample: Sample): Promise<Map<string, string>> {
  const names = sample.fewIds.map((id) => `${id}~4`)
  const input = `${names.join('\n')}\n`
  const found = execFileSync('git', [`--git-dir=${sample.project.path}`, 'cat-file', '--batch-check'], {
    input,
  })
  const lines = found.toString().split('\n')
  return new Map(
    sample.fewIds.flatMap((id, index) => {
      const base = lines[index] ?? ''
      return base.includes(' commit ') ? [[id, base.slice(0, 40)] as const] : []
    }),
  )
}
