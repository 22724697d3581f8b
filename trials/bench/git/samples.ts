import { gitText } from './baselines.js'
import type { Project, Service } from './service.js'

/** The commits of a repository that the benchmark requests. */
export interface Sample {
  project: Project
  /** Commits of the whole history, without merges, in random order. */
  ids: string[]
  /** A tenth of the commits. */
  fewIds: string[]
  tip: string
}

export interface Context {
  service: Service
  samples: Sample[]
  withLibgit2: boolean
}

/** Number of commits, so large that git has hardly any earlier answer still in its memory. */
const idsMax = Number(process.env.IDS ?? 3000)
/**
 * Distance between two commits, because neighbours in a history share what is read, and old commits cost more
 * than new ones.
 */
const stride = 1009

export async function sampleOf(project: Project): Promise<Sample> {
  const all = (await gitText(project.path, 'rev-list', ['--no-merges'], ['main'])).split('\n').filter(Boolean)
  const step = all.length / idsMax
  const ids = Array.from(
    { length: idsMax },
    (_, index) => all[Math.floor(((index * stride) % idsMax) * step)] ?? '',
  )
  return { project, ids, fewIds: ids.slice(0, idsMax / 10), tip: all[0] ?? '' }
}

const base = ({ project }: Sample) => `/api/v4/projects/${project.id}/repository/commits`

export type Kind = 'list' | 'stats' | 'diff'
export const reads: Kind[] = ['list', 'stats', 'diff']

/** Returns the paths for a kind of read, each for another commit. */
export function pathsOf(sample: Sample, kind: Kind): string[] {
  const suffix = { list: '', stats: '', diff: '/diff' }[kind]
  if (kind === 'list') return sample.ids.map((id) => `${base(sample)}?ref_name=${id}`)
  return sample.ids.map((id) => `${base(sample)}/${id}${suffix}`)
}

export const pathTo = (sample: Sample, rest: string) => base(sample) + rest

export function say(...cells: (string | number)[]): void {
  const text = cells.map((cell, index) => {
    const shown = typeof cell === 'number' ? (cell < 100 ? cell.toFixed(2) : cell.toFixed(0)) : cell
    return index === 0 ? shown.padEnd(34) : shown.padStart(11)
  })
  console.log(text.join(' '))
}
